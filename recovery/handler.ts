import { Logger } from '@aws-lambda-powertools/logger';
import { Metrics, MetricUnit } from '@aws-lambda-powertools/metrics';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { GetObjectCommand, NoSuchKey, PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { createAdminStore } from '../core/accounts/admin/admin-store.ts';
import { backupEnvironment, environment, metricNames, metricNamespace, requireEnvironment } from '../core/names.ts';
import { manifestKeys } from '../loader/names.ts';
import { exportBackup } from './backup.ts';
import { backupLines, countBackup } from './backup-lines.ts';
import { writeBackupSet } from './backup-set.ts';
import { registerPart } from './register.ts';

const dynamoDb = DynamoDBDocumentClient.from(new DynamoDBClient());
const emulated = process.env.AWS_ENDPOINT_URL_S3 !== undefined;
// The bucket of the sets is in another region at best.
const s3 = new S3Client({ followRegionRedirects: true, forcePathStyle: emulated });
const secrets = new SecretsManagerClient();
const metrics = new Metrics({ namespace: metricNamespace, serviceName: 'backup' });
const logger = new Logger({ serviceName: 'backup' });

/** Writes a backup set, once a day. An error ends the run, and Lambda runs it again, twice at most. */
export async function handler(): Promise<{ set: string }> {
  const snapshots = requireEnvironment(environment.snapshotBucket);
  const [Bucket, prefix = ''] = requireEnvironment(backupEnvironment.destination).split(/\/(.*)/s);
  const checksumSecret = await readSecret(requireEnvironment(environment.keyChecksumSecretArn));
  const store = createAdminStore(dynamoDb, requireEnvironment(environment.accountsTable), 'backup', Date.now);
  const backup = await exportBackup(store);
  const { name, index } = await writeBackupSet(
    { put: async (key, Body) => void (await s3.send(new PutObjectCommand({ Bucket, Key: `${prefix}${key}`, Body }))) },
    {
      deployment: requireEnvironment(backupEnvironment.deployment),
      region: await secrets.config.region(),
      created: new Date(),
      accounts: backupLines(backup),
      counts: countBackup(backup),
      checksumSecret,
      // Another one signs everybody out of the portal, and nothing else.
      sessionSecret: null,
      ...registerPart(await manifestIn(snapshots), `s3://${snapshots}`),
    },
    publicKey(),
  );
  metrics.addMetric(metricNames.backupSets, MetricUnit.Count, 1);
  metrics.publishStoredMetrics();
  logger.info('wrote a backup set', { set: name, counts: index.counts });
  return { set: name };
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
