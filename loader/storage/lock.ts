import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import {
  ConditionalCheckFailedException,
  type ConditionCheck,
  DeleteItemCommand,
  type DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
} from '@aws-sdk/client-dynamodb';
import { type AddressItem, keyItem } from '../../core/addresses/address-item.ts';
import { addressesTable } from '../../core/tables.ts';
import { isRunning, processStart } from '../is-running.ts';

/**
 * One acquisition of the lock: its owner, its unique fencing token, and when it expires unless it
 * is renewed. If the same owner acquires the lock again it gets another token, and writes under the
 * first one are refused.
 */
export type Held = { owner: string; token: string; untilSeconds: number };

/**
 * Lets one load at a time write to the table, whatever storage it uses: the lock is an item of the
 * table.
 */
export type LoadLock = {
  /**
   * Acquires the lock if it is free, the owner's own, or held by `over`. @throws LockedError, also
   * for an expired lock
   */
  acquire(owner: string, seconds: number, over?: Held): Promise<Held>;
  /** Extends the lock from now. @throws LockedError when it is no longer held */
  renew(held: Held, seconds: number): Promise<Held>;
  /** @throws LockedError when `owner` does not hold the lock, or not by this acquisition */
  check(owner: string, token?: string): Promise<Held>;
  holder(): Promise<Held | null>;
  /** Releases the lock; does nothing when `owner` does not hold it by this acquisition. */
  release(owner: string, token?: string): Promise<void>;
};

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

/** The key of the lock item in the addresses table; no address key begins like this. */
export const lockKey = '#load';

const names = { '#key': addressesTable.partitionKey, '#owner': 'owner', '#token': 'token' };
const isFree = 'attribute_not_exists(#key)';
const isOwners = '#owner = :owner';
const isSameAcquisition = `${isOwners} AND #token = :token`;

/** A condition on the lock, by the owner and the token of an acquisition. */
function conditionOn(
  ConditionExpression: string,
  { owner, token }: { owner: string; token?: string | undefined },
) {
  const used = Object.entries(names).filter(([name]) => ConditionExpression.includes(name));
  return {
    ConditionExpression,
    ExpressionAttributeNames: Object.fromEntries(used),
    ExpressionAttributeValues: {
      ':owner': { S: owner },
      ...(token !== undefined && { ':token': { S: token } }),
    },
  };
}

/** A condition check that fails a transaction unless the lock is still held by this acquisition. */
export function heldCondition(TableName: string, held: Held): ConditionCheck {
  return { TableName, Key: keyItem(lockKey), ...conditionOn(isSameAcquisition, held) };
}

/**
 * A lock in an item of the addresses table itself, by conditional writes; clocks may differ by some
 * seconds.
 */
export function dynamoDbLock(client: DynamoDBClient, table: string, clock = Date.now): LoadLock {
  const Key = keyItem(lockKey);
  const nowSeconds = () => Math.floor(clock() / 1000);

  async function put(held: Held, condition: ReturnType<typeof conditionOn>): Promise<Held> {
    const { owner, token, untilSeconds } = held;
    const command = new PutItemCommand({
      TableName: table,
      Item: { ...Key, owner: { S: owner }, token: { S: token }, until: { N: `${untilSeconds}` } },
      ...condition,
      ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
    });
    await client.send(command).catch((error: unknown) => {
      if (error instanceof ConditionalCheckFailedException) {
        throw new LockedError(error.Item ? heldIn(error.Item) : null);
      }
      throw error;
    });
    return held;
  }

  async function holder(): Promise<Held | null> {
    const { Item } = await client.send(
      new GetItemCommand({ TableName: table, Key, ConsistentRead: true }),
    );
    return Item ? heldIn(Item) : null;
  }

  return {
    holder,
    acquire(owner, seconds, over) {
      const held = { owner, token: randomUUID(), untilSeconds: nowSeconds() + seconds };
      if (over) return put(held, conditionOn(`${isFree} OR (${isSameAcquisition})`, over));
      return put(held, conditionOn(`${isFree} OR ${isOwners}`, { owner }));
    },
    renew: (held, seconds) =>
      put({ ...held, untilSeconds: nowSeconds() + seconds }, conditionOn(isSameAcquisition, held)),
    async check(owner, token) {
      const held = await holder();
      if (!held || held.owner !== owner || (token !== undefined && held.token !== token)) {
        throw new LockedError(held);
      }
      return held;
    },
    async release(owner, token) {
      const condition = conditionOn(token === undefined ? isOwners : isSameAcquisition, {
        owner,
        token,
      });
      await client
        .send(new DeleteItemCommand({ TableName: table, Key, ...condition }))
        .catch((error: unknown) => {
          if (!(error instanceof ConditionalCheckFailedException)) throw error;
        });
    },
  };
}

