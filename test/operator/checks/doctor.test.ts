import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { dynamoDbAddressTable } from '../../../loader/storage/address-table.ts';
import { writeLocalState } from '../../../local/data-folder.ts';
import { newAccount, testTables } from '../../support/address-service.ts';
import { type HttpService, startHttpService } from '../../support/http-service.ts';
import { type RangeServer, startRangeServer } from '../../support/range-server.ts';
import { sweep } from '../../support/sweep.ts';
import { underLock } from '../../support/under-lock.ts';
import { run, startLocalRun } from '../command-line.ts';
import { type AwsOperations, type FakeStack, startFakeAws, templateAnswer, useAws } from '../fake-aws.ts';

type Finding = { check: string; state: string; found: string; advice: string | null };

const machine = 'arn:aws:states:eu-west-1:123456789012:stateMachine:Load';
const caller = '<Arn>arn:aws:iam::123456789012:user/ann</Arn>';
const result = `<GetCallerIdentityResponse><GetCallerIdentityResult>${caller}</GetCallerIdentityResult></GetCallerIdentityResponse>`;
const lambdaSettings = 'GET /2016-08-19/account-settings';
const day = 86_400_000;
const { version } = JSON.parse(readFileSync('package.json', 'utf8'));

/** What the deployed template of the data stack gives its tables. */
const table = (Properties: object) => ({
  Type: 'AWS::DynamoDB::Table',
  Properties: { DeletionProtectionEnabled: true, Tags: [{ Key: 'stage', Value: 'a' }], ...Properties },
});
const Resources = {
  Addresses1: table({}),
  Accounts1: table({ TimeToLiveSpecification: { AttributeName: 'expires', Enabled: true } }),
};
const alarm = (name: string, state = 'OK') => ({
  AlarmName: name,
  StateValue: state,
  ActionsEnabled: true,
  AlarmDescription: `What ${name} says. What to do: docs/runbook.md#${name}`,
});
const alarms = [alarm('a-service-AlarmsServerErrors-1X'), alarm('a-data-TableAlarms-2X')];

let service: HttpService;
let aws: Awaited<ReturnType<typeof startFakeAws>>;
let key: string;
let source: RangeServer;
let leaveAws: () => void;
const stacks: Record<string, FakeStack> = {};
const operations: AwsOperations = {};

beforeAll(async () => {
  service = await startHttpService();
  aws = await startFakeAws(stacks, operations, service.endpoint);
  ({ key } = await newAccount(service, { day: 100 }));
  source = await startRangeServer();
  leaveAws = useAws(aws.endpoint);
}, 60_000);
afterAll(async () => {
  leaveAws();
  await source.stop();
  await aws.stop();
  await service.stop();
});
beforeEach(async () => {
  await dataset(20);
  delete stacks['a-portal'];
  Object.assign(stacks, {
    CDKToolkit: { outputs: { BootstrapVersion: '28' } },
    'a-data': {
      outputs: {
        AddressesTableName: testTables.addresses,
        AccountsTableName: testTables.accounts,
        AlarmTopicArn: 'arn:aws:sns:eu-west-1:123456789012:alarms',
      },
    },
    'a-service': { status: 'UPDATE_COMPLETE', outputs: { BaseUrl: service.baseUrl, Version: version } },
    'a-loader': {
      outputs: {
        StateMachineArn: machine,
        ExtractSource: source.serve('extract.zip', Buffer.alloc(2e6)),
        BackupRoleArn: 'arn:aws:iam::123456789012:role/a-loader-backup',
      },
    },
  });
  Object.assign(operations, {
    GetCallerIdentity: () => ({ value: result }),
    [lambdaSettings]: () => concurrency(1000),
    DescribeTable: () => ({ value: { Table: { TableStatus: 'ACTIVE', DeletionProtectionEnabled: true } } }),
    DescribeContinuousBackups: () => recovery('ENABLED'),
    ListExecutions: () => lastLoad('SUCCEEDED'),
    GetTemplate: () => templateAnswer(JSON.stringify({ Resources })),
    DescribeTimeToLive: () => timeToLive('ENABLED'),
    ListTagsOfResource: () => ({ value: { Tags: [{ Key: 'stage', Value: 'a' }] } }),
    DescribeAlarms: () => ({ value: { MetricAlarms: alarms } }),
    GetMetricStatistics: () => lastSet(1),
    ListSubscriptionsByTopic: () => subscribers('arn:aws:sns:eu-west-1:123456789012:alarms:1'),
  });
});

