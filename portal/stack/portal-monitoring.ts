import { Duration } from 'aws-cdk-lib';
import type { HttpApi } from 'aws-cdk-lib/aws-apigatewayv2';
import { MathExpression } from 'aws-cdk-lib/aws-cloudwatch';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import { FilterPattern, type ILogGroup, MetricFilter } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import { metricNamespaceOf, metricNamespaceVariable } from '../../core/metrics.ts';
import type { Config } from '../../lib/config/config-schema.ts';
import { secretNoticeDays } from '../../lib/config/setting-fields.ts';
import { LambdaFunction } from '../../lib/shared/lambda-function.ts';
import {
  type AlarmTopic,
  gatewayThrottles,
  ownMetric,
  SavedQueries,
} from '../../lib/shared/monitoring.ts';
import {
  portalCanaryEnvironment,
  portalMetrics,
  portalService,
  providerFault,
} from './portal-names.ts';

export type PortalMonitoringProps = {
  config: Config;
  encryptionKey: IKey | undefined;
  topic: AlarmTopic;
  api: HttpApi;
  /** The function of the portal, and the access log of its stage. */
  lambda: LambdaFunction;
  accessLog: ILogGroup;
  baseUrl: string;
  issuer: string;
  clientSecretExpires: string | undefined;
};

const every = Duration.minutes(5);

/**
 * Alarms for pages that fail, and for everything that keeps people from signing in, with a canary
 * that tries.
 */
export class PortalMonitoring extends Construct {
  constructor(scope: Construct, id: string, props: PortalMonitoringProps) {
    super(scope, id);
    const {
      config,
      encryptionKey,
      topic,
      api,
      lambda,
      accessLog,
      baseUrl,
      issuer,
      clientSecretExpires,
    } = props;
    const { logs } = lambda;
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
    const canary = new LambdaFunction(this, 'Canary', {
      config,
      encryptionKey,
      bundle: 'PortalCanary',
      description: 'Goes to the sign-in page of the portal and of its provider',
      memorySize: 256,
      timeout: Duration.seconds(60),
      environment: {
        [metricNamespaceVariable]: metricNamespaceOf(config.stage),
        [portalCanaryEnvironment.baseUrl]: baseUrl,
        [portalCanaryEnvironment.issuer]: issuer,
        ...(clientSecretExpires && {
          [portalCanaryEnvironment.clientSecretExpires]: clientSecretExpires,
        }),
      },
      withoutDeadLetterQueue:
        'The alarm sees an attempt that was missed, and the next one follows in minutes.',
    });
    canary.runEvery(every, {
      description: 'Runs the canary of the portal',
      maxEventAge: Duration.minutes(1),
    });
    const metric = (metricName: string, statistic: string, period: Duration) =>
      ownMetric(config.stage, portalService, metricName, { statistic, period });
    const failures = metric(portalMetrics.canaryFailures, 'Maximum', every);
    topic.alarms(this, {
      Unreachable: {
        metric: new MathExpression({
          label: 'failures',
          expression: 'failures + IF(FILL(errors, 0) >= 5, 1, 0)',
          usingMetrics: {
            failures,
            errors: api.metricServerError({ statistic: 'Sum', period: every }),
          },
          period: every,
        }),
        periods: [3, 3],
        noData: 'stopped',
        problem:
          'Pages of the portal fail, or the sign-in page of the portal or its provider does not answer.',
        first:
          'run the saved queries DEPLOYMENT/Portal fails in CloudWatch Logs Insights: Canary, then Errors. Until it works, manage keys with npx bag-adres. No lines: enable the schedule of the canary again in EventBridge Scheduler.',
        runbook: 'Portal fails',
      },
      Throttled: {
        metric: gatewayThrottles(api, lambda.function),
        periods: [3, 5],
        problem: 'API Gateway throttles the portal: people get 429.',
        first:
          'run the saved query DEPLOYMENT/Portal throttled/Visitors in CloudWatch Logs Insights. One address is a script or an attack; it ends by itself, and lookups go on.',
        runbook: 'Portal throttled',
      },
      Refused: {
        // The provider refuses the portal, whoever signs in: one attempt shows it.
        metric: refusals.metric({ statistic: 'Sum', period: every }),
        isEvent: true,
        problem: 'The OpenID provider refuses the portal: nobody can sign in.',
        first:
          'run the saved query DEPLOYMENT/Portal sign-in fails/Refusals in CloudWatch Logs Insights. invalid_client: the client secret has ended; create one and put it into the secret that portal.signIn.clientSecretName names.',
        runbook: 'Portal sign-in fails',
      },
    });
    if (clientSecretExpires) {
      topic.alarms(this, {
        SecretEnds: {
          metric: metric(portalMetrics.clientSecretDays, 'Minimum', Duration.hours(1)),
          isBelow: true,
          threshold: secretNoticeDays,
          periods: [1, 1],
          problem: `The client secret of the portal ends on ${clientSecretExpires}: after that nobody can sign in.`,
          first:
            'create a second one at the provider, put it into the secret that portal.signIn.clientSecretName names, and deploy the portal with the new portal.signIn.clientSecretExpires.',
          runbook: 'Client secret ends',
        },
      });
    }
    const errors = 'filter level = "ERROR" | sort @timestamp desc | limit 5';
    const { member } = providerFault;
    new SavedQueries(this, 'Queries', config.stage, [
      [[canary.logs], { 'Portal fails/Canary': `${errors} | display @timestamp, message` }],
      [
        [logs],
        {
          'Portal fails/Errors': errors,
          'Portal sign-in fails/Refusals': `filter ispresent(${member}) | stats count(*) as sign_ins by ${member}, error`,
        },
      ],
      [
        [accessLog],
        {
          'Portal throttled/Visitors':
            'filter error = "THROTTLED" | stats count(*) as requests by route, ip | sort requests desc | limit 10',
        },
      ],
    ]);
  }
}
