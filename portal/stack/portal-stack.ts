import { Annotations, CfnOutput, Duration, Stack } from 'aws-cdk-lib';
import {
  type CfnStage,
  HttpApi,
  type HttpMethod,
  HttpStage,
  IpAddressType,
  PayloadFormatVersion,
} from 'aws-cdk-lib/aws-apigatewayv2';
import { HttpLambdaIntegration } from 'aws-cdk-lib/aws-apigatewayv2-integrations';
import {
  AccountRecovery,
  CfnManagedLoginBranding,
  ManagedLoginVersion,
  Mfa,
  OAuthScope,
  UserPool,
} from 'aws-cdk-lib/aws-cognito';
import type { LogGroup } from 'aws-cdk-lib/aws-logs';
import type { Bucket } from 'aws-cdk-lib/aws-s3';
import { Secret } from 'aws-cdk-lib/aws-secretsmanager';
import { Construct } from 'constructs';
import { environment } from '../../core/environment.ts';
import { statementsPrefix } from '../../core/tables.ts';
import type { Config } from '../../lib/config/config-schema.ts';
import { deploymentName } from '../../lib/config/deployment.ts';
import { logoFile } from '../../lib/config/logo.ts';
import type { DataStack } from '../../lib/data/data-stack.ts';
import { accessLog, accessLogGroup, CustomDomain } from '../../lib/service/http-api.ts';
import {
  isProtected,
  logGroupProps,
  protectedRemoval,
  stackProps,
  stackSuffix,
} from '../../lib/shared/data-protection.ts';
import {
  acknowledge,
  acknowledgeWildcard,
  allow,
  defaultEventBus,
} from '../../lib/shared/grants.ts';
import { LambdaFunction } from '../../lib/shared/lambda-function.ts';
import { approvalRunPrefix, storagePrefixes } from '../../loader/names.ts';
import { executionsOf, PortalAccess } from '../../packages/admin/access.ts';
import { PortalMonitoring } from './portal-monitoring.ts';

export type PortalStackProps = {
  config: Config;
  portal: NonNullable<Config['portal']>;
  stackName: string;
  data: DataStack;
  /** The address API, as customers call it. */
  apiUrl: string;
  loads: { bucket: Bucket; stateMachineArn: string; stateMachineName: string };
};

/**
 * The rate in requests a second, and the burst, for each route: pages, sign-ins, and assets, which
 * the function answers from memory. So no route can use up another's rate. All visitors share these
 * rates, which bound the bill. The function has rates for each visitor (`portal/request/rates.ts`).
 */
const throttle = { ThrottlingRateLimit: 50, ThrottlingBurstLimit: 100 };
const assetThrottle = { ThrottlingRateLimit: 100, ThrottlingBurstLimit: 200 };
const ownRates = {
  'GET /sign-in': throttle,
  'GET /callback': throttle,
  'GET /assets/{file+}': assetThrottle,
  // An account's pages and forms have rates of their own, so that a flood of the first page can't
  // keep anybody from revoking a key.
  'GET /accounts/{page+}': throttle,
  'POST /accounts/{page+}': throttle,
  'GET /keys': throttle,
  'POST /keys': throttle,
  'GET /try': throttle,
  // A try is a request of the API too.
  'POST /accounts/{account}/api/try': throttle,
  'ANY /operator/{page+}': throttle,
};

/**
 * The customer portal: an HTTP API with its own host name, so that its cookies never reach the
 * address API.
 */
