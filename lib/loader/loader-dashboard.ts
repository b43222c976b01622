import { CfnOutput, Duration, Stack } from 'aws-cdk-lib';
import {
  Dashboard,
  GraphWidget,
  type IMetric,
  LogQueryWidget,
  MathExpression,
  SingleValueWidget,
} from 'aws-cdk-lib/aws-cloudwatch';
import type { ITable } from 'aws-cdk-lib/aws-dynamodb';
import type { StateMachine } from 'aws-cdk-lib/aws-stepfunctions';
import { Construct } from 'constructs';
import {
  metricNames,
  metricNamespaceOf,
  requestDimensions,
  versionDimension,
} from '../../lambdas/shared/metric-names.ts';
import { datasetAge } from './loader-alarms.ts';
import type { LoaderSteps } from './loader-steps.ts';

export type LoaderDashboardProps = { stage: string; machine: StateMachine; steps: LoaderSteps; addresses: ITable };

/** The age of the dataset, how loads went, and what they wrote to the table. */
export class LoaderDashboard extends Construct {
  constructor(scope: Construct, id: string, { stage, machine, steps, addresses }: LoaderDashboardProps) {
    super(scope, id);
    const period = Duration.minutes(5);
    const versions = [metricNamespaceOf(stage), requestDimensions.service, versionDimension].join(',');
    const loads = (metricName: string, label: string) =>
      machine.metric(metricName, { statistic: 'Sum', period, label });
    const written = (metricName: string, label: string) =>
      addresses.metric(metricName, { statistic: 'Sum', period, label });
    const { stage: stageStep, reference, extract, merge, apply, publish } = steps.steps;
    const functions = [stageStep, reference, extract, merge, apply, publish];
    const dashboard = new Dashboard(this, 'Dashboard', {
      defaultInterval: Duration.days(35),
      widgets: [
        [
          new SingleValueWidget({
            title: 'Age of the dataset (days)',
            metrics: [datasetAge(stage)],
            width: 8,
            height: 6,
          }),
          graph('Loads', [
            loads('ExecutionsSucceeded', 'succeeded'),
            loads('ExecutionsFailed', 'failed or refused'),
            loads('ExecutionsTimedOut', 'timed out'),
          ]),
          graph('Duration of a load (ms)', [machine.metricTime({ statistic: 'Maximum', period })]),
        ],
        [
          graph('Addresses table: units written and throttled', [
            written('ConsumedWriteCapacityUnits', 'written'),
            written('WriteThrottleEvents', 'throttled'),
          ]),
          graph(
            'Longest duration of a step (ms)',
            functions.map((step) =>
              step.function.metricDuration({ statistic: 'Maximum', period, label: step.node.id }),
            ),
          ),
          graph(
            'Errors of a step',
            functions.map((step) => step.function.metricErrors({ statistic: 'Sum', period, label: step.node.id })),
          ),
        ],
        [
          graph('Deployed version', [
            new MathExpression({
              expression: `SEARCH('{${versions}} MetricName="${metricNames.deployedVersion}"', 'Maximum')`,
              usingMetrics: {},
              label: '',
              period: Duration.days(1),
            }),
          ]),
        ],
        [
          new LogQueryWidget({
            title: 'Published snapshots',
            logGroupNames: [publish.function.logGroup.logGroupName],
            queryLines: [
              'fields @timestamp, result.peildatum as peildatum, result.addresses as addresses, result.keys as keys',
              'filter message = "done"',
              'sort @timestamp desc',
              'limit 20',
            ],
            width: 24,
            height: 6,
          }),
        ],
      ],
    });
    new CfnOutput(this, 'DashboardUrl', {
      value: `https://${Stack.of(this).region}.console.aws.amazon.com/cloudwatch/home#dashboards/dashboard/${dashboard.dashboardName}`,
    }).overrideLogicalId('DashboardUrl');
  }
}

function graph(title: string, left: IMetric[]): GraphWidget {
  return new GraphWidget({ title, left, width: 8, height: 6 });
}
