import { Duration } from 'aws-cdk-lib';
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
import { BUNDLE_HANDLER, bundle } from '../bundle.ts';
import type { Config } from '../config/schema.ts';
import { removal } from '../removal.ts';

export type HttpFunctionProps = {
  config: Config;
  /** The module with the handler, relative to the root of the project. */
  entry: string;
  description: string;
  environment: Record<string, string>;
};

/** A Lambda that answers HTTP requests, behind an alias, so that a new version can take over little by little. */
export class HttpFunction extends Construct {
  readonly function: LambdaFunction;
  readonly live: Alias;

  constructor(scope: Construct, id: string, { config, entry, description, environment }: HttpFunctionProps) {
    super(scope, id);
    this.function = new LambdaFunction(this, 'Function', {
      description,
      code: bundle({ entry, name: id }),
      handler: BUNDLE_HANDLER,
      runtime: Runtime.NODEJS_24_X,
      architecture: Architecture.ARM_64,
      // The share of a CPU follows from memory: below this a cold start and TLS take visibly longer.
      memorySize: 1024,
      // Every request is answered within 5 seconds; the handler gives up well before, with an answer of its own.
      timeout: Duration.seconds(6),
      tracing: Tracing.ACTIVE,
      loggingFormat: LoggingFormat.JSON,
      logGroup: new LogGroup(this, 'Logs', {
        retention: config.logRetentionDays,
        removalPolicy: removal(config),
      }),
      environment,
    });
    this.live = new Alias(this, 'Live', { aliasName: 'live', version: this.function.currentVersion });
  }
}
