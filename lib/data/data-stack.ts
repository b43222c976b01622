import { hash } from 'node:crypto';
import { ArnFormat, CfnOutput, Duration, RemovalPolicy, Stack } from 'aws-cdk-lib';
import { BackupPlan, BackupPlanRule, BackupResource, BackupVault } from 'aws-cdk-lib/aws-backup';
import {
  AttributeType,
  BillingMode,
  Table,
  TableEncryption,
  type TableProps,
  type WarmThroughput,
} from 'aws-cdk-lib/aws-dynamodb';
import { Schedule } from 'aws-cdk-lib/aws-events';
import { type IKey, Key } from 'aws-cdk-lib/aws-kms';
import type { Bucket } from 'aws-cdk-lib/aws-s3';
import { Secret } from 'aws-cdk-lib/aws-secretsmanager';
import { Construct } from 'constructs';
import { copiesEnvironment } from '../../core/environment.ts';
import { metricNames, metricNamespaceOf, metricNamespaceVariable } from '../../core/metrics.ts';
import { accountsTable, addressesTable } from '../../core/tables.ts';
import type { Config } from '../config/config-schema.ts';
import {
  encryptionKey,
  isProtected,
  protectedRemoval,
  removal,
  stackProps,
  stackSuffix,
} from '../shared/data-protection.ts';
import { acknowledge, allow, type TableInUse } from '../shared/grants.ts';
import { LambdaFunction } from '../shared/lambda-function.ts';
import { type AlarmTopic, alarmTopic, ownMetric } from '../shared/monitoring.ts';
import { statementBucket } from './statement-bucket.ts';

export type DataStackProps = { config: Config; stackName: string };

/**
 * Everything that must outlive a deployment: both tables, and the secret of the portal, if any. No
 * update replaces anything here, and deleting the stack keeps all of it unless the operator chose
 * otherwise.
 */
export class DataStack extends Stack {
  readonly addresses: Table;
  /**
   * The table that holds the accounts: this stack's, or the existing table that the settings name.
   */
  readonly accounts: TableInUse;
  /** The secret of the portal, if it is configured. It outlives the stack of the portal. */
  readonly sessionSecret: Secret | undefined;
  /** The statements of closed months. */
  readonly statements: Bucket;
  readonly encryptionKey: IKey | undefined;
  /**
   * The alarms of every stack notify this topic, so that the operator confirms a single
   * subscription.
   */
  readonly alarmTopic: AlarmTopic;

  constructor(scope: Construct, id: string, { config, stackName }: DataStackProps) {
    super(scope, id, stackProps(config, stackName, 'addresses and accounts'));
    this.encryptionKey = encryptionKey(this, config);
    const warm = config.warmThroughput;
    this.addresses = this.table('Addresses', config, {
      ...warmed({
        readUnitsPerSecond: warm?.addressesReads,
        writeUnitsPerSecond: warm?.addressesWrites,
      }),
      partitionKey: { name: addressesTable.partitionKey, type: AttributeType.STRING },
    });
    const accounts = this.table('Accounts', config, {
      ...warmed({ writeUnitsPerSecond: warm?.accountsWrites }),
      partitionKey: { name: accountsTable.partitionKey, type: AttributeType.STRING },
      sortKey: { name: accountsTable.sortKey, type: AttributeType.STRING },
      timeToLiveAttribute: accountsTable.expires,
    });
    this.accounts = config.tables.accounts
      ? this.existing(config.tables.accounts, accounts)
      : accounts;
    if (config.portal) this.sessionSecret = this.ownSecret(config);
    this.statements = statementBucket(this, config, this.encryptionKey);
    this.alarmTopic = alarmTopic(this, config, this.encryptionKey);
    new AccountsBackup(this, 'AccountsBackup', config);
    new CfnOutput(this, 'AddressesTableName', { value: this.addresses.tableName });
    new CfnOutput(this, 'AccountsTableName', { value: this.accounts.tableName });
    new CfnOutput(this, 'StatementsBucketName', { value: this.statements.bucketName });
    new CfnOutput(this, 'AlarmTopicArn', { value: this.alarmTopic.topicArn });
  }

  private ownSecret(config: Config): Secret {
    const secret = new Secret(this, 'SessionSecret', {
      description: 'Proves the cookies of the portal: another value signs everybody out',
      generateSecretString: { passwordLength: 64, excludePunctuation: true },
      removalPolicy: removal(config),
      ...(this.encryptionKey && { encryptionKey: this.encryptionKey }),
    });
    acknowledge(
      secret,
      'AwsSolutions-SMG4',
      'Another value signs everybody out; the operator chooses when.',
    );
    return secret;
  }

  /**
   * A table that AWS restored. The table of this stack stays in the template, so that going back
   * removes nothing.
   */
  private existing(
    { name, keyArn }: NonNullable<Config['tables']['accounts']>,
    own: Table,
  ): TableInUse {
    const encryptionKey = keyArn && Key.fromKeyArn(this, 'AccountsInUseKey', keyArn);
    const table = Table.fromTableAttributes(this, 'AccountsInUse', {
      tableName: name,
      ...(encryptionKey && { encryptionKey }),
    });
    return Object.assign(table, { own });
  }

