import type { CfnResource } from 'aws-cdk-lib';
import { Stack, Validations } from 'aws-cdk-lib';
import type { IConstruct } from 'constructs';

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
