import { Duration } from 'aws-cdk-lib';
import { Metric, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import { Architecture, Function as LambdaFunction, LoggingFormat, Runtime, Tracing } from 'aws-cdk-lib/aws-lambda';
import { LogGroup } from 'aws-cdk-lib/aws-logs';
import { Schedule, ScheduleExpression } from 'aws-cdk-lib/aws-scheduler';
import { LambdaInvoke } from 'aws-cdk-lib/aws-scheduler-targets';
import { Secret } from 'aws-cdk-lib/aws-secretsmanager';
import type { ITopic } from 'aws-cdk-lib/aws-sns';
import { Construct } from 'constructs';
import {
  canaryEnvironment,
  metricNames,
  metricNamespaceOf,
  metricNamespaceVariable,
  requestDimensions,
} from '../../lambdas/shared/metric-names.ts';
import type { Config } from '../config/schema.ts';
import { operatorAlarm } from '../shared/alarms.ts';
import { bundle } from '../shared/bundle.ts';
import { logGroupProps } from '../shared/encryption.ts';
import { acknowledge, functionRole, scheduleRole } from '../shared/grants.ts';

export type CanaryProps = {
  config: Config;
  encryptionKey: IKey | undefined;
  canary: NonNullable<Config['canary']>;
  baseUrl: string;
  topic: ITopic;
};

/** Looks an address up every few minutes, as a caller does, and tells when that goes wrong twice on end. */
export class Canary extends Construct {
  constructor(scope: Construct, id: string, { config, encryptionKey, canary, baseUrl, topic }: CanaryProps) {
    super(scope, id);
    const secret = Secret.fromSecretNameV2(this, 'Key', canary.keySecretName);
    const logGroup = new LogGroup(this, 'Logs', logGroupProps(config, encryptionKey));
    const lambda = new LambdaFunction(this, 'Function', {
      description: 'Looks an address up, as a caller does',
      code: bundle({ name: id, entries: { index: 'lambdas/canary/handler.ts' } }),
      handler: 'index.handler',
      runtime: Runtime.NODEJS_24_X,
      architecture: Architecture.ARM_64,
      memorySize: 256,
      timeout: Duration.seconds(20),
      tracing: Tracing.ACTIVE,
      loggingFormat: LoggingFormat.JSON,
      logGroup,
      role: functionRole(this, logGroup, encryptionKey),
      environment: {
        [metricNamespaceVariable]: metricNamespaceOf(config.stage),
        [canaryEnvironment.url]: `${baseUrl}/v1/address?postcode=${canary.postcode}&huisnummer=${canary.huisnummer}`,
        [canaryEnvironment.keySecret]: secret.secretName,
      },
      ...(encryptionKey && { environmentEncryption: encryptionKey }),
    });
    secret.grantRead(lambda);
    acknowledge(
      lambda,
      'Serverless-LambdaDLQ',
      'A look that was missed is seen by the alarm, and the next one follows.',
    );
    const every = Duration.minutes(canary.everyMinutes);
    new Schedule(this, 'Schedule', {
      description: 'Has the canary look an address up',
      schedule: ScheduleExpression.rate(every),
      target: new LambdaInvoke(lambda, {
        role: scheduleRole(this, 'lambda:InvokeFunction', lambda.functionArn),
        retryAttempts: 0,
        maxEventAge: Duration.minutes(1),
      }),
    });
    operatorAlarm(this, 'Failed', {
      metric: new Metric({
        namespace: metricNamespaceOf(config.stage),
        metricName: metricNames.canaryFailures,
        dimensionsMap: { [requestDimensions.service]: 'canary' },
        statistic: 'Maximum',
        period: every,
      }),
      threshold: 1,
      evaluationPeriods: 2,
      // A canary that says nothing is not well either.
      missing: TreatMissingData.BREACHING,
      says: 'The lookup that is done on schedule, as a caller does it, goes wrong.',
      runbook: 'Canary failed',
      topic,
    });
  }
}
