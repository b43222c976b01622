import type { StoredAddress } from '../../lambdas/shared/addresses/address-item.ts';
import type { Write } from '../dataset/changes.ts';
import type { Line } from '../dataset/lines.ts';

/** Which snapshot the table holds: its date, and the load that published it. */
export type Dataset = { peildatum: string; load: string };

/**
 * One acquisition of the lock: its owner, its unique fencing token, and when it expires unless it is renewed. If the
 * same owner acquires the lock again it gets another token, and writes under the first one are refused.
 */
export type Held = { owner: string; token: string; untilSeconds: number };

/** Proof that a load still holds the lock. Every write to the table carries one (decision 0130). */
export interface Fence {
  readonly held: Held;
  /** Aborted once the lock is known to be lost. */
  readonly signal: AbortSignal;
  /**
   * Checks in the table that the lock is held, unless that was confirmed within the last so many milliseconds (10,000
   * by default).
   * @throws LockedError
   */
  confirm(maximumAgeMilliseconds?: number): Promise<void>;
  /** To be called right before a request leaves this process; sends no request itself. @throws LockedError */
  assertHeld(): void;
}

/** Writes differences. Every write replaces or removes the whole item, so repeating it changes nothing. */
export interface AddressWriter {
  /**
   * Resolves when every write is in the table; `onWritten` gets the number of further items after each batch. Stops
   * writing once another load may have taken the lock.
   * @throws LockedError
   */
  write(writes: readonly Write[], fence: Fence, onWritten?: (count: number) => void): Promise<void>;
}

/** Fills a table faster than single writes could. */
export interface BulkImport {
  /**
   * Whether a bulk import is faster for this size. Throws, before anything is begun, where it would be but can't be
   * done.
   */
  takesOn(size: ImportSize): Promise<boolean>;
  /**
   * Resolves when the table holds these lines, given in the order of their keys, and no other address. An interrupted
   * import is repeated with every line.
   */
  run(lines: AsyncIterable<readonly Line[]>, size: ImportSize): Promise<void>;
}

/** The number of lines, and the number of single writes that would have the same result. */
export type ImportSize = { lines: number; writes: number };

/** The table that lookups read, as a load sees it. */
export interface AddressTable extends AddressWriter {
  /** What the table holds under these keys now, strongly consistent; a key without an item is not in the map. */
  read(keys: readonly string[]): Promise<Map<string, StoredAddress>>;
  dataset(): Promise<Dataset | null>;
  /** Whether the table holds any address. */
  hasAddresses(): Promise<boolean>;
  /** @throws LockedError */
  setDataset(dataset: Dataset, fence: Fence): Promise<void>;
  readonly lock: LoadLock;
}

/**
 * Lets one load at a time write to the table. It is an item of the table itself, so it holds whatever storage a load
 * uses.
 */
export interface LoadLock {
  /**
   * Acquires the lock if it is free or the owner's own; with `over`, also if this holder has it. @throws LockedError,
   * also for an expired lock: the caller decides whether to take it `over`
   */
  acquire(owner: string, seconds: number, over?: Held): Promise<Held>;
  /** Extends the lock from now. @throws LockedError when it is no longer held */
  renew(held: Held, seconds: number): Promise<Held>;
  /** @throws LockedError when `owner` does not hold the lock, or not by this acquisition */
  check(owner: string, token?: string): Promise<Held>;
  holder(): Promise<Held | null>;
  /** Releases the lock; does nothing when `owner` does not hold it by this acquisition. */
  release(owner: string, token?: string): Promise<void>;
}

/** Another load is writing to this table, or this one has lost its lock. */
export class LockedError extends Error {
  override readonly name = 'LockedError';
  /** The holder of the lock, or `null` when it is free. */
  readonly owner: string | null;
  readonly held: Held | null;

  constructor(held: Held | null, message = held ? heldMessage(held) : lostMessage) {
    super(message);
    this.owner = held?.owner ?? null;
    this.held = held;
  }
}

const lostMessage =
  'This load lost its lock on the addresses table before it ended, so it stopped writing: it was suspended, or could ' +
  'not reach the table, for longer than the lock lasts. Run it again: it continues where it stopped.';

function heldMessage({ owner, untilSeconds }: Held): string {
  const until = new Date(untilSeconds * 1000).toISOString();
  return `Another load (${owner}) is writing to this table. Wait until it ends; if it crashed, its lock expires at ${until}.`;
}
