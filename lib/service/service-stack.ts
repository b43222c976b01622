import { Stack } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import { environment } from '../../lambdas/shared/tables.ts';
import type { Config } from '../config/schema.ts';
import type { DataStack } from '../data/data-stack.ts';
import { isProtected } from '../shared/data-protection.ts';
import { SavedQueries } from '../shared/saved-queries.ts';
import { Canary } from './canary.ts';
import { HttpApi } from './http-api.ts';
import { HttpFunction } from './http-function.ts';
import { ServiceAlarms } from './service-alarms.ts';
import { ServiceDashboard } from './service-dashboard.ts';
import { serviceQueries } from './service-queries.ts';
import { UsageJob } from './usage-job.ts';

export type ServiceStackProps = { config: Config; stackName: string; data: DataStack };

/** The HTTP interface. It holds no data, so it can be deleted and deployed again at any time. */
export class ServiceStack extends Stack {
  /** The URL that callers use. */
  readonly baseUrl: string;

  constructor(scope: Construct, id: string, { config, stackName, data }: ServiceStackProps) {
    super(scope, id, {
      stackName,
      description: 'Dutch address service: the HTTP interface',
      env: { region: config.region, ...(config.account && { account: config.account }) },
      terminationProtection: isProtected(config),
    });
    const { accounts, addresses, keyChecksumSecret, encryptionKey, alarmTopic: topic } = data;
    const { stage } = config;
    const address = new HttpFunction(this, 'Address', {
      config,
      encryptionKey,
      entry: 'lambdas/address/handler.ts',
      description: 'Looks up one address',
      reservedConcurrency: config.reservedConcurrency,
      provisionedConcurrency: config.provisionedConcurrency,
    })
      .usesChecksumSecret(keyChecksumSecret, config)
      // Query reads the quota shards of one account. A transaction of updates needs no more than UpdateItem.
      .usesTable(accounts, environment.accountsTable, 'GetItem', 'UpdateItem', 'Query')
      .usesTable(addresses, environment.addressesTable, 'GetItem');
    const validate = new HttpFunction(this, 'Validate', {
      config,
      encryptionKey,
      entry: 'lambdas/validate/handler.ts',
      files: {
        'page/style.css': 'lambdas/reference/page/style.css',
        'page/script.js': 'lambdas/reference/page/script.js',
      },
      description: 'Validates a key and returns its limits; publishes the reference; answers unknown paths',
    })
      .usesChecksumSecret(keyChecksumSecret, config)
      .usesTable(accounts, environment.accountsTable, 'BatchGetItem');

    const live = { address: address.live, validate: validate.live };
    const { api, baseUrl, accessLog } = new HttpApi(this, 'Http', { config, encryptionKey, ...live });
    this.baseUrl = baseUrl;
    const { rollback } = new ServiceAlarms(this, 'Alarms', { stage, api, topic, ...live });
    const canary =
      config.canary && new Canary(this, 'Canary', { config, encryptionKey, canary: config.canary, baseUrl, topic });
    address.deploySafely(config, [...rollback.address, ...(canary ? [canary.failed] : [])]);
    validate.deploySafely(config, rollback.validate);
    new SavedQueries(this, 'Queries', {
      stage,
      queries: serviceQueries({
        address: address.logs,
        validate: validate.logs,
        access: accessLog,
        canary: canary?.logs,
      }),
    });
    if (config.usage.job) new UsageJob(this, 'Usage', { config, encryptionKey, accounts, topic });
    if (config.dashboards) new ServiceDashboard(this, 'Overview', { stage, api, accounts, addresses, ...live });
  }
}
