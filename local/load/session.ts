import { randomUUID } from 'node:crypto';
import { availableParallelism } from 'node:os';
import type { Thresholds } from '../../loader/dataset/load-counts.ts';
import { localGuardDefaults } from '../../loader/names.ts';
import { noProgress, type Progress } from '../../loader/progress.ts';
import type { LoadContext } from '../../loader/steps/manifest.ts';
import type { AddressTable, BulkImport } from '../../loader/storage/address-table.ts';
import { type Lease, type LeaseTiming, localLease, withLock } from '../../loader/storage/lease.ts';
import { processOwner } from '../../loader/storage/lock.ts';
import { openStorage } from '../../loader/storage/open.ts';
import type { Storage } from '../../loader/storage/storage.ts';
import { noWorkers, ThreadPool, type Workers } from './threads.ts';

/** The options of a load on one machine. */
export type LoadOptions = {
  /** A folder or `s3://bucket/prefix`. It records what the table holds, so the two belong together. */
  storage: string | Storage;
  /** The table to fill: `dynamoDbAddressTable(client, name)`. */
  addresses: AddressTable;
  /** Used instead of single writes for the first load of an empty table. */
  bulkImport?: BulkImport;
  thresholds?: Thresholds;
  progress?: Progress;
  /** The number of threads; 0 uses the current one only. By default as many as make it faster. */
  workers?: number;
  /** The owner of the lock, for the message to another load. */
  owner?: string;
  /** How long the lock is held: by default as for a table on this machine. */
  lease?: LeaseTiming;
  /** Bytes of XML of nummeraanduidingen that one task reads. */
  partBytes?: number;
  /** Changes that one task applies. */
  changesPerFile?: number;
  /** How many snapshots stay. */
  keep?: number;
};

/** One run of a load under the lock. */
export type LoadSession = LoadContext & {
  options: LoadOptions;
  thresholds: Thresholds;
  progress: Progress;
  /** Proof that the lock is still held. */
  fence: Lease;
  /** The workers of this run: threads, if the first caller has enough zipped XML for them. */
  workers(zippedBytes: number): Workers;
};

/** Below this much zipped XML (100 MB inflated) starting threads costs more time than they save. */
const worthThreadsBytes = 2 * 1024 * 1024;

/** Runs `work` under the lock. @throws LockedError */
export async function inSession<T>(options: LoadOptions, work: (session: LoadSession) => Promise<T>): Promise<T> {
  const { addresses, thresholds = localGuardDefaults, progress = noProgress } = options;
  const location = typeof options.storage === 'string' ? options.storage : null;
  const storage = typeof options.storage === 'string' ? await openStorage(options.storage) : options.storage;
  const owner = options.owner ?? processOwner(randomUUID().slice(0, 8));
  let pool: Workers | undefined;
  const workers = (zippedBytes: number) => {
    const threads = options.workers ?? (zippedBytes < worthThreadsBytes ? 0 : availableParallelism());
    pool ??= location && threads > 0 ? new ThreadPool(location, threads) : noWorkers(storage);
    return pool;
  };
  return withLock(addresses.lock, owner, options.lease ?? localLease, (fence) =>
    work({ storage, addresses, options, thresholds, progress, fence, workers }),
  );
}
