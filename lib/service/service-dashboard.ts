import { CfnOutput, Duration, Stack } from 'aws-cdk-lib';
import type { HttpApi } from 'aws-cdk-lib/aws-apigatewayv2';
import { Dashboard, GraphWidget, type IMetric, type IWidget, TextWidget } from 'aws-cdk-lib/aws-cloudwatch';
import type { ITable } from 'aws-cdk-lib/aws-dynamodb';
import type { Alias } from 'aws-cdk-lib/aws-lambda';
import { Construct } from 'constructs';
import { metricNames } from '../../lambdas/shared/metric-names.ts';
import { byOutcome } from './service-alarms.ts';

export type ServiceDashboardProps = {
  stage: string;
  api: HttpApi;
  address: Alias;
  validate: Alias;
  accounts: ITable;
  addresses: ITable;
};

const period = Duration.minutes(1);

/** For an operator on call: from the caller's side down to the tables. */
export class ServiceDashboard extends Construct {
  constructor(
    scope: Construct,
    id: string,
    { stage, api, address, validate, accounts, addresses }: ServiceDashboardProps,
  ) {
    super(scope, id);
    const dashboard = new Dashboard(this, 'Dashboard', {
      defaultInterval: Duration.hours(12),
      widgets: [
        [new TextWidget({ markdown: '## Responses', width: 24, height: 1 })],
        [
          graph('Lookups by outcome, per minute', [byOutcome(stage, 'address', metricNames.requests)]),
          graph(
            'Latency of a response (ms)',
            ['p50', 'p95', 'p99'].map((p) => api.metricLatency(stat(p))),
          ),
          graph('Refusals and errors, per minute', [
            api.metricClientError(stat('Sum')),
            api.metricServerError(stat('Sum')),
          ]),
        ],
        [new TextWidget({ markdown: '## Behind them', width: 24, height: 1 })],
        [graph('Key validations by outcome, per minute', [byOutcome(stage, 'validate', metricNames.requests)])],
        [
          graph('Functions: errors and throttles', [
            address.metricErrors({ ...stat('Sum'), label: 'address errors' }),
            address.metricThrottles({ ...stat('Sum'), label: 'address throttles' }),
            validate.metricErrors({ ...stat('Sum'), label: 'validate errors' }),
            validate.metricThrottles({ ...stat('Sum'), label: 'validate throttles' }),
          ]),
          graph('Duration of the functions (ms)', [
            address.metricDuration({ ...stat('p50'), label: 'address p50' }),
            address.metricDuration({ ...stat('p99'), label: 'address p99' }),
            validate.metricDuration({ ...stat('p99'), label: 'validate p99' }),
          ]),
          graph('Tables: units used and throttled', [
            accounts.metric('ConsumedWriteCapacityUnits', { ...stat('Sum'), label: 'accounts, written' }),
            addresses.metric('ConsumedReadCapacityUnits', { ...stat('Sum'), label: 'addresses, read' }),
            accounts.metric('WriteThrottleEvents', { ...stat('Sum'), label: 'accounts, throttled' }),
            addresses.metric('ReadThrottleEvents', { ...stat('Sum'), label: 'addresses, throttled' }),
          ]),
        ],
      ],
    });
    new CfnOutput(this, 'DashboardUrl', {
      value: `https://${Stack.of(this).region}.console.aws.amazon.com/cloudwatch/home#dashboards/dashboard/${dashboard.dashboardName}`,
    }).overrideLogicalId('DashboardUrl');
  }
}

function stat(statistic: string) {
  return { statistic, period };
}

function graph(title: string, left: IMetric[]): IWidget {
  return new GraphWidget({ title, left, width: 8, height: 6, liveData: true });
}
