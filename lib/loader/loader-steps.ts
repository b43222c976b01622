import { Duration } from 'aws-cdk-lib';
import type { ITable } from 'aws-cdk-lib/aws-dynamodb';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import type { Function as CdkFunction } from 'aws-cdk-lib/aws-lambda';
import type { IBucket } from 'aws-cdk-lib/aws-s3';
import { Construct } from 'constructs';
import { environment, metricNamespaceOf, metricNamespaceVariable } from '../../core/names.ts';
import { loaderEnvironment, manifestKeys, publicMutations, storagePrefixes } from '../../loader/names.ts';
import { packageVersion } from '../config/deployment.ts';
import type { Config } from '../config/schema.ts';
import { bundle } from '../shared/bundle.ts';
import { type BucketAccess, LambdaFunction } from '../shared/lambda-function.ts';
import { lockTime, settlingTime } from './load-states.ts';

export type LoaderStepsProps = {
  config: Config;
  encryptionKey: IKey | undefined;
  addresses: ITable;
  bucket: IBucket;
};

/** 1,769 MB is one whole CPU. Inflating and parsing use nothing else. */
const oneCpuMb = 1769;
/**
 * Of one writer. A new on-demand table takes 4,000 writes a second from four partitions of 1,000. The keys of four
 * writers don't spread evenly over these, so four times this rate stays below it.
 */
const writesPerSecond = 850;

/** As many writers as the table has partitions for: one of 1,000 writes a second each. */
export function writersOf(config: Pick<Config, 'warmThroughput'>): number {
  return Math.floor((config.warmThroughput?.addressesWrites ?? 4_000) / 1_000);
}

const loads = `${storagePrefixes.loads}*`;
const snapshots = `${storagePrefixes.snapshots}*`;
const approvals = `${storagePrefixes.approvals}*`;
const mutations = `${storagePrefixes.mutations}*`;
const uploads = `${storagePrefixes.uploads}*`;
const manifest = Object.values(manifestKeys);

type StepSettings = {
  description: string;
  memoryMb: number;
  /** Fifteen minutes is the most that Lambda allows. */
  minutes: number;
  environment?: Record<string, string>;
  /** Operations on the addresses table. */
  table?: string[];
  bucket?: BucketAccess;
};

/** Where the daily check looks for mutations, which the configuration switches on. */
export function mutationsSource({ mutations }: Config): string {
  return mutations === true ? publicMutations : String(mutations);
}