type Answer = ReturnType<AwsOperations[string]>;
/** From now on an operation answers in this way, or a stack has this. */
const answers = (operation: string, answer: Answer) => () =>
  void Object.assign(operations, { [operation]: () => answer });
const alarmsAre = (MetricAlarms: unknown) => answers('DescribeAlarms', { value: { MetricAlarms } });
const stackIs = (name: string, stack: Partial<FakeStack>) => () =>
  void Object.assign(stacks, { [name]: { outputs: {}, ...stacks[name], ...stack } });
const hasOutputs = (name: string, outputs: Record<string, string>) => () =>
  stackIs(name, { outputs: { ...stacks[name]?.outputs, ...outputs } })();
const dataset = (days: number) => {
  const table = dynamoDbAddressTable(service.client, testTables.addresses);
  const peildatum = new Date(Date.now() - days * day).toISOString().slice(0, 10);
  return underLock(table, (fence) => table.setDataset({ peildatum, load: 'one' }, fence));
};
const concurrency = (free: number) => ({
  value: { AccountLimit: { ConcurrentExecutions: 1000, UnreservedConcurrentExecutions: free } },
});
const recovery = (status: string) => {
  const PointInTimeRecoveryDescription = { PointInTimeRecoveryStatus: status };
  return {
    value: { ContinuousBackupsDescription: { ContinuousBackupsStatus: 'ENABLED', PointInTimeRecoveryDescription } },
  };
};
const subscribers = (...arns: string[]) => {
  const members = arns.map((arn) => `<member><SubscriptionArn>${arn}</SubscriptionArn></member>`).join('');
  const list = `<ListSubscriptionsByTopicResult><Subscriptions>${members}</Subscriptions></ListSubscriptionsByTopicResult>`;
  return { value: `<ListSubscriptionsByTopicResponse>${list}</ListSubscriptionsByTopicResponse>` };
};
const timeToLive = (status: string) => ({
  value: { TimeToLiveDescription: { TimeToLiveStatus: status, AttributeName: 'expires' } },
});
/** The metric of a backup set that was written so many days ago. */
const lastSet = (days: number) => ({
  value: { Datapoints: [{ Timestamp: Date.now() / 1000 - days * 86_400, Sum: 1 }] },
});
const lastLoad = (status: string) => ({
  value: { executions: [{ executionArn: 'x:load-1', name: 'load-1', status, startDate: 1_790_000_000 }] },
});
/** What these commands do to a stack that the CDK has protected, as CloudFormation and the CDK document it. */
function cloudFormation(stack: { status: string; isProtected: boolean }, command: string): void {
  if (/^aws cloudformation update-termination-protection --no-enable-termination-protection /.test(command)) {
    stack.isProtected = false;
  } else if (/^aws cloudformation delete-stack /.test(command)) {
    if (stack.isProtected)
      throw new Error('ValidationError: Stack cannot be deleted while TerminationProtection is enabled');
    stack.status = 'DELETE_COMPLETE';
  } else if (/^npx cdk deploy /.test(command)) {
    // A stack that could not be created is deleted first.
    if (stack.status !== 'DELETE_COMPLETE') cloudFormation(stack, 'aws cloudformation delete-stack ');
    stack.status = 'CREATE_COMPLETE';
  }
}

async function doctor(
  ...args: string[]
): Promise<{ exit: number | null; checks: Record<string, Finding>; err: string }> {
  const { exit, out, err } = await run(['doctor', '--stack', 'a-data', '--json', ...args]);
  const { checks, healthy } = JSON.parse(out) as { healthy: boolean; checks: Finding[] };
  expect(healthy).toBe(exit === 0);
  for (const { state, advice } of checks) if (state === 'warning' || state === 'failed') expect(advice).toBeTruthy();
  return { exit, checks: Object.fromEntries(checks.map((finding) => [finding.check, finding])), err };
}

