import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { january, voorkomensOf } from '../../test/loader/steps/months.ts';
import { writeExtract, writeZip } from '../../test/support/write-extract.ts';
import { priceList } from '../bench/cost-model.ts';
import { root } from '../judges/judge.ts';
import { run as runIn } from '../package/checks.ts';
import type { Step } from './run-steps.ts';
import { type Answer, assetBucket, deployment, stage, type Trial, toolkit } from './trial.ts';

const account = 'prove';
const restored = `${deployment}-accounts-2`;
const portalName = `${deployment}.example.nl`;
/** The vault that the plan of AWS Backup copies to. */
const copies = `${deployment}-copies`;
const idOf = (key: string) => key.split('_')[2]?.slice(0, 8) ?? '';
const ms = (milliseconds: number) => `${Math.round(milliseconds)} ms`;

/** What a trial does, in order; every step builds on those before it. */
export const steps: readonly Step<Trial>[] = [
  {
    name: 'bootstrap',
    asks: 'makes the bucket and the roles of the CDK, under names of their own (2 minutes)',
    async run(trial) {
      await trial.bootstrap();
      return toolkit;
    },
    async undo(trial) {
      await trial.aws('cloudformation', 'delete-stack', { StackName: toolkit });
      await until(trial, async () => !(await stackNames(trial)).includes(toolkit));
      await deleteBucket(trial, assetBucket(trial.account, trial.place.region));
    },
  },
  {
    name: 'deploy',
    asks: `deploys the stage ${stage} (10 minutes)`,
    async run(trial) {
      await trial.deploy();
      return `${(await stackNames(trial)).join(', ')} at ${trial.output('BaseUrl')}`;
    },
    async undo(trial) {
      await trial.destroy().catch(() => trial.destroy());
      // A function that ends after them makes another log group, or writes to an emptied bucket.
      for (const bucket of await named(trial, ['s3api', 'list-buckets', 'Buckets', 'Name'])) {
        if (bucket.startsWith(deployment)) await deleteBucket(trial, bucket);
      }
      for (const logGroupName of await named(trial, [
        'logs',
        'describe-log-groups',
        'logGroups',
        'logGroupName',
      ])) {
        await trial.aws('logs', 'delete-log-group', { logGroupName });
      }
    },
  },
  {
    name: 'failed-map',
    asks: 'loads a damaged extract, on which a map of the state machine fails, and discards its work (5 minutes)',
    async run(trial) {
      const damaged = join(trial.folder, 'damaged.zip');
      writeFileSync(damaged, await damagedExtract());
      const output = await trial.onTrial('load', 'run', '--extract', damaged).then(
        (text) => `published:\n${text}`,
        ({ message }: Error) => message,
      );
      if (output.startsWith('published')) throw new Error(`the load did not fail: ${output}`);
      // The status names a failed load only if the error of the map does, as moto's.
      const work = { Bucket: trial.output('SnapshotBucketName'), Prefix: 'loads/' };
      const { Contents = [] } = await trial.aws('s3api', 'list-objects-v2', work);
      const [load] = /\d{4}-\d\d-\d\d-[0-9a-f]{10}/.exec(JSON.stringify(Contents)) ?? [];
      if (load === undefined) throw new Error(`no work of a load to discard after ${output}`);
      const discarded = await trial.onTrial('load', 'discard', load, '--yes');
      return `${output.trim().split('\n').at(-1)}; ${discarded.trim()}`;
    },
  },
  {
    name: 'load',
    asks: 'loads Weesp (5 minutes)',
    async run(trial) {
      const output = await trial.onTrial('load', 'run', '--extract', trial.extract);
      if (!output.includes('11,920 added')) throw new Error(output);
      return '11,920 addresses';
    },
  },
  {
    name: 'keys',
    asks: 'makes an account with two keys and revokes one',
    async run(trial) {
      await trial.onTrial('plan', 'put', account, '--limit', 'day=1000000');
      await trial.onTrial('account', 'create', account, '--plan', account);
      const create = async (label: string): Promise<string> =>
        JSON.parse(
          await trial.onTrial('key', 'create', '--account', account, '--label', label, '--json'),
        ).key;
      trial.key = await create('trial');
      const other = await create('revoked');
      const before = await expectStatus(trial, 200, other);
      await trial.onTrial('key', 'revoke', idOf(other), '--account', account, '--yes');
      const after = await expectStatus(trial, 401, other);
      await expectStatus(trial, 200);
      return `200 in ${ms(before.milliseconds)}; revoked, the next request is 401 in ${ms(after.milliseconds)}`;
    },
  },
  {
    name: 'lookups',
    asks: 'makes 10,000 lookups, whose count must be exact (5 minutes)',
    async run(trial) {
      const { lookups, callers } = trial.place.scale;
      const answers: Answer[] = [];
      const caller = async () => {
        while (answers.length < lookups && !trial.signal.aborted) {
          answers.push(await trial.lookUp());
        }
      };
      await Promise.all(Array.from({ length: callers }, caller));
      return `${summary(answers)}; ${await exactCount(trial)}`;
    },
  },
  {
    name: 'one-item',
    asks: 'makes 1,000 lookups a second with one key, whose account is one item, for a minute',
    async run(trial) {
      const { perSecond, seconds } = trial.place.scale;
      const answers: Promise<Answer>[] = [];
      const started = performance.now();
      while (answers.length < perSecond * seconds && !trial.signal.aborted) {
        const due = ((performance.now() - started) / 1000) * perSecond;
        while (answers.length < Math.min(due, perSecond * seconds)) answers.push(trial.lookUp());
        await trial.wait(0.01);
      }
      const shown = summary(await Promise.all(answers));
      return `${shown}; ${await exactCount(trial)}`;
    },
  },
  {
    name: 'freezes',
    asks: 'looks up after 1, 3, 8 and 30 minutes without a request (42 minutes)',
    async run(trial) {
      const shown: string[] = [];
      await expectInvoked(trial);
      for (const minutes of trial.place.scale.freezeMinutes) {
        await trial.wait(minutes * 60);
        const { milliseconds, log } = await expectInvoked(trial);
        const environment = /Init Duration|platform\.initReport/.test(log)
          ? 'a new environment'
          : 'the frozen one';
        const socket = /ECONNRESET|EPIPE|socket hang up/i.exec(log)?.[0] ?? 'no dead socket';
        shown.push(`after ${minutes} min 200 in ${ms(milliseconds)} by ${environment}, ${socket}`);
      }
      return shown.join('; ');
    },
  },
  {
    name: 'restore',
    asks: 'restores the accounts table at a point in time, deploys with it, and goes back (30 minutes)',
    async run(trial) {
      const SourceTableName = trial.output('AccountsTableName');
      const since = `${new Date().toISOString().slice(0, 19)}Z`;
      const json = await trial.onTrial(
        'key',
        'create',
        '--account',
        account,
        '--label',
        'later',
        '--json',
      );
      const later: string = JSON.parse(json).key;
      await trial.aws('dynamodb', 'restore-table-to-point-in-time', {
        SourceTableName,
        TargetTableName: restored,
        UseLatestRestorableTime: true,
      });
      await until(trial, async () => {
        const { Table } = await trial.aws('dynamodb', 'describe-table', { TableName: restored });
        return Table.TableStatus === 'ACTIVE';
      });
      await trial.onTrial('key', 'revoke', idOf(later), '--account', account, '--yes');
      const over = ['restore', 'carry-over', '--from', SourceTableName, '--since', since];
      await trial.bagAdres(...over, '--accounts-table', restored, '--yes');
      await trial.deploy({ tables: { accounts: { name: restored } } });
      const used = await expectStatus(trial, 200);
      const refused = await trial.lookUp(later);
      if (refused.status !== 401) {
        throw new Error(`the key that was revoked meanwhile is answered with ${refused.status}`);
      }
      const gate = await trial.bagAdres('gate', '--stage', stage);
      await trial.deploy();
      await expectStatus(trial, 200);
      return `used: 200 in ${ms(used.milliseconds)}, the revoked key 401; gate: ${gate.trim().split('\n').at(-1)}; back: 200`;
    },
    async undo(trial) {
      const { TableNames } = await trial.aws('dynamodb', 'list-tables');
      if (TableNames.includes(restored)) {
        await trial.aws('dynamodb', 'delete-table', { TableName: restored });
      }
    },
  },
  {
    name: 'backup',
    asks: 'deploys a plan of AWS Backup, backs the accounts table up once by its role, and goes back (30 minutes)',
    async run(trial) {
      if (trial.place.isEmulator) return 'skipped: emulators run no jobs of AWS Backup';
      const { BackupVaultArn } = await trial.aws('backup', 'create-backup-vault', {
        BackupVaultName: copies,
      });
      await trial.deploy({ backupVaultArn: BackupVaultArn });
      const [BackupPlanId] = await physicalIds(trial, 'AWS::Backup::BackupPlan');
      const { BackupSelectionsList } = await trial.aws('backup', 'list-backup-selections', {
        BackupPlanId,
      });
      const [{ IamRoleArn }] = BackupSelectionsList;
      const { Table } = await trial.aws('dynamodb', 'describe-table', {
        TableName: trial.output('AccountsTableName'),
      });
      const [BackupVaultName] = await physicalIds(trial, 'AWS::Backup::BackupVault');
      const { BackupJobId } = await trial.aws('backup', 'start-backup-job', {
        BackupVaultName,
        ResourceArn: Table.TableArn,
        IamRoleArn,
      });
      let job = { State: 'CREATED', StatusMessage: '' };
      await until(trial, async () => {
        job = await trial.aws('backup', 'describe-backup-job', { BackupJobId });
        return /^(?:COMPLETED|FAILED|ABORTED|EXPIRED|PARTIAL)$/.test(job.State);
      });
      if (job.State !== 'COMPLETED') throw new Error(`${job.State}: ${job.StatusMessage}`);
      await deleteBackups(trial);
      await trial.deploy();
      return `a backup of the accounts table by ${IamRoleArn.split('/').at(-1)}`;
    },
    async undo(trial) {
      if (trial.place.isEmulator) return;
      await deleteBackups(trial);
      // With the setting, the vault would be retained when the stacks are destroyed.
      if ((await physicalIds(trial, 'AWS::Backup::BackupPlan')).length > 0) await trial.deploy();
      if ((await vaultNames(trial)).includes(copies)) {
        await trial.aws('backup', 'delete-backup-vault', { BackupVaultName: copies });
      }
    },
  },
  {
    name: 'upgrade',
    asks: 'deploys a next version gradually during lookups, then the one before again (20 minutes)',
    async run(trial) {
      const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
      const next = `${version}-next.1`;
      const out = mkdtempSync(join(trial.folder, 'next-'));
      await runIn(root, 'npm', ['run', 'release', '--', '--dry-run', '--out', out, '--as', next]);
      const shown: string[] = [];
      for (const file of [
        join(out, `bag-adres-${next}.tgz`),
        join(trial.folder, `bag-adres-${version}.tgz`),
      ]) {
        await trial.npm('install', '--no-audit', '--no-fund', '--prefer-offline', file);
        const answers: Answer[] = [];
        let deployed = false;
        const deploying = trial.deploy({}, { gradual: true }).finally(() => (deployed = true));
        while (!deployed) {
          answers.push(await trial.lookUp());
          await trial.wait(trial.place.scale.pollSeconds / 5);
        }
        await deploying;
        if (answers.some(({ status }) => status !== 200)) {
          throw new Error(`during the deployment: ${summary(answers)}`);
        }
        shown.push(`${trial.output('Version')}: ${summary(answers)}`);
      }
      return shown.join('; ');
    },
  },
  {
    name: 'loader-again',
    asks: 'deploys a portal, deletes the stack of the loader, and makes it again beside the portal (20 minutes)',
    async run(trial) {
      const domain = {
        name: portalName,
        certificateArn: await trial.importCertificate(portalName),
      };
      const portal = { domain, signIn: { issuer: 'https://login.example.nl', clientId: 'prove' } };
      await trial.deploy({ portal });
      const before = await loaderSeenByPortal(trial);
      const StackName = `${deployment}-loader`;
      await trial.aws('cloudformation', 'update-termination-protection', {
        StackName,
        EnableTerminationProtection: false,
      });
      await trial.aws('cloudformation', 'delete-stack', { StackName });
      await until(trial, async () => !(await stackNames(trial)).includes(StackName));
      await trial.deploy({ portal }, { only: 'loader' });
      const stale = await loaderSeenByPortal(trial);
      if (stale !== before) throw new Error(`the portal changed without a deployment: ${stale}`);
      await trial.deploy({ portal, tags: { loader: 'again' } }, { only: 'portal' });
      const after = await loaderSeenByPortal(trial);
      const live = [trial.output('SnapshotBucketName'), trial.output('StateMachineArn')].join(' ');
      if (after !== live) throw new Error(`the portal reads ${after}, but the loader has ${live}`);
      await trial.aws('dynamodb', 'delete-item', {
        TableName: trial.output('AddressesTableName'),
        Key: { address: { S: '#dataset' } },
      });
      await trial.onTrial('load', 'run', '--extract', trial.extract);
      await trial.onTrial('load', 'repair', '--yes');
      await expectStatus(trial, 200);
      return `the portal read ${before}, then ${after}; loaded and repaired: 200`;
    },
    async undo(trial) {
      // The steps before know no portal, so their undoing would leave it.
      const StackName = `${deployment}-portal`;
      await trial.aws('cloudformation', 'delete-stack', { StackName });
      await until(trial, async () => !(await stackNames(trial)).includes(StackName));
      await trial.removeCertificate();
    },
  },
  { name: 'bill', asks: 'computes from CloudWatch what the metered use costs', run: bill },
];

