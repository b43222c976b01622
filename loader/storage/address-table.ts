import type { StoredAddress } from '../../lambdas/shared/addresses/address-item.ts';
import type { Write } from '../dataset/changes.ts';
import type { Line } from '../dataset/lines.ts';

/** Which snapshot the table holds: its date, and the load that published it. */
export type Dataset = { peildatum: string; load: string };

/**
 * One taking of the lock: who took it, the fencing token that no other taking has, and when it ends unless it is renewed.
 * A second taking by the same owner has another token: what the first one still writes is refused.
 */
export type Held = { owner: string; token: string; untilSeconds: number };

/** Proof that a load still holds the lock. Every write to the table carries one (decision 0130). */
export interface Fence {
  readonly held: Held;
  /** Aborted once the lock is known to be lost. */
  readonly signal: AbortSignal;
  /**
   * Asks the table again whether the lock is held, unless that is known as of so many milliseconds ago: ten seconds when left
   * out.
   * @throws LockedError
   */
  confirm(maximumAgeMilliseconds?: number): Promise<void>;
  /** For the last moment before a request leaves this process; asks nobody. @throws LockedError */
  assertHeld(): void;
}

/** Writes differences. Every write says all about its key, so doing one twice is doing it once. */
export interface AddressWriter {
  /**
   * Resolves when every write is in the table; `onWritten` gets how many more are, as they go. Writes nothing any more once
   * another load may have taken the lock.
   * @throws LockedError
   */
  write(writes: readonly Write[], fence: Fence, onWritten?: (count: number) => void): Promise<void>;
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
  /** Whether there is an address in the table at all. */
  hasAddresses(): Promise<boolean>;
  /** @throws LockedError */
  setDataset(dataset: Dataset, fence: Fence): Promise<void>;
  readonly lock: LoadLock;
}

/** Lets one load at a time write to the table. It is an item of the table itself, so that no two storages can disagree. */
export interface LoadLock {
  /**
   * Takes a lock that is free, or the owner's own a second time; with `over`, that of this very holder.
   * @throws LockedError, also when the lock has run out: who takes it `over` has to decide that
   */
  acquire(owner: string, seconds: number, over?: Held): Promise<Held>;
  /** Extends the lock from now. @throws LockedError when it is not held any more */
  renew(held: Held, seconds: number): Promise<Held>;
  /** @throws LockedError when `owner` does not hold the lock, or not by this taking */
  check(owner: string, token?: string): Promise<Held>;
  holder(): Promise<Held | null>;
  /** Gives the lock back; harmless when `owner` does not have it, or by another taking. */
  release(owner: string, token?: string): Promise<void>;
}

/** Another load is at work on this table, or this one has lost its lock. */
export class LockedError extends Error {
  override readonly name = 'LockedError';
  /** Who holds the lock, or `null` when it is free. */
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
  'not reach the table, for longer than the lock lasts. Run it again: it goes on where it stopped.';

function heldMessage({ owner, untilSeconds }: Held): string {
  const until = new Date(untilSeconds * 1000).toISOString();
  return `Another load (${owner}) is at work on this table. Wait for it to end; if it died, its lock ends at ${until}.`;
}
