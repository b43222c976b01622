import { Duration, Stack } from 'aws-cdk-lib';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import { BlockPublicAccess, Bucket, BucketEncryption, type IBucket, ObjectLockRetention } from 'aws-cdk-lib/aws-s3';
import type { Construct } from 'constructs';
import { statementsPrefix } from '../../core/tables.ts';
import type { Config } from '../config/config-schema.ts';
import { isProtected, removal } from '../shared/data-protection.ts';
import { acknowledge } from '../shared/grants.ts';

/**
 * The bucket of the statements of closed months: private, encrypted, TLS only. Every version of an object is kept, and
 * the objects are locked for as long as configured. Object Lock is always enabled, which costs nothing, since it can't
 * be enabled without replacing the bucket.
 */
export function statementBucket(scope: Construct, config: Config, encryptionKey: IKey | undefined): Bucket {
  const years = config.usage.statementLockYears;
  const bucket = new Bucket(scope, 'Statements', {
    blockPublicAccess: BlockPublicAccess.BLOCK_ALL,
    enforceSSL: true,
    encryption: encryptionKey ? BucketEncryption.KMS : BucketEncryption.S3_MANAGED,
    ...(encryptionKey && { encryptionKey, bucketKeyEnabled: true }),
    removalPolicy: removal(config),
    // CloudFormation deletes only an empty bucket.
    autoDeleteObjects: !isProtected(config),
    versioned: true,
    objectLockEnabled: true,
    ...(years > 0 && { objectLockDefaultRetention: ObjectLockRetention.governance(Duration.days(years * 365)) }),
    lifecycleRules: [{ id: 'AbortUploads', abortIncompleteMultipartUploadAfter: Duration.days(2) }],
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
  const source = { StackName: Stack.of(bucket).stackName, Region: region, OutputName: publishedStatements };
  acknowledge(
    of,
    `AwsSolutions-IAM5[Resource::${JSON.stringify({ 'Fn::GetStackOutput': source })}/${statementsPrefix}*]`,
    'Statements are named by their months and contents.',
  );
}
