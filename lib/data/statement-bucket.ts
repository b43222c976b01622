import { Duration, Stack } from 'aws-cdk-lib';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import { Bucket, type IBucket, ObjectLockRetention } from 'aws-cdk-lib/aws-s3';
import type { Construct } from 'constructs';
import { statementsPrefix } from '../../core/tables.ts';
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

/** How the data stack publishes the ARN of the bucket, by its logical id. */
const publishedStatements = 'PublishOutputFnGetAttStatements828F3E36ArnD6392AC1';

/** Acknowledges that a function of another stack may use all objects of the bucket. */
export function acknowledgeStatements(of: Construct, bucket: IBucket, { region }: Config): void {
  const source = {
    StackName: Stack.of(bucket).stackName,
    Region: region,
    OutputName: publishedStatements,
  };
  acknowledge(
    of,
    `AwsSolutions-IAM5[Resource::${JSON.stringify({ 'Fn::GetStackOutput': source })}/${statementsPrefix}*]`,
    'Statements are named by their months and contents.',
  );
}
