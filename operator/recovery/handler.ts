import { Logger } from '@aws-lambda-powertools/logger';
import { Metrics, MetricUnit } from '@aws-lambda-powertools/metrics';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { EventBridgeClient, PutEventsCommand } from '@aws-sdk/client-eventbridge';
import { GetObjectCommand, NoSuchKey, PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import {
  backupEnvironment,
  environment,
  eventSource,
  eventTypes,
  eventVersion,
  metricNames,
  metricNamespace,
  optionalEnvironment,
  requireEnvironment,
} from '../../core/names.ts';
import { manifestKeys } from '../../loader/names.ts';
import { createAdminStore } from '../../packages/admin/accounts/admin-store.ts';
import { exportBackup } from '../../packages/admin/accounts/backup.ts';
import { type SetIndex, writeBackupSet } from './backup-set.ts';

const dynamoDb = DynamoDBDocumentClient.from(new DynamoDBClient());
const emulated = process.env.AWS_ENDPOINT_URL_S3 !== undefined;
// The bucket of the sets is in another region at best.
const s3 = new S3Client({ followRegionRedirects: true, forcePathStyle: emulated });
const secrets = new SecretsManagerClient();
const events = new EventBridgeClient();
const metrics = new Metrics({ namespace: metricNamespace, serviceName: 'backup' });
const logger = new Logger({ serviceName: 'backup' });

/** Writes a backup set, once a day. An error ends the run, and Lambda runs it again, twice at most. */
export async function handler(): Promise<{ set: string }> {
  try {
    const { set, counts } = await writeSet();
    await announce(eventTypes.backupWritten, { summary: `Backup set ${set} was written.`, set, counts });
    return { set };
  } catch (error) {
    const { name } = error as Error;
    report(0);
    const summary = `The backup set of today could not be written (${name}). See docs/runbook.md#backup-late.`;
    await announce(eventTypes.backupFailed, { summary, failure: name });
    throw error;
  }
}

function report(written: 0 | 1): void {
  metrics.addMetric(metricNames.backupSets, MetricUnit.Count, written);
  metrics.publishStoredMetrics();
}

/** An event that can't be sent changes nothing: the alarms don't depend on it. */
async function announce(DetailType: string, detail: object): Promise<void> {
  const deployment = requireEnvironment(backupEnvironment.deployment);
  const Detail = JSON.stringify({ version: eventVersion, deployment, ...detail });
  await events.send(new PutEventsCommand({ Entries: [{ Source: eventSource, DetailType, Detail }] })).catch(() => {
    logger.warn('could not send an event', { type: DetailType });
  });
}

async function writeSet(): Promise<{ set: string; counts: SetIndex['counts'] }> {
  const snapshots = requireEnvironment(environment.snapshotBucket);
  const [Bucket, prefix = ''] = requireEnvironment(backupEnvironment.destination).split(/\/(.*)/s);
  const session = optionalEnvironment(environment.portalSessionSecret);
  const checksumSecret = await readSecret(requireEnvironment(environment.keyChecksumSecretArn));
  const store = createAdminStore(dynamoDb, requireEnvironment(environment.accountsTable), 'backup', Date.now);
  const { name, index } = await writeBackupSet(
    { put: async (key, Body) => void (await s3.send(new PutObjectCommand({ Bucket, Key: `${prefix}${key}`, Body }))) },
    {
      deployment: requireEnvironment(backupEnvironment.deployment),
      region: await secrets.config.region(),
      created: new Date(),
      backup: await exportBackup(store),
      checksumSecret,
      sessionSecret: session === undefined ? null : await readSecret(session),
      manifest: await manifestIn(snapshots),
      register: `s3://${snapshots}`,
    },
    publicKey(),
  );
  report(1);
  logger.info('wrote a backup set', { set: name, counts: index.counts });
  return { set: name, counts: index.counts };
}

async function readSecret(SecretId: string): Promise<string> {
  const { SecretString } = await secrets.send(new GetSecretValueCommand({ SecretId }));
  if (SecretString) return SecretString;
  throw new Error(`The secret ${SecretId} is empty, so a set without it would restore nothing.`);
}

async function manifestIn(Bucket: string): Promise<Uint8Array | null> {
  try {
    const { Body } = await s3.send(new GetObjectCommand({ Bucket, Key: manifestKeys.manifest }));
    return (await Body?.transformToByteArray()) ?? null;
  } catch (error) {
    if (error instanceof NoSuchKey) return null; // nothing has been loaded yet
    throw error;
  }
}

/** The key as the configuration has it, on one line, in PEM form. */
function publicKey(): string {
  const lines = requireEnvironment(backupEnvironment.publicKey).match(/.{1,64}/g) ?? [];
  return ['-----BEGIN PUBLIC KEY-----', ...lines, '-----END PUBLIC KEY-----', ''].join('\n');
}