/** A small extract whose nummeraanduidingen are no XML: a map is the first to read them. */
async function damagedExtract(): Promise<Buffer> {
  const name = `9999NUM${january.peildatum.split('-').reverse().join('')}`;
  const xml = { name: `${name}-000001.xml`, bytes: Buffer.from('no XML'), compress: false };
  const extra = { [`${name}.zip`]: await writeZip([xml]) };
  return writeExtract(january.peildatum, voorkomensOf(january), { extra });
}

async function expectStatus(trial: Trial, status: number, key?: string): Promise<Answer> {
  const answer = await trial.lookUp(key);
  if (answer.status === status) return answer;
  throw new Error(`${answer.status} ${JSON.stringify(answer.body)}, not ${status}`);
}

async function expectInvoked(trial: Trial): Promise<Answer> {
  const answer = await trial.invoke();
  if (answer.status === 200) return answer;
  throw new Error(`${answer.status} ${JSON.stringify(answer.body)}\n${answer.log}`);
}

/** How many answers had each status, and how long they took. */
function summary(answers: readonly Answer[]): string {
  const statuses = new Map<number, number>();
  for (const { status } of answers) statuses.set(status, (statuses.get(status) ?? 0) + 1);
  const times = answers.map(({ milliseconds }) => milliseconds).sort((a, b) => a - b);
  const share = (part: number) =>
    ms(times[Math.min(times.length - 1, Math.floor(times.length * part))] ?? 0);
  const counts = [...statuses].map(([status, count]) => `${count} times ${status}`).join(', ');
  return `${counts}; median ${share(0.5)}, 99% within ${share(0.99)}`;
}

