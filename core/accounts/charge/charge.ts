import { randomBytes } from 'node:crypto';
import type { Clock, WindowName } from '../../calendar.ts';
import { StoreUnavailable } from '../../dynamodb.ts';
import {
  type Access,
  admits,
  type Caller,
  dayHasPassed,
  hasCounted,
  hasNoSpace,
  Refusal,
  requireAccess,
} from '../account.ts';
import { attemptIdBytes } from '../account-item.ts';
import type { KeyClaim } from '../api-key.ts';
import {
  decideQuota,
  type Limits,
  type QuotaDecision,
  type QuotaState,
  showsUnits,
  type WindowCount,
} from '../quota.ts';
import { decideShards, gainsOf, markedExhausted, type ShareMove, sameShares, seenLimits } from './shards.ts';

/**
 * One conditional write that authenticates a request and counts it: a charge. `roll` restarts windows that had passed
 * in the `seen` item, and its day of usage if that has passed. Without `shard` the store takes any one that the account
 * was last seen to have.
 */
export type ChargeAttempt = {
  claim: KeyClaim;
  /** How many units, all of them in every window, or none. */
  units: number;
  /** The same for all attempts of a request: an item that lists it has counted this request. */
  id: Uint8Array;
  /** The time by the clock of this instance, which decides whether the key has expired. */
  now: number;
  /** The time whose windows count, if later than `now`: begun by another instance whose clock is ahead. */
  at?: number;
  shard?: number;
  /** The limits of the shard as last seen, which several units need; by default what this instance last saw. */
  limits?: Limits;
  roll?: { seen: Access; windows: WindowName[] };
};

/**
 * `charged` says whether the store reported the write as done; `access` is the item of `shard` after it, or the
 * unchanged one. `unknown`: the answer was lost, so it may or may not have been done, or may still be.
 */
export type ChargeResult =
  | { charged: true; access: Access | undefined }
  | { charged: false; access: Access | undefined; shard: number }
  | { charged: 'unknown'; cause: unknown };

/** A write that was sent. */
export type ChargeWrite = {
  shard: number;
  /** @throws StoreUnavailable */
  answer: Promise<ChargeResult>;
  /** Resolves when the answer is overdue, though it may still come, or was lost. */
  unanswered: Promise<void>;
  /** Frees the connection of a write that nobody waits for any more; it may still be done. */
  abandon(): void;
};

export type AccessStore = {
  /** Strongly consistent; shard 0 by default. @throws StoreUnavailable */
  read(claim: KeyClaim, signal: AbortSignal, shard?: number): Promise<Access | undefined>;
  /** Applies all of the attempt or nothing. */
  charge(attempt: ChargeAttempt, signal: AbortSignal): ChargeWrite;
  /** All shards of an account, each as it was at some moment during the call. @throws StoreUnavailable */
  readShards(account: string, signal: AbortSignal): Promise<Access[]>;
  /** Returns whether the shares moved: all of them, or none because a shard had changed. @throws StoreUnavailable */
  move(move: ShareMove, signal: AbortSignal): Promise<boolean>;
  /**
   * Moves the days of usage that ended before `now` into records, unless another caller has. @throws StoreUnavailable
   */
  recordDays(seen: Access, now: number, signal: AbortSignal): Promise<void>;
  /** Marks that no shard has quota left in these windows. It only saves a search, so a failure is ignored. */
  markExhausted(seen: Access, windows: Partial<Record<WindowName, number>>, signal: AbortSignal): Promise<void>;
};

/** A window roll-over takes two writes, a lost race for it three; with more, something else keeps changing the item. */
const maxAttempts = 8;

/** Callers may compete for the last units of several shards: then each failed attempt means that another got a unit. */
const maxShardedAttempts = 100;

/** Writes of a request without an answer. Each may have been done unseen: two, so that none counts a third time. */
const mostUnanswered = 2;

/** A new id. */
export function attemptId(): Uint8Array {
  return randomBytes(attemptIdBytes);
}

/**
 * Admits `claim` and consumes `units` in every configured window, or refuses and consumes nothing. The first write
 * succeeds unless a window has passed since the last one; then that window is rolled and charged in one write, which
 * one of the concurrent callers wins and the others follow. A write without an answer is sent once more, and counts
 * nothing if the item still lists its attempt. If that one has no answer either, the item is read. So a request is
 * counted at most twice, and twice only where many others came in between (decision 0153).
 * @throws Refusal when nothing was counted; StoreUnavailable otherwise
 */
