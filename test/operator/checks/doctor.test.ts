import { readFileSync } from 'node:fs';
import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { storedLayout } from '../../../core/tables.ts';
import { dynamoDbAddressTable } from '../../../loader/storage/address-table.ts';
import { writeLocalState } from '../../../local/data-folder.ts';
import { newAccount, testTables } from '../../support/address-service.ts';
import { startHttpService } from '../../support/http-service.ts';
import { startForTests } from '../../support/start-for-tests.ts';
import { sweep } from '../../support/sweep.ts';
import { underLock } from '../../support/under-lock.ts';
import { run, startLocalRun } from '../command-line.ts';
import {
  type AwsOperations,
  type FakeStack,
  startFakeAws,
  templateAnswer,
  useAws,
} from '../fake-aws.ts';

type Finding = { check: string; state: string; found: string; advice: string | null };

const caller = '<Arn>arn:aws:iam::123456789012:user/ann</Arn>';
const result = `<GetCallerIdentityResponse><GetCallerIdentityResult>${caller}</GetCallerIdentityResult></GetCallerIdentityResponse>`;
const lambdaSettings = 'GET /2016-08-19/account-settings';
const day = 86_400_000;
const { version } = JSON.parse(readFileSync('package.json', 'utf8'));

/** What the deployed template of the data stack gives its tables. */
const table = (Properties: object) => ({
  Type: 'AWS::DynamoDB::Table',
  Properties: {
    DeletionProtectionEnabled: true,
    PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
    Tags: [{ Key: 'stage', Value: 'a' }],
    ...Properties,
  },
});
const Metadata = { 'bag-adres': { layout: storedLayout } };
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
const alarms = [
  alarm('bag-adres-a-service-AlarmsServerErrors-1X'),
  alarm('bag-adres-a-data-TableAlarms-2X'),
];

let key: string;
const stacks: Record<string, FakeStack> = {};
const operations: AwsOperations = {};

