import { Duration } from 'aws-cdk-lib';
import { LogQueryWidget, type Metric, SingleValueWidget } from 'aws-cdk-lib/aws-cloudwatch';
import type { ITable } from 'aws-cdk-lib/aws-dynamodb';
import { FilterPattern, type ILogGroup, MetricFilter } from 'aws-cdk-lib/aws-logs';
import type { StateMachine } from 'aws-cdk-lib/aws-stepfunctions';
import { Construct } from 'constructs';
import { metricNames, metricNamespaceOf, versionDimension } from '../../core/metrics.ts';
import { loadDefaults } from '../../loader/names.ts';
import { stepsOfALoad } from '../../loader/steps/load-steps.ts';
import type { Config } from '../config/config-schema.ts';
import {
  type AlarmRule,
  type AlarmTopic,
  graph,
  operatorDashboard,
  ownMetric,
  searched,
} from '../shared/monitoring.ts';
import { notifications } from './load-states.ts';
import type { LoaderSteps } from './loader-steps.ts';

export type LoaderAlarmsProps = {
  config: Config;
  machine: StateMachine;
  /** The log of the executions. */
  logs: ILogGroup;
  topic: AlarmTopic;
};

/** Days since the peildatum of the live dataset. */
function datasetAge(stage: string): Metric {
  return loaderMetric(stage, metricNames.datasetAge, Duration.days(1));
}

/** A metric that the steps emit themselves. */
function loaderMetric(stage: string, metricName: string, period: Duration): Metric {
  return ownMetric(stage, 'loader', metricName, { statistic: 'Maximum', period });
}

/**
 * Alarms for loads that fail or are refused, for checks that have stopped, and for a table that
 * differs.
 */
export class LoaderAlarms extends Construct {
  constructor(scope: Construct, id: string, { config, machine, logs, topic }: LoaderAlarmsProps) {
    super(scope, id);
    const unsent = new MetricFilter(this, 'Unsent', {
      logGroup: logs,
      metricNamespace: metricNamespaceOf(config.stage),
      metricName: metricNames.unsentNotifications,
      filterPattern: FilterPattern.all(
        FilterPattern.stringValue('$.type', '=', 'PassStateEntered'),
        FilterPattern.any(
          ...Object.values(notifications).map((each) =>
            FilterPattern.stringValue('$.details.name', '=', each.unsent),
          ),
        ),
      ),
    });
    const period = Duration.minutes(5);
    const ended = (metricName: string, how: string): AlarmRule => ({
      metric: machine.metric(metricName, { statistic: 'Sum', period }),
      isEvent: true,
      problem: `A load ${how}. The live dataset goes on.`,
      first:
        'npx bag-adres load status --stage STAGE. A refused load waits for load approve or load reject. Another one: npx bag-adres load run --stage STAGE resumes it.',
      runbook: 'Load failed',
    });
    const oldAfter = config.mutations
      ? loadDefaults.oldAfterDaysOfMutations
      : loadDefaults.oldAfterDays;
    topic.alarms(this, {
      // One alarm for each metric, because a sum has no value while any metric has no data.
      LoadFailed: ended('ExecutionsFailed', 'failed, or the guard refused it'),
      LoadTimedOut: ended('ExecutionsTimedOut', 'took too long'),
      LoadStopped: ended('ExecutionsAborted', 'was stopped'),
      NotificationUnsent: {
        metric: unsent.metric({ statistic: 'Sum', period }),
        isEvent: true,
        problem: 'EventBridge did not take the event of a load. The load ended as it would have.',
        first:
          'npx bag-adres load status --stage STAGE says how it ended. See https://health.aws.amazon.com, and whether something denies events:PutEvents to the role of the state machine.',
        runbook: 'Notification unsent',
      },
      TableDiffers: {
        metric: loaderMetric(config.stage, metricNames.tableDifferences, Duration.hours(1)),
        isEvent: true,
        problem: 'The addresses table differs from the live snapshot.',
        first:
          'npx bag-adres load check --stage STAGE compares all of it, load repair corrects it. Find out what else writes to the table.',
        runbook: 'Table differs',
      },
      DatasetOld: {
        metric: datasetAge(config.stage),
        threshold: oldAfter,
        periods: [1, 1],
        // Every check of the source reports the age. Without a schedule only an operator starts
        // one.
        noData: config.schedule === 'off' ? 'ignored' : 'stopped',
        problem: `The live dataset is ${oldAfter} days old or more, or of a date in the future, or checks for a newer one have stopped.`,
        first:
          'npx bag-adres doctor --stage STAGE reads the source, load status says how the last check ended. No checks: enable the schedule of the state machine again in EventBridge Scheduler.',
        runbook: 'Dataset old',
      },
    });
    if (!config.mutations) return;
    topic.alarms(this, {
      SetAside: {
        metric: loaderMetric(config.stage, metricNames.setAside, Duration.days(1)),
        periods: [1, 1],
        problem:
          'Changes of the register did not match and were set aside: these addresses stay as they were.',
        first:
          'npx bag-adres load status --stage STAGE lists them. A corrected delivery or the next extract settles it; to do so now, load run --extract with an extract of that date.',
        runbook: 'Set aside',
      },
      AuditDifferences: {
        metric: loaderMetric(config.stage, metricNames.auditDifferences, period),
        isEvent: true,
        problem:
          'An extract differed from the result of the days of mutations. The addresses are right now.',
        first:
          'run the saved query DEPLOYMENT/Audit differences/Counts in CloudWatch Logs Insights. A corrected delivery needs no action.',
        runbook: 'Audit differences',
      },
    });
  }
}

export type LoaderDashboardProps = {
  stage: string;
  machine: StateMachine;
  steps: LoaderSteps;
  addresses: ITable;
};

/** The age of the dataset, the outcomes of loads, and their writes to the table. */
export class LoaderDashboard extends Construct {
  constructor(
    scope: Construct,
    id: string,
    { stage, machine, steps, addresses }: LoaderDashboardProps,
  ) {
    super(scope, id);
    const period = Duration.minutes(5);
    const loads = (metricName: string, label: string) =>
      machine.metric(metricName, { statistic: 'Sum', period, label });
    const written = (metricName: string, label: string) =>
      addresses.metric(metricName, { statistic: 'Sum', period, label });
    const functions = stepsOfALoad.map((name) => steps.steps[name]);
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
            functions.map((step) =>
              step.function.metricErrors({ statistic: 'Sum', period, label: step.node.id }),
            ),
          ),
        ],
        [
          graph('Deployed version', [
            searched(
              stage,
              { metric: metricNames.deployedVersion, dimension: versionDimension },
              { statistic: 'Maximum', period: Duration.days(1) },
            ),
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
          }),
        ],
      ],
    });
  }
}
