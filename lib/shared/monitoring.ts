import { Annotations, CfnOutput, Duration, Stack } from 'aws-cdk-lib';
import {
  Alarm,
  type AlarmProps,
  ComparisonOperator,
  Dashboard,
  GraphWidget,
  type IMetric,
  type IWidget,
  MathExpression,
  TreatMissingData,
} from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import { ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import { CfnQueryDefinition, type ILogGroup } from 'aws-cdk-lib/aws-logs';
import { Topic, type TopicProps } from 'aws-cdk-lib/aws-sns';
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions';
import { Construct } from 'constructs';
import { deploymentName } from '../config/deployment.ts';
import type { Config } from '../config/schema.ts';
import { acknowledge } from './grants.ts';

/** A rule for an alarm, which refers to its chapter of the runbook. */
export type OperatorAlarmProps = Pick<AlarmProps, 'metric'> & {
  /** What is wrong, in one sentence. */
  problem: string;
  /** The heading of its chapter in docs/runbook.md. */
  runbook: string;
  /** The value at which the alarm goes off, 1 by default. */
  threshold?: number;
  /** In how many of so many periods the metric has to be there: 2 of 3 by default, as one bad period is no alarm. */
  periods?: readonly [bad: number, of: number];
  /** What missing data means. By default it means no traffic, which is fine. */
  missingData?: TreatMissingData;
  /** Whether it goes off below the threshold, not at it and above. */
  isBelow?: boolean;
  /** Whether a single period is a problem that has no end, such as a failed load. */
  isEvent?: boolean;
};

/** The topic of the alarms, and where their messages say that the runbook is. */
export class AlarmTopic extends Topic {
  readonly runbookUrl: string;

  constructor(scope: Construct, id: string, { runbookUrl, ...props }: TopicProps & { runbookUrl: string }) {
    super(scope, id, props);
    this.runbookUrl = runbookUrl;
  }

  /** Notifies the operator when the metric reaches its threshold, and again after recovery, unless it counts events. */
  alarm(scope: Construct, id: string, props: OperatorAlarmProps): Alarm {
    const { metric, problem, runbook, threshold = 1, missingData, isBelow = false, isEvent = false } = props;
    const [bad, of] = props.periods ?? (isEvent ? [1, 1] : [2, 3]);
    const alarm = new Alarm(scope, id, {
      metric,
      evaluationPeriods: of,
      ...(bad < of && { datapointsToAlarm: bad }),
      threshold,
      alarmDescription: `${problem} What to do: ${this.runbookUrl}#${anchor(runbook)}`,
      comparisonOperator: isBelow
        ? ComparisonOperator.LESS_THAN_THRESHOLD
        : ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
      treatMissingData: missingData ?? TreatMissingData.NOT_BREACHING,
    });
    const action = new SnsAction(this);
    alarm.addAlarmAction(action);
    if (!isEvent) alarm.addOkAction(action);
    return alarm;
  }
}

/** The topic of every alarm, and of nothing else: TLS only, with an e-mail subscription if one is configured. */
export function alarmTopic(scope: Construct, config: Config, key?: IKey): AlarmTopic {
  const topic = new AlarmTopic(scope, 'Alarms', {
    displayName: `Address service ${config.stage}`,
    enforceSSL: true,
    runbookUrl: config.runbookUrl,
    ...(key && { masterKey: key }),
  });
  // A topic with its own policy lacks the default one, which would have allowed CloudWatch.
  topic.grantPublish(
    new ServicePrincipal('cloudwatch.amazonaws.com').withConditions({
      StringEquals: { 'aws:SourceAccount': Stack.of(scope).account },
    }),
  );
  if (config.alarmEmail) topic.addSubscription(new EmailSubscription(config.alarmEmail));
  else
    Annotations.of(topic).addWarningV2(
      'bag-adres:noAlarmEmail',
      'Nobody is notified of an alarm: set alarmEmail in bag-adres.json, or subscribe to this topic yourself.',
    );
  acknowledge(
    topic,
    'Serverless-SNSRedrivePolicy',
    'SNS retries mail that can not be delivered; the alarm itself stays visible in CloudWatch.',
  );
  return topic;
}

/** The sum of these metrics; one without data counts as zero. */
export function sumOf(
  label: string,
  usingMetrics: Record<string, IMetric>,
  period: Duration = Duration.minutes(1),
): MathExpression {
  const expression = Object.keys(usingMetrics)
    .map((id) => `FILL(${id}, 0)`)
    .join(' + ');
  return new MathExpression({ label, expression, usingMetrics, period });
}

/** The anchor that GitHub generates for a heading. */
function anchor(heading: string): string {
  return heading.toLowerCase().replaceAll(' ', '-');
}

/** The queries of docs/runbook.md, by its chapter and by what they show: the log groups and the query. */
export type QueriesByChapter = Record<string, Record<string, readonly [logs: ILogGroup[], query: string]>>;

/**
 * Saves queries in CloudWatch Logs Insights as `DEPLOYMENT/CHAPTER/NAME`, where an operator picks them from a list.
 * They cost nothing.
 */
export class SavedQueries extends Construct {
  constructor(scope: Construct, id: string, stage: string, queries: QueriesByChapter) {
    super(scope, id);
    for (const [chapter, ofChapter] of Object.entries(queries))
      for (const [name, [logs, queryString]] of Object.entries(ofChapter))
        new CfnQueryDefinition(this, `${chapter} ${name}`.replaceAll(' ', ''), {
          name: `${deploymentName(stage)}/${chapter}/${name}`,
          queryString,
          logGroupNames: logs.map(({ logGroupName }) => logGroupName),
        });
  }
}

export type OperatorDashboardProps = { defaultInterval: Duration; widgets: IWidget[][] };

/** A dashboard of these rows of widgets; its address is an output of the stack. */
export function operatorDashboard(scope: Construct, props: OperatorDashboardProps): void {
  const { dashboardName } = new Dashboard(scope, 'Dashboard', props);
  new CfnOutput(scope, 'DashboardUrl', {
    value: `https://${Stack.of(scope).region}.console.aws.amazon.com/cloudwatch/home#dashboards/dashboard/${dashboardName}`,
  }).overrideLogicalId('DashboardUrl');
}

/** A graph that takes a third of the width of a dashboard; `liveData` shows the current, incomplete period as well. */
export function graph(title: string, left: IMetric[], options: { liveData?: boolean } = {}): GraphWidget {
  return new GraphWidget({ title, left, width: 8, height: 6, ...options });
}
