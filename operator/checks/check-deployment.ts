import { connect, type PeerCertificate, type TLSSocket } from 'node:tls';
import {
  type CloudWatchClient,
  DescribeAlarmsCommand,
  GetMetricStatisticsCommand,
  type MetricAlarm,
} from '@aws-sdk/client-cloudwatch';
import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { GetAccountSettingsCommand, type LambdaClient } from '@aws-sdk/client-lambda';
import { ListExecutionsCommand, type SFNClient } from '@aws-sdk/client-sfn';
import { ListSubscriptionsByTopicCommand, type SNSClient } from '@aws-sdk/client-sns';
import { GetCallerIdentityCommand, type STSClient } from '@aws-sdk/client-sts';
import { metricNames, metricNamespaceOf, requestDimensions } from '../../core/names.ts';
import { secretNoticeDays } from '../../lib/config/fields.ts';
import { loadDefaults } from '../../loader/names.ts';
import { dynamoDbAddressTable } from '../../loader/storage/address-table.ts';
import { openSource } from '../../loader/storage/open.ts';
import { SourceUnavailableError } from '../../loader/storage/source.ts';
import { ifMissing, readStack } from '../connect/deployment.ts';
import { currentSettings, deployedSettings, findTable, missingSettings, type TableName } from './table-settings.ts';

/** What one check found, and what to do about it. `warning`: it works now, but may not for everyone or much longer. */
export type CheckOutcome = {
  state: 'ok' | 'warning' | 'failed' | 'skipped';
  found: string;
  advice: string | null;
};

/** Nothing to do. */
export function okay(found: string): CheckOutcome {
  return { state: 'ok', found, advice: null };
}

/** It works, but needs attention. */
export function warning(found: string, advice: string): CheckOutcome {
  return { state: 'warning', found, advice };
}

/** It does not work. */
export function failed(found: string, advice: string): CheckOutcome {
  return { state: 'failed', found, advice };
}

/** It was not checked. */
export function skipped(found: string, advice: string | null = null): CheckOutcome {
  return { state: 'skipped', found, advice };
}

const day = 86_400_000;

/** The AWS identity of the operator. */
export async function checkCredentials(client: STSClient): Promise<CheckOutcome> {
  const { Arn = 'unknown' } = await client.send(new GetCallerIdentityCommand());
  return okay(Arn);
}

/** The stacks have assets, which need this version of the bootstrap stack or a newer one. */
const bootstrapVersion = 8;
const bootstrapStack = 'CDKToolkit';

/** Whether the CDK can deploy here. An existing deployment may use a bootstrap stack of another name. */
export async function checkBootstrap({ isDeployed }: { isDeployed: boolean }): Promise<CheckOutcome> {
  const bad = (found: string) =>
    (isDeployed ? warning : failed)(found, 'Bootstrap this account and region: npx cdk bootstrap.');
  const stack = await readStack(bootstrapStack).catch(ifMissing);
  if (!stack) return bad(`There is no stack ${bootstrapStack}.`);
  const version = Number(stack.outputs.BootstrapVersion ?? 0);
  const found = `${bootstrapStack} has version ${version}`;
  return version >= bootstrapVersion ? okay(found) : bad(`${found}; version ${bootstrapVersion} or newer is needed.`);
}

/** A load runs up to ten functions at once, besides the lookups; a new account allows ten in total. */
const comfortableConcurrency = 100;

/** The concurrency quota of Lambda. */
export async function checkConcurrency(client: LambdaClient): Promise<CheckOutcome> {
  const { AccountLimit } = await client.send(new GetAccountSettingsCommand());
  const { ConcurrentExecutions: limit = 0, UnreservedConcurrentExecutions: free = 0 } = AccountLimit ?? {};
  const found = `${free} of ${limit} concurrent executions are unreserved`;
  if (free >= comfortableConcurrency) return okay(found);
  const advice =
    'Lookups above that are throttled. Request 1,000, which is free: Service Quotas, AWS Lambda, Concurrent executions ' +
    `(L-B99A9384). Until then a load runs at most ${Math.max(1, Math.floor(free / 4))} functions at once, a quarter of these, ` +
    'and leaves the others to lookups.';
  return warning(found, advice);
}

