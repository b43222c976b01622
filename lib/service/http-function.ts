import { Duration } from 'aws-cdk-lib';
import type { IAlarm } from 'aws-cdk-lib/aws-cloudwatch';
import { LambdaDeploymentConfig, LambdaDeploymentGroup } from 'aws-cdk-lib/aws-codedeploy';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import {
  Alias,
  Architecture,
  Function as LambdaFunction,
  LoggingFormat,
  Runtime,
  Tracing,
} from 'aws-cdk-lib/aws-lambda';
import { LogGroup } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import type { Config } from '../config/schema.ts';
import { bundle } from '../shared/bundle.ts';
import { logGroupProps } from '../shared/encryption.ts';
import { acknowledge, functionRole } from '../shared/grants.ts';

export type HttpFunctionProps = {
  config: Config;
  encryptionKey: IKey | undefined;
  /** The module with the handler, relative to the root of the project. */
  entry: string;
  description: string;
  environment: Record<string, string>;
};

/** A Lambda that answers HTTP requests, behind an alias, so that a new version can take over little by little. */
export class HttpFunction extends Construct {
  readonly function: LambdaFunction;
  readonly live: Alias;

  constructor(scope: Construct, id: string, props: HttpFunctionProps) {
    super(scope, id);
    const { config, encryptionKey, entry, description, environment } = props;
    const logGroup = new LogGroup(this, 'Logs', logGroupProps(config, encryptionKey));
    this.function = new LambdaFunction(this, 'Function', {
      description,
      code: bundle({ name: id, entries: { index: entry } }),
      handler: 'index.handler',
      runtime: Runtime.NODEJS_24_X,
      architecture: Architecture.ARM_64,
      // The share of a CPU follows from memory: below this a cold start and TLS take visibly longer.
      memorySize: 1024,
      // Every request is answered within 5 seconds; the handler gives up well before, with an answer of its own.
      timeout: Duration.seconds(6),
      tracing: Tracing.ACTIVE,
      loggingFormat: LoggingFormat.JSON,
      logGroup,
      role: functionRole(this, logGroup, encryptionKey),
      environment,
      ...(encryptionKey && { environmentEncryption: encryptionKey }),
    });
    acknowledge(
      this.function,
      'Serverless-LambdaDLQ',
      'API Gateway invokes it synchronously: the caller gets the error, and nothing is queued that could be lost.',
    );
    this.live = new Alias(this, 'Live', { aliasName: 'live', version: this.function.currentVersion });
  }

  /** Lets a new version take over as configured, and back at the first of these alarms. */
  deploySafely({ deployment }: Config, alarms: IAlarm[]): void {
    const group = new LambdaDeploymentGroup(this, 'Deployment', {
      alias: this.live,
      alarms,
      deploymentConfig:
        deployment === 'canary' ? LambdaDeploymentConfig.CANARY_10PERCENT_5MINUTES : LambdaDeploymentConfig.ALL_AT_ONCE,
    });
    acknowledge(
      group,
      'AwsSolutions-IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/AWSCodeDeployRoleForLambdaLimited]',
      'The policy that AWS keeps for exactly this: it reads alarms and moves aliases, on behalf of CodeDeploy only.',
    );
  }
}
