import { mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { storedLayout } from '../../../core/tables.ts';
import { parseConfig } from '../../../operator/config/parse-config.ts';
import { type ComparedTemplate, lossesBetween } from '../../../operator/gate/compare-templates.ts';
import { protectData, stackPolicy } from '../../../operator/gate/gate.ts';
import { createAdmin } from '../../../packages/admin/admin.ts';
import { templates } from '../../lib/synthesized.ts';
import { createAccountsTable, startDynamoDb } from '../../support/dynamodb.ts';
import { folderForNow } from '../../support/folder-for-now.ts';
import { inSweep } from '../../support/in-sweep.ts';
import { startForTests } from '../../support/start-for-tests.ts';
import { run as runHere, runWith } from '../command-line.ts';
import { type AwsOperations, startFakeAws, templateAnswer, useAws } from '../fake-aws.ts';

const table = (properties: Record<string, unknown> = {}) => ({
  Type: 'AWS::DynamoDB::Table',
  Properties: { KeySchema: [{ AttributeName: 'key', KeyType: 'HASH' }], ...properties },
});

describe('templates compared', () => {
  const before = { Resources: { Addresses: table(), Role: { Type: 'AWS::IAM::Role' } } };

  it.each<[string, ComparedTemplate['Resources'], string]>([
    ['a table that is gone', {}, 'is no longer in the template'],
    ['a table under another logical id', { Addresses2: table() }, 'is no longer in the template'],
    ['a table with another key', { Addresses: table({ KeySchema: [] }) }, 'has another KeySchema'],
    ['another local index', { Addresses: table({ LocalSecondaryIndexes: [] }) }, 'LocalSecondary'],
    ['a table with a name', { Addresses: table({ TableName: 'x' }) }, 'has another TableName'],
    [
      'another type',
      { Addresses: { Type: 'AWS::DynamoDB::GlobalTable' } },
      'AWS::DynamoDB::GlobalTable',
    ],
  ])('report %s as a loss', (_, Resources, what) => {
    expect(lossesBetween(before, { Resources: Resources ?? {} })).toEqual([
      { logicalId: 'Addresses', type: 'AWS::DynamoDB::Table', what: expect.stringContaining(what) },
    ]);
  });

  it('report nothing of what has no state, or only changes', () => {
    const Resources = {
      Addresses: table({ DeletionProtectionEnabled: true }),
      Alarm: { Type: 'AWS::CloudWatch::Alarm' },
    };
    expect(lossesBetween(before, { Resources })).toEqual([]);
  });
});

describe('gate', () => {
  const work = folderForNow('bag-adres-gate-');
  const account = '123456789012';
  const operations: AwsOperations = {};
  const engine = startForTests(startDynamoDb);
  const aws = startForTests(() => startFakeAws({}, operations, engine.endpoint));
  let deployed: Record<string, string>;
  const protectedBy = [
    expect.objectContaining({
      StackName: 'bag-adres-prod-data',
      StackPolicyBody: JSON.stringify(stackPolicy),
    }),
  ];

  beforeAll(async () => {
    useAws(aws.endpoint);
    const { stack, names } = await templates();
    deployed = Object.fromEntries(
      Object.values(names).map((name) => [name, JSON.stringify(stack(name).template)]),
    );
    for (const name of ['with-accounts', 'empty']) await createAccountsTable(engine.client, name);
    const client = DynamoDBDocumentClient.from(engine.client);
    const admin = createAdmin({ client, table: 'with-accounts' });
    await admin.plans.put({ code: 'standard', limits: { day: 1 } });
    await admin.accounts.create({ id: 'acme', plan: 'standard' });
  });

  /** Runs the command where CloudFormation has the deployed templates, as `change` makes them. */
  async function gate(
    settings: object,
    args: string[] = [],
    change = (_: string, text: string) => text,
  ) {
    operations.GetTemplate = ({ StackName }: { StackName: string }) => {
      const text = deployed[StackName];
      if (text === undefined) {
        return { error: 'ValidationError', message: `Stack ${StackName} does not exist` };
      }
      return templateAnswer(
        change(StackName, text).replaceAll('&', '&amp;').replaceAll('<', '&lt;'),
      );
    };
    operations.SetStackPolicy = () => ({ value: '<SetStackPolicyResponse/>' });
    const folder = mkdtempSync(join(work, 'operator-'));
    writeFileSync(
      join(folder, 'bag-adres.json'),
      JSON.stringify({ stages: { prod: { account, ...settings } } }),
    );
    aws.asked.length = 0;
    const ended = await runHere(['gate', '--stage', 'prod', ...args], {}, folder);
    if (ended.out === '') throw new Error(ended.err);
    const policies = aws.asked.filter(({ operation }) => operation === 'SetStackPolicy');
    return { ...ended, policies: policies.map(({ input }) => input) };
  }

  inSweep(
    'lets an unchanged stage pass, and sets the stack policy of its data stack when asked to',
    async () => {
      const { exit, out, policies } = await gate({}, ['--protect']);
      expect([exit, out, policies]).toEqual([
        0,
        expect.stringContaining('Nothing would be lost.'),
        protectedBy,
      ]);
    },
  );

  it('denies to replace or remove a table of a deployed data stack, unless it is a trial', async () => {
    operations.SetStackPolicy = () => ({ value: '<SetStackPolicyResponse/>' });
    aws.asked.length = 0;
    const report = {
      stage: 'prod',
      stacks: [{ name: 'bag-adres-prod-data', isDeployed: true }],
      obstacles: [],
    };
    const config = parseConfig({ stage: 'prod', account });
    expect(await protectData(report, config)).toBe('bag-adres-prod-data');
    expect(await protectData(report, { ...config, removalPolicy: 'destroy' })).toBeNull();
    expect(aws.asked.map(({ input }) => input)).toEqual(protectedBy);
    const [, denied] = stackPolicy.Statement;
    expect(denied).toMatchObject({ Effect: 'Deny', Action: ['Update:Replace', 'Update:Delete'] });
    expect(JSON.stringify(denied)).toContain('AWS::DynamoDB::Table');
  });

  inSweep(
    'refuses a table that would be removed, another layout, or the own table without accounts once the setting goes, and then sets no policy',
    async () => {
      operations.DescribeStackResource = () => ({
        value:
          '<DescribeStackResourceResponse><DescribeStackResourceResult><StackResourceDetail><PhysicalResourceId>empty</PhysicalResourceId></StackResourceDetail></DescribeStackResourceResult></DescribeStackResourceResponse>',
      });
      // What is deployed has one table more than the settings make, was stored in the next layout,
      // and uses another accounts table.
      const { exit, out, policies } = await gate({}, ['--protect'], (name, text) =>
        name.endsWith('-data')
          ? text
              .replace('"Resources":{', `"Resources":{"Old":${JSON.stringify(table())},`)
              .replace(`"layout":${storedLayout}`, `"layout":${storedLayout + 1}`)
              .replace(/("AccountsTableName":\{"Value":)\{[^}]*\}/, '$1"with-accounts"')
          : text,
      );
      expect([exit, policies]).toEqual([1, []]);
      expect(out).toContain(
        'Obstacle: bag-adres-prod-data: Old (AWS::DynamoDB::Table) is no longer in the template.',
      );
      expect(out).toContain(
        `Obstacle: The deployed bag-adres-prod-data has layout ${storedLayout + 1}, but this version of bag-adres reads and writes layout ${storedLayout}: the release notes (CHANGELOG.md) say how to move the stored data, and until then deploy the version that stored it.`,
      );
      expect(out).toContain('the table empty, which has no account');
    },
  );

  const key = `arn:aws:kms:eu-central-1:${account}:key/0a1b`;
  const cases: [string, object, RegExp | null][] = [
    ['has accounts', { name: 'with-accounts' }, null],
    [
      'has no account',
      { name: 'empty' },
      /would use the table empty, which has no account\. Every key would be refused/,
    ],
    [
      'does not exist',
      { name: 'missing' },
      /the table missing, which is missing\. Wait for its restore/,
    ],
    [
      'has another key',
      { name: 'with-accounts', keyArn: key },
      /encrypted with a key that AWS owns\. Take tables\.accounts\.keyArn out/,
    ],
  ];
  inSweep.each(cases)(
    'asks of another accounts table whether it %s, and sets no policy by itself',
    async (_, accounts, refused) => {
      const { exit, out, policies } = await gate({ tables: { accounts } });
      const said = expect.stringMatching(refused ?? /Nothing would be lost/);
      expect([exit, out, policies]).toEqual([refused ? 1 : 0, said, []]);
    },
  );

  it('asks AWS before the synthesis, so that missing credentials cost no time', async () => {
    const broken = mkdtempSync(join(work, 'broken-'));
    writeFileSync(
      join(broken, 'bag-adres.json'),
      JSON.stringify({ stages: { prod: { account } } }),
    );
    // The synthesis would end with this.
    writeFileSync(join(broken, 'cdk.json'), 'no JSON');
    const { err } = await runWith(['gate', '--stage', 'prod'], {}, broken);
    expect(err).toMatch(/credentials/i);
  });
});
