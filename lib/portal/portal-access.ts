import type { ITable } from 'aws-cdk-lib/aws-dynamodb';
import { type IGrantable, PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import type { ISecret } from 'aws-cdk-lib/aws-secretsmanager';
import { Construct } from 'constructs';
import { accountsTable, environment } from '../../lambdas/shared/tables.ts';
import { grantTable } from '../shared/grants.ts';

export type PortalAccessProps = {
  /** The table of the data stack's output `AccountsTableName`, with its `encryptionKey` if it has one. */
  accounts: ITable;
  /** The secret of the data stack's output `KeyChecksumSecretArn`. */
  keyChecksumSecret: ISecret;
};

/**
 * Grants a customer portal what the admin module needs for accounts and keys, and no more: it reads plans but never writes
 * one, and it has no access to addresses.
 */
export class PortalAccess extends Construct {
  /** The variables that the portal reads: the table's name and the secret's ARN. */
  readonly environment: Record<string, string>;
  private readonly props: PortalAccessProps;

  constructor(scope: Construct, id: string, props: PortalAccessProps) {
    super(scope, id);
    this.props = props;
    this.environment = {
      [environment.accountsTable]: props.accounts.tableName,
      [environment.keyChecksumSecretArn]: props.keyChecksumSecret.secretArn,
    };
  }

  /** Grants a portal's Lambda its permissions and sets its environment. */
  serve(portal: LambdaFunction): void {
    this.grant(portal);
    for (const [name, value] of Object.entries(this.environment)) portal.addEnvironment(name, value);
  }

  /** Grants any other back end its permissions; set its `environment` yourself. */
  grant(grantee: IGrantable): void {
    const { accounts, keyChecksumSecret } = this.props;
    grantTable(accounts, grantee, 'GetItem', 'BatchGetItem', 'Query', 'ConditionCheckItem');
    grantee.grantPrincipal.addToPrincipalPolicy(
      new PolicyStatement({
        actions: ['dynamodb:PutItem', 'dynamodb:UpdateItem', 'dynamodb:DeleteItem'],
        resources: [accounts.tableArn],
        conditions: {
          'ForAllValues:StringNotLike': { 'dynamodb:LeadingKeys': [`${accountsTable.planPartitionPrefix}*`] },
        },
      }),
    );
    keyChecksumSecret.grantRead(grantee);
  }
}
