import { Duration } from 'aws-cdk-lib';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import { Bucket, ObjectLockRetention } from 'aws-cdk-lib/aws-s3';
import type { Construct } from 'constructs';
import type { Config } from '../config/config-schema.ts';
import { abortUploads, bucketProps } from '../shared/data-protection.ts';
import { acknowledge } from '../shared/grants.ts';

/**
 * The bucket of the statements of closed months: private, encrypted, TLS only. Every version of an
 * object is kept, and the objects are locked for as long as configured. Object Lock is always
 * enabled, which costs nothing, since it can't be enabled without replacing the bucket.
 */
export function statementBucket(
  scope: Construct,
  config: Config,
  encryptionKey: IKey | undefined,
): Bucket {
  const years = config.usage.statementLockYears;
  const bucket = new Bucket(scope, 'Statements', {
    ...bucketProps(config, encryptionKey),
    versioned: true,
    objectLockEnabled: true,
    ...(years > 0 && {
      objectLockDefaultRetention: ObjectLockRetention.governance(Duration.days(years * 365)),
    }),
    lifecycleRules: [abortUploads],
  });
  acknowledge(
    bucket,
    'AwsSolutions-S1',
    'Each object is written once, by one function, and lists the usage of an account: the CloudTrail of the account tells who reads it.',
  );
  return bucket;
}
