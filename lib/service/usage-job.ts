import { Duration } from 'aws-cdk-lib';
import type { ITable } from 'aws-cdk-lib/aws-dynamodb';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import { Schedule, ScheduleExpression } from 'aws-cdk-lib/aws-scheduler';
import { LambdaInvoke } from 'aws-cdk-lib/aws-scheduler-targets';
import type { ITopic } from 'aws-cdk-lib/aws-sns';
import type { Construct } from 'constructs';
import { environment, usageEnvironment } from '../../lambdas/shared/tables.ts';
import type { Config } from '../config/schema.ts';
import { bundle } from '../shared/bundle.ts';
import { scheduleRole } from '../shared/grants.ts';
import { LambdaFunction } from '../shared/lambda-function.ts';

export type UsageJobProps = { config: Config; encryptionKey: IKey | undefined; accounts: ITable; topic: ITopic };

/** Records the usage of every account and reports limits that are nearly used up, once an hour. */
export class UsageJob extends LambdaFunction {
  constructor(scope: Construct, id: string, { config, encryptionKey, accounts, topic }: UsageJobProps) {
    super(scope, id, {
      config,
      encryptionKey,
      code: bundle({ name: id, entries: { index: 'lambdas/usage/handler.ts' } }),
      description: 'Records the usage of accounts by day',
      memoryMb: 512,
      timeout: Duration.minutes(15),
      environment: {
        [usageEnvironment.topic]: topic.topicArn,
        [usageEnvironment.months]: String(config.usage.months),
        [usageEnvironment.messageAtShare]: String(config.usage.messageAtShare),
      },
      withoutDeadLetterQueue: 'The next run, within the hour, does what this one left undone.',
    });
    // A transaction of updates needs no more than UpdateItem.
    this.usesTable(accounts, environment.accountsTable, 'GetItem', 'BatchGetItem', 'Query', 'UpdateItem');
    if (config.usage.messageAtShare > 0) this.publishesTo(topic, encryptionKey);
    new Schedule(this, 'Schedule', {
      description: 'Records usage',
      schedule: ScheduleExpression.rate(Duration.hours(1)),
      target: new LambdaInvoke(this.function, {
        role: scheduleRole(this, 'lambda:InvokeFunction', this.function.functionArn),
        retryAttempts: 0,
        maxEventAge: Duration.minutes(30),
      }),
    });
  }

  /** Not `grantPublish`, which allows more of the key by a wildcard. */
  private publishesTo({ topicArn }: ITopic, key: IKey | undefined): void {
    this.function.addToRolePolicy(new PolicyStatement({ actions: ['sns:Publish'], resources: [topicArn] }));
    key?.grant(this.function, 'kms:Decrypt', 'kms:GenerateDataKey');
  }
}
