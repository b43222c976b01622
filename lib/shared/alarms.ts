import { Annotations, Stack } from 'aws-cdk-lib';
import { Alarm, type AlarmProps, ComparisonOperator, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import { ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import { type ITopic, Topic } from 'aws-cdk-lib/aws-sns';
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions';
import type { Construct } from 'constructs';
import type { Config } from '../config/schema.ts';
import { acknowledge } from './grants.ts';

/** Where every alarm and the loader report to: TLS only, and by e-mail where the configuration has an address. */
export function alarmTopic(scope: Construct, config: Config, key?: IKey): Topic {
  const topic = new Topic(scope, 'Alarms', {
    displayName: `Address service ${config.stage}`,
    enforceSSL: true,
    ...(key && { masterKey: key }),
  });
  // A topic with a policy of its own has no default one, which would have let CloudWatch in.
  topic.grantPublish(
    new ServicePrincipal('cloudwatch.amazonaws.com').withConditions({
      StringEquals: { 'aws:SourceAccount': Stack.of(scope).account },
    }),
  );
  if (config.alarmEmail) topic.addSubscription(new EmailSubscription(config.alarmEmail));
  else
    Annotations.of(topic).addWarningV2(
      'bag-adres:noAlarmEmail',
      'Nobody hears of an alarm: give bagAdres.alarmEmail in cdk.json, or subscribe to this topic yourself.',
    );
  acknowledge(
    topic,
    'Serverless-SNSRedrivePolicy',
    'Mail that can not be delivered is tried again by SNS; the alarm itself stays visible in CloudWatch.',
  );
  return topic;
}

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