function heldIn(item: AddressItem): Held {
  return {
    owner: item.owner?.S ?? 'unknown',
    token: item.token?.S ?? '',
    untilSeconds: Number(item.until?.N ?? 0),
  };
}

/**
 * Names this process as the owner of a lock, so that another process of this machine can check
 * whether it is alive.
 */
export function processOwner(suffix: string): string {
  return `${hostname()}:${process.pid}:${processStart(process.pid)}:${suffix}`;
}

type LockRequest = {
  owner: string;
  seconds: number;
  /**
   * Whether another owner can't write any more; `null`: unknown, so its lock is taken over when it
   * expires.
   */
  isGone: (held: Held) => boolean | null | Promise<boolean | null>;
  clock?: () => number;
};

/**
 * Acquires the lock, if necessary from an owner that is gone. @throws LockedError, and what
 * `isGone` throws
 */
export async function takeLock(
  lock: LoadLock,
  { owner, seconds, isGone, clock = Date.now }: LockRequest,
): Promise<Held> {
  try {
    return await lock.acquire(owner, seconds);
  } catch (error) {
    if (!(error instanceof LockedError) || !error.held) throw error;
    const { held } = error;
    const gone = await isGone(held);
    const hasRunOut = held.untilSeconds * 1000 < clock();
    if (!(gone ?? hasRunOut)) throw hasRunOut ? stoppedError(held) : error;
    return lock.acquire(owner, seconds, held);
  }
}

/**
 * `false` for a running process of this machine, `true` for an ended process, `null` for another
 * machine's.
 */
export function isProcessGone({ owner }: Held): boolean | null {
  const [host, pid = '', start] = owner.split(':');
  if (host !== hostname() || !/^\d+$/.test(pid)) return null;
  if (!isRunning(Number(pid))) return true;
  const startNow = processStart(Number(pid));
  // The process id now belongs to another process.
  if (start !== startNow) return startNow === '' ? null : true;
  return false;
}

function stoppedError(held: Held): LockedError {
  const [, pid] = held.owner.split(':');
  const until = new Date(held.untilSeconds * 1000).toISOString();
  return new LockedError(
    held,
    `Another load (${held.owner}) holds the lock on this table, which it should have renewed before ${until}: process ` +
      `${pid} is stopped or was suspended. Resume it (kill -CONT ${pid}) or end it (kill -9 ${pid}), then run this again.`,
  );
}

/** Proof that a load still holds the lock. Every write to the table carries one (decision 0114). */
export type Fence = {
  readonly held: Held;
  /** Aborted once the lock is known to be lost. */
  readonly signal: AbortSignal;
  /**
   * Checks in the table that the lock is held, unless that was confirmed just before. @throws
   * LockedError
   */
  confirm(maximumAgeMilliseconds?: number): Promise<void>;
  /**
   * To be called right before a request leaves this process; sends no request itself. @throws
   * LockedError
   */
  assertHeld(): void;
};

/** How long a process holds the lock, and how much of that time it does not use. */
export type LeaseTiming = {
  seconds: number;
  renewSeconds: number;
  /**
   * Nothing is sent during the last so many seconds, so no write takes effect after the lock has
   * expired.
   */
  marginSeconds: number;
};

/** The timing for a table on this machine, whose every write is conditioned on the lock. */
export const localLease: LeaseTiming = { seconds: 60, renewSeconds: 15, marginSeconds: 20 };

/**
 * The timing for a table in AWS, whose writes can't be conditioned on another item: AWS refuses a
 * request whose signature is older than five minutes, on clocks that are up to five minutes apart
 * (decision 0114).
 */
export const remoteLease: LeaseTiming = {
  seconds: 20 * 60,
  renewSeconds: 15,
  marginSeconds: 16 * 60,
};

/** How long a confirmation is valid while many batches are written. */
const confirmedMilliseconds = 10_000;

/**
 * A moment on both clocks: the monotonic one stops while the machine sleeps, the wall clock may be
 * set back.
 */
type Moment = { monotonic: number; wall: number };

const now = (): Moment => ({ monotonic: performance.now(), wall: Date.now() });

