import { randomUUID } from 'node:crypto';
import { availableParallelism } from 'node:os';
import type { Thresholds } from '../dataset/guard.ts';
import { localGuardDefaults } from '../names.ts';
import { noProgress, type Progress } from '../progress.ts';
import type { LoadContext } from '../steps/manifest.ts';
import type { AddressTable, BulkImport } from '../storage/address-table.ts';
import { type Lease, type LeaseTiming, localLease } from '../storage/lease.ts';
import { processOwner, withLock } from '../storage/lock.ts';
import { openStorage } from '../storage/open.ts';
import type { Storage } from '../storage/storage.ts';
import { noWorkers, ThreadPool, type Workers } from './threads.ts';

/** Where a load on one machine works, and how. */
export type LoadOptions = {
  /** A folder or `s3://bucket/prefix`. It knows what the table holds, so it stays with the table. */
  storage: string | Storage;
  /** The table to fill: `dynamoDbAddressTable(client, name)`. */
  addresses: AddressTable;
  /** Used instead of single writes for the first load of an empty table. */
  bulkImport?: BulkImport;
  thresholds?: Thresholds;
  progress?: Progress;
  /** Threads; 0 does everything in this one. Left out: as many as pay. */
  workers?: number;
  /** Who holds the lock, for the message that another load gets. */
  owner?: string;
  /** For how long the lock is taken: by default as for a table on this machine. */
  lease?: LeaseTiming;
  /** XML of nummeraanduidingen that one task reads, in bytes. */
  partBytes?: number;
  /** Changes that one task applies. */
  changesPerFile?: number;
  /** How many snapshots stay. */
  keep?: number;
};

/** One run of a load, under the lock. */
export type Session = LoadContext & {
  options: LoadOptions;
  thresholds: Thresholds;
  progress: Progress;
  /** Proof that the lock is still held. */
  fence: Lease;
  /** The workers of this run; threads, if the first who asks has so much zipped XML for them that they pay. */
  workers(zippedBytes: number): Workers;
};

/** Below this much zipped XML, 100 MB as it is, the start of threads costs more than they save. */
const worthThreadsBytes = 2 * 1024 * 1024;

/** Takes the lock and works. @throws LockedError */
export async function inSession<T>(options: LoadOptions, work: (session: Session) => Promise<T>): Promise<T> {
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
