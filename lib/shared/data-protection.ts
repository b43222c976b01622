import { Arn, ArnFormat, Duration, Fn, RemovalPolicy, Stack, type StackProps } from 'aws-cdk-lib';
import { ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { type IKey, Key } from 'aws-cdk-lib/aws-kms';
import type { LogGroupProps } from 'aws-cdk-lib/aws-logs';
import { BlockPublicAccess, BucketEncryption, type BucketProps } from 'aws-cdk-lib/aws-s3';
import type { Construct } from 'constructs';
import type { Config } from '../config/config-schema.ts';

/**
 * The fate of data when its stack is deleted. With `retain` it stays, except when creating the
 * stack failed: then it is still empty, and would only be in the way of the next attempt.
 */
export function removal({ removalPolicy }: Config): RemovalPolicy {
  return removalPolicy === 'destroy'
    ? RemovalPolicy.DESTROY
    : RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE;
}

/**
 * The same for a resource with deletion protection: that always stays, since CloudFormation can't
 * delete it.
 */
export function protectedRemoval(config: Config): RemovalPolicy {
  return isProtected(config) ? RemovalPolicy.RETAIN : RemovalPolicy.DESTROY;
}

/**
 * Twelve characters that differ for each creation of the stack, in names that must not collide with
 * an earlier stack's leftovers: digits and the letters a to f.
 */
export function stackSuffix(scope: Construct): string {
  const guid = Fn.select(2, Fn.split('/', Stack.of(scope).stackId));
  return Fn.select(4, Fn.split('-', guid));
}

/** Whether stacks and tables are protected from deletion. */
export function isProtected({ removalPolicy }: Config): boolean {
  return removalPolicy === 'retain';
}

/** The properties of every stack; the description names the contents. */
export function stackProps(config: Config, stackName: string, description: string): StackProps {
  return {
    stackName,
    description: `Dutch address service: ${description}`,
    env: { region: config.region, ...(config.account && { account: config.account }) },
    terminationProtection: isProtected(config),
  };
}

/**
 * The customer-managed key for data at rest, or undefined where AWS manages the keys. The policy of
 * an operator's own key must allow CloudWatch Logs, CloudWatch alarms and SNS to use it, as the
 * policy of the key created here does.
 */
export function encryptionKey(stack: Stack, config: Config): IKey | undefined {
  const choice = config.encryptionKey;
  if (choice === 'aws') return undefined;
  if (choice !== 'create') return Key.fromKeyArn(stack, 'EncryptionKey', choice);
  const key = new Key(stack, 'EncryptionKey', {
    description: 'Encrypts the tables, secret, snapshots and logs of the address service',
    enableKeyRotation: true,
    removalPolicy: removal(config),
  });
  const anyLogGroup = Arn.format(
    { service: 'logs', resource: '*', arnFormat: ArnFormat.NO_RESOURCE_NAME },
    stack,
  );
  key.grantEncryptDecrypt(
    new ServicePrincipal(`logs.${stack.region}.amazonaws.com`).withConditions({
      ArnLike: { 'kms:EncryptionContext:aws:logs:arn': anyLogGroup },
    }),
  );
  // Without a condition, as AWS documents it: whether alarms pass one on to the key is not
  // documented.
  key.grantEncryptDecrypt(new ServicePrincipal('cloudwatch.amazonaws.com'));
  return key;
}

/** The properties of every bucket: private, encrypted, TLS only. */
export function bucketProps(config: Config, encryptionKey: IKey | undefined) {
  return {
    blockPublicAccess: BlockPublicAccess.BLOCK_ALL,
    enforceSSL: true,
    encryption: encryptionKey ? BucketEncryption.KMS : BucketEncryption.S3_MANAGED,
    ...(encryptionKey && { encryptionKey, bucketKeyEnabled: true }),
    removalPolicy: removal(config),
    // CloudFormation deletes only an empty bucket.
    autoDeleteObjects: !isProtected(config),
  } satisfies BucketProps;
}

/** Removes the parts of uploads that never ended. */
export const abortUploads = {
  id: 'AbortUploads',
  abortIncompleteMultipartUploadAfter: Duration.days(2),
};

/**
 * The properties of every log group: the configured retention, and the customer-managed key if
 * configured.
 */
export function logGroupProps(config: Config, encryptionKey: IKey | undefined): LogGroupProps {
  return {
    retention: config.logRetentionDays,
    removalPolicy: removal(config),
    ...(encryptionKey && { encryptionKey }),
  };
}

/**
 * A name for a log group that an AWS service writes to. Under this prefix no service adds each
 * group to the one resource policy of the account, which is full after some twenty. It ends with
 * the id of the stack: a group that stayed when its stack was deleted is not in the way of the
 * next.
 */
export function vendedLogGroupName(scope: Construct, name: string): string {
  const { stackName, stackId } = Stack.of(scope);
  return `/aws/vendedlogs/${stackName}/${name}-${Fn.select(2, Fn.split('/', stackId))}`;
}
