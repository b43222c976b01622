import { Duration } from 'aws-cdk-lib';
import type { ITable } from 'aws-cdk-lib/aws-dynamodb';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import type { Function as CdkFunction } from 'aws-cdk-lib/aws-lambda';
import type { IBucket } from 'aws-cdk-lib/aws-s3';
import { Construct } from 'constructs';
import { environment } from '../../core/environment.ts';
import { metricNamespaceOf, metricNamespaceVariable } from '../../core/metrics.ts';
import { loaderEnvironment, publicMutations } from '../../loader/names.ts';
import { type StepName, stepNames, stepOf } from '../../loader/steps/load-steps.ts';
import { awsLimits } from '../config/aws-limits.ts';
import type { Config } from '../config/config-schema.ts';
import { packageVersion } from '../config/deployment.ts';
import { LambdaFunction } from '../shared/lambda-function.ts';
import { lockTime, settlingTime, stateName } from './load-states.ts';

export type LoaderStepsProps = {
  config: Config;
  encryptionKey: IKey | undefined;
  addresses: ITable;
  bucket: IBucket;
};

/**
 * The rate of one writer. A new on-demand table has four partitions (`awsLimits`). The keys of four
 * writers don't spread evenly over these, so four times this rate stays below their limit.
 */
const writesPerSecond = 850;

/** The number of writers that the table has partitions for. */
export function writersOf(config: Pick<Config, 'warmThroughput'>): number {
  const { newTable, writesPerSecond: ofPartition } = awsLimits;
  const writes = config.warmThroughput?.addressesWrites ?? newTable.writesPerSecond;
  return Math.floor(writes / ofPartition);
}

/** The source of the daily check for mutations, which the configuration switches on. */
export function mutationsSource({ mutations }: Config): string {
  return mutations === true ? publicMutations : String(mutations);
}

/** More than any dataset has. */
const anyNumber = 100_000_000;

/** The thresholds of the guard that the settings mean. */
export function thresholdsOf(guard: Config['guard']) {
  return {
    ...guard,
    ...(guard.maximumShare === 1 && { alwaysAllowed: anyNumber }),
    ...(guard.maximumPlaceShare === 1 && { alwaysAllowedInPlace: anyNumber }),
  };
}

/** The settings of the steps that the configuration contains. */
function settingsOf(
  config: Config,
): Partial<Record<keyof typeof loaderEnvironment, string | false | undefined>> {
  return {
    version: packageVersion(),
    lockSeconds: `${lockTime.toSeconds()}`,
    settleSeconds: `${settlingTime.toSeconds()}`,
    source: config.source,
    mutations: config.mutations && mutationsSource(config),
    objecten: config.dataset.objecten && 'on',
    thresholds: JSON.stringify(thresholdsOf(config.guard)),
    writesPerSecond: `${writesPerSecond}`,
    keepSnapshots: `${config.snapshotsKept}`,
  };
}

/** The Lambdas of a load, each with only the permissions that it needs. */
export class LoaderSteps extends Construct {
  readonly steps: Readonly<Record<StepName, LambdaFunction>>;

  constructor(
    scope: Construct,
    id: string,
    { config, encryptionKey, addresses, bucket }: LoaderStepsProps,
  ) {
    super(scope, id);
    const values = settingsOf(config);
    const lambdaOf = (name: StepName): LambdaFunction => {
      const {
        description,
        memoryMb,
        minutes,
        settings = [],
        measures,
        table,
        bucket: access,
      } = stepOf(name);
      const variables = settings.flatMap((setting) => {
        const value = values[setting];
        return value ? [[loaderEnvironment[setting], value]] : [];
      });
      const step = new LambdaFunction(this, stateName(name), {
        config,
        encryptionKey,
        bundle: 'Loader',
        module: name,
        description,
        memorySize: memoryMb,
        timeout: Duration.minutes(minutes),
        environment: {
          ...Object.fromEntries(variables),
          ...(measures && { [metricNamespaceVariable]: metricNamespaceOf(config.stage) }),
        },
        withoutDeadLetterQueue:
          'Step Functions invokes it synchronously, retries it and notifies an operator: nothing is queued.',
      });
      if (table) step.usesTable(addresses, environment.addressesTable, ...table);
      if (access) step.usesBucket(bucket, environment.snapshotBucket, access);
      return step;
    };
    this.steps = Object.fromEntries(stepNames.map((name) => [name, lambdaOf(name)])) as Record<
      StepName,
      LambdaFunction
    >;
  }

  get functions(): CdkFunction[] {
    return Object.values(this.steps).map((step) => step.function);
  }
}
