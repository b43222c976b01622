import { Duration } from 'aws-cdk-lib';
import type { ITable } from 'aws-cdk-lib/aws-dynamodb';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import type { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import type { IBucket } from 'aws-cdk-lib/aws-s3';
import { Construct } from 'constructs';
import { metricNamespaceOf, metricNamespaceVariable } from '../../lambdas/shared/metric-names.ts';
import { loaderEnvironment, storagePrefixes } from '../../loader/names.ts';
import type { Config } from '../config/schema.ts';
import { bundle } from '../shared/bundle.ts';
import { lockTime, settlingTime } from './load-states.ts';
import { LoaderStep } from './loader-step.ts';
import { UPLOADS } from './snapshot-bucket.ts';

export type LoaderStepsProps = {
  config: Config;
  encryptionKey: IKey | undefined;
  addresses: ITable;
  bucket: IBucket;
};

const stepNames = [
  'discover',
  'stage',
  'reference',
  'extract',
  'collect',
  'merge',
  'guard',
  'apply',
  'publish',
  'release',
] as const;
const handlers = Object.fromEntries(stepNames.map((name) => [name, `loader/steps/${name}.ts`]));

/** A processor of its own: Lambda gives one at 1,769 MB. Inflating and parsing is all the work there is. */
const oneProcessor = 1769;
/** What one writer adds to the table; four at once stay within what a new table on demand takes at first. */
const writesPerSecond = 1000;

const loads = `${storagePrefixes.loads}*`;
const snapshots = `${storagePrefixes.snapshots}*`;
const approvals = `${storagePrefixes.approvals}*`;
const uploads = `${UPLOADS}*`;
const manifest = 'manifest.json';

/** The Lambdas of a load, each with just what it needs; `loader/steps/README.md` says what each takes and gives. */
export class LoaderSteps extends Construct {
  readonly discover: LoaderStep;
  readonly stage: LoaderStep;
  readonly reference: LoaderStep;
  readonly extract: LoaderStep;
  readonly collect: LoaderStep;
  readonly merge: LoaderStep;
  readonly guard: LoaderStep;
  readonly apply: LoaderStep;
  readonly publish: LoaderStep;
  readonly release: LoaderStep;
  /** Every one of them. */
  readonly all: LambdaFunction[] = [];

  constructor(scope: Construct, id: string, { config, encryptionKey, addresses, bucket }: LoaderStepsProps) {
    super(scope, id);
    const code = bundle({ name: 'Loader', entries: handlers, requires: true });
    const step = (
      name: string,
      description: string,
      memoryMb: number,
      minutes: number,
      settings: Record<string, string> = {},
    ) => {
      const timeout = Duration.minutes(minutes);
      const handler = name.toLowerCase();
      const made = new LoaderStep(this, name, {
        config,
        encryptionKey,
        code,
        handler,
        description,
        memoryMb,
        timeout,
        settings,
      });
      this.all.push(made.function);
      return made;
    };

    // Fifteen minutes, the most there is: a server without ranges has the whole extract copied, 3.6 GB.
    this.discover = step('Discover', 'Asks the source whether there is a newer state', 512, 15, {
      [loaderEnvironment.lockSeconds]: `${lockTime.toSeconds()}`,
      [loaderEnvironment.settleSeconds]: `${settlingTime.toSeconds()}`,
      [metricNamespaceVariable]: metricNamespaceOf(config.stage),
    })
      .usesTable(addresses, 'GetItem', 'PutItem', 'DeleteItem')
      .usesBucket(bucket, { read: [manifest, loads, snapshots, uploads], upload: [loads] });
    this.stage = step('Stage', 'Copies the members of the extract', 1024, 15).usesBucket(bucket, {
      read: [loads, uploads],
      upload: [loads],
    });
    this.reference = step('Reference', 'Reads streets and places', oneProcessor, 10).usesBucket(bucket, {
      read: [loads],
      write: [loads],
    });
    this.extract = step('Extract', 'Reads a part of the addresses', oneProcessor, 10).usesBucket(bucket, {
      read: [loads],
      write: [loads],
    });
    this.collect = step('Collect', 'Adds up what the parts found', 512, 5).usesBucket(bucket, {
      read: [loads],
      write: [loads],
    });
    this.merge = step('Merge', 'Merges a shard and compares it with what is served', oneProcessor, 10).usesBucket(
      bucket,
      { read: [loads, snapshots], write: [loads, snapshots] },
    );
    this.guard = step('Guard', 'Says whether the load may go on', 512, 5, {
      [loaderEnvironment.thresholds]: JSON.stringify(config.guard),
    })
      .usesTable(addresses, 'GetItem')
      .usesBucket(bucket, { read: [manifest, loads, approvals], write: [manifest, loads, approvals] });
    this.apply = step('Apply', 'Writes changes into the table', 1024, 15, {
      [loaderEnvironment.writesPerSecond]: `${writesPerSecond}`,
    })
      .usesTable(addresses, 'GetItem', 'BatchWriteItem')
      .usesBucket(bucket, { read: [loads], write: [loads] });
    this.publish = step('Publish', 'Reads a sample back and names the new state', 1024, 10, {
      [loaderEnvironment.keepSnapshots]: `${config.snapshotsKept}`,
    })
      .usesTable(addresses, 'GetItem', 'PutItem', 'BatchGetItem')
      .usesBucket(bucket, {
        read: [manifest, loads, snapshots],
        write: [manifest],
        remove: [loads, snapshots, approvals],
      });
    this.release = step('Release', 'Gives the lock on the table back', 256, 1).usesTable(addresses, 'DeleteItem');
  }
}
