import { Duration } from 'aws-cdk-lib';
import { MathExpression, Metric, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch';
import { FilterPattern, type LogGroup, MetricFilter } from 'aws-cdk-lib/aws-logs';
import type { ITopic } from 'aws-cdk-lib/aws-sns';
import type { StateMachine } from 'aws-cdk-lib/aws-stepfunctions';
import { Construct } from 'constructs';
import { metricNames, metricNamespaceOf, requestDimensions } from '../../lambdas/shared/metric-names.ts';
import type { Config } from '../config/schema.ts';
import { operatorAlarm } from '../shared/alarms.ts';
import { REFUSED } from './load-definition.ts';

export type LoaderAlarmsProps = { config: Config; machine: StateMachine; logs: LogGroup; topic: ITopic };

/** Days since the date of the state that is served. */
export function datasetAge(stage: string): Metric {
  return new Metric({
    namespace: metricNamespaceOf(stage),
    metricName: metricNames.datasetAge,
    dimensionsMap: { [requestDimensions.service]: 'loader' },
    statistic: 'Maximum',
    period: Duration.days(1),
  });
}

/** Says when loads fail, are refused, or stop coming. */
export class LoaderAlarms extends Construct {
  constructor(scope: Construct, id: string, { config, machine, logs, topic }: LoaderAlarmsProps) {
    super(scope, id);
    const period = Duration.minutes(5);
    const count = (metricName: string) => machine.metric(metricName, { statistic: 'Sum', period });
    operatorAlarm(this, 'LoadFailed', {
      metric: new MathExpression({
        label: 'loads that failed',
        expression: 'FILL(failed, 0) + FILL(timedOut, 0) + FILL(aborted, 0)',
        usingMetrics: {
          failed: count('ExecutionsFailed'),
          timedOut: count('ExecutionsTimedOut'),
          aborted: count('ExecutionsAborted'),
        },
        period,
      }),
      threshold: 1,
      evaluationPeriods: 1,
      says: 'A load of the register failed, ran out of time or was stopped.',
      runbook: 'Load failed',
      topic,
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
    operatorAlarm(this, 'LoadRefused', {
      metric: refused.metric({ statistic: 'Sum', period }),
      threshold: 1,
      evaluationPeriods: 1,
      says: 'The guard refused a load, before its first write.',
      runbook: 'Load refused',
      topic,
    });
    operatorAlarm(this, 'DatasetOld', {
      metric: datasetAge(config.stage),
      threshold: 45,
      evaluationPeriods: 2,
      // Every look at the source reports the age: no report is no look. Without a schedule that is as it should be.
      missing: config.schedule === 'off' ? TreatMissingData.NOT_BREACHING : TreatMissingData.BREACHING,
      says: 'The register that is served is 45 days old or more, or nobody looks for a newer one.',
      runbook: 'Dataset old',
      topic,
    });
  }
}
