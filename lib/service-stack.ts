import { Stack } from 'aws-cdk-lib';
import type { ITable } from 'aws-cdk-lib/aws-dynamodb';
import type { ISecret } from 'aws-cdk-lib/aws-secretsmanager';
import type { Construct } from 'constructs';
import { environment } from '../lambdas/shared/tables.ts';
import type { Config } from './config/schema.ts';
import { isProtected } from './removal.ts';
import { HttpApi } from './service/http-api.ts';
import { HttpFunction } from './service/http-function.ts';

export type ServiceStackProps = {
  config: Config;
  stackName: string;
  addresses: ITable;
  accounts: ITable;
  keyChecksumSecret: ISecret;
};

/** What answers requests. It holds no data: it may be deleted and deployed again at any time. */
export class ServiceStack extends Stack {
  constructor(
    scope: Construct,
    id: string,
    { config, stackName, addresses, accounts, keyChecksumSecret }: ServiceStackProps,
  ) {
    super(scope, id, {
      stackName,
      description: 'Dutch address service: the HTTP interface',
      env: { region: config.region },
      terminationProtection: isProtected(config),
    });
    const common = {
      [environment.accountsTable]: accounts.tableName,
      // Resolved by CloudFormation, so that a cold start asks nothing. The checksum admits nobody: the stored hash does.
      [environment.keyChecksumSecret]: keyChecksumSecret.secretValue.unsafeUnwrap(),
    };
    const address = new HttpFunction(this, 'Address', {
      config,
      entry: 'lambdas/address/handler.ts',
      description: 'Looks up one address',
      environment: { ...common, [environment.addressesTable]: addresses.tableName },
    });
    const validate = new HttpFunction(this, 'Validate', {
      config,
      entry: 'lambdas/validate/handler.ts',
      description: 'Tells whether a key works and with which limits; answers unknown paths',
      environment: common,
    });
    accounts.grant(address.function, 'dynamodb:GetItem', 'dynamodb:UpdateItem');
    addresses.grant(address.function, 'dynamodb:GetItem');
    accounts.grant(validate.function, 'dynamodb:GetItem');
    new HttpApi(this, 'Http', { config, address: address.live, validate: validate.live });
  }
}