/** Compares the count of the quota with the answers. */
async function exactCount(trial: Trial): Promise<string> {
  const { days } = JSON.parse(await trial.onTrial('account', 'usage', account, '--json'));
  const counted = days.reduce(
    (total: number, { lookups }: { lookups: number }) => total + lookups,
    0,
  );
  const { charged, unknown } = trial;
  const answered = `${counted} counted for ${charged} answers with 200 and ${unknown} with 503`;
  // A 503 may be counted: its response says that the outcome is unknown.
  if (counted < charged || counted > charged + unknown) throw new Error(answered);
  return answered;
}

/** The bucket and the state machine whose names the function of the portal has. */
async function loaderSeenByPortal(trial: Trial): Promise<string> {
  const input = { StackName: `${deployment}-portal` };
  const { StackResources } = await trial.aws('cloudformation', 'describe-stack-resources', input);
  const isIt = (resource: { ResourceType: string; LogicalResourceId: string }) =>
    resource.ResourceType === 'AWS::Lambda::Function' &&
    resource.LogicalResourceId.startsWith('PortalFunction');
  const FunctionName: string = StackResources.find(isIt).PhysicalResourceId;
  const { Environment } = await trial.aws('lambda', 'get-function-configuration', { FunctionName });
  const { SNAPSHOT_BUCKET, LOAD_MACHINE_ARN } = Environment.Variables;
  return `${SNAPSHOT_BUCKET} ${LOAD_MACHINE_ARN}`;
}