export async function charge(
  store: AccessStore,
  claim: KeyClaim,
  clock: Clock,
  signal: AbortSignal,
  units = 1,
): Promise<Caller> {
  const writes = new Writes(store, { claim, units, id: attemptId() }, signal);
  try {
    const access = await chargeShards(writes, clock).catch(async (error: unknown) => {
      const counted = error instanceof Refusal && (await writes.settled());
      if (counted) return counted;
      throw error;
    });
    return { account: claim.account, keyId: claim.keyId, access, charged: { units } };
  } finally {
    writes.abandon();
  }
}

/** Returns the item that shows the charge. */
async function chargeShards(writes: Writes, clock: Clock): Promise<Access> {
  const { store, request, signal } = writes;
  let attempt: ChargeAttempt = { ...request, now: clock() };
  let most = maxAttempts;
  for (let tries = 0; tries < most && !signal.aborted; tries++) {
    const result = await writes.send(attempt);
    if ('counted' in result) return result.counted;
    if ('unanswered' in result) {
      attempt = { ...attempt, shard: result.unanswered };
      continue;
    }
    const next = nextAttempt(request, result.refused, clock());
    if (next === 'other-shard' || next.shard !== result.refused.shard) {
      // On another shard an earlier write would count as well.
      const counted = await writes.settled();
      if (counted) return counted;
    }
    if (next === 'other-shard') {
      most = maxShardedAttempts;
      attempt = await findShardWithQuota(store, request, result.refused.shard, clock, signal);
    } else {
      const seen = next.roll?.seen;
      // The item has no space for another day where many keys were used, or nothing has recorded the usage for days.
      if (seen && dayHasPassed(seen.usage, next.now) && hasNoSpace(seen)) {
        await store.recordDays(seen, next.now, signal);
      }
      attempt = next;
    }
  }
  throw new StoreUnavailable('the account is contended: no write went through in time');
}

type ChargeRequest = Pick<ChargeAttempt, 'claim' | 'units' | 'id'>;
type SentWrite = ChargeWrite & { attempt: ChargeAttempt };
type ChargeAnswer = { counted: Access } | { refused: NotCharged };

/** The writes of one request that were not refused: those may count, now or later. */
class Writes {
  readonly store: AccessStore;
  readonly request: ChargeRequest;
  readonly signal: AbortSignal;
  readonly #open = new Set<SentWrite>();

  constructor(store: AccessStore, request: ChargeRequest, signal: AbortSignal) {
    this.store = store;
    this.request = request;
    this.signal = signal;
  }

