import { connect, type PeerCertificate, type TLSSocket } from 'node:tls';
import {
  CloudWatchClient,
  DescribeAlarmsCommand,
  GetMetricStatisticsCommand,
  type MetricAlarm,
} from '@aws-sdk/client-cloudwatch';
import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { metricNames, metricNamespaceOf, requestDimensions } from '../../core/names.ts';
import { secretNoticeDays } from '../../lib/config/fields.ts';
import { clientConfig } from '../connect/deployment.ts';
import { type Finding, failed, okay, skipped, warning } from './finding.ts';
import { deployedSettings, missingSettings, type TableName } from './table-settings.ts';

const day = 86_400_000;

/** The alarms of these stacks. CloudFormation names each after its stack. */
export async function readAlarms(deployment: string, stacks: readonly string[]): Promise<MetricAlarm[]> {
  const client = new CloudWatchClient(clientConfig);
  try {
    const all = await client.send(new DescribeAlarmsCommand({ AlarmNamePrefix: `${deployment}-`, MaxRecords: 100 }));
    // The name of another deployment may begin with the name of this one.
    const isOurs = ({ AlarmName = '' }) => stacks.some((stack) => AlarmName.startsWith(`${stack}-`));
    return (all.MetricAlarms ?? []).filter(isOurs);
  } finally {
    client.destroy();
  }
}

/** Which alarms are on, and which notify nobody because somebody switched that off. */
export function checkAlarmStates(alarms: readonly MetricAlarm[]): Finding {
  const check = 'alarm states';
  if (alarms.length === 0)
    return warning(
      check,
      'There is no alarm.',
      'Somebody deleted them. Find out: docs/runbook.md#find-and-revert-manual-changes.',
    );
  const on = alarms.filter(({ StateValue }) => StateValue === 'ALARM');
  if (on.length > 0) {
    const names = on.map(({ AlarmName }) => AlarmName).join(', ');
    const advice = on.map(({ AlarmDescription = '' }) => AlarmDescription).join(' ');
    return warning(check, `${on.length} of ${alarms.length} are on: ${names}`, advice);
  }
  const silent = alarms.filter(({ ActionsEnabled }) => ActionsEnabled === false);
  if (silent.length > 0) {
    const names = silent.map(({ AlarmName }) => AlarmName).join(' ');
    const advice = `Somebody switched their actions off. Switch them on: aws cloudwatch enable-alarm-actions --alarm-names ${names}`;
    return warning(check, `${silent.length} of ${alarms.length} notify nobody`, advice);
  }
  return okay(check, `none of ${alarms.length} is on`);
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
): Promise<Finding> {
  const check = `${kind} settings`;
  const missing = await missingSettings(client, table, await deployedSettings(dataStack, kind));
  if (missing.length === 0) return okay(check, 'as the deployed template has them, with TTL and tags');
  const advice =
    'A deployment does not bring them back, because its template has not changed. Set them in the DynamoDB console, the ' +
    'table, Additional settings. Without TTL, sessions, limits per day and old usage are never deleted.';
  return warning(check, `lacks ${missing.join(', ')}`, advice);
}

/** Which backups leave the account, and how old the last set is. */
export async function checkBackups(
  { stage, hasSets, hasCopies }: { stage: string; hasSets: boolean; hasCopies: boolean },
  now = Date.now(),
): Promise<Finding> {
  const copies = hasCopies ? ['AWS Backup copies the accounts table; its alarms say whether that succeeds'] : [];
  if (!hasSets) {
    if (hasCopies) return okay('backups', copies.join());
    const advice = 'Set backup, and backupVaultArn if you want: docs/recovery.md#backup-sets.';
    return warning('backups', 'Nothing leaves this account: its loss is the loss of every key.', advice);
  }
  const client = new CloudWatchClient(clientConfig);
  try {
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
    if (last === 0) return warning('backups', 'No set was written in 14 days.', 'See docs/runbook.md#backup-late.');
    const found = [`the last set was written in the hour of ${new Date(last).toISOString()}`, ...copies].join('; ');
    if (now - last < 2 * day) return okay('backups', found);
    return warning('backups', found, 'See docs/runbook.md#backup-late.');
  } finally {
    client.destroy();
  }
}

/** A certificate of ACM is renewed 60 days before its end; one that is imported, never. */
const certificateDays = 30;

/** How long the certificate of a host name is valid, as a caller sees it. */
export async function checkCertificate(
  check: string,
  url: string,
  { now = Date.now(), ca }: { now?: number; ca?: string } = {},
): Promise<Finding> {
  const { hostname, port, protocol } = new URL(url);
  if (protocol !== 'https:') return skipped(check, `${url} has no certificate.`);
  if (hostname.endsWith('.amazonaws.com')) return okay(check, `${hostname} is of AWS, which renews its certificate`);
  const { certificate, fault } = await certificateOf(hostname, Number(port || 443), ca);
  const ends = Date.parse(certificate.valid_to);
  const days = Math.floor((ends - now) / day);
  const found = `${hostname}: valid until ${new Date(ends).toISOString().slice(0, 10)}`;
  const advice =
    'ACM renews a certificate as long as its DNS record for validation exists: look at it in the ACM console. Import the next one of your own.';
  if (fault || days < 0) return failed(check, `${found}${fault ? `, and refused by clients: ${fault}` : ''}`, advice);
  return days < certificateDays ? warning(check, `${found}, ${days} days`, advice) : okay(check, found);
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

/** Whether the portal answers and leads to its provider, which must answer too: what everybody needs who signs in. */
export async function checkPortal(portalUrl: string): Promise<Finding> {
  const { status, headers } = await fetch(`${portalUrl}/sign-in`, {
    redirect: 'manual',
    signal: AbortSignal.timeout(15_000),
  });
  const advice = 'See docs/runbook.md#portal-sign-in-fails.';
  const provider = headers.get('location');
  if (status === 503) return failed('portal', `${portalUrl} can't reach its OpenID provider.`, advice);
  if (status !== 303 || provider === null)
    return failed('portal', `${portalUrl}/sign-in answered ${status}; it must lead to the provider.`, advice);
  return okay('portal', `${portalUrl} leads to ${new URL(provider).host}`);
}

/** How long the client secret of the OpenID provider is valid, by the configuration: only the provider knows. */
export function checkClientSecret(ends: string, now = Date.now()): Finding {
  const days = Math.floor((Date.parse(ends) - now) / day);
  const found = `ends on ${ends}, ${days < 0 ? `${-days} days ago` : `in ${days} days`}`;
  const advice = 'Replace it before that, or nobody can sign in: docs/runbook.md#client-secret-ends.';
  if (days < 0) return failed('client secret', found, advice);
  return days < secretNoticeDays ? warning('client secret', found, advice) : okay('client secret', found);
}
