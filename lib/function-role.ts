import { Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import type { ILogGroup } from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';
import { acknowledge } from './acknowledge.ts';

/**
 * A role that may do nothing but write to one log group, and read its function's settings where those are encrypted with a
 * key of the operator. What AWS's managed policy grants reaches every log group.
 */
export function functionRole(scope: Construct, logs: ILogGroup, settingsKey: IKey | undefined): Role {
  const role = new Role(scope, 'Role', { assumedBy: new ServicePrincipal('lambda.amazonaws.com') });
  logs.grantWrite(role);
  settingsKey?.grantDecrypt(role);
  acknowledge(
    role,
    'AwsSolutions-IAM5[Resource::*]',
    'xray:PutTraceSegments and xray:PutTelemetryRecords, which know no resources; nothing else is granted on *.',
  );
  return role;
}
