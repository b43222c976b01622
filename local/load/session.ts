import { randomUUID } from 'node:crypto';
import { availableParallelism } from 'node:os';
import type { Load } from '../../loader/dataset/load.ts';
import { loadDefaults, localGuardDefaults } from '../../loader/names.ts';
import {
  noProgress,
  type Progress,
  type StepContext,
  type StepOptions,
} from '../../loader/steps/step.ts';
import type { AddressTable, BulkImport } from '../../loader/storage/address-table.ts';
import { type LeaseTiming, localLease, processOwner, withLock } from '../../loader/storage/lock.ts';
import { openStorage } from '../../loader/storage/open.ts';
import { getJson, paths, type Storage } from '../../loader/storage/storage.ts';
import { ThreadPool, thisThread, type Workers } from './threads.ts';

/** The options of a load on one machine. */
export type LoadOptions = {
  /**
   * A folder or `s3://bucket/prefix`. It records the contents of the table, so the two belong
   * together.
   */
  storage: string | Storage;
  /** The table to fill: `dynamoDbAddressTable(client, name)`. */
  addresses: AddressTable;
  /** Used instead of single writes for the first load of an empty table. */
  bulkImport?: BulkImport;
  thresholds?: StepContext['thresholds'];
  progress?: Progress;
  /** The number of threads; 0 uses the current one only. By default as many as make it faster. */
  workers?: number;
  /** The owner of the lock, for the message to another load. */
  owner?: string;
  /** How long the lock is held: by default as for a table on this machine. */
  lease?: LeaseTiming;
  /** How many snapshots stay. */
  keep?: number;
  /** Whether an extract is loaded with its adresseerbare objecten. */
  objecten?: boolean | undefined;
};

/** One run of a load under the lock. */
export type LoadSession = StepContext & {
  owner: string;
  /**
   * The workers of this run: threads, if its first load has enough zipped XML or records for them.
   */
  workers(load: string): Promise<Workers>;
};

/** Below this much zipped XML (100 MB inflated) starting threads costs more time than they save. */
const worthThreadsBytes = 2 * 1024 * 1024;

/** Runs `work` under the lock. @throws LockedError */
export async function inSession<T>(
  { stepOptions = {}, ...options }: LoadOptions & { stepOptions?: StepOptions },
  work: (session: LoadSession) => Promise<T>,
): Promise<T> {
  const {
    addresses,
    thresholds = localGuardDefaults,
    progress = noProgress,
    keep = loadDefaults.snapshotsKept,
    objecten = false,
  } = options;
  const location = typeof options.storage === 'string' ? options.storage : null;
  const storage =
    typeof options.storage === 'string' ? await openStorage(options.storage) : options.storage;
  const owner = options.owner ?? processOwner(randomUUID().slice(0, 8));
  return withLock(addresses.lock, owner, options.lease ?? localLease, (lease) => {
    let workers: Workers | undefined;
    const session: LoadSession = {
      storage,
      addresses,
      objecten,
      thresholds,
      keep,
      progress,
      owner,
      options: stepOptions,
      onDone: () => undefined,
      fence: async () => lease,
      async workers(load) {
        workers ??= await startWorkers(load);
        return workers;
      },
    };
    const startWorkers = async (load: string) => {
      const { members, base } = await getJson<Load>(storage, paths.load(load));
      const zipped = members.reduce((bytes, { path }) => bytes + (path.at(-1)?.size ?? 0), 0);
      const isSmall = zipped < worthThreadsBytes && (base?.snapshot.buckets ?? 0) <= 1;
      const threads = options.workers ?? (isSmall ? 0 : availableParallelism());
      return location && threads > 0
        ? new ThreadPool(location, threads, stepOptions)
        : thisThread(session);
    };
    return work(session);
  });
}
