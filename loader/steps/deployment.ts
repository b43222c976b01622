import { Logger } from '@aws-lambda-powertools/logger';
import { Metrics, MetricUnit } from '@aws-lambda-powertools/metrics';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DescribeExecutionCommand, SFNClient } from '@aws-sdk/client-sfn';
import * as z from 'zod';
import { metricNames, metricNamespace, environment as tableVariables, versionDimension } from '../../core/names.ts';
import type { ChangeCounts } from '../dataset/lines.ts';
import type { Part } from '../dataset/load.ts';
import type { Thresholds } from '../dataset/load-counts.ts';
import { loadDefaults, loaderEnvironment, neverNewer } from '../names.ts';
import { type AddressTable, dynamoDbAddressTable } from '../storage/address-table.ts';
import type { AddressWriterOptions } from '../storage/address-writer.ts';
import { Lease } from '../storage/lease.ts';
import type { Held } from '../storage/lock.ts';
import { pdokExtract } from '../storage/open.ts';
import { s3Client, s3Storage } from '../storage/s3.ts';
import type { Storage } from '../storage/storage.ts';
import type { TableSample } from './manifest.ts';

/** The load that the step works on. */
const ofLoad = z.object({ load: z.string() });

/** The owner of the lock that the step works under: the ARN of the execution. */
const ofOwner = z.object({ owner: z.string() });

/**
 * The input from a Distributed Map with an ItemBatcher: the values that all batches share, and the items of this batch.
 */
function batchOf<T, C>(item: z.ZodType<T>, common: z.ZodType<C>): z.ZodType<{ Items: T[]; BatchInput: C }> {
  return z.object({ Items: z.array(item), BatchInput: common });
}

/** An item of `parts.json`. */
const partItem: z.ZodType<Part> = z.object({
  part: z.string(),
  member: z.number().int(),
  files: z.array(
    z.object({
      name: z.string(),
      method: z.enum(['stored', 'deflated', 'encrypted', 'unknown']),
      compressedSize: z.number(),
      size: z.number(),
      crc32: z.number(),
      headerOffset: z.number(),
    }),
  ),
});

const ofLoadAndOwner = z.object({ ...ofLoad.shape, ...ofOwner.shape });

/** The event of each step of the state machine. */
const stepInputs = {
  discover: ofOwner.extend({
    /** An extract to load instead of the configured one. */
    source: z.string().optional(),
    /** A date or a load to roll back to, instead of loading an extract. */
    rollback: z.string().optional(),
    /** Lists, folders or zips of mutations to apply, instead of the configured one. */
    mutations: z.array(z.string()).optional(),
    again: z.boolean().optional(),
    planOnly: z.boolean().optional(),
    /** Without a source or a rollback: the load to continue from the guard on. */
    approve: z.string().optional(),
    /** A refused load whose contents are not to be loaded again, instead of loading anything. */
    reject: z.string().optional(),
  }),
  stage: ofLoad,
  reference: ofLoad,
  extract: batchOf(partItem, ofLoad),
  collect: ofLoad,
  mutate: ofLoad,
  merge: batchOf(z.object({ shard: z.string() }), ofLoad),
  guard: ofLoadAndOwner.extend({
    planOnly: z.boolean().optional(),
    /** The id of a load that may continue despite its objections. */
    approve: z.string().optional(),
  }),
  apply: batchOf(z.object({ changes: z.string(), writes: z.number() }), ofLoadAndOwner),
  publish: ofLoadAndOwner,
  release: ofOwner,
} as const;

export type StepName = keyof typeof stepInputs;
export type StepInput<Name extends StepName> = z.infer<(typeof stepInputs)[Name]>;

/** The validated event of a step. @throws ZodError */
export function parseInput<Name extends StepName>(name: Name, event: unknown): StepInput<Name> {
  return stepInputs[name].parse(event) as StepInput<Name>;
}

const share = z.number().min(0);
const thresholdsSchema = z.strictObject({
  minimumAddresses: z.number().int().min(0),
  maximumRemovedShare: share,
  maximumChangedShare: share,
  maximumAddedShare: share,
  maximumProblemShare: share,
  alwaysAllowed: z.number().int().min(0),
}) satisfies z.ZodType<Thresholds>;

/** What the steps use of the Lambda context. */
export type Invocation = { getRemainingTimeInMillis(): number };

function emit(name: string, count: number, dimensions: Record<string, string> = {}): void {
  const metrics = new Metrics({ namespace: metricNamespace, serviceName: 'loader' });
  metrics.addDimensions(dimensions);
  metrics.addMetric(name, MetricUnit.Count, count);
  metrics.publishStoredMetrics();
}

/** The settings, clients and logger of one deployed step. Reads an environment variable when the step needs it. */
export class Deployment {
  readonly logger: Logger;
  readonly #environment: NodeJS.ProcessEnv;
  #storage: Storage | undefined;
  #addresses: AddressTable | undefined;

  constructor(step: StepName, environment: NodeJS.ProcessEnv) {
    this.logger = new Logger({ serviceName: step });
    this.#environment = environment;
  }

  /** The bucket of this deployment. */
  get storage(): Storage {
    this.#storage ??= s3Storage(s3Client(), this.#require(loaderEnvironment.snapshotBucket));
    return this.#storage;
  }

