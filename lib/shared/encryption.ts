import { Arn, ArnFormat, RemovalPolicy, type Stack } from 'aws-cdk-lib';
import { ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { type IKey, Key } from 'aws-cdk-lib/aws-kms';
import type { LogGroupProps } from 'aws-cdk-lib/aws-logs';
import type { Config } from '../config/schema.ts';

/** What becomes of data when its stack goes. */
export function removal({ removalPolicy }: Config): RemovalPolicy {
  return removalPolicy === 'destroy' ? RemovalPolicy.DESTROY : RemovalPolicy.RETAIN;
}

/** Whether stacks and tables refuse to be deleted. */
export function isProtected({ removalPolicy }: Config): boolean {
  return removalPolicy === 'retain';
}

/**
 * The customer-managed key that data at rest is encrypted with, or undefined where AWS keeps the keys. A key of the
 * operator's own must let CloudWatch Logs, CloudWatch alarms and SNS use it, as the one made here does.
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
  const anyLogGroup = Arn.format({ service: 'logs', resource: '*', arnFormat: ArnFormat.NO_RESOURCE_NAME }, stack);
  key.grantEncryptDecrypt(
    new ServicePrincipal(`logs.${stack.region}.amazonaws.com`).withConditions({
      ArnLike: { 'kms:EncryptionContext:aws:logs:arn': anyLogGroup },
    }),
  );
  key.grantEncryptDecrypt(
    new ServicePrincipal('cloudwatch.amazonaws.com').withConditions({
      StringEquals: { 'aws:SourceAccount': stack.account },
    }),
  );
  return key;
}

/** How every log group is kept: for the configured time, encrypted with the operator's key where there is one. */
export function logGroupProps(config: Config, encryptionKey: IKey | undefined): LogGroupProps {
  return {
    retention: config.logRetentionDays,
    removalPolicy: removal(config),
    ...(encryptionKey && { encryptionKey }),
  };
}
