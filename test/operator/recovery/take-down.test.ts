import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { run } from '../command-line.ts';
import { type AwsOperations, type FakeStack, startFakeAws, templateAnswer, useAws } from '../fake-aws.ts';

type Version = { key: string; id: string; isMarker?: boolean; isLocked?: boolean };

/** The buckets, each with the versions of its objects. */
const buckets: Record<string, Version[]> = {};
const stacks: Record<string, FakeStack> = {};
/** What was deleted, in order. */
let deleted: string[] = [];
let aws: Awaited<ReturnType<typeof startFakeAws>>;
let s3: Server;
let leaveAws: () => void;

const operations: AwsOperations = {
  DescribeTable: () => ({ error: 'ResourceNotFoundException' }),
  GetItem: () => ({ error: 'ResourceNotFoundException' }),
  GetTemplate: () =>
    templateAnswer(JSON.stringify({ Resources: { Vault: { DeletionPolicy: 'RetainExceptOnCreate' }, Secret: {} } })),
  ListStackResources: ({ StackName }: { StackName: string }) => {
    const own = StackName.endsWith('-data')
      ? [
          ['Vault', 'trial-vault', 'AWS::Backup::BackupVault'],
          ['Secret', 'trial-secret', 'AWS::SecretsManager::Secret'],
          ['Table', 'trial-table', 'AWS::DynamoDB::Table'],
        ]
      : [];
    const members = own.map(
      ([logical, physical, type]) =>
        `<member><LogicalResourceId>${logical}</LogicalResourceId><PhysicalResourceId>${physical}</PhysicalResourceId><ResourceType>${type}</ResourceType></member>`,
    );
    const result = `<StackResourceSummaries>${members.join('')}</StackResourceSummaries>`;
    return {
      value: `<ListStackResourcesResponse><ListStackResourcesResult>${result}</ListStackResourcesResult></ListStackResourcesResponse>`,
    };
  },
  DeleteStack: ({ StackName }: { StackName: string }) => {
    // As CloudFormation: a bucket with anything in it stays, and so does its stack.
    const own = Object.values(stacks[StackName]?.outputs ?? {}).filter((output) => buckets[output]?.length);
    if (own.length > 0) (stacks[StackName] as FakeStack).status = 'DELETE_FAILED';
    else {
      deleted.push(StackName);
      delete stacks[StackName];
    }
    return { value: '<DeleteStackResponse/>' };
  },
};

beforeAll(async () => {
  s3 = createServer(async (request, response) => {
    const [, bucket = ''] = /^\/([^/?]+)/.exec(request.url ?? '') ?? [];
    const versions = buckets[bucket];
    response.setHeader('content-type', 'application/xml');
    if (!versions) return response.writeHead(404).end('<Error><Code>NoSuchBucket</Code></Error>');
    if (request.method === 'GET') {
      const members = versions.slice(0, 2).map(({ key, id, isMarker }) => {
        const kind = isMarker ? 'DeleteMarker' : 'Version';
        return `<${kind}><Key>${key}</Key><VersionId>${id}</VersionId></${kind}>`;
      });
      return response.end(`<ListVersionsResult>${members.join('')}</ListVersionsResult>`);
    }
    const body = await text(request);
    const errors: string[] = [];
    for (const [, id] of body.matchAll(/<VersionId>(.*?)<\/VersionId>/g)) {
      const index = versions.findIndex((version) => version.id === id);
      const version = versions[index] as Version;
      if (version.isLocked) errors.push(`<Error><Key>${version.key}</Key><Message>it is locked</Message></Error>`);
      else deleted.push(`${bucket}/${versions.splice(index, 1)[0]?.key}`);
    }
    response.end(`<DeleteResult>${errors.join('')}</DeleteResult>`);
  }).listen(0, '127.0.0.1');
  await once(s3, 'listening');
  aws = await startFakeAws(stacks, operations);
  leaveAws = useAws(aws.endpoint, { AWS_ENDPOINT_URL_S3: `http://127.0.0.1:${(s3.address() as AddressInfo).port}` });
});
afterAll(async () => {
  leaveAws();
  await aws.stop();
  s3.closeAllConnections();
  s3.close();
});
beforeEach(() => {
  deleted = [];
  for (const name of Object.keys(stacks)) delete stacks[name];
  Object.assign(stacks, {
    'bag-adres-trial-data': {
      outputs: { StatementsBucketName: 'statements', AccountsTableName: 'a', AddressesTableName: 'b' },
    },
    'bag-adres-trial-service': { outputs: {} },
    'bag-adres-trial-loader': { outputs: { SnapshotBucketName: 'snapshots' } },
  });
  buckets.snapshots = [{ key: 'manifest.json', id: 'null' }];
  // A trial of two months: what was written twice has an earlier version, and what was deleted a marker.
  buckets.statements = [
    { key: '2026-09', id: '1' },
    { key: '2026-09', id: '2' },
    { key: '2026-10', id: '3', isMarker: true },
  ];
});

