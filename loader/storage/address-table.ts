import type { StoredAddress } from '../../lambdas/shared/addresses/address-item.ts';
import type { Write } from '../dataset/changes.ts';
import type { Line } from '../dataset/lines.ts';

/** Which state the table serves: its date, and the load that brought it. */
type Dataset = { peildatum: string; load: string };

/** Writes differences. Every write says all about its key, so doing one twice is doing it once. */
export interface AddressWriter {
  /** Resolves when every write is in the table; `onWritten` hears how many more are, as they go. */
  write(writes: readonly Write[], onWritten?: (count: number) => void): Promise<void>;
}

/** Fills a table faster than single writes could. */
export interface BulkImport {
  /** Whether it is the better way for so much. Throws where it would be, but can't be done; nothing was begun then. */
  takesOn(size: ImportSize): Promise<boolean>;
  /**
   * Resolves when the table holds these lines, in the order of their keys, and no other address. After it died it is done
   * again with every line.
   */
  run(lines: AsyncIterable<readonly Line[]>, size: ImportSize): Promise<void>;
}

/** How many lines there are, and how many single writes would do the same. */
export type ImportSize = { lines: number; writes: number };

/** The table that lookups read, as a load sees it. */
export interface AddressTable extends AddressWriter {
  /** What the table holds under these keys now, strongly consistent; a key without an item is not in the map. */
  read(keys: readonly string[]): Promise<Map<string, StoredAddress>>;
  dataset(): Promise<Dataset | null>;
  setDataset(dataset: Dataset): Promise<void>;
  readonly lock: LoadLock;
}

/** Lets one load at a time at the table. It lies in the table itself, so that no two storages can disagree. */
export interface LoadLock {
  /** Takes the lock, or takes it again as the same owner, for so many seconds. @throws LockedError */
  acquire(owner: string, seconds: number): Promise<void>;
  /** @throws LockedError when `owner` has lost the lock, so that it must not write any more */
  check(owner: string): Promise<void>;
  /** Gives the lock back; harmless when `owner` does not have it. */
  release(owner: string): Promise<void>;
}

/** Another load is at work on this table. */
export class LockedError extends Error {
  override readonly name = 'LockedError';
  /** Who holds the lock, or `null` when it is free. */
  readonly owner: string | null;

  constructor(owner: string | null, untilSeconds: number) {
    const until = new Date(untilSeconds * 1000).toISOString();
    super(
      owner === null
        ? 'This load lost its lock on the addresses table: it took longer than its lock lasts. Run it again.'
        : `Another load (${owner}) is at work on this table. Wait for it; if it died, its lock ends at ${until}.`,
    );
    this.owner = owner;
  }
}
