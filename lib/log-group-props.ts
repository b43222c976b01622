import type { IKey } from 'aws-cdk-lib/aws-kms';
import type { LogGroupProps } from 'aws-cdk-lib/aws-logs';
import type { Config } from './config/schema.ts';
import { removal } from './removal.ts';

/** How every log group is kept: for the configured time, encrypted with the operator's key where there is one. */
export function logGroupProps(config: Config, encryptionKey: IKey | undefined): LogGroupProps {
  return {
    retention: config.logRetentionDays,
    removalPolicy: removal(config),
    ...(encryptionKey && { encryptionKey }),
  };
}
