import { CfnOutput, Stack } from 'aws-cdk-lib';
import type { IHttpApi } from 'aws-cdk-lib/aws-apigatewayv2';
import { CfnBudget } from 'aws-cdk-lib/aws-budgets';
import type { ILogGroup } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import { environment } from '../../core/environment.ts';
import type { Config } from '../config/config-schema.ts';
import { logoFile } from '../config/logo.ts';
import type { DataStack } from '../data/data-stack.ts';
import { stackProps } from '../shared/data-protection.ts';
import { type RunbookQueries, SavedQueries } from '../shared/monitoring.ts';
import { HttpApi } from './http-api.ts';
import { Canary, HttpFunction, UsageJobFunction } from './service-functions.ts';
import { ServiceAlarms, ServiceDashboard } from './service-monitoring.ts';

export type ServiceStackProps = { config: Config; stackName: string; data: DataStack };

/** The HTTP interface. It holds no data, so it can be deleted and deployed again at any time. */
export class ServiceStack extends Stack {
  /** The URL that callers use: the public one, if a proxy is in front of the API. */
  readonly publicUrl: string;
  readonly httpApi: IHttpApi;

  constructor(scope: Construct, id: string, { config, stackName, data }: ServiceStackProps) {
    super(scope, id, stackProps(config, stackName, 'the HTTP interface'));
    const { accounts, addresses, statements, encryptionKey, alarmTopic: topic } = data;
    const { stage } = config;
    const common = {
      config,
      encryptionKey,
      tables: { [environment.accountsTable]: accounts, [environment.addressesTable]: addresses },
      branding: JSON.stringify(brandingOf(config)),
    };
    const address = new HttpFunction(this, 'Address', {
      ...common,
      reservedConcurrentExecutions: config.reservedConcurrency,
      provisionedConcurrency: config.provisionedConcurrency,
    });
    const validate = new HttpFunction(this, 'Validate', {
      ...common,
      operatorFiles: logoFile(config.branding.logo),
    });

    const live = { address: address.live, validate: validate.live };
    const functions = { Address: address.live, Validate: validate.live };
    const { api, baseUrl, accessLog } = new HttpApi(this, 'Http', {
      config,
      encryptionKey,
      topic,
      functions,
    });
    const { publicUrl = baseUrl } = config.api;
    this.publicUrl = publicUrl;
    // Keeps the reference to the data stack's table, which a rollback of a failed deployment would
    // need.
    if (accounts.own) {
      new CfnOutput(this, 'OwnAccountsTableName', { value: accounts.own.tableName });
    }
    this.httpApi = api;
    const { rollback, serverErrors } = new ServiceAlarms(this, 'Alarms', {
      stage,
      api,
      topic,
      ...live,
    });
    const canary =
      config.canary &&
      new Canary(this, 'Canary', {
        config,
        encryptionKey,
        canary: config.canary,
        // Without the proxy unless the operator wants it: what ends there is not the API's failure.
        baseUrl: config.canary.usesPublicUrl ? publicUrl : baseUrl,
        topic,
        serverErrors,
      });
    address.deploySafely(config, [...rollback.address, ...(canary ? [canary.failed] : [])]);
    validate.deploySafely(config, rollback.validate);
    const logs = {
      address: address.logs,
      validate: validate.logs,
      access: accessLog,
      canary: canary?.logs,
    };
    new SavedQueries(this, 'Queries', stage, serviceQueries(logs));
    const { budget, alarmEmail = '' } = config;
    if (budget) new Budget(this, 'Budget', { ...budget, email: budget.email ?? alarmEmail });
    new UsageJobFunction(this, 'Usage', { config, encryptionKey, accounts, statements, topic });
    if (config.dashboards) {
      new ServiceDashboard(this, 'Overview', { stage, api, accounts, addresses, ...live });
    }
  }
}

/**
 * Mail before a month costs more than the operator expects. It covers the whole account: AWS splits
 * costs by tags only after somebody has activated these, and until then a budget by tag would
 * silently stay at zero.
 */