function sinceMilliseconds({ monotonic, wall }: Moment): number {
  return Math.max(performance.now() - monotonic, Date.now() - wall);
}

/**
 * Checks in the table that the lock is still held, and returns for how many milliseconds from then
 * it may be used.
 */
type Confirm = () => Promise<number>;

/** A lock that this process holds, for as long as that is certain. */
export class Lease implements Fence {
  readonly held: Held;
  readonly #confirm: Confirm;
  readonly #lost = new AbortController();
  #from: Moment;
  #validMilliseconds: number;
  #confirming: Promise<void> | undefined;

  private constructor(held: Held, from: Moment, validMilliseconds: number, confirm: Confirm) {
    this.held = held;
    this.#from = from;
    this.#validMilliseconds = validMilliseconds;
    this.#confirm = confirm;
  }

  /** The lease of a process that acquires the lock itself and renews it. */
  static async taken(
    lock: LoadLock,
    { seconds, marginSeconds }: LeaseTiming,
    take: () => Promise<Held>,
  ): Promise<Lease> {
    const from = now();
    const held = await take();
    const valid = (seconds - marginSeconds) * 1000;
    return new Lease(held, from, valid, async () => {
      await lock.renew(held, seconds);
      return valid;
    });
  }

  /**
   * The lease of a Lambda under the lock of its execution, until the invocation's time ends.
   * @throws LockedError
   */
  static async ofOwner(
    lock: LoadLock,
    owner: string,
    remainingMilliseconds: number,
  ): Promise<Lease> {
    const from = now();
    const held = await lock.check(owner);
    const valid = () => remainingMilliseconds - sinceMilliseconds(from);
    return new Lease(held, from, valid(), async () => {
      await lock.check(owner, held.token);
      return valid();
    });
  }

  get signal(): AbortSignal {
    return this.#lost.signal;
  }

  /**
   * Checks in the table now. A failure other than a lost lock leaves the lease as it was. @throws
   * LockedError
   */
  async renew(): Promise<void> {
    this.#confirming ??= this.#ask().finally(() => {
      this.#confirming = undefined;
    });
    await this.#confirming;
  }

  async confirm(maximumAgeMilliseconds = confirmedMilliseconds): Promise<void> {
    this.#lost.signal.throwIfAborted();
    if (sinceMilliseconds(this.#from) < maximumAgeMilliseconds && this.#isValid()) return;
    try {
      await this.renew();
      // The response may be to a request from before this process was suspended.
      if (!this.#isValid()) await this.renew();
    } catch (error) {
      if (error instanceof LockedError || !this.#isValid()) throw error;
    }
    this.assertHeld();
  }

  assertHeld(): void {
    this.#lost.signal.throwIfAborted();
    if (!this.#isValid()) throw new LockedError(null);
  }

  #isValid(): boolean {
    return sinceMilliseconds(this.#from) < this.#validMilliseconds;
  }

  async #ask(): Promise<void> {
    const from = now();
    try {
      this.#validMilliseconds = await this.#confirm();
      this.#from = from;
    } catch (error) {
      if (error instanceof LockedError) {
        this.#lost.abort(new LockedError(error.held, lostTo(error.held)));
      }
      throw this.#lost.signal.reason ?? error;
    }
  }
}

function lostTo(held: Held | null): string | undefined {
  if (!held) return undefined;
  return (
    `This load lost its lock on the addresses table to another one (${held.owner}), so it stopped writing. It was ` +
    'suspended, or could not reach the table, for longer than the lock lasts. Run it again when that one has ended.'
  );
}

/**
 * Runs `work` under the lock, renewed meanwhile; an ended process on this machine loses its lock.
 * @throws LockedError
 */
export async function withLock<T>(
  lock: LoadLock,
  owner: string,
  timing: LeaseTiming,
  work: (lease: Lease) => Promise<T>,
): Promise<T> {
  const { seconds } = timing;
  const lease = await Lease.taken(lock, timing, () =>
    takeLock(lock, { owner, seconds, isGone: isProcessGone }),
  );
  const renewal = setInterval(
    () => void lease.renew().catch(() => undefined),
    timing.renewSeconds * 1000,
  );
  try {
    return await work(lease);
  } catch (error) {
    // After a lost lock, changes by the other load can cause any error.
    const lost = await lease.confirm(0).catch((reason: unknown) => reason);
    throw lost instanceof LockedError ? lost : error;
  } finally {
    clearInterval(renewal);
    await lock.release(owner, lease.held.token).catch(() => undefined); // otherwise it expires by itself
  }
}
