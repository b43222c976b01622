import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { run } from '../command-line.ts';
import { type AwsOperations, startFakeAws, testCaller, useAws } from '../fake-aws.ts';

const operations: AwsOperations = {};
let leaveAws: () => void;
let aws: Awaited<ReturnType<typeof startFakeAws>>;
/** The alias of each function, and the checksum secrets that each version was deployed with. */
let aliases: Record<string, { version: string; weights?: Record<string, number>; description?: string }>;
let secrets: Record<string, string[]>;
const functions = ['address', 'validate'];

beforeAll(async () => {
  const stacks = {
    'a-data': { outputs: { KeyChecksumSecretArn: 'x', AccountsTableName: 'accounts' } },
    'a-service': { outputs: { BaseUrl: 'http://127.0.0.1:1' } },
  };
  aws = await startFakeAws(stacks, operations);
  leaveAws = useAws(aws.endpoint);
});
afterAll(async () => {
  leaveAws();
  await aws.stop();
});
beforeEach(() => {
  aliases = { address: { version: '12' }, validate: { version: '9' } };
  secrets = { '11': ['now'], '8': ['other', 'now'] };
  const resources = [
    ['AddressFunction1A', 'address'],
    ['ValidateFunction2B', 'validate'],
    ['UsageFunction3C', 'usage'],
  ].map(
    ([id, name]) =>
      `<member><LogicalResourceId>${id}</LogicalResourceId><PhysicalResourceId>${name}</PhysicalResourceId><ResourceType>AWS::Lambda::Function</ResourceType></member>`,
  );
  const list = `<StackResourceSummaries>${resources.join('')}</StackResourceSummaries>`;
  operations.ListStackResources = () => ({
    value: `<ListStackResourcesResponse><ListStackResourcesResult>${list}</ListStackResourcesResult></ListStackResourcesResponse>`,
  });
  operations.PutItem = () => ({ value: {} });
  operations.UpdateItem = () => ({ value: {} });
  operations.GetSecretValue = () => ({ value: { SecretString: 'now' } });
  for (const name of functions) {
    const path = `/2015-03-31/functions/${name}`;
    operations[`GET ${path}/aliases/live`] = () => ({
      value: {
        FunctionVersion: aliases[name]?.version,
        Description: aliases[name]?.description,
        RoutingConfig: { AdditionalVersionWeights: aliases[name]?.weights },
      },
    });
    operations[`GET ${path}/versions`] = () => ({
      value: {
        Versions: ['$LATEST', '7', '8', '9', '10', '11', '12'].map((Version) => ({
          Version,
          LastModified: '2026-11-20T10:00:00Z',
        })),
      },
    });
    for (const version of ['8', '10', '11'])
      operations[`GET ${path}/configuration?Qualifier=${version}`] = () => {
        const [KEY_CHECKSUM_SECRET, KEY_CHECKSUM_SECRET_PREVIOUS] = secrets[version] ?? [];
        return { value: { Environment: { Variables: { KEY_CHECKSUM_SECRET, KEY_CHECKSUM_SECRET_PREVIOUS } } } };
      };
    operations[`PUT ${path}/aliases/live`] = () => ({ value: {} });
  }
});

const rollback = async (...args: string[]) => {
  aws.asked.length = 0;
  const ended = await run(['rollback', '--stack', 'a', ...args]);
  return {
    ...ended,
    moved: aws.asked.filter(({ operation }) => operation.startsWith('PUT')).map(({ operation }) => operation),
  };
};

describe('rollback', () => {
  it('shows the version before, and moves both aliases only with --yes', async () => {
    const planned = await rollback();
    expect(planned).toMatchObject({ exit: 0, moved: [], out: expect.stringContaining('Nothing was changed.') });
    expect(planned.err).toMatch(
      /AddressFunction \(address\) from version 12 to 11, of 2026-11-20.*\n.*ValidateFunction \(validate\) from version 9 to 8/,
    );
    const done = await rollback('--yes');
    expect(done.moved).toEqual(functions.map((name) => `PUT /2015-03-31/functions/${name}/aliases/live`));
    expect(done.out).toContain('bagAdres.deployment=emergency');
  });

  it('moves what was moved already only with --further', async () => {
    aliases.address = { version: '11', description: 'Rolled back from 12 to 11' };
    expect((await rollback('--yes')).moved).toEqual(['PUT /2015-03-31/functions/validate/aliases/live']);
    secrets['10'] = ['now'];
    expect((await rollback('--further')).err).toMatch(/AddressFunction \(address\) from version 11 to 10/);
    // A deployment since then leaves the description.
    aliases.address.version = '12';
    expect((await rollback()).err).toMatch(/AddressFunction \(address\) from version 12 to 11/);
  });

  it('is audited with the versions before and after, a plan is not', async () => {
    const entries: unknown[] = [];
    operations.PutItem = ({ Item }: { Item: Record<string, AttributeValue> }) => {
      entries.push(unmarshall(Item));
      return { value: {} };
    };
    await rollback();
    expect(entries).toEqual([]);
    await rollback('--yes');
    expect(entries).toEqual([
      expect.objectContaining({
        account: 'service#',
        actor: testCaller,
        action: 'service rollback',
        detail: {
          versions: { AddressFunction: '11', ValidateFunction: '8' },
          before: { AddressFunction: '12', ValidateFunction: '9' },
        },
      }),
    ]);
  });

  it('goes on with a warning where the accounts table is not there', async () => {
    operations.PutItem = () => ({ error: 'ResourceNotFoundException' });
    const done = await rollback('--yes', '--json');
    expect([done.exit, done.moved.length]).toEqual([0, 2]);
    expect(JSON.parse(done.out).summary[0]).toContain('Not in the audit, as the accounts table refuses the entry');
  });

  it('gives that warning also where a later step fails', async () => {
    operations.PutItem = () => ({ error: 'ResourceNotFoundException' });
    operations['PUT /2015-03-31/functions/validate/aliases/live'] = () => ({ error: 'ResourceConflictException' });
    const warning = expect.stringContaining('Not in the audit, as the accounts table refuses the entry');
    expect(await rollback('--yes')).toMatchObject({ exit: 1, err: warning });
    const { exit, err } = await rollback('--yes', '--json');
    expect([exit, JSON.parse(err).error]).toEqual([1, expect.objectContaining({ warnings: [warning] })]);
  });

  it('refuses a version that would refuse the keys of a later rotation', async () => {
    secrets['8'] = ['before'];
    const refused = await rollback('--yes');
    expect(refused).toMatchObject({
      exit: 1,
      moved: [],
      err: expect.stringContaining('refuse every key that was issued since'),
    });
    expect((await rollback('--yes', '--force')).moved).toHaveLength(2);
  });

  it('refuses while a deployment shifts traffic, and where there is no earlier version', async () => {
    aliases.address = { version: '12', weights: { '13': 0.1 } };
    expect(await rollback('--yes')).toMatchObject({
      exit: 1,
      moved: [],
      err: expect.stringContaining('stop-deployment'),
    });
    aliases.address = { version: '7' };
    expect(await rollback('--yes')).toMatchObject({
      exit: 1,
      moved: [],
      err: expect.stringContaining('no version before 7'),
    });
  });
});