describe('doctor', () => {
  it('reports a healthy deployment, and looks up an address', async () => {
    const { exit, checks, err } = await doctor('--key', key, '--address', '1012 RJ 147');
    expect([exit, err]).toEqual([0, '']);
    // The API of this test has no certificate.
    const states = Object.values(checks).filter(({ check }) => check !== 'certificate');
    expect(states.map(({ state }) => state)).toEqual(Array.from({ length: 23 }, () => 'ok'));
    expect(checks['alarm states']?.found).toBe('none of 2 is on');
    expect(checks.backups?.found).toMatch(/^the last set was written in the hour of 20/);
    expect(Object.keys(checks)[0]).toBe('version');
    expect(checks.version?.found).toBe(`${version}, as this command line`);
    expect(checks.source?.found).toMatch(/^http:\S+extract\.zip: 2 MB, last modified/);
    expect(checks.credentials?.found).toBe('arn:aws:iam::123456789012:user/ann');
    expect(checks.dataset?.found).toMatch(/, 20 days old$/);
    expect(checks.key?.found).toMatch(/limits \{"day":100\}/);
    expect(checks.lookup?.found).toMatch(/^1012 RJ 147 is Nieuwezijds Voorburgwal, Amsterdam, in \d+ ms$/);
  });

  it('reads the key from the environment, and an address from the table', async () => {
    const { out } = await run(['doctor', '--stack', 'a'], { BAG_ADRES_KEY: key });
    expect(out).toMatch(/^ok {7}lookup .* is .*, in \d+ ms$/m);
    expect(out).not.toContain(key);
  });

  it('without a key, looks up no address and says how to', async () => {
    const { exit, checks } = await doctor();
    expect([exit, checks.key?.state, checks.lookup?.state]).toEqual([0, 'skipped', 'skipped']);
    expect(checks.lookup?.advice).toContain('BAG_ADRES_KEY');
  });

  it('says that a deployment does not affect a running load, and how to follow it', async () => {
    answers('ListExecutions', lastLoad('RUNNING'))();
    const { checks } = await doctor();
    expect(checks['last load']).toMatchObject({
      state: 'ok',
      found: expect.stringMatching(/^RUNNING .*a deployment does not change its steps.*load follow load-1 --stack a/),
    });
  });

  /** What is wrong, by `check: what`, with the advice about it and how it comes about. */
  type Wrong = Record<string, [advice: RegExp, spoil: () => unknown]>;
  const warnings: Wrong = {
    'dataset: an old register': [/published monthly.*load status --stack a/, () => dataset(46)],
    'dataset: a register a week behind its mutations': [
      /Mutations are published daily/,
      () => dataset(8).then(hasOutputs('a-loader', { MutationsSource: 'https://example.nl/' })),
    ],
    'source: a server that is down, which does not fail a deployment': [
      /Wait until its server is back/,
      hasOutputs('a-loader', { ExtractSource: 'http://127.0.0.1:1/extract.zip' }),
    ],
    'accounts settings: a table whose items no longer expire': [
      /A deployment does not bring them back.*TTL/,
      answers('DescribeTimeToLive', timeToLive('DISABLED')),
    ],
    'addresses settings: a table without its tags': [
      /A deployment does not bring them back/,
      answers('ListTagsOfResource', { value: { Tags: [] } }),
    ],
    'alarm states: an alarm that is on, and none of another deployment': [
      /^What a-loader-Failed says\. What to do: \S+$/,
      alarmsAre([...alarms, alarm('a-loader-Failed', 'ALARM'), alarm('a-b-data-Failed', 'ALARM')]),
    ],
    'alarm states: alarms whose actions are switched off': [
      /enable-alarm-actions --alarm-names a-service-AlarmsServerErrors-1X a-data-TableAlarms-2X$/,
      alarmsAre(alarms.map((one) => ({ ...one, ActionsEnabled: false }))),
    ],
    'backups: a backup that is late': [/backup-late/, answers('GetMetricStatistics', lastSet(3))],
    'backups: backups that never leave the account': [
      /recovery\.md#backup-sets/,
      () => void delete stacks['a-loader']?.outputs.BackupRoleArn,
    ],
    'lambda quota: few functions at once': [
      /L-B99A9384.*runs at most 2 functions at once/,
      answers(lambdaSettings, concurrency(10)),
    ],
    'addresses backup: a table that can be deleted': [
      /retain/,
      answers('DescribeTable', { value: { Table: { TableStatus: 'ACTIVE' } } }),
    ],
    'alarms: no subscriber': [/alarmEmail in bag-adres\.json/, answers('ListSubscriptionsByTopic', subscribers())],
    'alarms: a subscription that was never confirmed': [
      /link in the email/,
      answers('ListSubscriptionsByTopic', subscribers('PendingConfirmation')),
    ],
    'last load: one that failed': [/load follow load-1 --stack a/, answers('ListExecutions', lastLoad('FAILED'))],
    'last load: none yet': [/load run --stack a/, answers('ListExecutions', { value: { executions: [] } })],
    'stack a-service: an undone deployment': [
      /deploy again/,
      stackIs('a-service', { status: 'UPDATE_ROLLBACK_COMPLETE' }),
    ],
    'version: another than its own': [/npm install bag-adres@0\.0\.1/, hasOutputs('a-service', { Version: '0.0.1' })],
    'bootstrap: no bootstrap stack': [/npx cdk bootstrap/, () => void delete stacks.CDKToolkit],
  };
  const failures: Wrong = {
    'portal: one that does not lead to its provider': [
      /portal-sign-in-fails/,
      () => hasOutputs('a-portal', { PortalUrl: service.baseUrl })(),
    ],
    'client secret: one that has ended': [
      /client-secret-ends/,
      () => hasOutputs('a-portal', { PortalUrl: service.baseUrl, ClientSecretExpires: '2020-01-31' })(),
    ],
    'stack a-portal: a portal whose stack is broken': [
      /continue-update-rollback --stack-name a-portal/,
      stackIs('a-portal', { status: 'UPDATE_ROLLBACK_FAILED' }),
    ],
    'accounts backup: none': [/Enable it again/, answers('DescribeContinuousBackups', recovery('DISABLED'))],
    'addresses table: one that no longer exists': [
      /^A table that was deleted can be restored: docs\/runbook\.md#lost-table\.$/,
      answers('DescribeTable', { error: 'ResourceNotFoundException' }),
    ],
    'stack a-loader: a broken one': [
      /stack events in CloudFormation.*delete the failed stack/,
      stackIs('a-loader', { status: 'CREATE_FAILED' }),
    ],
    'source: an extract that has moved': [
      /Set source in bag-adres\.json.*--extract/,
      () => hasOutputs('a-loader', { ExtractSource: `${source.serve('x', Buffer.alloc(1))}y` })(),
    ],
    'stack a-loader: one that was never created': [/cdk deploy --all/, () => void delete stacks['a-loader']],
    'api: an interface that is not there': [
      /docs\/runbook\.md/,
      stackIs('a-service', { outputs: { BaseUrl: 'http://127.0.0.1:1' } }),
    ],
    'lambda quota: what it may not read': [
      /Allow this identity/,
      answers(lambdaSettings, { error: 'AccessDeniedException', message: 'lambda:GetAccountSettings' }),
    ],
  };

  const wrong = [
    ...Object.entries(warnings).map(([what, row]) => ['warns', what, ...row] as const),
    ...Object.entries(failures).map(([what, row]) => ['fails', what, ...row] as const),
  ];
  it.each(sweep(wrong, 4))('%s of %s', async (ends, what, advice, spoil) => {
    await spoil();
    const [check = ''] = what.split(': ');
    const { exit, checks, err } = await doctor();
    const state = ends === 'warns' ? 'warning' : 'failed';
    expect(checks[check]).toMatchObject({ state, advice: expect.stringMatching(advice) });
    expect(exit).toBe(ends === 'warns' ? 0 : 1);
    if (ends === 'fails')
      expect(JSON.parse(err).error).toEqual({ code: 'unhealthy', message: expect.stringContaining(check) });
  });

  it.each(['ROLLBACK_COMPLETE', 'ROLLBACK_FAILED', 'CREATE_FAILED'])(
    'suggests commands to deploy a stack again after its first deployment ended as %s',
    async (status) => {
      Object.assign(stacks['a-data'] ?? {}, { status });
      const { checks } = await doctor();
      const advice = checks['stack a-data']?.advice ?? '';
      const commands = advice.match(/(?:aws cloudformation|npx cdk) [^;.]+/g) ?? [];
      const stack = { status, isProtected: true };
      for (const command of commands) cloudFormation(stack, command);
      expect(stack.status).toBe('CREATE_COMPLETE');
    },
  );

  it('reports that the register was never loaded', async () => {
    Object.assign(operations, { GetItem: () => ({ value: {} }) });
    const { exit, checks } = await doctor();
    delete operations.GetItem;
    expect([exit, checks.dataset]).toMatchObject([
      1,
      { state: 'failed', advice: expect.stringContaining('load run --stack a') },
    ]);
  });

  it('reports an invalid key, a missing address, and an exhausted account', async () => {
    const wrong = await doctor('--key', `${key.slice(0, -1)}!`);
    expect(wrong.checks).toMatchObject({
      key: { state: 'failed', found: expect.stringContaining('401') },
      lookup: { state: 'failed' },
    });
    const unsendable = await doctor('--key', `${key}\u2603`);
    expect(unsendable.checks.key).toMatchObject({ state: 'failed' });
    expect(JSON.stringify(unsendable)).not.toContain(key.slice(-35));
    const { checks } = await doctor('--key', key, '--address', '9999AA 9');
    expect(checks.lookup).toMatchObject({ state: 'failed', found: '9999AA 9 is not_found.' });
    const spent = await newAccount(service, { day: 0 });
    expect((await doctor('--key', spent.key)).checks.lookup).toMatchObject({
      state: 'warning',
      found: expect.stringContaining('no quota'),
    });
  });

  it('stops without AWS credentials, and says how to sign in', async () => {
    operations.GetCallerIdentity = () => ({ error: 'ExpiredToken' });
    const { exit, checks } = await doctor();
    expect([exit, Object.keys(checks)]).toEqual([1, ['region', 'credentials', 'everything else']]);
    expect(checks.credentials).toMatchObject({ state: 'failed', advice: expect.stringContaining('aws sso login') });
  });

  it('before the first deployment, checks only the AWS account', async () => {
    delete stacks.CDKToolkit;
    const { exit, out, err } = await run(['doctor']);
    expect(exit).toBe(1);
    expect(out).toMatch(/^failed {3}bootstrap +There is no stack CDKToolkit\.\n +-> .*npx cdk bootstrap/m);
    expect(out).toMatch(/^skipped {2}deployment/m);
    expect(err).toBe('bag-adres: 1 of 5 checks failed: bootstrap.');
  });

  it.each([
    ['--data alone', ['doctor', '--data', '/tmp'], /--local/],
    ['half an address', ['doctor', '--address', '1012RJ'], /like "1012RJ 147"/],
    ['two places', ['doctor', '--local', '--stack', 'a'], /--local/],
  ])('is refused as a usage error: %s', async (_, args, message) => {
    const { exit, out, err } = await run(args);
    expect([exit, out]).toEqual([2, '']);
    expect(err).toMatch(message);
  });
});

