import { Stack } from 'aws-cdk-lib';
import { type IRole, PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import type { Construct } from 'constructs';

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
