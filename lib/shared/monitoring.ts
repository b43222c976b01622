import { Annotations, ArnFormat, CfnOutput, Duration, Stack } from 'aws-cdk-lib';
import type { HttpApi } from 'aws-cdk-lib/aws-apigatewayv2';
import type { ICertificate } from 'aws-cdk-lib/aws-certificatemanager';
import {
  Alarm,
  type AlarmProps,
  AlarmState,
  ComparisonOperator,
  CompositeAlarm,
  AlarmRule as CompositeRule,
  Dashboard,
  type DashboardProps,
  GraphWidget,
  type IMetric,
  MathExpression,
  Metric,
  type MetricOptions,
  TreatMissingData,
} from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import { PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import { CfnQueryDefinition, type ILogGroup } from 'aws-cdk-lib/aws-logs';
import { Topic, type TopicProps } from 'aws-cdk-lib/aws-sns';
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions';
import { Construct } from 'constructs';
import { metricNamespaceOf, requestDimensions } from '../../core/metrics.ts';
import type { Config } from '../config/config-schema.ts';
import { deploymentName } from '../config/deployment.ts';
import { acknowledge } from './grants.ts';

/**
 * A rule for an alarm, which names the fault and the first steps, and refers to its chapter of the
 * runbook.
 */
export type AlarmRule = Pick<AlarmProps, 'metric'> & {
  /** The fault, in one sentence. */
  problem: string;
  /**
   * The first steps of the chapter, for `STAGE` or its `DEPLOYMENT`. The runbook may not be at
   * hand.
   */
  first: string;
  /** The heading of its chapter in docs/runbook.md. */
  runbook: string;
  /** The value at which the alarm goes off, 1 by default. */
  threshold?: number;
  /**
   * In how many of so many periods the metric has to be there: 2 of 3 by default, as one bad period
   * is no alarm.
   */
  periods?: readonly [bad: number, of: number];
  /**
   * The meaning of no data: all is well by default, without traffic; that the state stays as it is;
   * or that a job has stopped, which notifies too. A job that has not run yet is no problem: an
   * alarm begins without data, and only a change notifies.
   */
  noData?: 'fine' | 'ignored' | 'stopped';
  /** Whether it goes off below the threshold, not at it and above. */
  isBelow?: boolean;
  /** Whether a single period is a problem that has no end, such as a failed load. */
  isEvent?: boolean;
  /** An alarm of the same cause: while that is on, this one notifies nobody. */
  quietDuring?: Alarm;
};

const treatMissingData = {
  fine: TreatMissingData.NOT_BREACHING,
  ignored: TreatMissingData.IGNORE,
  stopped: TreatMissingData.MISSING,
};

/** The topic of the alarms, and where their messages say that the runbook is. */
export class AlarmTopic extends Topic {
  private readonly config: Config;

  constructor(scope: Construct, id: string, { config, ...props }: TopicProps & { config: Config }) {
    super(scope, id, props);
    this.config = config;
  }

  /** Makes an alarm for each rule, below `scope`. */
  alarms<Id extends string>(scope: Construct, rules: Record<Id, AlarmRule>): Record<Id, Alarm> {
    const alarms = Object.entries<AlarmRule>(rules).map(([id, rule]) => [
      id,
      this.alarm(scope, id, rule),
    ]);
    return Object.fromEntries(alarms);
  }

  /**
   * Notifies the operator when the metric reaches its threshold, and again after recovery, unless
   * it counts events.
   */
  private alarm(scope: Construct, id: string, rule: AlarmRule): Alarm {
    const {
      metric,
      problem,
      first,
      runbook,
      threshold = 1,
      noData = 'fine',
      isBelow,
      isEvent,
      quietDuring,
    } = rule;
    const [bad, of] = rule.periods ?? (isEvent ? [1, 1] : [2, 3]);
    const { stage, runbookUrl } = this.config;
    const alarmDescription = `${problem} First: ${first.replaceAll('STAGE', stage).replaceAll('DEPLOYMENT', deploymentName(stage))} Then: ${runbookUrl}#${anchor(runbook)}`;
    const alarm = new Alarm(scope, id, {
      metric,
      evaluationPeriods: of,
      ...(bad < of && { datapointsToAlarm: bad }),
      threshold,
      alarmDescription,
      ...(isBelow && { comparisonOperator: ComparisonOperator.LESS_THAN_THRESHOLD }),
      treatMissingData: treatMissingData[noData],
    });
    const action = new SnsAction(this);
    if (noData === 'stopped') alarm.addInsufficientDataAction(action);
    const notifies = quietDuring
      ? new CompositeAlarm(scope, `${id}Alone`, {
          alarmRule: CompositeRule.fromAlarm(alarm, AlarmState.ALARM),
          alarmDescription,
          actionsSuppressor: quietDuring,
          actionsSuppressorWaitPeriod: Duration.minutes(2),
          actionsSuppressorExtensionPeriod: Duration.minutes(2),
        })
      : alarm;
    notifies.addAlarmAction(action);
    if (!isEvent) notifies.addOkAction(action);
    return alarm;
  }
}

/**
 * The topic of every alarm, and of nothing else: TLS only, with an e-mail subscription if one is
 * configured.
 */
export function alarmTopic(scope: Construct, config: Config, key?: IKey): AlarmTopic {
  const topic = new AlarmTopic(scope, 'Alarms', {
    displayName: `Address service ${config.stage}`,
    enforceSSL: true,
    config,
    ...(key && { masterKey: key }),
  });
  // A topic with its own policy lacks the default one, which would have allowed CloudWatch.
  const alarms = {
    service: 'cloudwatch',
    resource: 'alarm',
    resourceName: '*',
    arnFormat: ArnFormat.COLON_RESOURCE_NAME,
  };
  topic.addToResourcePolicy(
    new PolicyStatement({
      principals: [new ServicePrincipal('cloudwatch.amazonaws.com')],
      actions: ['sns:Publish'],
      resources: [topic.topicArn],
      conditions: { ArnLike: { 'aws:SourceArn': Stack.of(scope).formatArn(alarms) } },
    }),
  );
  if (config.alarmEmail) topic.addSubscription(new EmailSubscription(config.alarmEmail));
  else {
    Annotations.of(topic).addWarningV2(
      'bag-adres:noAlarmEmail',
      'Nobody is notified of an alarm: set alarmEmail in bag-adres.json, or subscribe to this topic yourself.',
    );
  }
  acknowledge(
    topic,
    'Serverless-SNSRedrivePolicy',
    'SNS retries mail that can not be delivered; the alarm itself stays visible in CloudWatch.',
  );
  return topic;
}

/** A metric that a function emits itself; `service` is the name in its metrics. */
export function ownMetric(
  stage: string,
  service: string,
  metricName: string,
  options: MetricOptions,
): Metric {
  return new Metric({
    namespace: metricNamespaceOf(stage),
    metricName,
    ...options,
    dimensionsMap: { [requestDimensions.service]: service, ...options.dimensionsMap },
  });
}

/**
 * A line for each value of `dimension` that has data. For dashboards only: alarms don't support
 * SEARCH.
 */
export function searched(
  stage: string,
  { metric, dimension, service }: { metric: string; dimension: string; service?: string },
  { statistic, period }: Required<Pick<MetricOptions, 'statistic' | 'period'>>,
): MathExpression {
  const schema = [metricNamespaceOf(stage), requestDimensions.service, dimension].join(',');
  const of = service ? ` ${requestDimensions.service}="${service}"` : '';
  const expression = `SEARCH('{${schema}} MetricName="${metric}"${of}', '${statistic}')`;
  return new MathExpression({ expression, usingMetrics: {}, label: '', period });
}

const perMinute = { statistic: 'Sum', period: Duration.minutes(1) };

/**
 * Requests a minute that got a 5xx, where these are one in 2,000 or more: at that volume a few are
 * always there.
 */
export function serverErrors(api: HttpApi): MathExpression {
  return new MathExpression({
    label: 'server errors',
    // The gateway may report no data instead of zero errors.
    expression: 'IF(FILL(errors, 0) * 2000 >= requests, FILL(errors, 0), 0)',
    usingMetrics: {
      errors: api.metricServerError(perMinute),
      requests: api.metricCount(perMinute),
    },
    period: perMinute.period,
  });
}

/**
 * Requests a minute that the gateway throttled. It has no metric for them: they neither reached a
 * function nor failed. Its metrics and Lambda's are not of the very same moment, so small
 * differences don't count.
 */
export function gatewayThrottles(api: HttpApi, ...functions: IFunction[]): MathExpression {
  const invocations = Object.fromEntries(
    functions.map((each, at) => [`to${at}`, each.metricInvocations(perMinute)]),
  );
  const answered = Object.keys(invocations).map((id) => `FILL(${id}, 0)`);
  const usingMetrics = {
    requests: api.metricCount(perMinute),
    errors: api.metricServerError(perMinute),
  };
  return new MathExpression({
    label: 'requests throttled by the gateway',
    expression: 'IF(missing > 60 AND missing > requests * 0.02, missing, 0)',
    usingMetrics: {
      ...usingMetrics,
      missing: new MathExpression({
        expression: `requests - FILL(errors, 0) - ${answered.join(' - ')}`,
        usingMetrics: { ...usingMetrics, ...invocations },
        period: perMinute.period,
      }),
    },
    period: perMinute.period,
  });
}

/**
 * ACM renews a certificate 60 days before it ends, but not an imported one, nor one without its DNS
 * record.
 */
export function certificateRules(
  certificate: ICertificate,
  host: string,
): Record<'Ends' | 'EndsSoon', AlarmRule> {
  const endsWithin = (days: number): AlarmRule => ({
    metric: certificate.metricDaysToExpiry(),
    isBelow: true,
    threshold: days,
    periods: [1, 1],
    // A certificate that has ended reports no data.
    noData: 'ignored',
    problem: `The certificate of ${host} ends within ${days} days: after that no client connects.`,
    first:
      'open it in the ACM console. Renew its DNS record for validation, or import the next certificate.',
    runbook: 'Certificate ends',
  });
  return { Ends: endsWithin(45), EndsSoon: endsWithin(14) };
}

/** The anchor that GitHub generates for a heading. */
function anchor(heading: string): string {
  return heading.toLowerCase().replaceAll(' ', '-');
}

/**
 * Queries of docs/runbook.md by their chapter and subject, `Server errors/Outcomes`, with the logs
 * that they read.
 */
export type RunbookQueries = readonly (readonly [
  logs: readonly ILogGroup[],
  queries: Readonly<Record<string, string>>,
])[];

/**
 * Saves queries in CloudWatch Logs Insights as `DEPLOYMENT/CHAPTER/NAME`, for an operator to pick
 * from a list. They cost nothing.
 */
export class SavedQueries extends Construct {
  constructor(scope: Construct, id: string, stage: string, given: RunbookQueries) {
    super(scope, id);
    for (const [logs, queries] of given) {
      for (const [name, queryString] of Object.entries(queries)) {
        new CfnQueryDefinition(this, name.replaceAll(/[ /]/g, ''), {
          name: `${deploymentName(stage)}/${name}`,
          queryString,
          logGroupNames: logs.map(({ logGroupName }) => logGroupName),
        });
      }
    }
  }
}

/** A dashboard with rows of widgets; its address is an output of the stack. */
export function operatorDashboard(scope: Construct, props: DashboardProps): void {
  const { dashboardName } = new Dashboard(scope, 'Dashboard', props);
  new CfnOutput(scope, 'DashboardUrl', {
    value: `https://${Stack.of(scope).region}.console.aws.amazon.com/cloudwatch/home#dashboards/dashboard/${dashboardName}`,
  }).overrideLogicalId('DashboardUrl');
}

/**
 * A graph that takes a third of the width of a dashboard; `liveData` shows the current, incomplete
 * period as well.
 */
export function graph(
  title: string,
  left: IMetric[],
  options: { liveData?: boolean } = {},
): GraphWidget {
  return new GraphWidget({ title, left, width: 8, height: 6, ...options });
}
