import { CfnOutput, Duration, Stack, Token } from 'aws-cdk-lib';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { Bucket } from 'aws-cdk-lib/aws-s3';
import { Schedule, ScheduleExpression } from 'aws-cdk-lib/aws-scheduler';
import { LambdaInvoke } from 'aws-cdk-lib/aws-scheduler-targets';
import { Secret } from 'aws-cdk-lib/aws-secretsmanager';
import { Construct } from 'constructs';
import {
  backupEnvironment,
  environment,
  metricNames,
  metricNamespaceOf,
  metricNamespaceVariable,
} from '../../core/names.ts';
import { manifestKeys } from '../../loader/names.ts';
import { deploymentName } from '../config/deployment.ts';
import type { Config } from '../config/schema.ts';
import type { DataStack } from '../data/data-stack.ts';
import { acknowledge, defaultEventBus, scheduleRole } from '../shared/grants.ts';
import { LambdaFunction } from '../shared/lambda-function.ts';
import { ownMetric } from '../shared/monitoring.ts';

export type BackupSetsProps = {
  config: Config;
  backup: NonNullable<Config['backup']>;
  data: DataStack;
  snapshots: Bucket;
};

/** Writes a backup set every day, to a bucket of the operator's, and raises an alarm when it fails or is late. */
export class BackupSets extends Construct {
  constructor(scope: Construct, id: string, { config, backup, data, snapshots }: BackupSetsProps) {
    super(scope, id);
    const { accounts, keyChecksumSecret, sessionSecret, encryptionKey, alarmTopic: topic } = data;
    const lambda = new LambdaFunction(this, 'Set', {
      config,
      encryptionKey,
      bundle: 'Backup',
      description: 'Writes a backup set',
      memoryMb: 2048,
      timeout: Duration.minutes(15),
      environment: {
        [metricNamespaceVariable]: metricNamespaceOf(config.stage),
        [backupEnvironment.deployment]: deploymentName(config.stage),
        [backupEnvironment.destination]: backup.bucket,
        [backupEnvironment.publicKey]: backup.publicKey,
      },
      withoutDeadLetterQueue: 'An alarm goes off when it fails, and Lambda runs it again.',
    })
      .usesTable(accounts, environment.accountsTable, 'Scan')
      .usesBucket(snapshots, environment.snapshotBucket, { read: [manifestKeys.manifest] });
    // Only its ARN is named: the policy of its key, in another stack, would name the role of this one.
    const secrets = { Checksum: keyChecksumSecret, ...(sessionSecret && { Session: sessionSecret }) };
    for (const [name, { secretArn }] of Object.entries(secrets)) {
      Secret.fromSecretCompleteArn(this, name, secretArn).grantRead(lambda.function);
      const { keyChecksumSecretArn, portalSessionSecret } = environment;
      lambda.function.addEnvironment(name === 'Checksum' ? keyChecksumSecretArn : portalSessionSecret, secretArn);
    }
    const putEvents = { actions: ['events:PutEvents'], resources: [defaultEventBus(this)] };
    lambda.function.addToRolePolicy(new PolicyStatement(putEvents));
    encryptionKey?.grant(lambda.function, 'kms:Decrypt');
    const [bucket = '', prefix = ''] = backup.bucket.split(/\/(.*)/s);
    const { partition } = Stack.of(this);
    const objects = `arn:${partition}:s3:::${bucket}/${prefix}${deploymentName(config.stage)}/*`;
    lambda.function.addToRolePolicy(new PolicyStatement({ actions: ['s3:PutObject'], resources: [objects] }));
    acknowledge(
      lambda,
      `AwsSolutions-IAM5[Resource::arn:${Token.isUnresolved(partition) ? '<AWS::Partition>' : partition}:s3:::${bucket}/${prefix}${deploymentName(config.stage)}/*]`,
      'The name of a set contains the time at which it was written.',
    );
    if (backup.schedule !== 'off')
      new Schedule(this, 'Schedule', {
        description: 'Writes a backup set',
        schedule: ScheduleExpression.expression(backup.schedule),
        target: new LambdaInvoke(lambda.function, {
          role: scheduleRole(this, 'lambda:InvokeFunction', lambda.function.functionArn),
          retryAttempts: 2,
          maxEventAge: Duration.hours(1),
        }),
      });
    topic.alarms(this, {
      Late: {
        metric: ownMetric(config.stage, 'backup', metricNames.backupSets, {
          statistic: 'Maximum',
          period: Duration.days(1),
        }),
        isBelow: true,
        periods: [1, 1],
        noData: backup.schedule === 'off' ? 'ignored' : 'stopped',
        problem: 'A backup set could not be written, or none is written any more.',
        first:
          'read the log group of the function of STACK-loader whose name has BackupSets. No lines: enable its schedule again in EventBridge Scheduler. npx bag-adres doctor --stack STACK shows the last set.',
        runbook: 'Backup late',
      },
    });
    new CfnOutput(this, 'BackupRoleArn', { value: lambda.function.role?.roleArn ?? '' }).overrideLogicalId(
      'BackupRoleArn',
    );
  }
}
