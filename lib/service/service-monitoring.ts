import { Duration } from 'aws-cdk-lib';
import type { HttpApi } from 'aws-cdk-lib/aws-apigatewayv2';
import { type Alarm, type IMetric, MathExpression, TextWidget } from 'aws-cdk-lib/aws-cloudwatch';
import type { ITable } from 'aws-cdk-lib/aws-dynamodb';
import type { Alias } from 'aws-cdk-lib/aws-lambda';
import { Construct } from 'constructs';
import { causeDimension, metricNames, requestDimensions } from '../../core/metrics.ts';
import {
  type AlarmTopic,
  gatewayThrottles,
  graph,
  operatorDashboard,
  ownMetric,
  searched,
  serverErrors,
} from '../shared/monitoring.ts';

/** The values of the `service` dimension that have alarms or graphs. */
type ServiceName = 'address' | 'validate';

const period = Duration.minutes(1);

/** One line for each outcome that occurred. */
function byOutcome(stage: string, service: ServiceName): MathExpression {
  const { outcome: dimension } = requestDimensions;
  return searched(stage, { metric: metricNames.requests, dimension, service }, stat('Sum'));
}

export type ServiceAlarmsProps = {
  stage: string;
  api: HttpApi;
  address: Alias;
  validate: Alias;
  topic: AlarmTopic;
};

/**
 * Alarms for what callers notice: errors, slow responses and throttling; and for keys that somebody
 * tries.
 */
export class ServiceAlarms extends Construct {
  /** The alarms that roll a deployment back. */
  readonly rollback: { address: Alarm[]; validate: Alarm[] };
  readonly serverErrors: Alarm;

  constructor(
    scope: Construct,
    id: string,
    { stage, api, address, validate, topic }: ServiceAlarmsProps,
  ) {
    super(scope, id);
    const failing = serverErrors(api);
    const { ServerErrors, SlowAnswers } = topic.alarms(this, {
      ServerErrors: {
        metric: failing,
        problem: 'Callers get 5xx responses.',
        first:
          'run the saved queries DEPLOYMENT/Server errors in CloudWatch Logs Insights: Outcomes, then Errors. If it began with a deployment: the chapter Roll back in an emergency of the runbook.',
        runbook: 'Server errors',
      },
      SlowAnswers: {
        // A minute with errors counts as that: what hangs ends as an error.
        metric: new MathExpression({
          label: 'p99 of a minute without errors',
          expression: 'IF(FILL(failing, 0) >= 1, 0, latency)',
          usingMetrics: { failing, latency: api.metricLatency({ statistic: 'p99', period }) },
          period,
        }),
        threshold: 2000,
        periods: [3, 5],
        problem: 'One in a hundred responses takes 2 seconds or more.',
        first:
          'run the saved query DEPLOYMENT/Slow answers/Gateway and function in CloudWatch Logs Insights. With little traffic a few cold starts are enough, and there is nothing to do.',
        runbook: 'Slow answers',
      },
      UnknownCharges: {
        metric: ownMetric(stage, 'address', metricNames.unknownCharges, {
          ...stat('Sum'),
          label: 'all causes',
        }),
        periods: [3, 15],
        problem: 'In three of 15 minutes a lookup got 503 whose units may have been counted.',
        first:
          'run the saved query DEPLOYMENT/Charges with unknown outcome/Causes in CloudWatch Logs Insights.',
        runbook: 'Charges with unknown outcome',
      },
      GatewayThrottles: {
        metric: gatewayThrottles(api, address, validate),
        periods: [3, 5],
        problem: 'API Gateway throttles requests: callers get 429 whatever their quota.',
        first:
          'run the saved query DEPLOYMENT/Gateway throttles/Callers in CloudWatch Logs Insights. Of real traffic, raise throttle in bag-adres.json and deploy.',
        runbook: 'Gateway throttles',
      },
      RefusedKeys: {
        metric: ownMetric(stage, 'address', metricNames.requests, {
          ...stat('Sum'),
          dimensionsMap: { [requestDimensions.outcome]: 'unauthorized' },
          label: 'unauthorized',
        }),
        threshold: 600,
        periods: [5, 5],
        problem: 'Ten requests a second or more carry an invalid key.',
        first:
          'run the saved query DEPLOYMENT/Refused keys/Callers in CloudWatch Logs Insights. One address is a customer with an old key, many are an attack: lower throttle in bag-adres.json and deploy.',
        runbook: 'Refused keys',
      },
    });
    this.serverErrors = ServerErrors;
    this.rollback = { address: [ServerErrors, SlowAnswers], validate: [ServerErrors] };
  }
}

export type ServiceDashboardProps = Omit<ServiceAlarmsProps, 'topic'> &
  Record<'accounts' | 'addresses', ITable>;

/** The dashboard of an operator on call, from the caller's side down to the tables. */
export class ServiceDashboard extends Construct {
  constructor(
    scope: Construct,
    id: string,
    { stage, api, accounts, addresses, ...functions }: ServiceDashboardProps,
  ) {
    super(scope, id);
    const { address, validate } = functions;
    operatorDashboard(this, {
      defaultInterval: Duration.hours(12),
      widgets: [
        [new TextWidget({ markdown: '## Responses', width: 24, height: 1 })],
        [
          liveGraph('Lookups by outcome, per minute', [byOutcome(stage, 'address')]),
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
        [
          liveGraph('Key validations by outcome, per minute', [byOutcome(stage, 'validate')]),
          liveGraph('Charges with unknown outcome by cause, per minute', [
            searched(
              stage,
              { metric: metricNames.unknownCharges, dimension: causeDimension },
              stat('Sum'),
            ),
          ]),
        ],
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
            accounts.metric('ConsumedWriteCapacityUnits', {
              ...stat('Sum'),
              label: 'accounts, written',
            }),
            addresses.metric('ConsumedReadCapacityUnits', {
              ...stat('Sum'),
              label: 'addresses, read',
            }),
            accounts.metric('WriteThrottleEvents', {
              ...stat('Sum'),
              label: 'accounts, throttled',
            }),
            addresses.metric('ReadThrottleEvents', {
              ...stat('Sum'),
              label: 'addresses, throttled',
            }),
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
