import { Logger } from '@aws-lambda-powertools/logger';
import { Metrics, MetricUnit } from '@aws-lambda-powertools/metrics';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DescribeExecutionCommand, SFNClient } from '@aws-sdk/client-sfn';
import * as z from 'zod';
import { requireEnvironment, environment as variables } from '../../core/environment.ts';
import { metricNames, metricNamespaceIn, versionDimension } from '../../core/metrics.ts';
import type { Thresholds } from '../guard/limits.ts';
import { loadDefaults, loaderEnvironment, neverNewer } from '../names.ts';
import { type AddressTable, dynamoDbAddressTable } from '../storage/address-table.ts';
import { type Held, Lease } from '../storage/lock.ts';
import { pdokExtract } from '../storage/open.ts';
import { s3Client, s3Storage } from '../storage/s3.ts';
import type { Storage } from '../storage/storage.ts';
import type { TableSample } from '../storage/stored-loads.ts';
import { noProgress, type StepContext } from './step.ts';
import { stepInput } from './step-input.ts';

const positive = z.coerce.number().int().positive();

/** The configuration has checked the values; a name that it does not know is an error here too. */
const ownThresholds = z.partialRecord(z.enum(Object.keys(loadDefaults.guard)), z.number().min(0));

/** The events of the steps: the state machine's view of a load, and items of a load. */
const events = {
  load: stepInput,
  items: z.object({ Items: z.array(z.unknown()), BatchInput: stepInput }),
};

/** The validated event of a step. @throws ZodError */
export function parseEvent(kind: keyof typeof events, event: unknown): unknown {
  return events[kind].parse(event);
}

/** The part of the Lambda context that the steps use. */
export type Invocation = { getRemainingTimeInMillis(): number };

function emit(name: string, count: number, dimensions: Record<string, string> = {}): void {
  const metrics = new Metrics({ namespace: metricNamespaceIn(process.env), serviceName: 'loader' });
  metrics.addDimensions(dimensions);
  metrics.addMetric(name, MetricUnit.Count, count);
  metrics.publishStoredMetrics();
}

/**
 * The settings, clients and logger of one deployed step. Reads an environment variable when the
 * step needs it.
 */
export class DeployedStep {
  readonly logger: Logger;
  readonly #environment: NodeJS.ProcessEnv;
  #storage: Storage | undefined;
  #addresses: AddressTable | undefined;

  constructor(step: string, environment: NodeJS.ProcessEnv) {
    this.logger = new Logger({ serviceName: step });
    this.#environment = environment;
  }

  get storage(): Storage {
    this.#storage ??= s3Storage(
      s3Client(),
      requireEnvironment(variables.snapshotBucket, this.#environment),
    );
    return this.#storage;
  }

  get addresses(): AddressTable {
    const table = requireEnvironment(variables.addressesTable, this.#environment);
    const writesPerSecond = this.number(loaderEnvironment.writesPerSecond, Number.MAX_SAFE_INTEGER);
    this.#addresses ??= dynamoDbAddressTable(new DynamoDBClient({}), table, { writesPerSecond });
    return this.#addresses;
  }

  /**
   * The step's context during one invocation; the step may write under the lock until the
   * invocation times out.
   */
  context(owner: string, invocation: Invocation): StepContext {
    const step = this;
    let fence: Promise<Lease> | undefined;
    return {
      get storage() {
        return step.storage;
      },
      get addresses() {
        return step.addresses;
      },
      objecten: step.#environment[loaderEnvironment.objecten] === 'on',
      thresholds: this.thresholds,
      keep: this.number(loaderEnvironment.keepSnapshots, loadDefaults.snapshotsKept),
      options: {},
      progress: noProgress,
      onDone: () => undefined,
      remainingMilliseconds: () => invocation.getRemainingTimeInMillis(),
      fence() {
        fence ??= Lease.ofOwner(step.addresses.lock, owner, invocation.getRemainingTimeInMillis());
        return fence;
      },
    };
  }

  /** A positive whole number from the environment, or `otherwise`. */
  number(name: string, otherwise: number): number {
    return positive.parse(this.#environment[name] ?? otherwise);
  }

  /** The default thresholds, overridden by this deployment's. */
  get thresholds(): Thresholds {
    const own = ownThresholds.parse(
      JSON.parse(this.#environment[loaderEnvironment.thresholds] ?? '{}'),
    );
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
    const isGone = executionIsGone(
      new SFNClient({}),
      this.number(loaderEnvironment.settleSeconds, 20 * 60),
    );
    return async ({ owner }) => (await isGone(owner)) || null;
  }

  /**
   * Emits the age of the live dataset in days; a date in the future is as alarming as an old one.
   */
  reportAge(days: number): void {
    emit(metricNames.datasetAge, days < -1 ? neverNewer : days);
  }

  report(metric: 'setAside' | 'auditDifferences', count: number): void {
    emit(metricNames[metric], count);
  }

  /** Emits the deployed version, so that graphs show since when it is. */
  reportVersion(): void {
    const version = this.#environment[loaderEnvironment.version];
    if (version) emit(metricNames.deployedVersion, 1, { [versionDimension]: version });
  }

  /**
   * Emits the result of comparing the table with the live snapshot, and logs the keys that differ.
   */
  reportSample({ addresses, differing, damaged }: TableSample): void {
    const count = differing.length + damaged.length;
    emit(metricNames.tableDifferences, count);
    if (count > 0) {
      this.logger.error('the table differs from the live snapshot', {
        addresses,
        differing,
        damaged,
      });
    }
  }
}

/**
 * The load that has the lock has ended, but Lambdas that it began may still write. This passes by
 * itself.
 */
class LockSettlingError extends Error {
  override readonly name = 'LockSettlingError';

  constructor(execution: string, ended: number, settled: number) {
    const [at, until] = [ended, settled].map((time) => new Date(time).toISOString());
    super(
      `The load ${execution.split(':').at(-1)} ended at ${at}; its functions may still write until ${until}, so this ` +
        'load waits.',
    );
  }
}

/**
 * Whether an execution ended `settleSeconds` ago (decision 0116). @throws LockSettlingError if it
 * ended later
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
 * When the execution ended; `null` while it runs, or for an owner that is no execution: its lock
 * expires by itself.
 */
async function endOf(client: SFNClient, owner: string): Promise<number | null> {
  if (!/^arn:[^:]+:states:/.test(owner)) return null;
  try {
    const command = new DescribeExecutionCommand({
      executionArn: owner,
      includedData: 'METADATA_ONLY',
    });
    const { status, stopDate } = await client.send(command);
    // An execution that was redriven is running again, although it has a stop date.
    return status === 'RUNNING' || !stopDate ? null : stopDate.getTime();
  } catch (error) {
    // An execution of a state machine that was replaced.
    if (['ExecutionDoesNotExist', 'AccessDeniedException'].includes((error as Error).name)) {
      return null;
    }
    throw error;
  }
}
