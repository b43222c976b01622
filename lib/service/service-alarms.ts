import { Duration } from 'aws-cdk-lib';
import type { HttpApi } from 'aws-cdk-lib/aws-apigatewayv2';
import { type Alarm, MathExpression, Metric } from 'aws-cdk-lib/aws-cloudwatch';
import type { Alias } from 'aws-cdk-lib/aws-lambda';
import type { ITopic } from 'aws-cdk-lib/aws-sns';
import { Construct } from 'constructs';
import { metricNames, metricNamespaceOf, requestDimensions } from '../../lambdas/shared/metric-names.ts';
import { operatorAlarm } from '../shared/alarms.ts';

/** The values of the `service` dimension that have alarms or graphs. */
export type ServiceName = 'address' | 'validate';

const period = Duration.minutes(1);

/** Requests of a service with one outcome, per minute. */
export function requests(stage: string, service: ServiceName, outcome: string): Metric {
  return new Metric({
    namespace: metricNamespaceOf(stage),
    metricName: metricNames.requests,
    dimensionsMap: { [requestDimensions.service]: service, [requestDimensions.outcome]: outcome },
    statistic: 'Sum',
    period,
    label: outcome,
  });
}

/** One line for each outcome that occurred. For dashboards only: alarms do not support SEARCH. */
export function byOutcome(stage: string, service: ServiceName, metricName: string): MathExpression {
  const schema = `${metricNamespaceOf(stage)},${requestDimensions.service},${requestDimensions.outcome}`;
  return new MathExpression({
    expression: `SEARCH('{${schema}} MetricName="${metricName}" ${requestDimensions.service}="${service}"', 'Sum')`,
    usingMetrics: {},
    label: '',
    period,
  });
}

export type ServiceAlarmsProps = { stage: string; api: HttpApi; address: Alias; validate: Alias; topic: ITopic };

/** Two of three minutes, so that a single bad minute raises no alarm. */
const lasting = { evaluationPeriods: 3, datapointsToAlarm: 2 };

/** Alarms for errors, slow responses and failed charges. */
export class ServiceAlarms extends Construct {
  /** A deployment that sets one of these off is rolled back. */
  readonly rollback: { address: Alarm[]; validate: Alarm[] };

  constructor(scope: Construct, id: string, { stage, api, address, validate, topic }: ServiceAlarmsProps) {
    super(scope, id);
    const serverErrors = operatorAlarm(this, 'ServerErrors', {
      metric: api.metricServerError({ statistic: 'Sum', period }),
      threshold: 5,
      ...lasting,
      problem: 'Callers get 5xx responses.',
      runbook: 'Server errors',
      topic,
    });
    const slowAnswers = operatorAlarm(this, 'SlowAnswers', {
      metric: api.metricLatency({ statistic: 'p99', period }),
      threshold: 2000,
      evaluationPeriods: 5,
      datapointsToAlarm: 3,
      problem: 'One in a hundred responses takes 2 seconds or more.',
      runbook: 'Slow answers',
      topic,
    });
    const errorsOf = (name: string, alias: Alias) =>
      operatorAlarm(this, name, {
        // A refusal is a response; only a crash, a time-out or a failed start counts here.
        metric: alias.metricErrors({ statistic: 'Sum', period }),
        threshold: 1,
        ...lasting,
        problem: 'A function crashes, times out or does not start.',
        runbook: 'Function errors',
        topic,
      });
    const internalErrors = operatorAlarm(this, 'InternalErrors', {
      metric: new MathExpression({
        label: 'internal errors',
        expression: 'FILL(address, 0) + FILL(validate, 0)',
        usingMetrics: {
          address: requests(stage, 'address', 'internal-error'),
          validate: requests(stage, 'validate', 'internal-error'),
        },
        period,
      }),
      threshold: 1,
      ...lasting,
      problem: 'Callers get 500: an error that the code does not expect.',
      runbook: 'Internal errors',
      topic,
    });
    this.rollback = {
      address: [errorsOf('AddressErrors', address), serverErrors, internalErrors, slowAnswers],
      validate: [errorsOf('ValidateErrors', validate), serverErrors, internalErrors],
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
      problem: 'Lambda throttles requests: the concurrency of the account is exhausted.',
      runbook: 'Function throttles',
      topic,
    });
    operatorAlarm(this, 'GatewayThrottles', {
      // The gateway has no metric of its own throttling. Requests that never reach a function are throttled ones. Its metrics and
      // Lambda's are not of the very same moment, so small differences don't count.
      metric: new MathExpression({
        label: 'requests throttled by the gateway',
        expression:
          'IF(requests - invocations > 60 AND requests - invocations > requests * 0.02, requests - invocations, 0)',
        usingMetrics: {
          requests: api.metricCount({ statistic: 'Sum' }),
          invocations: new MathExpression({
            expression: 'FILL(toAddress, 0) + FILL(toValidate, 0)',
            usingMetrics: {
              toAddress: address.metricInvocations({ statistic: 'Sum' }),
              toValidate: validate.metricInvocations({ statistic: 'Sum' }),
            },
            period,
          }),
        },
        period,
      }),
      threshold: 1,
      evaluationPeriods: 5,
      datapointsToAlarm: 3,
      problem: 'API Gateway throttles requests: callers get 429 whatever their quota.',
      runbook: 'Gateway throttles',
      topic,
    });
    operatorAlarm(this, 'ChargeFailures', {
      metric: requests(stage, 'address', 'temporarily-unavailable'),
      threshold: 3,
      ...lasting,
      problem: 'Lookups get 503: their quota can not be counted, or addresses can not be read.',
      runbook: 'Charge failures',
      topic,
    });
    operatorAlarm(this, 'RefusedKeys', {
      metric: requests(stage, 'address', 'unauthorized'),
      threshold: 600,
      evaluationPeriods: 5,
      datapointsToAlarm: 5,
      problem: 'Ten requests a second or more carry an invalid key.',
      runbook: 'Refused keys',
      topic,
    });
  }
}
