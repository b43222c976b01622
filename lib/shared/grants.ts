import { Arn, CfnResource, type IAspect, Stack, Validations } from 'aws-cdk-lib';
import type { ITable } from 'aws-cdk-lib/aws-dynamodb';
import {
  type IGrantable,
  type IRole,
  PolicyStatement,
  Role,
  ServicePrincipal,
} from 'aws-cdk-lib/aws-iam';
import type { Construct, IConstruct } from 'constructs';

/** Accepts a finding of a cdk-nag rule on a construct and everything below it, with the reason. */
export function acknowledge(construct: IConstruct, rule: string, reason: string): void {
  const pack = rule.split('-', 1)[0];
  Validations.of(construct).acknowledge({ id: `${pack}::${rule}`, reason });
}

/**
 * Accepts one wildcard resource in a policy.
 * @param of the construct that the resource belongs to
 * @param resource the resource as cdk-nag writes it, with `%` for the logical id of `of`
 */
export function acknowledgeWildcard(
  policy: IConstruct,
  of: IConstruct,
  resource: string,
  reason: string,
): void {
  const id = Stack.of(of).getLogicalId(of.node.defaultChild as CfnResource);
  acknowledge(policy, `AwsSolutions-IAM5[Resource::${resource.replace('%', id)}]`, reason);
}

/** The event bus of the account and region, which carries the events. */
export function defaultEventBus(scope: Construct): string {
  return Arn.format(
    { service: 'events', resource: 'event-bus', resourceName: 'default' },
    Stack.of(scope),
  );
}

/**
 * Lets an AWS service use a role on behalf of this account only, also the roles that the CDK makes:
 * the trust policy of each has one statement.
 */
export class TrustOwnAccount implements IAspect {
  visit(node: IConstruct): void {
    if (!(node instanceof CfnResource) || node.cfnResourceType !== 'AWS::IAM::Role') return;
    const condition =
      'AssumeRolePolicyDocument.Statement.0.Condition.StringEquals.aws:SourceAccount';
    node.addPropertyOverride(condition, Stack.of(node).account);
  }
}

/** Allows these actions on these resources, and nothing else. */
export function allow(
  { grantPrincipal }: IGrantable,
  actions: readonly string[],
  resources: string[],
): void {
  grantPrincipal.addToPrincipalPolicy(new PolicyStatement({ actions: [...actions], resources }));
}

/**
 * A role that lets EventBridge Scheduler take one action on one resource; the CDK's own role would
 * allow more.
 */
export function scheduleRole(scope: Construct, action: string, resource: string): IRole {
  const role = new Role(scope, 'ScheduleRole', {
    assumedBy: new ServicePrincipal('scheduler.amazonaws.com'),
  });
  allow(role, [action], [resource]);
  return role.withoutPolicyUpdates();
}

/**
 * What DynamoDB does with a table's key on behalf of the caller; in full, without the CDK's
 * wildcards.
 */
export const keyActions = [
  'kms:Decrypt',
  'kms:DescribeKey',
  'kms:Encrypt',
  'kms:GenerateDataKey',
  'kms:GenerateDataKeyWithoutPlaintext',
  'kms:ReEncryptFrom',
  'kms:ReEncryptTo',
];

/** A table, with the stack's `own` table if an existing one is used instead of that. */
export type TableInUse = ITable & { readonly own?: ITable };

/**
 * Allows these operations on the table, `GetItem` for instance, and no others; and the use of its
 * key, if it has one. The same on the stack's own table, if another is in use.
 */
export function grantTable(table: TableInUse, grantee: IGrantable, ...operations: string[]): void {
  for (const one of [table, ...(table.own ? [table.own] : [])]) {
    one.grant(grantee, ...operations.map((operation) => `dynamodb:${operation}`));
    one.encryptionKey?.grant(grantee, ...keyActions);
  }
}