  /** The addresses table of this deployment. @param options are those of the first call */
  addresses(options?: AddressWriterOptions): AddressTable {
    const table = this.#require(tableVariables.addressesTable);
    this.#addresses ??= dynamoDbAddressTable(new DynamoDBClient({}), table, options);
    return this.#addresses;
  }

  /** An object of the bucket, for an ItemReader. */
  itemsAt(key: string): { bucket: string; key: string } {
    return { bucket: this.#require(loaderEnvironment.snapshotBucket), key };
  }

  /** A positive whole number from the environment, or `otherwise`. */
  number(name: string, otherwise: number): number {
    return z.coerce
      .number()
      .int()
      .positive()
      .parse(this.#environment[name] ?? otherwise);
  }

  /** The default thresholds, overridden by those of this deployment. */
  get thresholds(): Thresholds {
    const own = thresholdsSchema.partial().parse(JSON.parse(this.#environment[loaderEnvironment.thresholds] ?? '{}'));
    return { ...loadDefaults.guard, ...own } as Thresholds;
  }

  /** The extract to load when an execution names none. */
  get source(): string {
    return this.#environment[loaderEnvironment.source] ?? pdokExtract;
  }

  /** Where mutations are looked up daily; nowhere by default. */
  get mutations(): string[] {
    const location = this.#environment[loaderEnvironment.mutations];
    return location ? [location] : [];
  }

  /** Whether the execution that holds the lock can't write any more. */
  get isGone(): (held: Held) => Promise<boolean | null> {
    const isGone = executionIsGone(new SFNClient({}), this.number(loaderEnvironment.settleSeconds, 20 * 60));
    return async ({ owner }) => (await isGone(owner)) || null;
  }

  /** Allows this invocation to write under the lock of its execution until it times out. @throws LockedError */
  lease(owner: string, invocation: Invocation): Promise<Lease> {
    return Lease.ofOwner(this.addresses().lock, owner, invocation.getRemainingTimeInMillis());
  }

  /** Emits the age of the live dataset in whole days; a date in the future, but for clocks and time zones, is as alarming as an old one. */
  reportAge(days: number): void {
    emit(metricNames.datasetAge, days < -1 ? neverNewer : days);
  }

  /** Emits the deployed version, so that graphs show since when it is. */
  reportVersion(): void {
    const version = this.#environment[loaderEnvironment.version];
    if (version) emit(metricNames.deployedVersion, 1, { [versionDimension]: version });
  }

  /** Emits the number of addresses that differed between the mutations applied so far and the extract. */
  reportAudit({ added, changed, removed }: ChangeCounts): void {
    emit(metricNames.auditDifferences, added + changed + removed);
  }

  /** Emits the result of comparing the table with the live snapshot, and logs the keys that differ. */
  reportSample({ keys, differing, damaged }: TableSample): void {
    const metrics = new Metrics({ namespace: metricNamespace, serviceName: 'loader' });
    metrics.addMetric(metricNames.tableDifferences, MetricUnit.Count, differing.length + damaged.length);
    metrics.publishStoredMetrics();
    if (differing.length + damaged.length > 0) {
      this.logger.error('the table differs from the live snapshot', { keys, differing, damaged });
    }
  }

  /** An environment variable that the stack always sets. */
  #require(name: string): string {
    const value = this.#environment[name];
    if (!value) throw new Error(`The environment variable ${name} is not set.`);
    return value;
  }
}

/** The load that has the lock has ended, but Lambdas that it began may still write. This passes by itself. */
class LockSettlingError extends Error {
  override readonly name = 'LockSettlingError';

  constructor(execution: string, ended: number, settled: number) {
    const [at, until] = [ended, settled].map((time) => new Date(time).toISOString());
    super(
      `The load ${execution.split(':').at(-1)} ended at ${at}; until ${until} what it began may still write, so this ` +
        'one waits.',
    );
  }
}

/**
 * Whether an owner of the lock is an execution of the state machine that can't write any more: it ended at least
 * `settleSeconds` ago, and no Lambda of it runs for that long (decision 0116).
 * @throws LockSettlingError where it ended later
 */
export function executionIsGone(client: SFNClient, settleSeconds: number, clock = Date.now) {
  return async (owner: string): Promise<boolean> => {
    const ended = await endOf(client, owner);
    if (ended === null) return false;
    const settled = ended + settleSeconds * 1000;
    if (clock() < settled) throw new LockSettlingError(owner, ended, settled);
    return true;
  };
}

/**
 * When the execution ended; `null` while it runs, and for an owner that is no execution: its lock expires by itself.
 */
async function endOf(client: SFNClient, owner: string): Promise<number | null> {
  if (!/^arn:[^:]+:states:/.test(owner)) return null;
  try {
    const command = new DescribeExecutionCommand({ executionArn: owner, includedData: 'METADATA_ONLY' });
    const { status, stopDate } = await client.send(command);
    // An execution that was redriven is running again, although it has a stop date.
    return status === 'RUNNING' || !stopDate ? null : stopDate.getTime();
  } catch (error) {
    // An execution of a state machine that was replaced.
    if (['ExecutionDoesNotExist', 'AccessDeniedException'].includes((error as Error).name)) return null;
    throw error;
  }
}
