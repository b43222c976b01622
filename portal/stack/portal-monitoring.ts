import { Duration } from 'aws-cdk-lib';
import type { HttpApi } from 'aws-cdk-lib/aws-apigatewayv2';
import { Metric, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import { FilterPattern, type ILogGroup, MetricFilter } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import { metricNamespaceOf, metricNamespaceVariable, requestDimensions } from '../../core/names.ts';
import { secretNoticeDays } from '../../lib/config/fields.ts';
import type { Config } from '../../lib/config/schema.ts';
import { runEvery } from '../../lib/service/service-functions.ts';
import { bundle } from '../../lib/shared/bundle.ts';
import { LambdaFunction } from '../../lib/shared/lambda-function.ts';
import { type AlarmTopic, SavedQueries } from '../../lib/shared/monitoring.ts';
import { portalCanaryEnvironment, portalMetrics, portalService, providerFault } from './names.ts';

export type PortalMonitoringProps = {
  config: Config;
  encryptionKey: IKey | undefined;
  topic: AlarmTopic;
  api: HttpApi;
  /** The logs of the portal's function. */
  logs: ILogGroup;
  baseUrl: string;
  issuer: string;
  clientSecretExpires: string | undefined;
};

const every = Duration.minutes(5);

/** Alarms for pages that fail, and for everything that keeps people from signing in, with a canary that tries. */
export class PortalMonitoring extends Construct {
  constructor(scope: Construct, id: string, { config, topic, api, logs, ...props }: PortalMonitoringProps) {
    super(scope, id);
    const { encryptionKey, baseUrl, issuer, clientSecretExpires } = props;
    topic.alarm(this, 'Errors', {
      metric: api.metricServerError({ period: every }),
      threshold: 5,
      periods: [2, 2],
      problem: 'Pages of the portal fail.',
      runbook: 'Portal fails',
    });
    const refusals = new MetricFilter(this, 'Refusals', {
      logGroup: logs,
      metricNamespace: metricNamespaceOf(config.stage),
      metricName: portalMetrics.providerRefusals,
      // The canary sees a provider that does not answer.
      filterPattern: FilterPattern.all(
        FilterPattern.exists(`$.${providerFault.member}`),
        FilterPattern.stringValue(`$.${providerFault.member}`, '!=', providerFault.unreachable),
      ),
    });
    topic.alarm(this, 'Refused', {
      // The provider refuses the portal, whoever signs in: one attempt shows it.
      metric: refusals.metric({ statistic: 'Sum', period: every }),
      isEvent: true,
      problem: 'The OpenID provider refuses the portal: nobody can sign in.',
      runbook: 'Portal sign-in fails',
    });
    const canary = new LambdaFunction(this, 'Canary', {
      config,
      encryptionKey,
      code: bundle({ name: 'PortalCanary', entries: { index: 'portal/canary.ts' } }),
      description: 'Goes to the sign-in page of the portal and of its provider',
      memoryMb: 256,
      timeout: Duration.seconds(60),
      environment: {
        [metricNamespaceVariable]: metricNamespaceOf(config.stage),
        [portalCanaryEnvironment.baseUrl]: baseUrl,
        [portalCanaryEnvironment.issuer]: issuer,
        ...(clientSecretExpires && { [portalCanaryEnvironment.clientSecretExpires]: clientSecretExpires }),
      },
      withoutDeadLetterQueue: 'The alarm sees an attempt that was missed, and the next one follows in minutes.',
    });
    runEvery(every, canary, { description: 'Runs the canary of the portal', maxEventAge: Duration.minutes(1) });
    const metric = (metricName: string, statistic: string, period: Duration) =>
      new Metric({
        namespace: metricNamespaceOf(config.stage),
        metricName,
        dimensionsMap: { [requestDimensions.service]: portalService },
        statistic,
        period,
      });
    topic.alarm(this, 'Unreachable', {
      metric: metric(portalMetrics.canaryFailures, 'Maximum', every),
      periods: [3, 3],
      // A canary that does not run is a failure too.
      missingData: TreatMissingData.BREACHING,
      problem: 'The sign-in page of the portal, or of its provider, does not answer.',
      runbook: 'Portal sign-in fails',
    });
    if (clientSecretExpires)
      topic.alarm(this, 'SecretEnds', {
        metric: metric(portalMetrics.clientSecretDays, 'Minimum', Duration.hours(1)),
        isBelow: true,
        threshold: secretNoticeDays,
        periods: [1, 1],
        problem: `The client secret of the portal ends on ${clientSecretExpires}: after that nobody can sign in.`,
        runbook: 'Client secret ends',
      });
    new SavedQueries(this, 'Queries', config.stage, {
      'Portal fails': { Errors: [[logs], 'filter level = "ERROR" | sort @timestamp desc | limit 5'] },
      'Portal sign-in fails': {
        Canary: [
          [canary.logs],
          'filter level = "ERROR" | sort @timestamp desc | limit 5 | display @timestamp, message',
        ],
        Refusals: [
          [logs],
          `filter ispresent(${providerFault.member}) | stats count(*) as sign_ins by ${providerFault.member}, error`,
        ],
      },
    });
  }
}