const service = startForTests(startHttpService);
const aws = startForTests(() => startFakeAws(stacks, operations, service.endpoint));
beforeAll(async () => {
  ({ key } = await newAccount(service, { day: 100 }));
  useAws(aws.endpoint);
});
beforeEach(async () => {
  await dataset(20);
  delete stacks['bag-adres-a-portal'];
  Object.assign(stacks, {
    CDKToolkit: { outputs: { BootstrapVersion: '28' } },
    'bag-adres-a-data': {
      outputs: {
        AddressesTableName: testTables.addresses,
        AccountsTableName: testTables.accounts,
        AlarmTopicArn: 'arn:aws:sns:eu-west-1:123456789012:alarms',
      },
    },
    'bag-adres-a-service': {
      status: 'UPDATE_COMPLETE',
      outputs: { BaseUrl: service.baseUrl, Version: version },
    },
    'bag-adres-a-loader': { outputs: {} },
  });
  Object.assign(operations, {
    GetCallerIdentity: () => ({ value: result }),
    [lambdaSettings]: () => concurrency(1000),
    DescribeTable: () => ({
      value: { Table: { TableStatus: 'ACTIVE', DeletionProtectionEnabled: true } },
    }),
    DescribeContinuousBackups: () => recovery('ENABLED'),
    GetTemplate: () => templateAnswer(JSON.stringify({ Metadata, Resources })),
    DescribeTimeToLive: () => timeToLive('ENABLED'),
    ListTagsOfResource: () => ({ value: { Tags: [{ Key: 'stage', Value: 'a' }] } }),
    DescribeAlarms: () => ({ value: { MetricAlarms: alarms } }),
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
    value: {
      ContinuousBackupsDescription: {
        ContinuousBackupsStatus: 'ENABLED',
        PointInTimeRecoveryDescription,
      },
    },
  };
};
const subscribers = (...arns: string[]) => {
  const members = arns
    .map((arn) => `<member><SubscriptionArn>${arn}</SubscriptionArn></member>`)
    .join('');
  const list = `<ListSubscriptionsByTopicResult><Subscriptions>${members}</Subscriptions></ListSubscriptionsByTopicResult>`;
  return { value: `<ListSubscriptionsByTopicResponse>${list}</ListSubscriptionsByTopicResponse>` };
};
const timeToLive = (status: string) => ({
  value: { TimeToLiveDescription: { TimeToLiveStatus: status, AttributeName: 'expires' } },
});
/**
 * What these commands do to a stack that the CDK has protected, as CloudFormation and the CDK
 * document it.
 */
function cloudFormation(stack: { status: string; isProtected: boolean }, command: string): void {
  if (
    /^aws cloudformation update-termination-protection --no-enable-termination-protection /.test(
      command,
    )
  ) {
    stack.isProtected = false;
  } else if (/^aws cloudformation delete-stack /.test(command)) {
    if (stack.isProtected) {
      throw new Error(
        'ValidationError: Stack cannot be deleted while TerminationProtection is enabled',
      );
    }
    stack.status = 'DELETE_COMPLETE';
  } else if (/^npx cdk deploy /.test(command)) {
    // A stack that could not be created is deleted first.
    if (stack.status !== 'DELETE_COMPLETE') {
      cloudFormation(stack, 'aws cloudformation delete-stack ');
    }
    stack.status = 'CREATE_COMPLETE';
  }
}

async function doctor(
  ...args: string[]
): Promise<{ exit: number | null; checks: Record<string, Finding>; err: string }> {
  const { exit, out, err } = await run(['doctor', '--stage', 'a', '--json', ...args]);
  const { checks, healthy } = JSON.parse(out) as { healthy: boolean; checks: Finding[] };
  expect(healthy).toBe(exit === 0);
  for (const { state, advice } of checks) {
    if (state === 'warning' || state === 'failed') expect(advice).toBeTruthy();
  }
  return {
    exit,
    checks: Object.fromEntries(checks.map((finding) => [finding.check, finding])),
    err,
  };
}

describe('doctor', () => {
  it('reports a healthy deployment, and looks up an address', async () => {
    const { exit, checks, err } = await doctor('--key', key, '--address', '1012 RJ 147');
    expect([exit, err]).toEqual([0, '']);
    expect(Object.values(checks).map(({ state }) => state)).toEqual(
      Array.from({ length: 16 }, () => 'ok'),
    );
    expect(checks.alarms?.found).toBe('2 alarms notify 1 subscription');
    expect(checks['accounts table']?.found).toMatch(
      /is ACTIVE, with recovery, protection, TTL and tags as deployed$/,
    );
    expect(checks.version?.found).toBe(`${version}, as this command line`);
    expect(checks.credentials?.found).toBe('arn:aws:iam::123456789012:user/ann');
    expect(checks.dataset?.found).toMatch(/^the register of 20\d\d-/);
    expect(checks.key?.found).toMatch(/limits \{"day":100\}/);
    expect(checks.lookup?.found).toMatch(
      /^1012RJ 147 is Nieuwezijds Voorburgwal, Amsterdam, in \d+ ms$/,
    );
  });

  it('reads the key from the environment, and an address from the table', async () => {
    const { out } = await run(['doctor', '--stage', 'a'], { BAG_ADRES_KEY: key });
    expect(out).toMatch(/^ok {7}lookup .* is .*, in \d+ ms$/m);
    expect(out).not.toContain(key);
  });

  it('without a key, looks up no address and says how to', async () => {
    const { exit, checks } = await doctor();
    expect([exit, checks.key?.state, checks.lookup?.state]).toEqual([0, 'skipped', 'skipped']);
    expect(checks.lookup?.advice).toContain('BAG_ADRES_KEY');
  });

  /** What is wrong, by `check: what`, with the advice about it and how it comes about. */
  type Wrong = Record<string, [advice: RegExp, spoil: () => unknown]>;
  const warnings: Wrong = {
    'accounts table: a table whose items no longer expire': [
      /A deployment does not bring this back.*\naws dynamodb update-time-to-live --table-name \S+ --time-to-live-specification Enabled=true,AttributeName=expires$/,
      answers('DescribeTimeToLive', timeToLive('DISABLED')),
    ],
    'addresses table: a table without its tags': [
      /aws dynamodb tag-resource --resource-arn \S* --tags 'Key=stage,Value=a'$/,
      answers('ListTagsOfResource', { value: { Tags: [] } }),
    ],
    'addresses table: a table that can be deleted': [
      /aws dynamodb update-table --table-name \S+ --deletion-protection-enabled$/,
      answers('DescribeTable', { value: { Table: { TableStatus: 'ACTIVE' } } }),
    ],
    'alarms: only those of another stage': [
      /find-and-revert-manual-changes/,
      alarmsAre([alarm('bag-adres-a-b-data-Failed', 'ALARM')]),
    ],
    'alarms: alarms whose actions are switched off': [
      /enable-alarm-actions --alarm-names bag-adres-a-service-AlarmsServerErrors-1X bag-adres-a-data-TableAlarms-2X$/,
      alarmsAre(alarms.map((one) => ({ ...one, ActionsEnabled: false }))),
    ],
    'alarms: none': [/find-and-revert-manual-changes/, alarmsAre([])],
    'lambda quota: few functions at once': [
      /runbook\.md#concurrency[\s\S]*runs at most 2 functions at once/,
      answers(lambdaSettings, concurrency(10)),
    ],
    'alarms: no subscriber': [
      /alarmEmail in bag-adres\.json/,
      answers('ListSubscriptionsByTopic', subscribers()),
    ],
    'alarms: a subscription that was never confirmed': [
      /link in the email/,
      answers('ListSubscriptionsByTopic', subscribers('PendingConfirmation')),
    ],
    'stack bag-adres-a-service: an undone deployment': [
      /deploy again/,
      stackIs('bag-adres-a-service', { status: 'UPDATE_ROLLBACK_COMPLETE' }),
    ],
    'version: another than its own': [
      /npm install --save-exact bag-adres@0\.0\.1/,
      hasOutputs('bag-adres-a-service', { Version: '0.0.1' }),
    ],
    'bootstrap: no bootstrap stack': [/npx cdk bootstrap/, () => void delete stacks.CDKToolkit],
  };
  const failures: Wrong = {
    'stack bag-adres-a-portal: a portal whose stack is broken': [
      /continue-update-rollback --stack-name bag-adres-a-portal/,
      stackIs('bag-adres-a-portal', { status: 'UPDATE_ROLLBACK_FAILED' }),
    ],
    'accounts table: one without recovery': [
      /aws dynamodb update-continuous-backups --table-name \S+ --point-in-time-recovery-specification PointInTimeRecoveryEnabled=true$/,
      answers('DescribeContinuousBackups', recovery('DISABLED')),
    ],
    'addresses table: one that no longer exists': [
      /^Restore it: docs\/runbook\.md#restore-a-table\.$/,
      answers('DescribeTable', { error: 'ResourceNotFoundException' }),
    ],
    'layout: a deployment from before the layouts had numbers': [
      /^Run no command of this version on it: the release notes \(CHANGELOG\.md\) say/,
      answers('GetTemplate', templateAnswer(JSON.stringify({ Resources }))),
    ],
    'stack bag-adres-a-loader: a broken one': [
      /describe-stack-events --stack-name bag-adres-a-loader says why\.\nFix that, delete the stack/,
      stackIs('bag-adres-a-loader', { status: 'CREATE_FAILED' }),
    ],
    'stack bag-adres-a-loader: one that was never created': [
      /cdk deploy --all/,
      () => void delete stacks['bag-adres-a-loader'],
    ],
    'api: an interface that is not there': [
      /docs\/runbook\.md/,
      stackIs('bag-adres-a-service', { outputs: { BaseUrl: 'http://127.0.0.1:1' } }),
    ],
    'lambda quota: what it may not read': [
      /Allow this identity/,
      answers(lambdaSettings, {
        error: 'AccessDeniedException',
        message: 'lambda:GetAccountSettings',
      }),
    ],
  };

  const wrong = [
    ...Object.entries(warnings).map(([what, row]) => ['warns', what, ...row] as const),
    ...Object.entries(failures).map(([what, row]) => ['fails', what, ...row] as const),
  ];
  it.each(sweep(wrong, 3))('%s of %s', async (ends, what, advice, spoil) => {
    await spoil();
    const [check = ''] = what.split(': ');
    const { exit, checks, err } = await doctor();
    const state = ends === 'warns' ? 'warning' : 'failed';
    expect(checks[check]).toMatchObject({ state, advice: expect.stringMatching(advice) });
    expect(exit).toBe(ends === 'warns' ? 0 : 1);
    if (ends === 'fails') {
      expect(JSON.parse(err).error).toEqual({
        code: 'unhealthy',
        message: expect.stringContaining(check),
      });
    }
  });

  it.each(sweep(['ROLLBACK_COMPLETE', 'ROLLBACK_FAILED', 'CREATE_FAILED'], 1))(
    'suggests commands to deploy a stack again after its first deployment ended as %s',
    async (status) => {
      Object.assign(stacks['bag-adres-a-data'] ?? {}, { status });
      const { checks } = await doctor();
      const advice = checks['stack bag-adres-a-data']?.advice ?? '';
      const commands = advice.match(/^(?:aws cloudformation|npx cdk) .+$/gm) ?? [];
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
      { state: 'failed', advice: expect.stringContaining('load run --stage a') },
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
    expect(checks.credentials).toMatchObject({
      state: 'failed',
      advice: expect.stringContaining('aws sso login'),
    });
  });

  it('before the first deployment, checks only the AWS account', async () => {
    delete stacks.CDKToolkit;
    const { exit, out, err } = await run(['doctor']);
    expect(exit).toBe(1);
    expect(out).toMatch(
      /^failed {3}bootstrap +There is no stack CDKToolkit\.\n +-> .*npx cdk bootstrap/m,
    );
    expect(out).toMatch(/^skipped {2}deployment/m);
    expect(err).toBe('bag-adres: 1 of 5 checks failed: bootstrap.');
  });

  it.each([
    ['--data alone', ['doctor', '--data', '/tmp'], /--local/],
    ['half an address', ['doctor', '--address', '1012RJ'], /like "1012RJ 147"/],
    ['two places', ['doctor', '--local', '--stage', 'a'], /--local/],
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
    expect(out).toMatch(
      /^failed {3}npm start {2}Nothing is running on \/no\/such\/data\..*\n +-> Start it/,
    );
  });

  it('reports that the folder of --data does not exist', async () => {
    const { exit, out } = await run(['doctor', '--local', '--data', '/dev/null']);
    expect(exit).toBe(1);
    expect(out).toMatch(
      /^failed {3}npm start {2}\/dev\/null is not a folder\. Give --data the folder/,
    );
  });
});