  private table(
    id: string,
    config: Config,
    key: Pick<TableProps, 'partitionKey' | 'sortKey' | 'timeToLiveAttribute' | 'warmThroughput'>,
  ): Table {
    return new Table(this, id, {
      ...key,
      billingMode: BillingMode.PAY_PER_REQUEST,
      pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
      deletionProtection: isProtected(config),
      removalPolicy: protectedRemoval(config),
      // Otherwise the table is encrypted with a key that AWS owns, which costs nothing.
      ...(this.encryptionKey && {
        encryption: TableEncryption.CUSTOMER_MANAGED,
        encryptionKey: this.encryptionKey,
      }),
    });
  }
}

/** Only what somebody set: AWS bills an increase, and can't lower it again. */
function warmed(
  units: { [unit in keyof WarmThroughput]: number | undefined },
): Pick<TableProps, 'warmThroughput'> {
  const warmThroughput = Object.fromEntries(
    Object.entries(units).filter(([, given]) => given !== undefined),
  );
  return Object.keys(warmThroughput).length > 0 ? { warmThroughput } : {};
}

const keptFor = Duration.days(35);
/** A day, and the hours that AWS Backup may take to begin. */
const lateAfter = Duration.hours(36);

/**
 * A daily backup of the accounts table in a vault of this account, with a copy in the operator's
 * vault. Whoever deletes the table and everything else in this account can't delete the copy.
 * Addresses need none: they can be loaded again. The vault itself is always there, and costs
 * nothing while it is empty: removed with the setting it would be retained, and in the way of the
 * next one.
 */
class AccountsBackup extends Construct {
  constructor(data: DataStack, id: string, config: Config) {
    super(data, id);
    const { encryptionKey } = data;
    const copyTo = config.backupVaultArn;
    const backupVault = new BackupVault(this, 'Vault', {
      backupVaultName: vaultName(this, config),
      // CloudFormation can't delete one with backups, which expire by themselves.
      removalPolicy: copyTo ? RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE : removal(config),
      ...(encryptionKey && { encryptionKey }),
    });
    if (!copyTo) return;
    const plan = new BackupPlan(this, 'Plan', {
      backupVault,
      backupPlanRules: [
        new BackupPlanRule({
          ruleName: 'Daily',
          scheduleExpression: Schedule.cron({ hour: '2', minute: '0' }),
          deleteAfter: keptFor,
          copyActions: [
            {
              destinationBackupVault: BackupVault.fromBackupVaultArn(this, 'CopyTo', copyTo),
              deleteAfter: keptFor,
            },
          ],
        }),
      ],
    });
    const selection = plan.addSelection('Accounts', {
      resources: [BackupResource.fromDynamoDbTable(data.accounts)],
    });
    acknowledge(
      selection,
      'AwsSolutions-IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/AWSBackupServiceRolePolicyForBackup]',
      'The policy that AWS maintains for this purpose, for AWS Backup only.',
    );
    this.watch(plan.backupPlanId, copyTo, data, config);
  }

  /**
   * Reports the age of the last copy: which metrics AWS Backup has of one vault's copies is not
   * documented.
   */
  private watch(planId: string, copyTo: string, data: DataStack, config: Config): void {
    const lambda = new LambdaFunction(this, 'Watch', {
      config,
      encryptionKey: data.encryptionKey,
      bundle: 'BackupCopies',
      description: 'Reports how old the last copy of the accounts table is',
      memorySize: 256,
      timeout: Duration.seconds(60),
      environment: {
        [metricNamespaceVariable]: metricNamespaceOf(config.stage),
        [copiesEnvironment.plan]: planId,
        [copiesEnvironment.table]: data.accounts.tableArn,
        [copiesEnvironment.vault]: copyTo,
      },
      withoutDeadLetterQueue:
        'The alarm sees a run that was missed, and the next one follows within the hour.',
    });
    const plan = Stack.of(this).formatArn({
      service: 'backup',
      resource: 'backup-plan',
      resourceName: planId,
      arnFormat: ArnFormat.COLON_RESOURCE_NAME,
    });
    allow(lambda.function, ['backup:GetBackupPlan'], [plan]);
    allow(lambda.function, ['backup:ListCopyJobs'], ['*']);
    acknowledge(
      lambda,
      'AwsSolutions-IAM5[Resource::*]',
      'The action that lists jobs supports no resources.',
    );
    lambda.runEvery(Duration.hours(1), {
      description: 'Reports the age of the last copy',
      maxEventAge: Duration.minutes(30),
    });
    data.alarmTopic.alarms(this, {
      Late: {
        metric: ownMetric(config.stage, 'backup', metricNames.backupCopyAge, {
          statistic: 'Minimum',
          period: Duration.hours(1),
        }),
        threshold: lateAfter.toHours(),
        noData: 'stopped',
        problem: `For ${lateAfter.toHours()} hours no backup of the accounts table was copied.`,
        first:
          'aws backup list-copy-jobs and aws backup list-backup-jobs, with --by-resource-type DynamoDB, say why. No jobs: switch the opt-in of DynamoDB on again in the settings of AWS Backup.',
        runbook: 'Backup late',
      },
    });
  }
}

/**
 * A vault is replaced when its key changes, and stays: so its name differs for each creation of the
 * stack and for each key. AWS allows 50 characters.
 */
function vaultName(scope: Construct, { encryptionKey }: Config): string {
  const ofKey = encryptionKey === 'aws' ? '' : `-${hash('sha256', encryptionKey).slice(0, 4)}`;
  return `${Stack.of(scope).stackName}-${stackSuffix(scope)}${ofKey}`;
}
