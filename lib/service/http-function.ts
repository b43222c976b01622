import { Duration, SecretValue } from 'aws-cdk-lib';
import type { IAlarm } from 'aws-cdk-lib/aws-cloudwatch';
import { LambdaDeploymentConfig, LambdaDeploymentGroup } from 'aws-cdk-lib/aws-codedeploy';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import { Alias } from 'aws-cdk-lib/aws-lambda';
import type { ISecret } from 'aws-cdk-lib/aws-secretsmanager';
import type { Construct } from 'constructs';
import {
  metricNamespaceOf,
  metricNamespaceVariable,
  requestMetricsVariable,
} from '../../lambdas/shared/metric-names.ts';
import { environment } from '../../lambdas/shared/tables.ts';
import type { Config } from '../config/schema.ts';
import { bundle } from '../shared/bundle.ts';
import { acknowledge } from '../shared/grants.ts';
import { LambdaFunction } from '../shared/lambda-function.ts';

export type HttpFunctionProps = {
  config: Config;
  encryptionKey: IKey | undefined;
  /** The module with the handler, relative to the root of the project. */
  entry: string;
  /** Further files of its bundle. */
  files?: Record<string, string>;
  description: string;
  reservedConcurrency?: number | undefined;
  /** How many are kept started. */
  provisionedConcurrency?: number | undefined;
};

/** A Lambda that answers HTTP requests, behind an alias, so that a deployment can shift traffic to a new version gradually. */
export class HttpFunction extends LambdaFunction {
  readonly live: Alias;

  constructor(scope: Construct, id: string, props: HttpFunctionProps) {
    const { config, encryptionKey, entry, files, description, reservedConcurrency, provisionedConcurrency } = props;
    super(scope, id, {
      config,
      encryptionKey,
      code: bundle({ name: id, entries: { index: entry }, ...(files && { files }) }),
      description,
      // Memory determines the share of a CPU: with less, cold starts and TLS handshakes take noticeably longer.
      memoryMb: 1024,
      // Every request is answered within 5 seconds; the handler gives up well before that, with an answer of its own.
      timeout: Duration.seconds(6),
      reservedConcurrency,
      environment: {
        [metricNamespaceVariable]: metricNamespaceOf(config.stage),
        // Only the dashboard reads the other outcomes.
        ...(config.dashboards && { [requestMetricsVariable]: 'all' }),
        ...(!config.referencePage && { [environment.referencePage]: 'off' }),
      },
      withoutDeadLetterQueue: 'API Gateway invokes it synchronously: the caller gets the error, and nothing is queued.',
    });
    this.live = new Alias(this, 'Live', {
      aliasName: 'live',
      version: this.function.currentVersion,
      ...(provisionedConcurrency && { provisionedConcurrentExecutions: provisionedConcurrency }),
    });
  }

  /**
   * Puts the secret itself into the environment, in the configured versions. CloudFormation resolves it, so a cold start makes
   * no call. It resolves again only when the template changes: that is why a rotation names versions. The secret grants no
   * access by itself: a key is accepted only if its stored hash matches.
   */
  usesChecksumSecret({ secretArn }: ISecret, { checksumSecretVersions: [current, previous] }: Config): this {
    const secretValue = (versionId?: string) =>
      SecretValue.secretsManager(secretArn, { ...(versionId && { versionId }) }).unsafeUnwrap();
    this.function.addEnvironment(environment.keyChecksumSecret, secretValue(current));
    if (previous) this.function.addEnvironment(environment.previousKeyChecksumSecret, secretValue(previous));
    return this;
  }

  /** Shifts traffic to a new version as configured, and back when one of these alarms goes off; `emergency` ignores them. */
  deploySafely({ deployment }: Config, alarms: IAlarm[]): void {
    const isEmergency = deployment === 'emergency';
    const group = new LambdaDeploymentGroup(this, 'Deployment', {
      alias: this.live,
      alarms,
      // In an incident the alarms are already on: they would stop the deployment that ends it.
      ignoreAlarmConfiguration: isEmergency,
      autoRollback: { failedDeployment: true, deploymentInAlarm: !isEmergency },
      deploymentConfig:
        deployment === 'canary' ? LambdaDeploymentConfig.CANARY_10PERCENT_5MINUTES : LambdaDeploymentConfig.ALL_AT_ONCE,
    });
    acknowledge(
      group,
      'AwsSolutions-IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/AWSCodeDeployRoleForLambdaLimited]',
      'The policy that AWS maintains for this purpose: it reads alarms and moves aliases, for CodeDeploy only.',
    );
  }
}
