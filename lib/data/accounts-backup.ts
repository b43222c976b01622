import { Duration } from 'aws-cdk-lib';
import { BackupPlan, BackupPlanRule, BackupResource, BackupVault } from 'aws-cdk-lib/aws-backup';
import type { Table } from 'aws-cdk-lib/aws-dynamodb';
import { Schedule } from 'aws-cdk-lib/aws-events';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import { Construct } from 'constructs';
import type { Config } from '../config/schema.ts';
import { removal } from '../shared/data-protection.ts';
import { acknowledge } from '../shared/grants.ts';

export type AccountsBackupProps = { config: Config; encryptionKey: IKey | undefined; accounts: Table; copyTo: string };

const keptFor = Duration.days(35);

/**
 * A daily backup of the accounts table in a vault of this account, with a copy in the operator's vault. Whoever deletes the table
 * and everything else in this account can't delete the copy. Addresses need none: they can be loaded again.
 */
export class AccountsBackup extends Construct {
  constructor(scope: Construct, id: string, { config, encryptionKey, accounts, copyTo }: AccountsBackupProps) {
    super(scope, id);
    const backupVault = new BackupVault(this, 'Vault', {
      removalPolicy: removal(config),
      ...(encryptionKey && { encryptionKey }),
    });
    const plan = new BackupPlan(this, 'Plan', {
      backupVault,
      backupPlanRules: [
        new BackupPlanRule({
          ruleName: 'Daily',
          scheduleExpression: Schedule.cron({ hour: '2', minute: '0' }),
          deleteAfter: keptFor,
          copyActions: [
            { destinationBackupVault: BackupVault.fromBackupVaultArn(this, 'CopyTo', copyTo), deleteAfter: keptFor },
          ],
        }),
      ],
    });
    const selection = plan.addSelection('Accounts', { resources: [BackupResource.fromDynamoDbTable(accounts)] });
    acknowledge(
      selection,
      'AwsSolutions-IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/AWSBackupServiceRolePolicyForBackup]',
      'The policy that AWS maintains for this purpose, for AWS Backup only.',
    );
  }
}
