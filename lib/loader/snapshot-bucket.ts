import { Duration } from 'aws-cdk-lib';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import { BlockPublicAccess, Bucket, BucketEncryption } from 'aws-cdk-lib/aws-s3';
import type { Construct } from 'constructs';
import { storagePrefixes } from '../../loader/names.ts';
import type { Config } from '../config/schema.ts';
import { isProtected, removal } from '../shared/data-protection.ts';
import { acknowledge } from '../shared/grants.ts';

/** The prefix of the results of the state machine's maps. */
export const MAP_RUNS = 'map-runs/';

/** The prefix for extracts that an operator uploads: `{"source": "s3://BUCKET/uploads/FILE.zip"}`. */
export const UPLOADS = 'uploads/';

/** Longer than any load takes, and enough to investigate one that failed. */
const workExpiration = Duration.days(30);
const versionExpiration = Duration.days(14);

/**
 * The bucket of loads and snapshots: private, encrypted, TLS only. The work of a load expires. Snapshots and the manifest
 * never do, because the next load compares with the last one; the loader removes old snapshots itself.
 */
export function snapshotBucket(scope: Construct, config: Config, encryptionKey: IKey | undefined): Bucket {
  const bucket = new Bucket(scope, 'Snapshots', {
    blockPublicAccess: BlockPublicAccess.BLOCK_ALL,
    enforceSSL: true,
    encryption: encryptionKey ? BucketEncryption.KMS : BucketEncryption.S3_MANAGED,
    ...(encryptionKey && { encryptionKey, bucketKeyEnabled: true }),
    removalPolicy: removal(config),
    // A manifest or snapshot that was overwritten or deleted by mistake can be brought back. A trial goes without: its bucket
    // must be emptied before it can be deleted.
    versioned: isProtected(config),
    lifecycleRules: [
      ...[storagePrefixes.loads, storagePrefixes.approvals, MAP_RUNS, UPLOADS].map((prefix) => ({
        id: `Expire-${prefix.slice(0, -1)}`,
        prefix,
        expiration: workExpiration,
      })),
      ...(isProtected(config) ? [{ id: 'ExpireVersions', noncurrentVersionExpiration: versionExpiration }] : []),
      { id: 'AbortUploads', abortIncompleteMultipartUploadAfter: Duration.days(2) },
    ],
  });
  acknowledge(
    bucket,
    'AwsSolutions-S1',
    'Only the loader uses it and it holds public data: access logs would cost more than they are worth.',
  );
  return bucket;
}
