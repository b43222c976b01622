import { Duration } from 'aws-cdk-lib';
import { type Alarm, Metric, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import { Schedule, ScheduleExpression } from 'aws-cdk-lib/aws-scheduler';
import { LambdaInvoke } from 'aws-cdk-lib/aws-scheduler-targets';
import { Secret } from 'aws-cdk-lib/aws-secretsmanager';
import type { ITopic } from 'aws-cdk-lib/aws-sns';
import type { Construct } from 'constructs';
import {
  canaryEnvironment,
  metricNames,
  metricNamespaceOf,
  metricNamespaceVariable,
  requestDimensions,
} from '../../lambdas/shared/metric-names.ts';
import type { Config } from '../config/schema.ts';
import { bundle } from '../shared/bundle.ts';
import { scheduleRole } from '../shared/grants.ts';
import { LambdaFunction } from '../shared/lambda-function.ts';
import { operatorAlarm } from '../shared/monitoring.ts';

export type CanaryProps = {
  config: Config;
  encryptionKey: IKey | undefined;
  canary: NonNullable<Config['canary']>;
  baseUrl: string;
  topic: ITopic;
};

/** Looks up an address every few minutes, as a caller does, and raises an alarm after two failures in a row. */
export class Canary extends LambdaFunction {
  readonly failed: Alarm;

  constructor(scope: Construct, id: string, { config, encryptionKey, canary, baseUrl, topic }: CanaryProps) {
    super(scope, id, {
      config,
      encryptionKey,
      code: bundle({ name: id, entries: { index: 'lambdas/canary/handler.ts' } }),
      description: 'Looks up an address, as a caller does',
      memoryMb: 256,
      timeout: Duration.seconds(20),
      environment: {
        [metricNamespaceVariable]: metricNamespaceOf(config.stage),
        [canaryEnvironment.url]: `${baseUrl}/v1/address?postcode=${canary.postcode}&huisnummer=${canary.huisnummer}`,
      },
      withoutDeadLetterQueue: 'The alarm sees a lookup that was missed, and the next one follows in minutes.',
    });
    this.usesSecret(Secret.fromSecretNameV2(this, 'Key', canary.keySecretName), canaryEnvironment.keySecret);
    const every = Duration.minutes(canary.everyMinutes);
    new Schedule(this, 'Schedule', {
      description: 'Runs the canary',
      schedule: ScheduleExpression.rate(every),
      target: new LambdaInvoke(this.function, {
        role: scheduleRole(this, 'lambda:InvokeFunction', this.function.functionArn),
        retryAttempts: 0,
        maxEventAge: Duration.minutes(1),
      }),
    });
    this.failed = operatorAlarm(this, 'Failed', {
      metric: new Metric({
        namespace: metricNamespaceOf(config.stage),
        metricName: metricNames.canaryFailures,
        dimensionsMap: { [requestDimensions.service]: 'canary' },
        statistic: 'Maximum',
        period: every,
      }),
      threshold: 1,
      evaluationPeriods: 2,
      // A canary that does not run is a failure too.
      missingData: TreatMissingData.BREACHING,
      problem: 'The scheduled lookup fails.',
      runbook: 'Canary failed',
      topic,
    });
  }
}