describe('doctor --local', () => {
  it('checks the service on this machine', async () => {
    const local = await startLocalRun();
    try {
      await writeLocalState(local.data, {
        pid: process.pid,
        baseUrl: service.baseUrl,
        endpoint: service.endpoint,
        addressesTable: testTables.addresses,
        accountsTable: testTables.accounts,
        checksumSecret: 'unused',
        storageFolder: local.data,
      });
      delete operations.DescribeTable;
      const { exit, out } = await local.run('doctor', '--key', key);
      expect(exit).toBe(0);
      expect(out.match(/^\w+/gm)).toEqual(Array.from({ length: 7 }, () => 'ok'));
    } finally {
      await local.stop();
    }
  });

  it('says how to start the service when it is not running', async () => {
    const { exit, out } = await run(['doctor', '--local', '--data', '/no/such/data']);
    expect(exit).toBe(1);
    expect(out).toMatch(/^failed {3}npm start {2}Nothing is running on \/no\/such\/data\..*\n +-> Start it/);
  });

  it('reports that the folder of --data does not exist', async () => {
    const { exit, out } = await run(['doctor', '--local', '--data', '/dev/null']);
    expect(exit).toBe(1);
    expect(out).toMatch(/^failed {3}npm start {2}\/dev\/null is not a folder\. Give --data the folder/);
  });
});
