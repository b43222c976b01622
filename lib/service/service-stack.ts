import { Stack } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import { metricNamespaceOf, metricNamespaceVariable } from '../../lambdas/shared/metric-names.ts';
import { environment } from '../../lambdas/shared/tables.ts';
import type { Config } from '../config/schema.ts';
import type { DataStack } from '../data/data-stack.ts';
import { isProtected } from '../shared/encryption.ts';
import { grantTable } from '../shared/grants.ts';
import { Canary } from './canary.ts';
import { HttpApi } from './http-api.ts';
import { HttpFunction } from './http-function.ts';
import { ServiceAlarms } from './service-alarms.ts';
import { ServiceDashboard } from './service-dashboard.ts';

export type ServiceStackProps = { config: Config; stackName: string; data: DataStack };

/** What answers requests. It holds no data: it may be deleted and deployed again at any time. */
export class ServiceStack extends Stack {
  constructor(scope: Construct, id: string, { config, stackName, data }: ServiceStackProps) {
    super(scope, id, {
      stackName,
      description: 'Dutch address service: the HTTP interface',
      env: { region: config.region },
      terminationProtection: isProtected(config),
    });
    const { accounts, addresses, keyChecksumSecret, encryptionKey, alarmTopic: topic } = data;
    const { stage } = config;
    const common = {
      [metricNamespaceVariable]: metricNamespaceOf(stage),
      [environment.accountsTable]: accounts.tableName,
      // Resolved by CloudFormation, so that a cold start asks nothing. The checksum admits nobody: the stored hash does.
      [environment.keyChecksumSecret]: keyChecksumSecret.secretValue.unsafeUnwrap(),
    };
    const address = new HttpFunction(this, 'Address', {
      config,
      encryptionKey,
      entry: 'lambdas/address/handler.ts',
      description: 'Looks up one address',
      environment: { ...common, [environment.addressesTable]: addresses.tableName },
    });
    const validate = new HttpFunction(this, 'Validate', {
      config,
      encryptionKey,
      entry: 'lambdas/validate/handler.ts',
      description: 'Tells whether a key works and with which limits; answers unknown paths',
      environment: common,
    });
    // Query reads the quota shards of one account; a transaction of updates needs no more than an update.
    grantTable(accounts, address.function, 'GetItem', 'UpdateItem', 'Query');
    grantTable(addresses, address.function, 'GetItem');
    grantTable(accounts, validate.function, 'GetItem');

    const live = { address: address.live, validate: validate.live };
    const { api, baseUrl } = new HttpApi(this, 'Http', { config, encryptionKey, ...live });
    const { rollback } = new ServiceAlarms(this, 'Alarms', { stage, api, topic, ...live });
    address.deploySafely(config, rollback.address);
    validate.deploySafely(config, rollback.validate);
    if (config.canary) new Canary(this, 'Canary', { config, encryptionKey, canary: config.canary, baseUrl, topic });
    new ServiceDashboard(this, 'Overview', { stage, api, accounts, addresses, ...live });
  }
}