class Budget extends Construct {
  constructor(
    scope: Construct,
    id: string,
    { usdPerMonth, email }: NonNullable<Config['budget']> & { email: string },
  ) {
    super(scope, id);
    const at = (notificationType: 'ACTUAL' | 'FORECASTED', threshold: number) => ({
      notification: {
        notificationType,
        threshold,
        comparisonOperator: 'GREATER_THAN',
        thresholdType: 'PERCENTAGE',
      },
      subscribers: [{ subscriptionType: 'EMAIL', address: email }],
    });
    new CfnBudget(this, 'Month', {
      budget: {
        budgetType: 'COST',
        timeUnit: 'MONTHLY',
        budgetLimit: { amount: usdPerMonth, unit: 'USD' },
      },
      notificationsWithSubscribers: [at('ACTUAL', 80), at('FORECASTED', 100), at('ACTUAL', 100)],
    });
  }
}

/** The operator's branding for the pages; the logo itself is in the bundle. */
function brandingOf({ branding: { logo, ...branding }, portal }: Config): object {
  return {
    ...branding,
    ...(logo && { logoType: logo.endsWith('.svg') ? 'image/svg+xml' : 'image/png' }),
    ...(portal && { portalUrl: `https://${portal.domain.name}` }),
  };
}

type ServiceLogs = {
  address: ILogGroup;
  validate: ILogGroup;
  access: ILogGroup;
  canary: ILogGroup | undefined;
};

/** The runbook's queries on the logs of the service. */
function serviceQueries({ address, validate, access, canary }: ServiceLogs): RunbookQueries {
  return [
    [
      [address],
      {
        'Server errors/Outcomes': 'filter status >= 500 | stats count(*) as requests by outcome',
        'Server errors/Causes':
          'filter level = "ERROR" | stats count(*) as errors by error.cause.name, account',
        'Slow answers/Outcomes':
          'stats pct(ms, 99) as p99, max(ms) as longest, count(*) as requests by outcome',
        'Charges with unknown outcome/Causes':
          'filter UnknownCharges = 1 | stats count(*) as charges by cause, bin(5m) as at | sort at desc',
        'Charges with unknown outcome/Accounts':
          'filter level = "ERROR" and error.name = "ChargeUnknown" | stats count(*) as requests by account',
        'Charges with unknown outcome/Errors':
          'filter error.name = "ChargeUnknown" | stats count(*) as errors by error.cause.name, error.cause.message',
        'Refused keys/Accounts':
          'filter outcome = "unauthorized" and ispresent(account) | stats count(*) as requests by account',
        'Procedures/Busiest accounts':
          'stats count(*) as requests by account | sort requests desc | limit 5',
      },
    ],
    [
      [address, validate],
      {
        'Server errors/Errors':
          'filter level = "ERROR" | sort @timestamp desc | limit 20 | display @timestamp, message, error.name, error.message, account, request_id',
        'Server errors/Failures':
          'filter type like /^platform/ | sort @timestamp desc | limit 20 | display @timestamp, type, record.status, record.errorType',
      },
    ],
    [
      [access],
      {
        'Server errors/Seen by the gateway':
          'filter status >= 500 | stats count(*) as requests by route, status, error, lambda_status',
        'Slow answers/Gateway and function':
          'stats pct(latency_ms, 99) as total, pct(integration_latency_ms, 99) as function, count(*) as requests by bin(1m)',
        'Gateway throttles/Callers':
          'filter error = "THROTTLED" | stats count(*) as requests by route, ip | sort requests desc | limit 10',
        'Refused keys/Callers':
          'filter status = 401 | stats count(*) as requests by ip | sort requests desc | limit 10',
      },
    ],
    ...(canary
      ? [
          [
            [canary],
            { 'Canary failed/Errors': 'filter level = "ERROR" | sort @timestamp desc | limit 5' },
          ] as const,
        ]
      : []),
  ];
}