  /**
   * Sends a write and returns the first answer to it or to one before. `unanswered` is the shard to send it to again.
   * After as many as may be without an answer it reads the item instead.
   */
  async send(attempt: ChargeAttempt): Promise<ChargeAnswer | { unanswered: number }> {
    if (this.#open.size === mostUnanswered) return await this.#lastAnswer(attempt.shard);
    const sent = { ...this.store.charge(attempt, this.signal), attempt };
    this.#open.add(sent);
    const overdue = sent.unanswered.then(() => ({ unanswered: sent.shard }));
    return await Promise.race([overdue, ...[...this.#open].map((write) => this.#answer(write, never))]);
  }

  /** Waits for all answers: the item that shows the request as counted, or nothing if all writes were refused. */
  async settled(): Promise<Access | undefined> {
    const answers = await Promise.all([...this.#open].map((write) => this.#answer(write, noAnswer)));
    const counted = answers.find((answer) => 'counted' in answer);
    return counted?.counted;
  }

  /** An answer that still comes, or what the item says. */
  async #lastAnswer(shard: number | undefined): Promise<ChargeAnswer> {
    const { claim, id } = this.request;
    const listed = this.store.read(claim, this.signal, shard).then((access) => {
      if (access && hasCounted(access, id)) return { counted: access };
      throw new StoreUnavailable('the item does not list the charge');
    });
    const answers = [...this.#open].map((write) => this.#answer(write, noAnswer));
    return await Promise.any([listed, ...answers]).catch((error: AggregateError) => noAnswer(error.errors[0]));
  }

  abandon(): void {
    for (const { abandon } of this.#open) abandon();
  }

  async #answer(write: SentWrite, lost: (cause: unknown) => Promise<never>): Promise<ChargeAnswer> {
    const result = await write.answer;
    if (result.charged === 'unknown') return await lost(result.cause);
    if (result.charged) {
      this.#open.delete(write);
      return { counted: requireCounted(result.access, write.attempt) };
    }
    if (result.access && hasCounted(result.access, this.request.id)) {
      if (this.#open.delete(write) && this.#open.size > 0) return { counted: result.access };
      // No other write can have counted: another request has the same id.
      this.request.id = attemptId();
    }
    this.#open.delete(write);
    return { refused: result };
  }
}

const never = (): Promise<never> => new Promise(() => undefined);

async function noAnswer(cause: unknown): Promise<never> {
  throw new StoreUnavailable('the store did not answer a charge', { cause });
}

/** If the returned item does not show the charge, the store did not make it: then nothing may be served. */
function requireCounted(access: Access | undefined, { claim, units, now, at = now }: ChargeAttempt): Access {
  if (access && admits(access, claim, now) && showsUnits(access.quota, at, units)) return access;
  throw new StoreUnavailable('the store reported a charge as done, but the returned item does not show it');
}

type NotCharged = Extract<ChargeResult, { charged: false }>;

function nextAttempt(
  request: ChargeRequest,
  { access, shard }: NotCharged,
  now: number,
): ChargeAttempt | 'other-shard' {
  const { claim, units } = request;
  // Only shard 0 refuses a caller: another shard may be merged or closing, or may lack the latest change.
  if (shard > 0 && !(access && admits(access, claim, now))) return { ...request, now, shard: 0 };
  const admitted = requireAccess(access, claim, now);
  const decision = decideQuota(admitted.quota, now, units);
  if (decision.kind === 'exceeded') {
    const refusal = isShared(admitted, decision.violated) ? markedExhausted(decision.quota, now) : decision;
    if (!refusal) return 'other-shard';
    throw quotaExceeded(refusal, units);
  }
  // No window to roll: another caller has rolled it, or limits changed, between the write and this decision.
  return { ...request, now, shard, roll: { seen: admitted, windows: decision.roll } };
}

/** Whether other shards have a share of the windows that this one has exhausted. */
function isShared({ quota }: Access, violated: (keyof QuotaState)[]): boolean {
  return violated.some((name) => quota[name]?.total !== undefined);
}

type Exceeded = Extract<QuotaDecision, { kind: 'exceeded' }>;

/** The refusal of `units`, of which some windows have fewer left. */
export function quotaExceeded({ violated, retryAfterSeconds, quota }: Exceeded, units: number): Refusal {
  return new Refusal({ code: 'quota-exceeded', units, violated, retryAfterSeconds, quota });
}

/** The share of refused callers that mark a shard: enough to spare later requests the search. */
const shareThatMarks = 1 / 4;

/**
 * Returns the attempt that charges another shard, or the same one after shares were moved to it.
 * @throws Refusal only when no shard has quota: two consecutive reads that differ only in use prove it, or an earlier
 * request has proved and marked it (decision 0103)
 */
export async function findShardWithQuota(
  store: AccessStore,
  request: ChargeRequest,
  tried: number,
  clock: Clock,
  signal: AbortSignal,
): Promise<ChargeAttempt> {
  const { claim, units } = request;
  let before: Access[] | undefined;
  while (!signal.aborted) {
    const shards = await store.readShards(claim.account, signal);
    const now = clock();
    const takes = (shard: Access) => admits(shard, claim, now);
    // Shard 0 decides why no shard accepts this key any more.
    if (!shards.some(takes)) return { ...request, now, shard: 0 };
    const decision = decideShards(shards, takes, { now, tried, pick: Math.random(), units });
    switch (decision.kind) {
      case 'charge': {
        const { at, shard: seen, roll } = decision;
        return { ...request, now, at, shard: seen.shard, roll: { seen, windows: roll } };
      }
      case 'move': {
        const { move } = decision;
        // If a shard had changed, then most likely because another caller made the same move.
        await store.move(move, signal);
        return {
          ...request,
          now,
          at: move.at,
          shard: move.target.shard,
          limits: seenLimits(move.target, gainsOf(move)),
        };
      }
      case 'exceeded': {
        const isProved = before
          ? sameShares(before, shards)
          : shards.some(({ quota }) => markedExhausted(quota, clock()));
        if (isProved) {
          const seen = shards.find(({ shard }) => shard === tried);
          if (seen && Math.random() < shareThatMarks) await mark(store, seen, decision, signal);
          throw quotaExceeded(decision, units);
        }
        before = shards;
        break;
      }
      case 'reread':
        before = undefined;
    }
  }
  throw new StoreUnavailable('the shards of the account are contended: no quota was found in time');
}

/** Only what is exhausted for a single unit: fewer left than this request needs is no mark for the others. */
async function mark(store: AccessStore, seen: Access, { violated, quota }: Exceeded, signal: AbortSignal) {
  const windows = violated.map((name): [WindowName, WindowCount] => [name, quota[name] as WindowCount]);
  const exhausted = windows.filter(([, { used, limit }]) => used === limit);
  if (exhausted.length === 0) return;
  const starts = exhausted.map(([name, { start }]) => [name, start] as const);
  await store.markExhausted(seen, Object.fromEntries(starts), signal);
}
