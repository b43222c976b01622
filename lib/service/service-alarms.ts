import { Duration } from 'aws-cdk-lib';
import type { HttpApi } from 'aws-cdk-lib/aws-apigatewayv2';
import { type Alarm, MathExpression, Metric } from 'aws-cdk-lib/aws-cloudwatch';
import type { Alias } from 'aws-cdk-lib/aws-lambda';
import type { ITopic } from 'aws-cdk-lib/aws-sns';
import { Construct } from 'constructs';
import { metricNames, metricNamespaceOf, requestDimensions } from '../../lambdas/shared/metric-names.ts';
import { operatorAlarm } from '../shared/alarms.ts';

/** The services that a request's metrics tell apart. */
export type ServiceName = 'address' | 'validate';

const minute = Duration.minutes(1);

/** Requests of a service that ended in one way, a minute. */
export function requests(stage: string, service: ServiceName, outcome: string): Metric {
  return new Metric({
    namespace: metricNamespaceOf(stage),
    metricName: metricNames.requests,
    dimensionsMap: { [requestDimensions.service]: service, [requestDimensions.outcome]: outcome },
    statistic: 'Sum',
    period: minute,
    label: outcome,
  });
}

/** One line an outcome that occurred. Only for dashboards: an alarm can't search. */
export function byOutcome(stage: string, service: ServiceName, metricName: string): MathExpression {
  const schema = `${metricNamespaceOf(stage)},${requestDimensions.service},${requestDimensions.outcome}`;
  return new MathExpression({
    expression: `SEARCH('{${schema}} MetricName="${metricName}" ${requestDimensions.service}="${service}"', 'Sum')`,
    usingMetrics: {},
    label: '',
    period: minute,
  });
}

export type ServiceAlarmsProps = { stage: string; api: HttpApi; address: Alias; validate: Alias; topic: ITopic };

const period = Duration.minutes(1);
/** Two of three minutes: one bad minute wakes nobody. */
const lasting = { evaluationPeriods: 3, datapointsToAlarm: 2 };

/** Says when callers get errors, wait, or can't be charged. */
export class ServiceAlarms extends Construct {
  /** A new version that sets one of these off is rolled back. */
  readonly rollback: { address: Alarm[]; validate: Alarm[] };

  constructor(scope: Construct, id: string, { stage, api, address, validate, topic }: ServiceAlarmsProps) {
    super(scope, id);
    const serverErrors = operatorAlarm(this, 'ServerErrors', {
      metric: api.metricServerError({ statistic: 'Sum', period }),
      threshold: 5,
      ...lasting,
      says: 'Callers get 5xx answers.',
      runbook: 'Server errors',
      topic,
    });
    const slowAnswers = operatorAlarm(this, 'SlowAnswers', {
      metric: api.metricLatency({ statistic: 'p99', period }),
      threshold: 2000,
      evaluationPeriods: 5,
      datapointsToAlarm: 3,
      says: 'One answer in a hundred takes 2 seconds or more.',
      runbook: 'Slow answers',
      topic,
    });
    const errorsOf = (name: string, alias: Alias) =>
      operatorAlarm(this, name, {
        // A refusal is an answer; only a crash, a timeout or a start that fails counts here.
        metric: alias.metricErrors({ statistic: 'Sum', period }),
        threshold: 1,
        ...lasting,
        says: 'A function crashes, times out or does not start.',
        runbook: 'Function errors',
        topic,
      });
    this.rollback = {
      address: [errorsOf('AddressErrors', address), serverErrors, slowAnswers],
      validate: [errorsOf('ValidateErrors', validate), serverErrors],
    };
    operatorAlarm(this, 'FunctionThrottles', {
      metric: new MathExpression({
        label: 'throttled invocations',
        expression: 'FILL(address, 0) + FILL(validate, 0)',
        usingMetrics: {
          address: address.metricThrottles({ statistic: 'Sum' }),
          validate: validate.metricThrottles({ statistic: 'Sum' }),
        },
        period,
      }),
      threshold: 1,
      ...lasting,
      says: 'Lambda turns requests away: the concurrency of the account is used up.',
      runbook: 'Function throttles',
      topic,
    });
    operatorAlarm(this, 'ChargeFailures', {
      metric: requests(stage, 'address', 'temporarily-unavailable'),
      threshold: 3,
      ...lasting,
      says: 'Lookups are refused because quota can not be charged or the addresses can not be read.',
      runbook: 'Charge failures',
      topic,
    });
    operatorAlarm(this, 'RefusedKeys', {
      metric: requests(stage, 'address', 'unauthorized'),
      threshold: 600,
      evaluationPeriods: 5,
      datapointsToAlarm: 5,
      says: 'Ten requests a second or more come with a key that is not valid.',
      runbook: 'Refused keys',
      topic,
    });
  }
}