/** Whether anyone is notified of alarms and refused loads. */
export async function checkAlarms(client: SNSClient, topicArn: string): Promise<CheckOutcome> {
  const { Subscriptions = [] } = await client.send(new ListSubscriptionsByTopicCommand({ TopicArn: topicArn }));
  const confirmed = Subscriptions.filter(({ SubscriptionArn }) => SubscriptionArn?.startsWith('arn:')).length;
  if (confirmed > 0)
    return okay(`${confirmed} confirmed ${confirmed === 1 ? 'subscription' : 'subscriptions'} to ${topicArn}`);
  if (Subscriptions.some(({ SubscriptionArn }) => SubscriptionArn === 'PendingConfirmation')) {
    const advice = 'Open the link in the email from AWS. To send it again: SNS console, Request confirmation.';
    return warning('Nobody is notified of alarms: the subscription is not confirmed.', advice);
  }
  const advice = `Set alarmEmail in bag-adres.json and deploy again, or subscribe to ${topicArn}.`;
  return warning('Nobody is notified of alarms: the topic has no subscription.', advice);
}

/** The alarms of these stacks. CloudFormation names each after its stack. */
export async function readAlarms(
  client: CloudWatchClient,
  deployment: string,
  stacks: readonly string[],
): Promise<MetricAlarm[]> {
  const all = await client.send(new DescribeAlarmsCommand({ AlarmNamePrefix: `${deployment}-`, MaxRecords: 100 }));
  // The name of another deployment may begin with the name of this one.
  const isOurs = ({ AlarmName = '' }) => stacks.some((stack) => AlarmName.startsWith(`${stack}-`));
  return (all.MetricAlarms ?? []).filter(isOurs);
}

/** Which alarms are on, and which notify nobody because somebody switched that off. */
export function checkAlarmStates(alarms: readonly MetricAlarm[]): CheckOutcome {
  const total = alarms.length;
  if (total === 0)
    return warning(
      'There is no alarm.',
      'Somebody deleted them. Find out: docs/runbook.md#find-and-revert-manual-changes.',
    );
  const on = alarms.filter(({ StateValue }) => StateValue === 'ALARM');
  if (on.length > 0) {
    const names = on.map(({ AlarmName }) => AlarmName).join(', ');
    const advice = on.map(({ AlarmDescription = '' }) => AlarmDescription).join(' ');
    return warning(`${on.length} of ${total} are on: ${names}`, advice);
  }
  const silent = alarms.filter(({ ActionsEnabled }) => ActionsEnabled === false);
  if (silent.length === 0) return okay(`none of ${total} is on`);
  const names = silent.map(({ AlarmName }) => AlarmName).join(' ');
  const advice = `Somebody switched their actions off. Switch them on: aws cloudwatch enable-alarm-actions --alarm-names ${names}`;
  return warning(`${silent.length} of ${total} notify nobody`, advice);
}

const restoreAdvice = 'A table that was deleted can be restored: docs/runbook.md#lost-table.';

/** Whether a table is active. */
export async function checkTable(client: DynamoDBClient, table: string): Promise<CheckOutcome> {
  const found = await findTable(client, table);
  // Deploying again does not help: CloudFormation creates nothing for a template that has not changed.
  if (!found) return failed(`There is no table ${table}.`, restoreAdvice);
  const status = found.TableStatus ?? 'unknown';
  if (status === 'ACTIVE' || status === 'UPDATING') return okay(`${table} is ${status}`);
  return failed(`${table} is ${status}`, `Wait until it is ACTIVE. ${restoreAdvice}`);
}

