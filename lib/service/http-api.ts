import { CfnOutput } from 'aws-cdk-lib';
import { HttpApi as Api, HttpMethod, HttpStage, PayloadFormatVersion } from 'aws-cdk-lib/aws-apigatewayv2';
import { HttpLambdaIntegration } from 'aws-cdk-lib/aws-apigatewayv2-integrations';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import { Construct } from 'constructs';
import type { Config } from '../config/schema.ts';

export type HttpApiProps = {
  config: Config;
  address: IFunction;
  validate: IFunction;
};

/**
 * The front door: both operations with every method, so that our own 405 is given, and our own 404 for the rest.
 * No CORS: a browser is the wrong place for a key.
 */
export class HttpApi extends Construct {
  readonly api: Api;
  readonly stage: HttpStage;

  constructor(scope: Construct, id: string, { config, address, validate }: HttpApiProps) {
    super(scope, id);
    const lookUp = integration('Address', address);
    const check = integration('Validate', validate);
    this.api = new Api(this, 'Api', {
      description: 'Dutch address service',
      createDefaultStage: false,
      defaultIntegration: check,
    });
    this.api.addRoutes({ path: '/v1/address', methods: [HttpMethod.ANY], integration: lookUp });
    this.api.addRoutes({ path: '/v1/auth/validate', methods: [HttpMethod.ANY], integration: check });
    this.stage = new HttpStage(this, 'Stage', {
      httpApi: this.api,
      stageName: '$default',
      autoDeploy: true,
      throttle: { rateLimit: config.throttle.ratePerSecond, burstLimit: config.throttle.burst },
    });
    new CfnOutput(this, 'BaseUrl', { value: this.api.apiEndpoint }).overrideLogicalId('BaseUrl');
  }
}

function integration(id: string, handler: IFunction): HttpLambdaIntegration {
  return new HttpLambdaIntegration(id, handler, { payloadFormatVersion: PayloadFormatVersion.VERSION_2_0 });
}
