import { CfnOutput } from 'aws-cdk-lib';
import { AccessLogFormat } from 'aws-cdk-lib/aws-apigateway';
import {
  HttpApi as Api,
  type CfnRoute,
  type CfnStage,
  DomainName,
  HttpMethod,
  HttpStage,
  type IAccessLogSettings,
  IpAddressType,
  LogGroupLogDestination,
  SecurityPolicy,
} from 'aws-cdk-lib/aws-apigatewayv2';
import { HttpLambdaIntegration } from 'aws-cdk-lib/aws-apigatewayv2-integrations';
import { Certificate } from 'aws-cdk-lib/aws-certificatemanager';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import { LogGroup, LogGroupClass, type LogGroupProps } from 'aws-cdk-lib/aws-logs';
import { AaaaRecord, ARecord, HostedZone, RecordTarget } from 'aws-cdk-lib/aws-route53';
import { ApiGatewayv2DomainProperties } from 'aws-cdk-lib/aws-route53-targets';
import { Construct } from 'constructs';
import type { Config } from '../config/config-schema.ts';
import { logGroupProps, vendedLogGroupName } from '../shared/data-protection.ts';
import { acknowledge } from '../shared/grants.ts';
import { type AlarmTopic, certificateRules } from '../shared/monitoring.ts';
import { type ApiFunctionId, apiRoutes, routeKey } from '../shared/routes.ts';

/**
 * The fields of a request in the access log. It never has a header, the query string or the body of
 * a response, so no key, label or requested address. It has the caller's IP address, to trace
 * attacks.
 */
const fields = {
  request_id: '$context.requestId',
  ip: '$context.identity.sourceIp',
  route: '$context.routeKey',
  status: '$context.status',
  bytes: '$context.responseLength',
  latency_ms: '$context.responseLatency',
  integration_latency_ms: '$context.integrationLatency',
  // A type, as a message may contain quotes and then the line is no longer JSON: THROTTLED,
  // INTEGRATION_FAILURE, ...
  error: '$context.error.responseType',
  // The status of the Lambda service, not of our response: 200 when the function ran.
  lambda_status: '$context.integration.integrationStatus',
};

/** The log group of a stage's access log. */
export function accessLogGroup(scope: Construct, props: LogGroupProps): LogGroup {
  // Half the price. This class supports no metric filters, which nothing here needs, and Logs
  // Insights reads it as well.
  return new LogGroup(scope, 'AccessLog', {
    ...props,
    logGroupName: vendedLogGroupName(scope, 'access'),
    logGroupClass: LogGroupClass.INFREQUENT_ACCESS,
  });
}

/**
 * The destination and format of a stage's access log; `more` are fields that only one stage has.
 */
export function accessLog(
  logGroup: LogGroup,
  more: Record<string, string> = {},
): IAccessLogSettings {
  return {
    destination: new LogGroupLogDestination(logGroup),
    format: AccessLogFormat.custom(JSON.stringify({ ...fields, ...more })),
  };
}

type CustomDomainProps = NonNullable<Config['domain']>;

/**
 * The operator's own host name: TLS 1.2 or newer, over IPv4 and IPv6. Its records are in Route 53,
 * or an output says which one to create elsewhere. Its topic is told before the certificate ends.
 */
export class CustomDomain extends Construct {
  readonly domainName: DomainName;