export class PortalStack extends Stack {
  constructor(scope: Construct, id: string, props: PortalStackProps) {
    const { config, portal, data, apiUrl, loads } = props;
    super(scope, id, stackProps(config, props.stackName, 'the customer portal'));
    const { accounts, encryptionKey, statements, alarmTopic: topic } = data;
    const baseUrl = `https://${portal.domain.name}`;
    const { name, colour, logo, languages, ...links } = config.branding;
    const signIn =
      portal.signIn ?? new UserPoolSignIn(this, 'People', { config, portal, baseUrl }).settings;
    const { clientSecretName, clientSecretKeyArn, clientSecretExpires, ...provider } = signIn;
    const lambda = new LambdaFunction(this, 'Portal', {
      config,
      encryptionKey,
      bundle: 'Portal',
      operatorFiles: logoFile(logo),
      description: 'The customer portal',
      memorySize: 1024,
      // A plan that 2,000 accounts follow; API Gateway waits 30 seconds.
      timeout: Duration.seconds(29),
      environment: {
        [environment.portal]: this.toJsonString({
          deployment: deploymentName(config.stage),
          baseUrl,
          apiUrl,
          ...(name && { company: name }),
          colour,
          links,
          ...(languages && { languages }),
          ...(config.dataset.objecten && { objecten: true }),
          ...(logo && { logoType: logo.endsWith('.svg') ? 'image/svg+xml' : 'image/png' }),
          signIn: {
            ...provider,
            operators: portal.operators.map((address) => address.toLowerCase()),
            ...(portal.operatorClaim && { operatorClaim: portal.operatorClaim }),
          },
        }),
      },
      withoutDeadLetterQueue:
        'API Gateway invokes it synchronously: the browser gets the error, and nothing is queued.',
    });
    if (clientSecretName) {
      const secret = Secret.fromSecretNameV2(this, 'ClientSecret', clientSecretName);
      lambda.usesSecret(secret, environment.portalClientSecret, clientSecretKeyArn);
    }
    if (!data.sessionSecret) {
      throw new Error('The data stack has no session secret: it has one with `portal`.');
    }
    // Without its key: the policy of the key, in another stack, would name the role of this one.
    const session = Secret.fromSecretCompleteArn(this, 'Session', data.sessionSecret.secretArn);
    session.grantRead(lambda.function);
    lambda.function.addEnvironment(environment.portalSessionSecret, session.secretArn);
    // Operators can use every command's action here, except loading another extract and a rollback.
    new PortalAccess(this, 'Access', { accounts, plans: 'change', loads, statements }).serve(
      lambda.function,
    );
    acknowledgeAccess(lambda, props);
    encryptionKey?.grant(lambda.function, 'kms:Decrypt');
    allow(lambda.function, ['events:PutEvents'], [defaultEventBus(this)]);

    const logGroup = accessLogGroup(this, logGroupProps(config, encryptionKey));
    const api = this.httpApi(props, lambda, logGroup);
    new PortalMonitoring(this, 'Monitoring', {
      config,
      encryptionKey,
      topic,
      api,
      lambda,
      accessLog: logGroup,
      baseUrl,
      issuer: signIn.issuer,
      clientSecretExpires,
    });
    if (clientSecretName && !clientSecretExpires) {
      Annotations.of(this).addWarningV2(
        'bag-adres:clientSecretExpires',
        'Nobody is told before the client secret of the portal ends: set portal.signIn.clientSecretExpires.',
      );
    }
    if (clientSecretExpires) {
      new CfnOutput(this, 'ClientSecretExpires', { value: clientSecretExpires });
    }
    new CfnOutput(this, 'PortalUrl', { value: baseUrl });
    new CfnOutput(this, 'CallbackUrl', { value: `${baseUrl}/callback` });
  }

  private httpApi(
    { config, portal, data }: PortalStackProps,
    lambda: LambdaFunction,
    logGroup: LogGroup,
  ): HttpApi {
    // One alarm is enough for a certificate that both host names share.
    const isShared = config.domain?.certificateArn === portal.domain.certificateArn;
    const settings = { ...portal.domain, keepDefaultEndpoint: false };
    const domain = new CustomDomain(
      this,
      'Domain',
      settings,
      isShared ? undefined : data.alarmTopic,
    );
    const integration = new HttpLambdaIntegration('Portal', lambda.function, {
      payloadFormatVersion: PayloadFormatVersion.VERSION_2_0,
    });
    const api = new HttpApi(this, 'Api', {
      description: `Portal of the Dutch address service, ${config.stage}`,
      createDefaultStage: false,
      disableExecuteApiEndpoint: true,
      ipAddressType: IpAddressType.DUAL_STACK,
      defaultIntegration: integration,
    });
    acknowledge(
      api,
      'AwsSolutions-APIG4',
      'The function signs people in itself, and shows strangers the page for it.',
    );
    const routes = Object.keys(ownRates).flatMap((key) => {
      const [method, path = ''] = key.split(' ');
      return api.addRoutes({ path, methods: [method as HttpMethod], integration });
    });
    for (const route of routes) {
      acknowledge(
        route,
        'AwsSolutions-APIG4',
        'The function signs people in itself, and answers strangers.',
      );
    }
    const stage = new HttpStage(this, 'Stage', {
      httpApi: api,
      stageName: '$default',
      autoDeploy: true,
      throttle: {
        rateLimit: throttle.ThrottlingRateLimit,
        burstLimit: throttle.ThrottlingBurstLimit,
      },
      // The path names the account, never a key: that is only in a page. It has no query string.
      accessLogSettings: accessLog(logGroup, { path: '$context.path' }),
      domainMapping: { domainName: domain.domainName },
    });
    for (const route of routes) stage.node.addDependency(route);
    (stage.node.defaultChild as CfnStage).routeSettings = ownRates;
    return api;
  }
}

