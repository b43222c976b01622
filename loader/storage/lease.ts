import { type Held, isProcessGone, type LoadLock, LockedError, takeLock } from './lock.ts';

/** Proof that a load still holds the lock. Every write to the table carries one (decision 0114). */
export type Fence = {
  readonly held: Held;
  /** Aborted once the lock is known to be lost. */
  readonly signal: AbortSignal;
  /** Checks in the table that the lock is held, unless that was confirmed just before. @throws LockedError */
  confirm(maximumAgeMilliseconds?: number): Promise<void>;
  /** To be called right before a request leaves this process; sends no request itself. @throws LockedError */
  assertHeld(): void;
};

/** How long a process holds the lock, and how much of that time it does not use. */
export type LeaseTiming = {
  seconds: number;
  renewSeconds: number;
  /** Nothing is sent during the last so many seconds, so no write takes effect after the lock has expired. */
  marginSeconds: number;
};

/** The timing for a table on this machine, whose every write is conditioned on the lock. */
export const localLease: LeaseTiming = { seconds: 60, renewSeconds: 15, marginSeconds: 20 };

/**
 * The timing for a table in AWS, whose writes can't be conditioned on another item: AWS refuses a request whose
 * signature is older than five minutes, on clocks that are up to five minutes apart (decision 0114).
 */
export const remoteLease: LeaseTiming = { seconds: 20 * 60, renewSeconds: 15, marginSeconds: 16 * 60 };

/** How long a confirmation is valid while many batches are written. */
const confirmedMilliseconds = 10_000;

/** A moment on both clocks: the monotonic one stops while the machine sleeps, the wall clock may be set back. */
type Moment = { monotonic: number; wall: number };

const now = (): Moment => ({ monotonic: performance.now(), wall: Date.now() });

function sinceMilliseconds({ monotonic, wall }: Moment): number {
  return Math.max(performance.now() - monotonic, Date.now() - wall);
}

/** Checks in the table that the lock is still held, and returns for how many milliseconds from then it may be used. */
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

  /** The lease of a Lambda under the lock of its execution, until the invocation's time ends. @throws LockedError */
  static async ofOwner(lock: LoadLock, owner: string, remainingMilliseconds: number): Promise<Lease> {
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

  /** Checks in the table now. A failure other than a lost lock leaves the lease as it was. @throws LockedError */
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
      if (error instanceof LockedError) this.#lost.abort(new LockedError(error.held, lostTo(error.held)));
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
 * Runs `work` under the lock, renewed meanwhile; an ended process on this machine loses its lock. @throws LockedError
 */
export async function withLock<T>(
  lock: LoadLock,
  owner: string,
  timing: LeaseTiming,
  work: (lease: Lease) => Promise<T>,
): Promise<T> {
  const { seconds } = timing;
  const lease = await Lease.taken(lock, timing, () => takeLock(lock, { owner, seconds, isGone: isProcessGone }));
  const renewal = setInterval(() => void lease.renew().catch(() => undefined), timing.renewSeconds * 1000);
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
