import { Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import type { ILogGroup } from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';
import { acknowledge } from './acknowledge.ts';

/** A role that may do nothing but write to one log group: what AWS's managed policy grants reaches every log group. */
export function functionRole(scope: Construct, logs: ILogGroup): Role {
  const role = new Role(scope, 'Role', { assumedBy: new ServicePrincipal('lambda.amazonaws.com') });
  logs.grantWrite(role);
  acknowledge(
    role,
    'AwsSolutions-IAM5[Resource::*]',
    'xray:PutTraceSegments and xray:PutTelemetryRecords, which know no resources; nothing else is granted on *.',
  );
  return role;
}