/** The wildcards of `PortalAccess`. */
function acknowledgeAccess(lambda: LambdaFunction, { loads, data }: PortalStackProps): void {
  for (const objects of ['proposal.json', 'csv/*']) {
    acknowledgeWildcard(
      lambda,
      loads.bucket.arnForObjects(`${storagePrefixes.loads}*/${objects}`),
      'Read only: the plans and the changes of loads, which are named at run time.',
    );
  }
  acknowledgeWildcard(
    lambda,
    `${executionsOf(loads)}:${approvalRunPrefix}*`,
    'Read only: the executions that approvals started, which are named at run time.',
  );
  acknowledgeWildcard(
    lambda,
    data.statements.arnForObjects(`${statementsPrefix}*`),
    'Read only: statements are named by their months and contents.',
  );
}

type UserPoolSignInProps = {
  config: Config;
  portal: NonNullable<Config['portal']>;
  baseUrl: string;
};

/** A Cognito user pool for an operator without an OpenID provider; operators add the people. */
class UserPoolSignIn extends Construct {
  /** A public client: PKCE proves it, so that no secret has to be copied. */
  readonly settings: NonNullable<PortalStackProps['portal']['signIn']>;

  constructor(scope: Construct, id: string, { config, portal, baseUrl }: UserPoolSignInProps) {
    super(scope, id);
    const pool = new UserPool(this, 'Pool', {
      selfSignUpEnabled: false,
      signInAliases: { email: true },
      autoVerify: { email: true },
      standardAttributes: { email: { required: true, mutable: true } },
      accountRecovery: AccountRecovery.EMAIL_ONLY,
      mfa: Mfa.REQUIRED,
      mfaSecondFactor: { otp: true, sms: false },
      passwordPolicy: {
        minLength: 12,
        requireDigits: true,
        requireLowercase: true,
        requireUppercase: true,
        requireSymbols: true,
        tempPasswordValidity: Duration.days(7),
      },
      deletionProtection: isProtected(config),
      removalPolicy: protectedRemoval(config),
    });
    acknowledge(
      pool,
      'AwsSolutions-COG3',
      'Threat protection needs the Plus plan, 2 cents a person and month. A second factor is required of everybody.',
    );
    acknowledge(
      pool,
      'AwsSolutions-COG8',
      "As for COG3: the Plus plan's additions are not needed beside a second factor.",
    );
    const client = pool.addClient('Portal', {
      generateSecret: false,
      preventUserExistenceErrors: true,
      oAuth: {
        flows: { authorizationCodeGrant: true },
        scopes: [OAuthScope.OPENID, OAuthScope.EMAIL, OAuthScope.PROFILE],
        callbackUrls: [`${baseUrl}/callback`],
        logoutUrls: [`${baseUrl}/`],
      },
      idTokenValidity: Duration.minutes(5),
      accessTokenValidity: Duration.minutes(5),
      refreshTokenValidity: Duration.hours(1),
    });
    // Unique in a region, and not made of the host name: a pool can have only one domain, so it
    // must never be replaced.
    const domainPrefix = portal.cognitoPrefix ?? `bag-adres-${stackSuffix(this)}`;
    pool.addDomain('Domain', {
      cognitoDomain: { domainPrefix },
      managedLoginVersion: ManagedLoginVersion.NEWER_MANAGED_LOGIN,
    });
    new CfnManagedLoginBranding(this, 'Branding', {
      userPoolId: pool.userPoolId,
      clientId: client.userPoolClientId,
      useCognitoProvidedValues: true,
    });
    new CfnOutput(this, 'UserPoolId', { value: pool.userPoolId }).overrideLogicalId('UserPoolId');
    this.settings = {
      issuer: pool.userPoolProviderUrl,
      clientId: client.userPoolClientId,
      subjectClaim: 'sub',
    };
  }
}