async function bill(trial: Trial): Promise<string> {
  const prices = priceList.regions[trial.place.region];
  if (!prices) return `No prices of ${trial.place.region} are known.`;
  const price = (name: string) => Number(prices[name]);
  /** The sum of a metric for each resource of the trial. */
  const metered = async (
    Namespace: string,
    MetricName: string,
  ): Promise<[resource: string, sum: number][]> => {
    const { Metrics = [] } = await trial.aws('cloudwatch', 'list-metrics', {
      Namespace,
      MetricName,
    });
    const sums: [string, number][] = [];
    for (const { Dimensions } of Metrics) {
      if (Dimensions.length !== 1 || !Dimensions[0].Value.startsWith(deployment)) continue;
      const hours = {
        StartTime: trial.begun.toISOString(),
        EndTime: new Date().toISOString(),
        Period: 3_600,
      };
      const input = { Namespace, MetricName, Dimensions, Statistics: ['Sum'], ...hours };
      const { Datapoints } = await trial.aws('cloudwatch', 'get-metric-statistics', input);
      sums.push([Dimensions[0].Value, sum(Datapoints.map(({ Sum }: { Sum: number }) => Sum))]);
    }
    return sums;
  };
  const total = async (namespace: string, metric: string) =>
    sum((await metered(namespace, metric)).map(([, one]) => one));
  const { Functions } = await trial.aws('lambda', 'list-functions');
  const gigabytes = (name: string) =>
    Functions.find(({ FunctionName }: { FunctionName: string }) => FunctionName === name)
      .MemorySize / 1024;
  const durations = await metered('AWS/Lambda', 'Duration');
  const time = durations.map(([name, duration]) => (duration / 1_000) * gigabytes(name));
  const invocations = await total('AWS/Lambda', 'Invocations');
  const writes = await total('AWS/DynamoDB', 'ConsumedWriteCapacityUnits');
  const reads = await total('AWS/DynamoDB', 'ConsumedReadCapacityUnits');
  const [requests] = prices.api_gateway_http_per_million as { price: number }[];
  const dollars = {
    'API Gateway': trial.charged * (requests?.price ?? Number.NaN),
    Lambda:
      invocations * price('lambda_per_million_requests') +
      sum(time) * price('lambda_arm64_per_gb_second') * 1e6,
    DynamoDB:
      writes * price('dynamodb_per_million_write_units') +
      reads * price('dynamodb_per_million_read_units'),
  };
  const bills = Object.entries(dollars).map(
    ([service, amount]) => `${service} $${(amount / 1e6).toFixed(4)}`,
  );
  const use = `${trial.charged} lookups, ${invocations} invocations, ${writes} writes, ${reads} reads`;
  return `${use}: ${bills.join(', ')}. CloudWatch is up to 15 minutes late`;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, one) => total + one, 0);
}

