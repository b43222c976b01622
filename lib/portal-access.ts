import type { ITable } from 'aws-cdk-lib/aws-dynamodb';
import { type IGrantable, PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import type { ISecret } from 'aws-cdk-lib/aws-secretsmanager';
import { Construct } from 'constructs';
import { accountsTable, environment } from '../lambdas/shared/tables.ts';
import { grantTable } from './shared/grants.ts';

export type PortalAccessProps = {
  /** The output `AccountsTableName` of the data stack; with its `encryptionKey` where the operator chose one. */
  accounts: ITable;
  /** The output `KeyChecksumSecretArn` of the data stack. */
  keyChecksumSecret: ISecret;
  /** Whether the portal lists all plans or all accounts, which reads the whole table. */
  listsEverything?: boolean;
};

/**
 * What a customer portal may do with accounts and keys through the admin module, and no more: it reads plans and never
 * writes one, and it can't see addresses.
 */
export class PortalAccess extends Construct {
  /** What the portal reads: the table's name, and where the secret is. */
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

  /** Lets a function be the portal's back end: permissions and settings at once. */
  serve(portal: LambdaFunction): void {
    this.grant(portal);
    for (const [name, value] of Object.entries(this.environment)) portal.addEnvironment(name, value);
  }

  /** Lets anything else be the portal's back end; it wants `environment` too. */
  grant(grantee: IGrantable): void {
    const { accounts, keyChecksumSecret, listsEverything = false } = this.props;
    grantTable(accounts, grantee, 'GetItem', 'Query', 'ConditionCheckItem', ...(listsEverything ? ['Scan'] : []));
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
