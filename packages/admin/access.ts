import { Aws, Fn } from 'aws-cdk-lib';
import type { ITable } from 'aws-cdk-lib/aws-dynamodb';
import { type IGrantable, PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import type { IBucket } from 'aws-cdk-lib/aws-s3';
import { Construct } from 'constructs';
import { environment } from '../../core/environment.ts';
import { accountsTable, statementsPrefix } from '../../core/tables.ts';
import { allow, grantTable } from '../../lib/shared/grants.ts';
import { approvalRunPrefix, manifestKeys, storagePrefixes } from '../../loader/names.ts';

export type PortalAccessProps = {
  /**
   * The table of the data stack's output `AccountsTableName`, with its `encryptionKey` if it has
   * one.
   */
  accounts: ITable;
  /**
   * `change` lets the portal make and change plans, and so the limits of every account; `read`
   * unless given.
   */
  plans?: 'read' | 'change';
  /**
   * Lets operators see and approve loads in the portal; without it the portal has no access to
   * them.
   */
  loads?: LoadsAccess;
  /**
   * The bucket of the data stack's output `StatementsBucketName`; without it the portal can't read
   * statements.
   */
  statements?: IBucket;
};

/** The outputs `SnapshotBucketName` and `StateMachineArn` of the loader stack. */
export type LoadsAccess = {
  /** Import it with its `encryptionKey` if it has one. */
  bucket: IBucket;
  stateMachineArn: string;
  /**
   * Its name, if the ARN is an output of another stack in the same app, which CloudFormation can't
   * split.
   */
  stateMachineName?: string;
};

/**
 * Grants a customer portal the permissions of the admin module for accounts, keys and its
 * operators' actions, but no access to addresses.
 */
export class PortalAccess extends Construct {
  /** The variables that the portal reads: the names of the table and of what else it was given. */
  readonly environment: Record<string, string>;
  private readonly props: PortalAccessProps;

  constructor(scope: Construct, id: string, props: PortalAccessProps) {
    super(scope, id);
    this.props = props;
    this.environment = {
      [environment.accountsTable]: props.accounts.tableName,
      ...(props.loads && {
        [environment.snapshotBucket]: props.loads.bucket.bucketName,
        [environment.loadMachine]: props.loads.stateMachineArn,
      }),
      ...(props.statements && { [environment.statementsBucket]: props.statements.bucketName }),
    };
  }

  /** Grants a portal's Lambda its permissions and sets its environment. */
  serve(portal: LambdaFunction): void {
    this.grant(portal);
    for (const [name, value] of Object.entries(this.environment)) {
      portal.addEnvironment(name, value);
    }
  }

  /** Grants any other back end its permissions; set its `environment` yourself. */
  grant(grantee: IGrantable): void {
    const { accounts, plans = 'read', loads, statements } = this.props;
    grantTable(accounts, grantee, 'GetItem', 'BatchGetItem', 'Query', 'ConditionCheckItem');
    grantee.grantPrincipal.addToPrincipalPolicy(
      new PolicyStatement({
        actions: ['dynamodb:PutItem', 'dynamodb:UpdateItem', 'dynamodb:DeleteItem'],
        resources: [accounts.tableArn],
        ...(plans === 'read' && {
          conditions: {
            'ForAllValues:StringNotLike': {
              'dynamodb:LeadingKeys': [`${accountsTable.planPartitionPrefix}*`],
            },
          },
        }),
      }),
    );
    if (loads) grantLoads(grantee, loads);
    // The job that records usage writes them.
    if (statements) grantReading(grantee, statements, [`${statementsPrefix}*`]);
  }
}

/**
 * Reading the live snapshot and refused loads, and starting the state machine; reading only
 * executions of approvals.
 */
function grantLoads(grantee: IGrantable, { bucket, ...machine }: LoadsAccess): void {
  const { loads } = storagePrefixes;
  grantReading(grantee, bucket, [
    ...Object.values(manifestKeys),
    `${loads}*/proposal.json`,
    `${loads}*/csv/*`,
  ]);
  allow(grantee, ['states:StartExecution', 'states:ListExecutions'], [machine.stateMachineArn]);
  allow(grantee, ['states:DescribeExecution'], [`${executionsOf(machine)}:${approvalRunPrefix}*`]);
}

function grantReading(grantee: IGrantable, bucket: IBucket, keys: string[]): void {
  // Without listing, S3 answers 403 for an object that does not exist.
  allow(grantee, ['s3:ListBucket'], [bucket.bucketArn]);
  const objects = keys.map((key) => bucket.arnForObjects(key));
  allow(grantee, ['s3:GetObject'], objects);
  bucket.encryptionKey?.grant(grantee, 'kms:Decrypt');
}

/** The ARN of the executions of the state machine, without their names. */
export function executionsOf({
  stateMachineArn,
  stateMachineName,
}: Omit<LoadsAccess, 'bucket'>): string {
  if (stateMachineName === undefined) {
    return Fn.join(':execution:', Fn.split(':stateMachine:', stateMachineArn, 2));
  }
  return `arn:${Aws.PARTITION}:states:${Aws.REGION}:${Aws.ACCOUNT_ID}:execution:${stateMachineName}`;
}
