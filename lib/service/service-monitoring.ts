import { Duration } from 'aws-cdk-lib';
import type { HttpApi } from 'aws-cdk-lib/aws-apigatewayv2';
import { type Alarm, type IMetric, MathExpression, Metric, TextWidget } from 'aws-cdk-lib/aws-cloudwatch';
import type { ITable } from 'aws-cdk-lib/aws-dynamodb';
import type { Alias } from 'aws-cdk-lib/aws-lambda';
import { Construct } from 'constructs';
import { metricNames, metricNamespaceOf, requestDimensions } from '../../core/names.ts';
import { type AlarmTopic, graph, operatorDashboard, sumOf } from '../shared/monitoring.ts';

/** The values of the `service` dimension that have alarms or graphs. */
type ServiceName = 'address' | 'validate';

const period = Duration.minutes(1);

/** Requests of a service with one outcome, per minute. */
function requests(stage: string, service: ServiceName, outcome: string): Metric {
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
function byOutcome(stage: string, service: ServiceName, metricName: string): MathExpression {
  const schema = `${metricNamespaceOf(stage)},${requestDimensions.service},${requestDimensions.outcome}`;
  return new MathExpression({
    expression: `SEARCH('{${schema}} MetricName="${metricName}" ${requestDimensions.service}="${service}"', 'Sum')`,
    usingMetrics: {},
    label: '',
    period,
  });
}

export type ServiceAlarmsProps = { stage: string; api: HttpApi; address: Alias; validate: Alias; topic: AlarmTopic };

/** Alarms for errors, slow responses and failed charges. */
export class ServiceAlarms extends Construct {
  /** A deployment that sets one of these off is rolled back. */
  readonly rollback: { address: Alarm[]; validate: Alarm[] };

  constructor(scope: Construct, id: string, { stage, api, address, validate, topic }: ServiceAlarmsProps) {
    super(scope, id);
    const serverErrors = topic.alarm(this, 'ServerErrors', {
      metric: api.metricServerError({ statistic: 'Sum', period }),
      threshold: 5,
      problem: 'Callers get 5xx responses.',
      runbook: 'Server errors',
    });
    const slowAnswers = topic.alarm(this, 'SlowAnswers', {
      metric: api.metricLatency({ statistic: 'p99', period }),
      threshold: 2000,
      periods: [3, 5],
      problem: 'One in a hundred responses takes 2 seconds or more.',
      runbook: 'Slow answers',
    });
    const errorsOf = (name: string, alias: Alias) =>
      topic.alarm(this, name, {
        // A refusal is a response; only a crash, a time-out or a failed start counts here.
        metric: alias.metricErrors({ statistic: 'Sum', period }),
        problem: 'A function crashes, times out or does not start.',
        runbook: 'Function errors',
      });
    const internalErrors = topic.alarm(this, 'InternalErrors', {
      metric: sumOf('internal errors', {
        address: requests(stage, 'address', 'internal-error'),
        validate: requests(stage, 'validate', 'internal-error'),
      }),
      problem: 'Callers get 500: an error that the code does not expect.',
      runbook: 'Internal errors',
    });
    this.rollback = {
      address: [errorsOf('AddressErrors', address), serverErrors, internalErrors, slowAnswers],
      validate: [errorsOf('ValidateErrors', validate), serverErrors, internalErrors],
    };
    topic.alarm(this, 'FunctionThrottles', {
      metric: sumOf('throttled invocations', {
        address: address.metricThrottles({ statistic: 'Sum' }),
        validate: validate.metricThrottles({ statistic: 'Sum' }),
      }),
      problem: 'Lambda throttles requests: the concurrency of the account is exhausted.',
      runbook: 'Function throttles',
    });
    topic.alarm(this, 'GatewayThrottles', {
      // The gateway has no metric for throttling. Requests that never reach a function were throttled. Its metrics and
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
      periods: [3, 5],
      problem: 'API Gateway throttles requests: callers get 429 whatever their quota.',
      runbook: 'Gateway throttles',
    });
    topic.alarm(this, 'ChargeFailures', {
      metric: requests(stage, 'address', 'temporarily-unavailable'),
      threshold: 3,
      problem: 'Lookups get 503: their quota can not be counted, or addresses can not be read.',
      runbook: 'Charge failures',
    });
    topic.alarm(this, 'RefusedKeys', {
      metric: requests(stage, 'address', 'unauthorized'),
      threshold: 600,
      periods: [5, 5],
      problem: 'Ten requests a second or more carry an invalid key.',
      runbook: 'Refused keys',
    });
  }
}

export type ServiceDashboardProps = {
  stage: string;
  api: HttpApi;
  address: Alias;
  validate: Alias;
  accounts: ITable;
  addresses: ITable;
};

/** The dashboard of an operator on call, from the caller's side down to the tables. */
export class ServiceDashboard extends Construct {
  constructor(
    scope: Construct,
    id: string,
    { stage, api, address, validate, accounts, addresses }: ServiceDashboardProps,
  ) {
    super(scope, id);
    operatorDashboard(this, {
      defaultInterval: Duration.hours(12),
      widgets: [
        [new TextWidget({ markdown: '## Responses', width: 24, height: 1 })],
        [
          liveGraph('Lookups by outcome, per minute', [byOutcome(stage, 'address', metricNames.requests)]),
          liveGraph(
            'Latency of a response (ms)',
            ['p50', 'p95', 'p99'].map((p) => api.metricLatency(stat(p))),
          ),
          liveGraph('Refusals and errors, per minute', [
            api.metricClientError(stat('Sum')),
            api.metricServerError(stat('Sum')),
          ]),
        ],
        [new TextWidget({ markdown: '## Behind them', width: 24, height: 1 })],
        [liveGraph('Key validations by outcome, per minute', [byOutcome(stage, 'validate', metricNames.requests)])],
        [
          liveGraph('Functions: errors and throttles', [
            address.metricErrors({ ...stat('Sum'), label: 'address errors' }),
            address.metricThrottles({ ...stat('Sum'), label: 'address throttles' }),
            validate.metricErrors({ ...stat('Sum'), label: 'validate errors' }),
            validate.metricThrottles({ ...stat('Sum'), label: 'validate throttles' }),
          ]),
          liveGraph('Duration of the functions (ms)', [
            address.metricDuration({ ...stat('p50'), label: 'address p50' }),
            address.metricDuration({ ...stat('p99'), label: 'address p99' }),
            validate.metricDuration({ ...stat('p99'), label: 'validate p99' }),
          ]),
          liveGraph('Tables: units used and throttled', [
            accounts.metric('ConsumedWriteCapacityUnits', { ...stat('Sum'), label: 'accounts, written' }),
            addresses.metric('ConsumedReadCapacityUnits', { ...stat('Sum'), label: 'addresses, read' }),
            accounts.metric('WriteThrottleEvents', { ...stat('Sum'), label: 'accounts, throttled' }),
            addresses.metric('ReadThrottleEvents', { ...stat('Sum'), label: 'addresses, throttled' }),
          ]),
        ],
      ],
    });
  }
}

function stat(statistic: string) {
  return { statistic, period };
}

function liveGraph(title: string, left: IMetric[]) {
  return graph(title, left, { liveData: true });
}