/** Whether a table can be restored, and is protected against deletion. */
export async function checkProtection(client: DynamoDBClient, table: string): Promise<CheckOutcome> {
  const { pointInTimeRecovery, deletionProtection } = await currentSettings(client, table);
  if (!pointInTimeRecovery) {
    const advice = 'It was switched off after the deployment. Enable it again: DynamoDB console, the table, Backups.';
    return failed('point-in-time recovery is off', advice);
  }
  if (deletionProtection) return okay('point-in-time recovery and deletion protection are on');
  const advice = 'Right for a trial (removalPolicy "destroy"). Otherwise deploy again with removalPolicy "retain".';
  return warning('point-in-time recovery is on, deletion protection is off', advice);
}

/**
 * Whether a table has the settings of the deployed template: a restore by hand leaves them out, and a deployment does
 * not notice.
 */
export async function checkTableSettings(
  client: DynamoDBClient,
  dataStack: string,
  kind: TableName,
  table: string,
): Promise<CheckOutcome> {
  const missing = await missingSettings(client, table, await deployedSettings(dataStack, kind));
  if (missing.length === 0) return okay('as the deployed template has them, with TTL and tags');
  const advice =
    'A deployment does not bring them back, because its template has not changed. Set them in the DynamoDB console, the ' +
    'table, Additional settings. Without TTL, sessions, limits per day and old usage are never deleted.';
  return warning(`lacks ${missing.join(', ')}`, advice);
}

/** Which backups leave the account, and how old the last set is. */
export async function checkBackups(
  client: CloudWatchClient,
  { stage, hasSets, hasCopies }: { stage: string; hasSets: boolean; hasCopies: boolean },
  now = Date.now(),
): Promise<CheckOutcome> {
  const copies = hasCopies ? ['AWS Backup copies the accounts table; its alarms say whether that succeeds'] : [];
  if (!hasSets) {
    if (hasCopies) return okay(copies.join());
    const advice = 'Set backup, and backupVaultArn if you want: docs/recovery.md#backup-sets.';
    return warning('Nothing leaves this account: its loss is the loss of every key.', advice);
  }
  const command = new GetMetricStatisticsCommand({
    Namespace: metricNamespaceOf(stage),
    MetricName: metricNames.backupSets,
    Dimensions: [{ Name: requestDimensions.service, Value: 'backup' }],
    StartTime: new Date(now - 14 * day),
    EndTime: new Date(now),
    Period: 3600,
    Statistics: ['Sum'],
  });
  const { Datapoints = [] } = await client.send(command);
  const last = Math.max(0, ...Datapoints.map(({ Timestamp }) => Timestamp?.getTime() ?? 0));
  if (last === 0) return warning('No set was written in 14 days.', 'See docs/runbook.md#backup-late.');
  const found = [`the last set was written in the hour of ${new Date(last).toISOString()}`, ...copies].join('; ');
  return now - last < 2 * day ? okay(found) : warning(found, 'See docs/runbook.md#backup-late.');
}

/**
 * Which snapshot is live, and its age.
 * @param where the options that select this dataset in a command
 * @param demo the date of the demo, which is intentionally old
 * @param daily whether it follows days of mutations
 */
export async function checkDataset(
  client: DynamoDBClient,
  table: string,
  where: string,
  { demo = null, daily = false }: { demo?: string | null; daily?: boolean } = {},
): Promise<CheckOutcome> {
  const dataset = await dynamoDbAddressTable(client, table).dataset();
  if (!dataset) return failed('No addresses are loaded yet.', `Load them: "load run ${where}".`);
  const days = Math.floor((Date.now() - Date.parse(dataset.peildatum)) / day);
  const found = `snapshot of ${dataset.peildatum}, ${days === 1 ? '1 day' : `${days} days`} old`;
  if (dataset.peildatum === demo) return okay(`the demo, a ${found}`);
  if (days < (daily ? loadDefaults.oldAfterDaysOfMutations : loadDefaults.oldAfterDays)) return okay(found);
  const published = daily ? 'Mutations are published daily' : 'The extract is published monthly';
  return warning(found, `${published}; "load status ${where}" says why none was loaded.`);
}

