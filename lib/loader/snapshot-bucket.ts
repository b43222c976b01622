import { Duration } from 'aws-cdk-lib';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import { BlockPublicAccess, Bucket, BucketEncryption } from 'aws-cdk-lib/aws-s3';
import type { Construct } from 'constructs';
import { storagePrefixes } from '../../loader/names.ts';
import type { Config } from '../config/schema.ts';
import { removal } from '../shared/encryption.ts';
import { acknowledge } from '../shared/grants.ts';

/** Where the state machine leaves the results of its maps. */
export const MAP_RUNS = 'map-runs/';

/** Where an operator may put an extract: `{"source": "s3://BUCKET/uploads/FILE.zip"}`. */
export const UPLOADS = 'uploads/';

/** A month is more than a load ever takes, and time enough to look at one that went wrong. */
const shelfLife = Duration.days(30);

/**
 * Where loads work and snapshots stay: private, encrypted, over TLS only. Work expires; snapshots and the manifest never
 * do, as the next difference needs the last one: the loader itself removes old ones.
 */
export function snapshotBucket(scope: Construct, config: Config, encryptionKey: IKey | undefined): Bucket {
  const bucket = new Bucket(scope, 'Snapshots', {
    blockPublicAccess: BlockPublicAccess.BLOCK_ALL,
    enforceSSL: true,
    encryption: encryptionKey ? BucketEncryption.KMS : BucketEncryption.S3_MANAGED,
    ...(encryptionKey && { encryptionKey, bucketKeyEnabled: true }),
    removalPolicy: removal(config),
    lifecycleRules: [
      ...[storagePrefixes.loads, storagePrefixes.approvals, MAP_RUNS, UPLOADS].map((prefix) => ({
        id: `Expire-${prefix.slice(0, -1)}`,
        prefix,
        expiration: shelfLife,
      })),
      { id: 'AbortUploads', abortIncompleteMultipartUploadAfter: Duration.days(2) },
    ],
  });
  acknowledge(
    bucket,
    'AwsSolutions-S1',
    'Only the loader reads and writes it, and it holds public register data: access logs would cost more than they tell.',
  );
  return bucket;
}