/** Polls until the condition holds, also while the trial ends. */
async function until({ place }: Trial, holds: () => Promise<boolean>): Promise<void> {
  while (!(await holds())) await sleep(place.scale.pollSeconds * 1_000);
}

/** What CloudFormation calls the resources of a type in the data stack. */
async function physicalIds(trial: Trial, type: string): Promise<string[]> {
  const input = { StackName: `${deployment}-data` };
  const { StackResources } = await trial.aws('cloudformation', 'describe-stack-resources', input);
  return StackResources.filter(
    ({ ResourceType }: { ResourceType: string }) => ResourceType === type,
  ).map(({ PhysicalResourceId }: { PhysicalResourceId: string }) => PhysicalResourceId);
}

/** Deletes what is in the vaults of the trial: a vault with backups can't be deleted. */
async function deleteBackups(trial: Trial): Promise<void> {
  for (const BackupVaultName of await vaultNames(trial)) {
    await until(trial, async () => {
      const { RecoveryPoints } = await trial.aws('backup', 'list-recovery-points-by-backup-vault', {
        BackupVaultName,
      });
      for (const { RecoveryPointArn, Status } of RecoveryPoints) {
        if (Status === 'DELETING') continue;
        const input = { BackupVaultName, RecoveryPointArn };
        await trial.aws('backup', 'delete-recovery-point', input);
      }
      return RecoveryPoints.length === 0;
    });
  }
}

