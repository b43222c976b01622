import { Alarm, type AlarmProps, ComparisonOperator, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import type { ITopic } from 'aws-cdk-lib/aws-sns';
import type { Construct } from 'constructs';

/** An alarm that somebody hears of, and that says where to read on. */
export type OperatorAlarmProps = Pick<
  AlarmProps,
  'metric' | 'threshold' | 'evaluationPeriods' | 'datapointsToAlarm'
> & {
  /** What is wrong, in a sentence. */
  says: string;
  /** The heading in docs/runbook.md that tells what to do. */
  runbook: string;
  /** What no data means; without it, no traffic and so no trouble. */
  missing?: TreatMissingData;
  topic: ITopic;
};

/** Tells the topic when the metric reaches its threshold, and when it is well again. */
export function operatorAlarm(scope: Construct, id: string, props: OperatorAlarmProps): Alarm {
  const { says, runbook, missing = TreatMissingData.NOT_BREACHING, topic, ...rule } = props;
  const alarm = new Alarm(scope, id, {
    ...rule,
    alarmDescription: `${says} What to do: docs/runbook.md#${anchor(runbook)}`,
    comparisonOperator: ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
    treatMissingData: missing,
  });
  const action = new SnsAction(topic);
  alarm.addAlarmAction(action);
  alarm.addOkAction(action);
  return alarm;
}

/** The link to a heading, as GitHub makes it. */
function anchor(heading: string): string {
  return heading.toLowerCase().replaceAll(' ', '-');
}
