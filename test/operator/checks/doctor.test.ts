import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { dynamoDbAddressTable } from '../../../loader/storage/address-table.ts';
import { writeLocalState } from '../../../local/data-folder.ts';
import { newAccount, testTables } from '../../support/address-service.ts';
import { type HttpService, startHttpService } from '../../support/http-service.ts';
import { type RangeServer, startRangeServer } from '../../support/range-server.ts';
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

  it.each<[check: string, state: string, RegExp, what: string, () => unknown]>([
    ['dataset', 'warning', /published monthly.*load status --stack a/, 'an old register', () => dataset(46)],
    [
      'dataset',
      'warning',
      /Mutations are published daily/,
      'a register that is a week behind its mutations',
      () => dataset(8).then(hasOutputs('a-loader', { MutationsSource: 'https://example.nl/' })),
    ],
    [
      'source',
      'warning',
      /Wait until its server is back/,
      'a server of the source that is down, which does not fail a deployment',
      hasOutputs('a-loader', { ExtractSource: 'http://127.0.0.1:1/extract.zip' }),
    ],
    [
      'accounts settings',
      'warning',
      /A deployment does not bring them back.*TTL/,
      'a table whose items no longer expire',
      answers('DescribeTimeToLive', timeToLive('DISABLED')),
    ],
    [
      'addresses settings',
      'warning',
      /A deployment does not bring them back/,
      'a table without its tags',
      answers('ListTagsOfResource', { value: { Tags: [] } }),
    ],
    [
      'alarm states',
      'warning',
      /^What a-loader-Failed says\. What to do: \S+$/,
      'an alarm that is on, and no alarm of another deployment',
      answers('DescribeAlarms', {
        value: { MetricAlarms: [...alarms, alarm('a-loader-Failed', 'ALARM'), alarm('a-b-data-Failed', 'ALARM')] },
      }),
    ],
    [
      'alarm states',
      'warning',
      /enable-alarm-actions --alarm-names a-service-AlarmsServerErrors-1X a-data-TableAlarms-2X$/,
      'alarms whose actions are switched off',
      answers('DescribeAlarms', { value: { MetricAlarms: alarms.map((one) => ({ ...one, ActionsEnabled: false })) } }),
    ],
    ['backups', 'warning', /backup-late/, 'a backup that is late', answers('GetMetricStatistics', lastSet(3))],
    [
      'backups',
      'warning',
      /recovery\.md#backup-sets/,
      'backups that never leave the account',
      () => void delete stacks['a-loader']?.outputs.BackupRoleArn,
    ],
    [
      'portal',
      'failed',
      /portal-sign-in-fails/,
      'a portal that does not lead to its provider',
      () => hasOutputs('a-portal', { PortalUrl: service.baseUrl })(),
    ],
    [
      'client secret',
      'failed',
      /client-secret-ends/,
      'a client secret that has ended',
      () => hasOutputs('a-portal', { PortalUrl: service.baseUrl, ClientSecretExpires: '2020-01-31' })(),
    ],
    [
      'stack a-portal',
      'failed',
      /continue-update-rollback --stack-name a-portal/,
      'a portal whose stack is broken',
      stackIs('a-portal', { status: 'UPDATE_ROLLBACK_FAILED' }),
    ],
    [
      'lambda quota',
      'warning',
      /L-B99A9384.*runs at most 2 functions at once/,
      'few functions at once',
      answers(lambdaSettings, concurrency(10)),
    ],
    [
      'accounts backup',
      'failed',
      /Enable it again/,
      'no backups',
      answers('DescribeContinuousBackups', recovery('DISABLED')),
    ],
    [
      'addresses backup',
      'warning',
      /retain/,
      'a table that can be deleted',
      answers('DescribeTable', { value: { Table: { TableStatus: 'ACTIVE' } } }),
    ],
    [
      'addresses table',
      'failed',
      /^A table that was deleted can be restored: docs\/runbook\.md#lost-table\.$/,
      'a table that no longer exists',
      answers('DescribeTable', { error: 'ResourceNotFoundException' }),
    ],
    [
      'alarms',
      'warning',
      /alarmEmail in bag-adres\.json/,
      'alarms without a subscriber',
      answers('ListSubscriptionsByTopic', subscribers()),
    ],
    [
      'alarms',
      'warning',
      /link in the email/,
      'a subscription to the alarms that was never confirmed',
      answers('ListSubscriptionsByTopic', subscribers('PendingConfirmation')),
    ],
    [
      'last load',
      'warning',
      /load follow load-1 --stack a/,
      'a load that failed',
      answers('ListExecutions', lastLoad('FAILED')),
    ],
    [
      'last load',
      'warning',
      /load run --stack a/,
      'no load yet',
      answers('ListExecutions', { value: { executions: [] } }),
    ],
    [
      'stack a-service',
      'warning',
      /deploy again/,
      'an undone deployment',
      stackIs('a-service', { status: 'UPDATE_ROLLBACK_COMPLETE' }),
    ],
    [
      'stack a-loader',
      'failed',
      /stack events in CloudFormation.*delete the failed stack/,
      'a broken stack',
      stackIs('a-loader', { status: 'CREATE_FAILED' }),
    ],
    [
      'source',
      'failed',
      /Set source in bag-adres\.json.*--extract/,
      'an extract that has moved',
      () => hasOutputs('a-loader', { ExtractSource: `${source.serve('x', Buffer.alloc(1))}y` })(),
    ],
    [
      'version',
      'warning',
      /npm install bag-adres@0\.0\.1/,
      'another version than its own',
      hasOutputs('a-service', { Version: '0.0.1' }),
    ],
    [
      'stack a-loader',
      'failed',
      /cdk deploy --all/,
      'a stack that was never created',
      () => void delete stacks['a-loader'],
    ],
    ['bootstrap', 'warning', /npx cdk bootstrap/, 'no bootstrap stack', () => void delete stacks.CDKToolkit],
    [
      'api',
      'failed',
      /docs\/runbook\.md/,
      'an interface that is not there',
      stackIs('a-service', { outputs: { BaseUrl: 'http://127.0.0.1:1' } }),
    ],
    [
      'lambda quota',
      'failed',
      /Allow this identity/,
      'what it may not read',
      answers(lambdaSettings, { error: 'AccessDeniedException', message: 'lambda:GetAccountSettings' }),
    ],
  ])('of %s: %s, %s for %s', async (check, state, advice, _, spoil) => {
    await spoil();
    const { exit, checks, err } = await doctor();
    expect(checks[check]).toMatchObject({ state, advice: expect.stringMatching(advice) });
    expect(exit).toBe(state === 'failed' ? 1 : 0);
    if (state === 'failed')
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
