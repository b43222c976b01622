/** The CDK stack of a portal, with the construct of the package. */
import assert from 'node:assert/strict';
import { App, Stack } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { Table } from 'aws-cdk-lib/aws-dynamodb';
import { Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Bucket } from 'aws-cdk-lib/aws-s3';
import { PortalAccess, type PortalAccessProps } from 'bag-adres-admin/access';

const stack = new Stack(new App(), 'Portal', {
  env: { region: 'eu-central-1', account: '123456789012' },
});
const props: PortalAccessProps = {
  accounts: Table.fromTableName(stack, 'Accounts', 'accounts'),
  plans: 'change',
  statements: Bucket.fromBucketName(stack, 'Statements', 'statements'),
  loads: {
    bucket: Bucket.fromBucketName(stack, 'Snapshots', 'snapshots'),
    stateMachineArn: 'arn:aws:states:eu-central-1:123456789012:stateMachine:Load',
  },
};
const access = new PortalAccess(stack, 'Access', props);
access.grant(
  new Role(stack, 'Role', { assumedBy: new ServicePrincipal('ecs-tasks.amazonaws.com') }),
);

Template.fromStack(stack).resourceCountIs('AWS::IAM::Policy', 1);
assert.equal(Object.values(access.environment)[0], 'accounts');
process.stdout.write('access\n');
