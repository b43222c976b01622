import { hash } from 'node:crypto';
import { type Duration, RemovalPolicy } from 'aws-cdk-lib';
import { Policy, PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import {
  Architecture,
  Function as CdkFunction,
  type FunctionOptions,
  LoggingFormat,
  Runtime,
  SystemLogLevel,
  Tracing,
} from 'aws-cdk-lib/aws-lambda';
import { type ILogGroup, LogGroup } from 'aws-cdk-lib/aws-logs';
import type { IBucket } from 'aws-cdk-lib/aws-s3';
import { Schedule, ScheduleExpression } from 'aws-cdk-lib/aws-scheduler';
import { LambdaInvoke } from 'aws-cdk-lib/aws-scheduler-targets';
import type { ISecret } from 'aws-cdk-lib/aws-secretsmanager';
import { Construct } from 'constructs';
import type { Config } from '../config/config-schema.ts';
import { bundle, type OperatorFiles } from './bundle.ts';
import { type BundleName, bundles } from './bundles.ts';
import { logGroupProps } from './data-protection.ts';
import {
  acknowledge,
  acknowledgeWildcard,
  allow,
  grantTable,
  keyActions,
  scheduleRole,
  type TableInUse,
} from './grants.ts';

/** `environment` has the variables that go with no permission. */
export type LambdaFunctionProps = Required<
  Pick<FunctionOptions, 'description' | 'memorySize' | 'timeout'>
> &
  Pick<FunctionOptions, 'environment' | 'reservedConcurrentExecutions'> & {
    config: Config;
    encryptionKey: IKey | undefined;
    /** Its code, and which module of it exports `handler`. */
    bundle: BundleName;
    module?: string;
    operatorFiles?: OperatorFiles;
    /** Why no dead letter queue is needed, for cdk-nag. */
    withoutDeadLetterQueue: string;
  };

/**
 * The permissions of a function on the objects under a prefix, or on one object: `loads/*`,
 * `manifest.json`.
 */
export type BucketAccess = Partial<Record<keyof typeof bucketActions, readonly string[]>>;

const bucketActions = {
  read: ['s3:GetObject'],
  write: ['s3:PutObject'],
  remove: ['s3:DeleteObject'],
  /** Writes objects that are too large for one request. */
  upload: ['s3:PutObject', 's3:AbortMultipartUpload'],
} as const;

/**
 * Every Lambda of this app: runtime, architecture, logs, tracing, role and encryption are the same
 * for all. The `uses...` methods grant a permission and set the variable that names the resource in
 * one call, so that the two can't drift apart.
 */
export class LambdaFunction extends Construct {
  readonly function: CdkFunction;
  readonly logs: ILogGroup;
  readonly timeout: Duration;

  constructor(scope: Construct, id: string, props: LambdaFunctionProps) {
    super(scope, id);
    const { config, encryptionKey, bundle: name, module = 'index', operatorFiles, ...more } = props;
    const { withoutDeadLetterQueue, ...options } = more;
    if (!(module in bundles[name].entries)) {
      throw new Error(`lib/shared/bundles.ts has no ${module} in ${name}. Add it.`);
    }
    this.timeout = options.timeout;
    this.logs = new LogGroup(this, 'Logs', logGroupProps(config, encryptionKey));
    this.function = new CdkFunction(this, 'Function', {
      ...options,
      code: bundle(name, operatorFiles),
      handler: `${module}.handler`,
      runtime: Runtime.NODEJS_24_X,
      architecture: Architecture.ARM_64,
      tracing: config.tracing ? Tracing.ACTIVE : Tracing.DISABLED,
      loggingFormat: LoggingFormat.JSON,
      // Lambda's own lines about each invocation that succeeded cost more than ours, and say less.
      systemLogLevelV2: SystemLogLevel.WARN,
      logGroup: this.logs,
      role: functionRole(this, this.logs, encryptionKey),
      ...(encryptionKey && { environmentEncryption: encryptionKey }),
      // Earlier versions are retained: the alias can roll back at once, and a running load keeps
      // using its own. Deleting the function deletes them all, so a trial leaves none behind
      // either.
      currentVersionOptions: { removalPolicy: RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE },
    });
    if (!config.tracing) {
      acknowledge(
        this.function,
        'Serverless-LambdaTracing',
        'The operator decides by `tracing`: traces cost 5 dollars a million.',
      );
    }
    acknowledge(this.function, 'Serverless-LambdaDLQ', withoutDeadLetterQueue);
  }

  /**
   * Allows these operations on the table, `GetItem` for instance, and sets `variable` to its name.
   * An existing table in the place of the stack's own has a policy of its own: CloudFormation
   * creates that before the new version gets requests, and deletes it after the last version that
   * used the table has none, so that neither way is refused one.
   */
  usesTable(table: TableInUse, variable: string, ...operations: string[]): this {
    this.function.addEnvironment(variable, table.tableName);
    grantTable(table.own ?? table, this.function, ...operations);
    if (!table.own) return this;
    const actions = operations.map((operation) => `dynamodb:${operation}`);
    const keyArn = table.encryptionKey?.keyArn;
    const policy = new Policy(this, `Uses${hash('sha256', table.tableName).slice(0, 8)}`, {
      statements: [
        new PolicyStatement({ actions, resources: [table.tableArn] }),
        ...(keyArn ? [new PolicyStatement({ actions: keyActions, resources: [keyArn] })] : []),
      ],
    });
    this.function.role?.attachInlinePolicy(policy);
    this.function.node.addDependency(policy);
    return this;
  }

  /**
   * Allows this access to the bucket and sets `variable` to its name. Listing is included: without
   * it S3 returns 403 for an object that does not exist.
   */
  usesBucket(bucket: IBucket, variable: string, access: BucketAccess): this {
    this.function.addEnvironment(variable, bucket.bucketName);
    allow(this.function, ['s3:ListBucket'], [bucket.bucketArn]);
    for (const [kind, actions] of Object.entries(bucketActions) as [
      keyof BucketAccess,
      readonly string[],
    ][]) {
      const keys = access[kind] ?? [];
      const objects = keys.map((key) => bucket.arnForObjects(key));
      if (objects.length > 0) allow(this.function, actions, objects);
      for (const key of keys.filter((key) => key.endsWith('*'))) {
        acknowledgeWildcard(
          this,
          bucket.arnForObjects(key),
          'Objects are named at run time, under this prefix.',
        );
      }
    }
    bucket.encryptionKey?.grant(this.function, 'kms:Decrypt', 'kms:GenerateDataKey');
    return this;
  }

  /**
   * Allows reading the secret, which may be encrypted with a key of its own, and sets `variable` to
   * its name.
   */
  usesSecret(secret: ISecret, variable: string, keyArn?: string): this {
    this.function.addEnvironment(variable, secret.secretName);
    secret.grantRead(this.function);
    if (keyArn) allow(this.function, ['kms:Decrypt'], [keyArn]);
    return this;
  }

  /**
   * Runs it on schedule. The schedule does not repeat a call that Lambda did not take. A run that
   * ends with an error Lambda repeats by itself, twice at most, as for any asynchronous call.
   */
  runEvery(
    interval: Duration,
    { description, maxEventAge }: { description: string; maxEventAge: Duration },
  ): void {
    new Schedule(this, 'Schedule', {
      description,
      schedule: ScheduleExpression.rate(interval),
      target: new LambdaInvoke(this.function, {
        role: scheduleRole(this, 'lambda:InvokeFunction', this.function.functionArn),
        retryAttempts: 0,
        maxEventAge,
      }),
    });
  }
}

/**
 * A role that may only write to its own log group; AWS's managed policy reaches every log group.
 */
function functionRole(scope: Construct, logs: ILogGroup, environmentKey: IKey | undefined): Role {
  const role = new Role(scope, 'Role', { assumedBy: new ServicePrincipal('lambda.amazonaws.com') });
  logs.grantWrite(role);
  environmentKey?.grantDecrypt(role);
  acknowledge(
    role,
    'AwsSolutions-IAM5[Resource::*]',
    'xray:PutTraceSegments and xray:PutTelemetryRecords support no resources; nothing else is granted on *.',
  );
  return role;
}
