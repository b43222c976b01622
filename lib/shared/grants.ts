import {
  Arn,
  CfnResource,
  type IAspect,
  Reference,
  Stack,
  Tokenization,
  Validations,
} from 'aws-cdk-lib';
import type { ITable } from 'aws-cdk-lib/aws-dynamodb';
import {
  CfnRole,
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
 * Accepts one resource with a wildcard in the policies below `policies`.
 * @param resource the resource as the statement has it
 */
export function acknowledgeWildcard(policies: IConstruct, resource: string, reason: string): void {
  const acknowledgeNow = () => {
    const seen = asCdkNagWrites(Stack.of(policies).resolve(resource));
    acknowledge(policies, `AwsSolutions-IAM5[Resource::${seen}]`, reason);
    return [];
  };
  acknowledgeNow();
  // A reference to another stack gets its form, an output or an export, when the app is complete.
  // The CDK asks for the errors of each construct after that, and reads acknowledgements later.
  if (refersToOtherStack(policies, resource)) {
    policies.node.addValidation({ validate: acknowledgeNow });
  }
}

function refersToOtherStack(scope: IConstruct, text: string): boolean {
  return Tokenization.reverseString(text).tokens.some(
    (token) => Reference.isReference(token) && Stack.of(token.target) !== Stack.of(scope),
  );
}

/** A resolved value as cdk-nag has it in the id of a finding. */
function asCdkNagWrites(value: unknown): string {
  if (typeof value === 'string') return value.replaceAll('${', '<').replaceAll('}', '>');
  const {
    'Fn::Join': join,
    'Fn::GetAtt': attribute,
    'Fn::ImportValue': imported,
    Ref: ref,
  } = value as {
    'Fn::Join'?: [delimiter: string, parts: unknown[]];
    'Fn::GetAtt'?: [resource: string, attribute: string];
    'Fn::ImportValue'?: unknown;
    Ref?: string;
  };
  if (join) return join[1].map(asCdkNagWrites).join(join[0]);
  if (attribute) return `<${attribute.join('.')}>`;
  if (imported) return asCdkNagWrites(imported);
  return ref ? `<${ref}>` : JSON.stringify(value);
}

/** The event bus of the account and region, which carries the events. */
export function defaultEventBus(scope: Construct): string {
  return Arn.format(
    { service: 'events', resource: 'event-bus', resourceName: 'default' },
    Stack.of(scope),
  );
}

/**
 * The services whose documentation has `aws:SourceAccount` in the trust policy of a role, for
 * Lambda under "Working with AWS managed policies in the execution role", for CodeDeploy,
 * EventBridge Scheduler and Step Functions under "confused deputy". A service that does not send it
 * can't use the role at all, and AWS Backup documents it for other policies only (decision 0174).
 */
const sendSourceAccount = /^(?:codedeploy|lambda|scheduler|states)\./;

/**
 * Lets an AWS service that names the account behind a call use a role for this account only, also
 * the roles that the CDK makes. The trust policy of each has one statement.
 */
export class TrustOwnAccount implements IAspect {
  visit(node: IConstruct): void {
    if (!(node instanceof CfnResource) || node.cfnResourceType !== 'AWS::IAM::Role') return;
    // The CDK writes only the roles of its own functions as plain resources.
    if (node instanceof CfnRole) {
      const { Statement } = Stack.of(node).resolve(node.assumeRolePolicyDocument);
      if (!sendSourceAccount.test(Statement[0].Principal.Service)) return;
    }
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
  for (const used of [table, ...(table.own ? [table.own] : [])]) {
    used.grant(grantee, ...operations.map((operation) => `dynamodb:${operation}`));
    used.encryptionKey?.grant(grantee, ...keyActions);
  }
}