const takeDown = (...args: string[]) => run(['take-down', '--stack', 'bag-adres-trial', ...args]);
const everything = [
  'bag-adres-trial-service',
  'snapshots/manifest.json',
  'bag-adres-trial-loader',
  ...['statements/2026-09', 'statements/2026-09', 'statements/2026-10'],
  'bag-adres-trial-data',
];

describe('take-down', () => {
  it('shows what it deletes and what stays, and changes nothing without --yes and the name', async () => {
    const { exit, out, err } = await takeDown();
    expect([exit, deleted]).toEqual([0, []]);
    expect(err).toMatch(/Into: bag-adres-trial in account 123456789012, eu-west-1\nThere now: no accounts table/);
    expect(err).toMatch(
      /1\/5 {2}DESTROYS {2}Delete the stack bag-adres-trial-service\n2\/5 .* every object in snapshots/,
    );
    expect(out).toMatch(/^Stays: trial-vault .*: it has backups, which expire after 35 days; delete it then\.$/m);
    expect(out).toMatch(/^Stays: trial-secret .*: Secrets Manager can restore it for 30 days, then deletes it\.$/m);
    expect(out).not.toContain('trial-table');
    expect(out).toContain('with --yes it also needs --into bag-adres-trial');
    expect(await takeDown('--yes')).toMatchObject({ exit: 1, err: expect.stringContaining('--into bag-adres-trial') });
    expect(await takeDown('--yes', '--into', 'bag-adres-test')).toMatchObject({ exit: 1 });
    expect(deleted).toEqual([]);
  });

  it('deletes every version of every object before its stack, and the stacks that there are', async () => {
    expect(await takeDown('--yes', '--into', 'bag-adres-trial')).toMatchObject({ exit: 0 });
    expect(deleted).toEqual(everything);
    expect(await takeDown()).toMatchObject({
      exit: 1,
      err: expect.stringContaining('There is no stack of bag-adres-trial'),
    });
  });

  it('continues where it was interrupted', async () => {
    delete stacks['bag-adres-trial-service'];
    (stacks['bag-adres-trial-loader'] as FakeStack).status = 'DELETE_FAILED';
    buckets.snapshots = [];
    expect(await takeDown('--yes', '--into', 'bag-adres-trial')).toMatchObject({ exit: 0 });
    expect(deleted).toEqual(everything.slice(2));
  });

  it('refuses a deployment of which any stack is protected', async () => {
    (stacks['bag-adres-trial-data'] as FakeStack).isProtected = true;
    const { exit, err } = await takeDown('--yes', '--into', 'bag-adres-trial');
    expect([exit, deleted]).toEqual([1, []]);
    expect(err).toContain('bag-adres-trial-data: protected from deletion, as "removalPolicy" is "retain".');
  });

  it('stops at a statement that is locked, before the stack with the accounts, and names it', async () => {
    (buckets.statements?.[0] as Version).isLocked = true;
    const { exit, err } = await takeDown('--yes', '--into', 'bag-adres-trial');
    expect([exit, err]).toEqual([1, expect.stringContaining("2026-09 in statements can't be deleted: it is locked.")]);
    expect(Object.keys(stacks)).toEqual(['bag-adres-trial-data']);
  });
});
