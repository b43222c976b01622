import { CfnOutput } from 'aws-cdk-lib';
import {
  HttpApi as Api,
  HttpMethod,
  HttpStage,
  IpAddressType,
  PayloadFormatVersion,
} from 'aws-cdk-lib/aws-apigatewayv2';
import { HttpLambdaIntegration } from 'aws-cdk-lib/aws-apigatewayv2-integrations';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import { Construct } from 'constructs';
import { acknowledge } from '../acknowledge.ts';
import type { Config } from '../config/schema.ts';
import { logGroupProps } from '../log-group-props.ts';
import { accessLog } from './access-log.ts';
import { CustomDomain } from './custom-domain.ts';

export type HttpApiProps = {
  config: Config;
  encryptionKey: IKey | undefined;
  address: IFunction;
  validate: IFunction;
};

/**
 * The front door: both operations with every method, so that our own 405 is given, and our own 404 for the rest.
 * No CORS: a browser is the wrong place for a key. With a domain of the operator's own, only that one is open.
 */
export class HttpApi extends Construct {
  readonly api: Api;
  /** Where callers reach it. */
  readonly baseUrl: string;

  constructor(scope: Construct, id: string, { config, encryptionKey, address, validate }: HttpApiProps) {
    super(scope, id);
    const domain = config.domain && new CustomDomain(this, 'Domain', config.domain);
    const lookUp = integration('Address', address);
    const check = integration('Validate', validate);
    this.api = new Api(this, 'Api', {
      description: `Dutch address service, ${config.stage}`,
      createDefaultStage: false,
      disableExecuteApiEndpoint: domain !== undefined,
      ipAddressType: IpAddressType.DUAL_STACK,
      defaultIntegration: check,
    });
    this.api.addRoutes({ path: '/v1/address', methods: [HttpMethod.ANY], integration: lookUp });
    this.api.addRoutes({ path: '/v1/auth/validate', methods: [HttpMethod.ANY], integration: check });
    acknowledge(
      this.api,
      'AwsSolutions-APIG4',
      'The functions authenticate: a key, its account and its quota are one conditional write, which an authorizer would split.',
    );
    new HttpStage(this, 'Stage', {
      httpApi: this.api,
      stageName: '$default',
      autoDeploy: true,
      throttle: { rateLimit: config.throttle.ratePerSecond, burstLimit: config.throttle.burst },
      accessLogSettings: accessLog(this, logGroupProps(config, encryptionKey)),
      ...(domain && { domainMapping: { domainName: domain.domainName } }),
    });
    this.baseUrl = config.domain ? `https://${config.domain.name}` : this.api.apiEndpoint;
    new CfnOutput(this, 'BaseUrl', { value: this.baseUrl }).overrideLogicalId('BaseUrl');
  }
}

function integration(id: string, handler: IFunction): HttpLambdaIntegration {
  return new HttpLambdaIntegration(id, handler, { payloadFormatVersion: PayloadFormatVersion.VERSION_2_0 });
}