  constructor(
    scope: Construct,
    id: string,
    { name, certificateArn, hostedZoneId, hostedZoneName }: CustomDomainProps,
    topic: AlarmTopic | undefined,
  ) {
    super(scope, id);
    const certificate = Certificate.fromCertificateArn(this, 'Certificate', certificateArn);
    topic?.alarms(this, certificateRules(certificate, name));
    this.domainName = new DomainName(this, 'Name', {
      domainName: name,
      certificate,
      securityPolicy: SecurityPolicy.TLS_1_2,
      ipAddressType: IpAddressType.DUAL_STACK,
    });
    const { regionalDomainName, regionalHostedZoneId } = this.domainName;
    if (hostedZoneId === undefined || hostedZoneName === undefined) {
      const value = `${name} CNAME ${regionalDomainName}`;
      new CfnOutput(this, 'Record', {
        value,
        description: 'The record to create at your DNS provider',
      }).overrideLogicalId('DomainRecord');
      return;
    }
    // Given rather than looked up, so that a synth needs no credentials.
    const zone = HostedZone.fromHostedZoneAttributes(this, 'Zone', {
      hostedZoneId,
      zoneName: hostedZoneName,
    });
    const target = RecordTarget.fromAlias(
      new ApiGatewayv2DomainProperties(regionalDomainName, regionalHostedZoneId),
    );
    new ARecord(this, 'Ipv4', { zone, recordName: name, target });
    new AaaaRecord(this, 'Ipv6', { zone, recordName: name, target });
  }
}

export type HttpApiProps = {
  config: Config;
  encryptionKey: IKey | undefined;
  topic: AlarmTopic;
  functions: Record<ApiFunctionId, IFunction>;
};

/**
 * The routes of the table, each with its function. No CORS: a browser is the wrong place for a key.
 * The default endpoint is disabled if there is a custom domain, unless it is kept for a while.
 */
export class HttpApi extends Construct {
  readonly api: Api;
  readonly accessLog: LogGroup;
  /** The URL of the API itself, without a proxy in front of it. */
  readonly baseUrl: string;

  constructor(
    scope: Construct,
    id: string,
    { config, encryptionKey, topic, functions }: HttpApiProps,
  ) {
    super(scope, id);
    const domain = config.domain && new CustomDomain(this, 'Domain', config.domain, topic);
    const integrations = {
      Address: new HttpLambdaIntegration('Address', functions.Address),
      Validate: new HttpLambdaIntegration('Validate', functions.Validate),
    };
    this.api = new Api(this, 'Api', {
      description: `Dutch address service, ${config.stage}`,
      createDefaultStage: false,
      disableExecuteApiEndpoint: config.domain !== undefined && !config.domain.keepDefaultEndpoint,
      ipAddressType: IpAddressType.DUAL_STACK,
      defaultIntegration: integrations.Validate,
    });
    const routes = [
      ...apiRoutes.flatMap(({ path, function: id }) =>
        path
          ? this.api.addRoutes({ path, methods: [HttpMethod.ANY], integration: integrations[id] })
          : [],
      ),
      this.api.node.findChild('DefaultRoute'),
    ];
    acknowledge(
      this.api,
      'AwsSolutions-APIG4',
      'The functions authenticate: key, account and quota are one conditional write, which an authorizer would split.',
    );
    const { ratePerSecond, burst } = config.throttle;
    const [otherRate, otherBurst] = [ratePerSecond, burst].map((lookups) => Math.ceil(lookups / 5));
    this.accessLog = accessLogGroup(this, logGroupProps(config, encryptionKey));
    const stage = new HttpStage(this, 'Stage', {
      httpApi: this.api,
      stageName: '$default',
      autoDeploy: true,
      throttle: { rateLimit: otherRate, burstLimit: otherBurst },
      accessLogSettings: accessLog(this.accessLog),
      ...(domain && { domainMapping: { domainName: domain.domainName } }),
    });
    const throttles = {
      lookups: { ThrottlingRateLimit: ratePerSecond, ThrottlingBurstLimit: burst },
      others: { ThrottlingRateLimit: otherRate, ThrottlingBurstLimit: otherBurst },
    };
    const cfnStage = stage.node.defaultChild as CfnStage;
    cfnStage.routeSettings = Object.fromEntries(
      apiRoutes.map((route) => [routeKey(route), throttles[route.throttle]]),
    );
    // Settings of a route that does not exist yet are refused.
    for (const route of routes) cfnStage.addResourceDependency(route.node.defaultChild as CfnRoute);
    this.baseUrl = config.domain ? `https://${config.domain.name}` : this.api.apiEndpoint;
    new CfnOutput(this, 'BaseUrl', { value: this.baseUrl }).overrideLogicalId('BaseUrl');
  }
}
