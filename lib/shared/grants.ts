import { type CfnResource, Stack, Validations } from 'aws-cdk-lib';
import type { ITable } from 'aws-cdk-lib/aws-dynamodb';
import { type IGrantable, type IRole, PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import type { ILogGroup } from 'aws-cdk-lib/aws-logs';
import type { Construct, IConstruct } from 'constructs';

/** Accepts what a rule of cdk-nag finds on a construct and all below it, and says why that is right here. */
export function acknowledge(construct: IConstruct, rule: string, reason: string): void {
  const pack = rule.split('-', 1)[0];
  Validations.of(construct).acknowledge({ id: `${pack}::${rule}`, reason });
}

/**
 * As `acknowledge`, of one resource with a wildcard in a policy.
 * @param of what the resource belongs to
 * @param resource as cdk-nag writes it, where `%` is the logical id of that
 */
export function acknowledgeWildcard(policy: IConstruct, of: IConstruct, resource: string, reason: string): void {
  const id = Stack.of(of).getLogicalId(of.node.defaultChild as CfnResource);
  acknowledge(policy, `AwsSolutions-IAM5[Resource::${resource.replace('%', id)}]`, reason);
}

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

/** A role by which schedules of this account may do one thing to one resource; the CDK would grant more. */
export function scheduleRole(scope: Construct, action: string, resource: string): IRole {
  const role = new Role(scope, 'ScheduleRole', {
    assumedBy: new ServicePrincipal('scheduler.amazonaws.com').withConditions({
      StringEquals: { 'aws:SourceAccount': Stack.of(scope).account },
    }),
  });
  role.addToPolicy(new PolicyStatement({ actions: [action], resources: [resource] }));
  return role.withoutPolicyUpdates();
}

/** What DynamoDB does with a table's key in the name of whoever calls it; named in full, without the CDK's wildcards. */
const keyActions = [
  'kms:Decrypt',
  'kms:DescribeKey',
  'kms:Encrypt',
  'kms:GenerateDataKey',
  'kms:GenerateDataKeyWithoutPlaintext',
  'kms:ReEncryptFrom',
  'kms:ReEncryptTo',
];

/** Lets `grantee` do these operations on the table, `GetItem`, and no other; and use its key, where it has one. */
export function grantTable(table: ITable, grantee: IGrantable, ...operations: string[]): void {
  table.grant(grantee, ...operations.map((operation) => `dynamodb:${operation}`));
  table.encryptionKey?.grant(grantee, ...keyActions);
}