/** The steps by the names of their modules; `loader/steps/README.md` has the input and output of each. */
const stepsOf = (config: Config) =>
  ({
    discover: {
      description: 'Checks whether the source has a newer snapshot',
      memoryMb: 512,
      // A server without Range support has the whole extract copied, 3.6 GB, and nothing to continue from.
      minutes: 15,
      environment: {
        [loaderEnvironment.version]: packageVersion(),
        [loaderEnvironment.lockSeconds]: `${lockTime.toSeconds()}`,
        [loaderEnvironment.settleSeconds]: `${settlingTime.toSeconds()}`,
        [metricNamespaceVariable]: metricNamespaceOf(config.stage),
        ...(config.source && { [loaderEnvironment.source]: config.source }),
        ...(config.mutations && { [loaderEnvironment.mutations]: mutationsSource(config) }),
      },
      table: ['GetItem', 'PutItem', 'Scan', 'BatchGetItem'],
      bucket: {
        read: [...manifest, loads, snapshots, mutations, uploads],
        upload: [loads, mutations],
        // What an operator rejects is in the manifest, and its work is removed.
        write: manifest,
        remove: [loads, snapshots],
      },
    },
    stage: {
      description: 'Copies the members of the extract',
      memoryMb: 1024,
      minutes: 15,
      bucket: { read: [loads, uploads], upload: [loads] },
    },
    reference: {
      description: 'Reads streets and places',
      memoryMb: oneCpuMb,
      minutes: 10,
      bucket: { read: [loads], write: [loads] },
    },
    extract: {
      description: 'Reads a part of the addresses',
      memoryMb: oneCpuMb,
      minutes: 10,
      bucket: { read: [loads], write: [loads] },
    },
    collect: {
      description: 'Adds up the results of all parts',
      memoryMb: oneCpuMb,
      minutes: 5,
      bucket: { read: [loads], write: [loads, snapshots] },
    },
    mutate: {
      description: 'Works out what days of mutations change',
      memoryMb: oneCpuMb,
      minutes: 10,
      bucket: { read: [loads, snapshots, mutations], write: [loads, snapshots] },
    },
    merge: {
      description: 'Merges a segment and compares it with the live dataset',
      memoryMb: oneCpuMb,
      minutes: 10,
      bucket: { read: [loads, snapshots], write: [loads, snapshots] },
    },
    guard: {
      description: 'Decides whether the load may continue',
      memoryMb: 512,
      minutes: 5,
      environment: { [loaderEnvironment.thresholds]: JSON.stringify(config.guard) },
      table: ['GetItem'],
      bucket: {
        read: [...manifest, loads, approvals],
        write: [...manifest, loads, approvals],
        // Of days that are tried in smaller numbers.
        remove: [snapshots],
      },
    },
    apply: {
      description: 'Writes changes to the table',
      memoryMb: 1024,
      // So that a request that it signed is void before the lock of its execution can be taken over (decision 0130).
      minutes: 9,
      environment: { [loaderEnvironment.writesPerSecond]: `${writesPerSecond}` },
      table: ['GetItem', 'BatchWriteItem'],
      bucket: { read: [loads], write: [loads] },
    },
    publish: {
      description: 'Reads a sample back and publishes the new snapshot',
      memoryMb: 1024,
      minutes: 10,
      environment: {
        [loaderEnvironment.keepSnapshots]: `${config.snapshotsKept}`,
        [metricNamespaceVariable]: metricNamespaceOf(config.stage),
      },
      table: ['GetItem', 'PutItem', 'BatchGetItem', 'ConditionCheckItem'],
      bucket: {
        read: [...manifest, loads, snapshots],
        write: manifest,
        remove: [loads, snapshots, approvals, mutations],
      },
    },
    release: {
      description: 'Releases the lock on the table',
      memoryMb: 256,
      minutes: 1,
      table: ['DeleteItem'],
    },
  }) satisfies Record<string, StepSettings>;

type LoadStepName = keyof ReturnType<typeof stepsOf>;

/** The Lambdas of a load, each with only the permissions that it needs. */
export class LoaderSteps extends Construct {
  readonly steps: Readonly<Record<LoadStepName, LambdaFunction>>;

  constructor(scope: Construct, id: string, { config, encryptionKey, addresses, bucket }: LoaderStepsProps) {
    super(scope, id);
    const definitions: [string, StepSettings][] = Object.entries(stepsOf(config));
    // One bundle for all of them, as they share most of their code.
    const code = bundle({
      name: 'Loader',
      entries: Object.fromEntries(definitions.map(([name]) => [name, `loader/steps/${name}.ts`])),
      requires: true,
    });
    this.steps = Object.fromEntries(
      definitions.map(
        ([name, { description, memoryMb, minutes, environment: variables = {}, table, bucket: access }]) => {
          const step = new LambdaFunction(this, `${name.charAt(0).toUpperCase()}${name.slice(1)}`, {
            config,
            encryptionKey,
            code,
            module: name,
            description,
            memoryMb,
            timeout: Duration.minutes(minutes),
            environment: variables,
            withoutDeadLetterQueue:
              'Step Functions invokes it synchronously, retries it and notifies an operator: nothing is queued.',
          });
          if (table) step.usesTable(addresses, environment.addressesTable, ...table);
          if (access) step.usesBucket(bucket, environment.snapshotBucket, access);
          return [name, step];
        },
      ),
    ) as Record<LoadStepName, LambdaFunction>;
  }

  get functions(): CdkFunction[] {
    return Object.values(this.steps).map((step) => step.function);
  }
}