/**
 * How to deploy again after the first deployment of a stack has failed. `cdk deploy` alone can't: it has to delete the
 * stack first, and has protected it against that before it failed.
 */
function redeploy(stack: string): string {
  const tables = stack.endsWith('-data') ? ' The tables that it had created stay, empty, and are not in the way.' : '';
  return (
    'The first deployment failed; the stack events in CloudFormation say why. Fix that, delete the failed stack, and ' +
    `deploy again: aws cloudformation update-termination-protection --no-enable-termination-protection --stack-name ${stack}; ` +
    `aws cloudformation delete-stack --stack-name ${stack}; ` +
    `aws cloudformation wait stack-delete-complete --stack-name ${stack}; npx cdk deploy --all.${tables}`
  );
}

/** The status of a stack. */
export async function checkStack(name: string): Promise<CheckOutcome> {
  const { status } = await readStack(name);
  const events = 'the stack events in CloudFormation say why';
  if (/^(?:CREATE|UPDATE|IMPORT)_COMPLETE$/.test(status)) return okay(status);
  if (/^(?:CREATE_FAILED|ROLLBACK_COMPLETE|ROLLBACK_FAILED)$/.test(status)) return failed(status, redeploy(name));
  if (status === 'REVIEW_IN_PROGRESS')
    return failed(status, 'A deployment was prepared but not started. Deploy again: npx cdk deploy --all.');
  if (/IN_PROGRESS$/.test(status))
    return warning(status, 'A deployment is in progress; check again when it has ended.');
  if (/^(?:UPDATE|IMPORT)_ROLLBACK_COMPLETE$/.test(status))
    return warning(status, `The last deployment was rolled back; ${events}. Fix that and deploy again.`);
  const advice =
    status === 'UPDATE_ROLLBACK_FAILED'
      ? `Neither the deployment nor its rollback succeeded; ${events}. Fix that, then: ` +
        `aws cloudformation continue-update-rollback --stack-name ${name}. When that has ended, deploy again.`
      : 'The stack events in CloudFormation say why; no deployment is possible in this status.';
  return failed(status, advice);
}

/** How the last execution of the state machine ended. */
export async function checkLoads(client: SFNClient, stateMachineArn: string, where: string): Promise<CheckOutcome> {
  const { executions = [] } = await client.send(new ListExecutionsCommand({ stateMachineArn, maxResults: 1 }));
  const [last] = executions;
  if (!last) return warning('No load has run yet.', `Start one: "load run ${where}".`);
  const found = `${last.status} (${last.name}, started ${last.startDate?.toISOString()})`;
  const follow = `"load follow ${last.name} ${where}"`;
  if (last.status === 'SUCCEEDED') return okay(found);
  if (last.status === 'RUNNING')
    return okay(`${found}; a deployment does not change its steps. ${follow} shows its progress`);
  const why = `${follow} says why it ended, "load status ${where}" whether a load is refused.`;
  return warning(found, `${why} See docs/runbook.md#load-failed.`);
}

/** Whether this machine can reach the extract that the daily check reads. The service runs without it. */
export async function checkSource(location: string): Promise<CheckOutcome> {
  const source = await openSource(location).catch((error: Error) => {
    if (error instanceof SourceUnavailableError) return error;
    throw error;
  });
  if (source instanceof Error) {
    const advice = 'Wait until its server is back: the service answers, and the next check tries again.';
    return warning(source.message, advice);
  }
  const { size = null, lastModified = null } = source?.version ?? {};
  await source?.close();
  const megabytes = size === null ? 'unknown size' : `${Math.round(size / 1e6).toLocaleString('en')} MB`;
  return okay(`${location}: ${megabytes}, last modified ${lastModified ?? 'at an unknown time'}`);
}