const vaultNames = (trial: Trial) =>
  named(trial, ['backup', 'list-backup-vaults', 'BackupVaultList', 'BackupVaultName']);

async function deleteBucket(trial: Trial, Bucket: string): Promise<void> {
  const { Buckets } = await trial.aws('s3api', 'list-buckets');
  if (!Buckets.some(({ Name }: { Name: string }) => Name === Bucket)) return;
  for (;;) {
    const { Versions = [], DeleteMarkers = [] } = await trial.aws('s3api', 'list-object-versions', {
      Bucket,
    });
    const objects = [...Versions, ...DeleteMarkers].slice(0, 1_000);
    if (objects.length === 0) break;
    const Objects = objects.map(({ Key, VersionId }) => ({ Key, VersionId }));
    await trial.aws('s3api', 'delete-objects', { Bucket, Delete: { Objects, Quiet: true } });
  }
  await trial.aws('s3api', 'delete-bucket', { Bucket });
}

/** How the AWS CLI lists all of a kind, and the member that names one. */
const lists = [
  ['cloudformation', 'describe-stacks', 'Stacks', 'StackName'],
  ['dynamodb', 'list-tables', 'TableNames', ''],
  ['lambda', 'list-functions', 'Functions', 'FunctionName'],
  ['stepfunctions', 'list-state-machines', 'stateMachines', 'name'],
  ['secretsmanager', 'list-secrets', 'SecretList', 'Name'],
  ['sns', 'list-topics', 'Topics', 'TopicArn'],
  ['s3api', 'list-buckets', 'Buckets', 'Name'],
  ['iam', 'list-roles', 'Roles', 'RoleName'],
  ['logs', 'describe-log-groups', 'logGroups', 'logGroupName'],
  ['apigatewayv2', 'get-apis', 'Items', 'Name'],
  ['cloudwatch', 'describe-alarms', 'MetricAlarms', 'AlarmName'],
  ['cloudwatch', 'list-dashboards', 'DashboardEntries', 'DashboardName'],
  ['scheduler', 'list-schedules', 'Schedules', 'Name'],
  ['backup', 'list-backup-plans', 'BackupPlansList', 'BackupPlanName'],
  ['backup', 'list-backup-vaults', 'BackupVaultList', 'BackupVaultName'],
  ['ecr', 'describe-repositories', 'repositories', 'repositoryName'],
  ['ssm', 'describe-parameters', 'Parameters', 'Name'],
  ['acm', 'list-certificates', 'CertificateSummaryList', 'DomainName'],
] as const;

async function named(
  trial: Trial,
  [service, operation, list, member]: readonly string[],
): Promise<string[]> {
  const answer = await trial.aws(service ?? '', operation ?? '');
  const names = (answer[list ?? ''] ?? []).map((entry: Record<string, string>) =>
    member ? entry[member] : entry,
  );
  return names.filter((name: string) => /bag-?adres-prove|bagadresprove|bagprove/i.test(name));
}

const stackNames = (trial: Trial) => named(trial, lists[0]);

/** What the services of AWS list that belongs to the trial. */
export async function remains(trial: Trial): Promise<string[]> {
  const found: string[] = [];
  for (const list of lists) {
    found.push(...(await named(trial, list)).map((name) => `${list[0]}: ${name}`));
  }
  return found;
}
