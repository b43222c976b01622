import type { Duration } from 'aws-cdk-lib';
import type { ITable } from 'aws-cdk-lib/aws-dynamodb';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import {
  Architecture,
  type Code,
  Function as LambdaFunction,
  LoggingFormat,
  Runtime,
  Tracing,
} from 'aws-cdk-lib/aws-lambda';
import { LogGroup } from 'aws-cdk-lib/aws-logs';
import type { IBucket } from 'aws-cdk-lib/aws-s3';
import { Construct } from 'constructs';
import { environment } from '../../lambdas/shared/tables.ts';
import { loaderEnvironment } from '../../loader/names.ts';
import type { Config } from '../config/schema.ts';
import { logGroupProps } from '../shared/encryption.ts';
import { acknowledge, acknowledgeWildcard, functionRole, grantTable } from '../shared/grants.ts';

export type LoaderStepProps = {
  config: Config;
  encryptionKey: IKey | undefined;
  /** All steps share one bundle, of which `handler` is a module. */
  code: Code;
  handler: string;
  description: string;
  memoryMb: number;
  timeout: Duration;
  settings?: Record<string, string>;
};

/** What a step may do with the objects under a prefix, or with one object: `loads/*`, `manifest.json`. */
export type BucketAccess = Partial<Record<'read' | 'write' | 'remove' | 'upload', readonly string[]>>;

const bucketActions = {
  read: ['s3:GetObject'],
  write: ['s3:PutObject'],
  remove: ['s3:DeleteObject'],
  /** As `write`, for what is too large for one request. */
  upload: ['s3:PutObject', 's3:AbortMultipartUpload'],
} as const satisfies Record<keyof BucketAccess, readonly string[]>;

/** One step of a load. What it may do is given where it is told where to do it, so that the two can't drift apart. */
export class LoaderStep extends Construct {
  readonly function: LambdaFunction;
  readonly timeout: Duration;

  constructor(scope: Construct, id: string, props: LoaderStepProps) {
    super(scope, id);
    const { config, encryptionKey, code, handler, description, memoryMb, timeout, settings = {} } = props;
    this.timeout = timeout;
    const logGroup = new LogGroup(this, 'Logs', logGroupProps(config, encryptionKey));
    this.function = new LambdaFunction(this, 'Function', {
      description,
      code,
      handler: `${handler}.handler`,
      runtime: Runtime.NODEJS_24_X,
      architecture: Architecture.ARM_64,
      memorySize: memoryMb,
      timeout,
      tracing: Tracing.ACTIVE,
      loggingFormat: LoggingFormat.JSON,
      logGroup,
      role: functionRole(this, logGroup, encryptionKey),
      environment: settings,
      ...(encryptionKey && { environmentEncryption: encryptionKey }),
    });
    acknowledge(
      this.function,
      'Serverless-LambdaDLQ',
      'Step Functions invokes it synchronously, tries it again and tells an operator: nothing is queued that could be lost.',
    );
  }

  /** Lets the step use the addresses table by these operations only. */
  usesTable(table: ITable, ...operations: string[]): this {
    this.function.addEnvironment(environment.addressesTable, table.tableName);
    grantTable(table, this.function, ...operations);
    return this;
  }

  /** Lets the step use these parts of the bucket, and list it: else what is not there would look forbidden. */
  usesBucket(bucket: IBucket, access: BucketAccess): this {
    this.function.addEnvironment(loaderEnvironment.snapshotBucket, bucket.bucketName);
    const grant = (actions: readonly string[], resources: string[]) =>
      this.function.addToRolePolicy(new PolicyStatement({ actions: [...actions], resources }));
    grant(['s3:ListBucket'], [bucket.bucketArn]);
    for (const [kind, actions] of Object.entries(bucketActions) as [keyof BucketAccess, readonly string[]][]) {
      const places = access[kind] ?? [];
      if (places.length > 0)
        grant(
          actions,
          places.map((place) => bucket.arnForObjects(place)),
        );
      for (const place of places.filter((place) => place.endsWith('*')))
        acknowledgeWildcard(
          this,
          bucket,
          `<%.Arn>/${place}`,
          'The objects of loads get their names at run time; this is their one prefix.',
        );
    }
    bucket.encryptionKey?.grant(this.function, 'kms:Decrypt', 'kms:GenerateDataKey');
    return this;
  }
}
