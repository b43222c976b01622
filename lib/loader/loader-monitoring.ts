import { Duration } from 'aws-cdk-lib';
import {
  LogQueryWidget,
  MathExpression,
  Metric,
  SingleValueWidget,
  TreatMissingData,
} from 'aws-cdk-lib/aws-cloudwatch';
import type { ITable } from 'aws-cdk-lib/aws-dynamodb';
import { FilterPattern, type LogGroup, MetricFilter } from 'aws-cdk-lib/aws-logs';
import type { StateMachine } from 'aws-cdk-lib/aws-stepfunctions';
import { Construct } from 'constructs';
import { metricNames, metricNamespaceOf, requestDimensions, versionDimension } from '../../core/names.ts';
import { loadDefaults } from '../../loader/names.ts';
import type { Config } from '../config/schema.ts';
import { type AlarmTopic, graph, operatorDashboard } from '../shared/monitoring.ts';
import { REFUSED } from './load-states.ts';
import type { LoaderSteps } from './loader-steps.ts';

export type LoaderAlarmsProps = { config: Config; machine: StateMachine; logs: LogGroup; topic: AlarmTopic };

/** Days since the snapshot date of the live dataset. */
function datasetAge(stage: string): Metric {
  return loaderMetric(stage, metricNames.datasetAge, Duration.days(1));
}

/** A metric that the steps emit themselves. */
function loaderMetric(stage: string, metricName: string, period: Duration): Metric {
  return new Metric({
    namespace: metricNamespaceOf(stage),
    metricName,
    dimensionsMap: { [requestDimensions.service]: 'loader' },
    statistic: 'Maximum',
    period,
  });
}

/** Alarms for loads that fail, are refused, or no longer run, and for a table that does not hold what they wrote. */
export class LoaderAlarms extends Construct {
  constructor(scope: Construct, id: string, { config, machine, logs, topic }: LoaderAlarmsProps) {
    super(scope, id);
    const period = Duration.minutes(5);
    const count = (metricName: string) => machine.metric(metricName, { statistic: 'Sum', period });
    topic.alarm(this, 'LoadFailed', {
      metric: new MathExpression({
        label: 'failed loads',
        expression: 'FILL(failed, 0) + FILL(timedOut, 0) + FILL(aborted, 0)',
        usingMetrics: {
          failed: count('ExecutionsFailed'),
          timedOut: count('ExecutionsTimedOut'),
          aborted: count('ExecutionsAborted'),
        },
        period,
      }),
      isEvent: true,
      problem: 'A load failed, timed out or was stopped.',
      runbook: 'Load failed',
    });
    const refused = new MetricFilter(this, 'Refused', {
      logGroup: logs,
      metricNamespace: metricNamespaceOf(config.stage),
      metricName: 'LoadsRefused',
      filterPattern: FilterPattern.all(
        FilterPattern.stringValue('$.type', '=', 'FailStateEntered'),
        FilterPattern.stringValue('$.details.name', '=', REFUSED),
      ),
    });
    topic.alarm(this, 'LoadRefused', {
      metric: refused.metric({ statistic: 'Sum', period }),
      isEvent: true,
      problem: 'The guard refused a load before its first write.',
      runbook: 'Load refused',
    });
    if (config.mutations) {
      topic.alarm(this, 'SetAside', {
        metric: loaderMetric(config.stage, metricNames.setAside, Duration.days(1)),
        periods: [1, 1],
        problem: 'Changes of the register did not match and were set aside: these addresses stay as they were.',
        runbook: 'Set aside',
      });
      topic.alarm(this, 'AuditDifferences', {
        metric: loaderMetric(config.stage, metricNames.auditDifferences, period),
        isEvent: true,
        problem: 'An extract differed from what the days of mutations had led to. The addresses are right now.',
        runbook: 'Audit differences',
      });
    }
    const oldAfter = config.mutations ? loadDefaults.oldAfterDaysOfMutations : loadDefaults.oldAfterDays;
    topic.alarm(this, 'TableDiffers', {
      metric: loaderMetric(config.stage, metricNames.tableDifferences, Duration.hours(1)),
      isEvent: true,
      problem: 'The addresses table differs from the live snapshot.',
      runbook: 'Table differs',
    });
    topic.alarm(this, 'DatasetOld', {
      metric: datasetAge(config.stage),
      threshold: oldAfter,
      periods: [2, 2],
      // Every check of the source reports the age, so missing data means no check. Without a schedule that is normal.
      missingData: config.schedule === 'off' ? TreatMissingData.NOT_BREACHING : TreatMissingData.BREACHING,
      problem: `The live dataset is ${oldAfter} days old or more, or of a date in the future, or checks for a newer one have stopped.`,
      runbook: 'Dataset old',
    });
  }
}

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
    const functions = steps.ofALoad.map((name) => steps.steps[name]);
    operatorDashboard(this, {
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
            logGroupNames: [steps.steps.publish.function.logGroup.logGroupName],
            queryLines: [
              'fields @timestamp, result.peildatum as peildatum, result.addresses as addresses',
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
  }
}