/** Which version of this project is deployed. */
export function checkVersion(deployed: string | undefined, own: string): CheckOutcome {
  if (deployed === own) return okay(`${deployed}, as this command line`);
  const advice = `Install the deployed version (npm install bag-adres@${deployed ?? 'VERSION'}), or deploy this one: npx bag-adres upgrade.`;
  return warning(`${deployed ?? 'unknown'} is deployed; this command line is ${own}`, advice);
}

/** ACM renews a certificate 60 days before it ends, but never one that was imported. */
const certificateDays = 30;

/** How long the certificate of a host name is valid, as a caller sees it. */
export async function checkCertificate(
  url: string,
  { now = Date.now(), ca }: { now?: number; ca?: string } = {},
): Promise<CheckOutcome> {
  const { hostname, port, protocol } = new URL(url);
  if (protocol !== 'https:') return skipped(`${url} has no certificate.`);
  if (hostname.endsWith('.amazonaws.com')) return okay(`${hostname} is of AWS, which renews its certificate`);
  const { certificate, fault } = await certificateOf(hostname, Number(port || 443), ca);
  const ends = Date.parse(certificate.valid_to);
  const days = Math.floor((ends - now) / day);
  const found = `${hostname}: valid until ${new Date(ends).toISOString().slice(0, 10)}`;
  const advice =
    'ACM renews a certificate as long as its DNS record for validation exists: look at it in the ACM console. Import the next one of your own.';
  if (fault || days < 0) return failed(`${found}${fault ? `, and refused by clients: ${fault}` : ''}`, advice);
  return days < certificateDays ? warning(`${found}, ${days} days`, advice) : okay(found);
}

function certificateOf(
  host: string,
  port: number,
  ca: string | undefined,
): Promise<{ certificate: PeerCertificate; fault: string | null }> {
  return new Promise((resolve, reject) => {
    // An invalid certificate is what this is to report. Nothing is sent over the connection.
    const options = { host, port, servername: host, rejectUnauthorized: false, timeout: 8_000, ...(ca && { ca }) };
    const socket: TLSSocket = connect(options, () => {
      const { authorized, authorizationError } = socket;
      resolve({ certificate: socket.getPeerCertificate(), fault: authorized ? null : String(authorizationError) });
      socket.destroy();
    });
    socket.once('error', reject);
    socket.once('timeout', () => socket.destroy(new Error(`${host} does not answer.`)));
  });
}

/** Whether the portal answers and leads to its provider, which must answer too: what everybody needs to sign in. */
export async function checkPortal(portalUrl: string): Promise<CheckOutcome> {
  const signal = AbortSignal.timeout(15_000);
  const { status, headers } = await fetch(`${portalUrl}/sign-in`, { redirect: 'manual', signal });
  const advice = 'See docs/runbook.md#portal-sign-in-fails.';
  const provider = headers.get('location');
  if (status === 503) return failed(`${portalUrl} can't reach its OpenID provider.`, advice);
  if (status !== 303 || provider === null)
    return failed(`${portalUrl}/sign-in answered ${status}; it must lead to the provider.`, advice);
  return okay(`${portalUrl} leads to ${new URL(provider).host}`);
}

/** How long the client secret of the OpenID provider is valid, by the configuration: only the provider knows. */
export function checkClientSecret(ends: string, now = Date.now()): CheckOutcome {
  const days = Math.floor((Date.parse(ends) - now) / day);
  const found = `ends on ${ends}, ${days < 0 ? `${-days} days ago` : `in ${days} days`}`;
  const advice = 'Replace it before that, or nobody can sign in: docs/runbook.md#client-secret-ends.';
  if (days < 0) return failed(found, advice);
  return days < secretNoticeDays ? warning(found, advice) : okay(found);
}
