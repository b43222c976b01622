import { CfnOutput, Duration } from 'aws-cdk-lib';
import {
  AccountRecovery,
  CfnManagedLoginBranding,
  ManagedLoginVersion,
  Mfa,
  OAuthScope,
  UserPool,
} from 'aws-cdk-lib/aws-cognito';
import { Construct } from 'constructs';
import type { Config } from '../config/schema.ts';
import { isProtected, removal } from '../shared/data-protection.ts';
import { acknowledge } from '../shared/grants.ts';

export type UserPoolSignInProps = { config: Config; portal: NonNullable<Config['portal']>; baseUrl: string };

/** A Cognito user pool for a portal whose operator has no OpenID provider: nobody signs up, operators add people. */
export class UserPoolSignIn extends Construct {
  /** A public client: PKCE proves it, so that no secret has to be copied. */
  readonly settings: { issuer: string; clientId: string; clientSecretName?: undefined };

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
      removalPolicy: removal(config),
    });
    acknowledge(
      pool,
      'AwsSolutions-COG3',
      'Threat protection needs the Plus plan, 2 cents a person and month. A second factor is required of everybody.',
    );
    acknowledge(
      pool,
      'AwsSolutions-COG8',
      'As for COG3: what the Plus plan adds is not needed beside a second factor.',
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
    // A prefix is unique in a region: the host name of the portal is too.
    const domainPrefix = portal.domain.name.replaceAll('.', '-').slice(0, 60);
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
    this.settings = { issuer: pool.userPoolProviderUrl, clientId: client.userPoolClientId };
  }
}
