import { type Clock, dateOf, type WindowName, windowNames, windowStart } from '../../calendar.ts';
import { StoreUnavailable, type Update } from '../../dynamodb.ts';
import {
  type Access,
  admits,
  type Caller,
  dayHasPassed,
  hasNoSpace,
  maxUnrecordedDays,
  Refusal,
  requireAccess,
} from '../account.ts';
import { accessItem, accessKey } from '../account-item.ts';
import { expiringKeyBounds, type KeyClaim } from '../api-key.ts';
import { decideQuota, type QuotaDecision, type QuotaState, showsUnit, type WindowCount } from '../quota.ts';
import { decideShards, markedExhausted, type ShareMove, sameShares } from './shards.ts';

/**
 * One conditional write that authenticates a request and counts it: a charge. `roll` restarts windows that had passed in
 * the `seen` item, and its day of usage if that has passed. Without `shard` the store takes any one that the account was last seen to have.
 */
export type ChargeAttempt = {
  claim: KeyClaim;
  /** The time by the clock of this instance, which decides whether the key has expired. */
  now: number;
  /**
   * The time whose windows count, if later than `now`: another instance, whose clock is ahead, has begun a window on a
   * shard.
   */
  at?: number;
  shard?: number;
  roll?: { seen: Access; windows: WindowName[] };
};

/**
 * `charged` says whether the store reported the write as done; `access` is the item of `shard` after it, or the unchanged
 * one.
 */
export type ChargeResult =
  | { charged: true; access: Access | undefined }
  | { charged: false; access: Access | undefined; shard: number };

export type AccessStore = {
  /** Strongly consistent. Throws `StoreUnavailable`. */
  read(claim: KeyClaim, signal: AbortSignal): Promise<Access | undefined>;
  /** Applies all of the attempt or nothing. Throws `StoreUnavailable`: then it may or may not have been applied. */
  charge(attempt: ChargeAttempt, signal: AbortSignal): Promise<ChargeResult>;
  /** All shards of an account, each as it was at some moment during the call. Throws `StoreUnavailable`. */
  readShards(account: string, signal: AbortSignal): Promise<Access[]>;
  /** Returns whether the shares moved: all of them, or none because a shard had changed. Throws `StoreUnavailable`. */
  move(account: string, move: ShareMove, signal: AbortSignal): Promise<boolean>;
  /** Moves the days of usage that have ended from one shard into records, unless another caller has. Throws `StoreUnavailable`. */
  recordDays(seen: Access, signal: AbortSignal): Promise<void>;
  /**
   * Marks on one shard that no shard of the account has quota left in these windows (name to start), unless the account
   * was changed since `seen`. It only saves later requests the search, so a failure is ignored.
   */
  markExhausted(seen: Access, windows: Partial<Record<WindowName, number>>, signal: AbortSignal): Promise<void>;
};

/**
 * A window roll-over takes two writes, a lost race for it three; more means that something else keeps changing the
 * item.
 */
const maxAttempts = 8;

/**
 * Callers may compete for the last units of several shards: then each failed attempt means that another caller got a
 * unit.
 */
const maxShardedAttempts = 100;

/**
 * Admits `claim` and consumes one unit in every configured window, or refuses and consumes nothing. The first write
 * succeeds unless a window has passed since the last one; then that window is rolled and charged in one write, which
 * one of the concurrent callers wins and the others follow. Throws `Refusal` or `StoreUnavailable`.
 */
export async function charge(store: AccessStore, claim: KeyClaim, clock: Clock, signal: AbortSignal): Promise<Caller> {
  let attempt: ChargeAttempt = { claim, now: clock() };
  let most = maxAttempts;
  for (let tries = 0; tries < most && !signal.aborted; tries++) {
    const result = await store.charge(attempt, signal);
    if (result.charged) {
      const access = requireCounted(result.access, attempt);
      return { account: claim.account, keyId: claim.keyId, access, charged: { rolled: attempt.roll?.windows ?? [] } };
    }
    const next = nextAttempt(claim, result, clock());
    if (next === 'other-shard') {
      most = maxShardedAttempts;
      attempt = await findShardWithQuota(store, { claim, shard: result.shard }, clock, signal);
    } else {
      const seen = next.roll?.seen;
      // Only where nothing has recorded the usage for days.
      if (seen && dayHasPassed(seen.usage, next.now) && hasNoSpace(seen.usage)) await store.recordDays(seen, signal);
      attempt = next;
    }
  }
  throw new StoreUnavailable('the account is contended: no write went through in time');
}

/** If the returned item does not show the charge, the store did not make it: then nothing may be served. */
function requireCounted(access: Access | undefined, { claim, now, at = now }: ChargeAttempt): Access {
  if (access && admits(access, claim, now) && showsUnit(access.quota, at)) return access;
  throw new StoreUnavailable('the store reported a charge as done, but the returned item does not show it');
}

type NotCharged = Extract<ChargeResult, { charged: false }>;

function nextAttempt(claim: KeyClaim, { access, shard }: NotCharged, now: number): ChargeAttempt | 'other-shard' {
  // Only shard 0 refuses a caller: another shard may be merged or closing, or may lack the latest change.
  if (shard > 0 && !(access && admits(access, claim, now))) return { claim, now, shard: 0 };
  const admitted = requireAccess(access, claim, now);
  const decision = decideQuota(admitted.quota, now);
  if (decision.kind === 'exceeded') {
    const refusal = isShared(admitted, decision.violated) ? markedExhausted(decision.quota, now) : decision;
    if (!refusal) return 'other-shard';
    throw quotaExceeded(refusal);
  }
  // No window to roll: another caller has rolled it, or the plan changed, between the write and this decision.
  return { claim, now, shard, roll: { seen: admitted, windows: decision.roll } };
}

/** Whether other shards have a share of the windows that this one has exhausted. */
function isShared({ quota }: Access, violated: (keyof QuotaState)[]): boolean {
  return violated.some((name) => quota[name]?.total !== undefined);
}

type Exceeded = Extract<QuotaDecision, { kind: 'exceeded' }>;

function quotaExceeded({ violated, retryAfterSeconds, quota }: Exceeded): Refusal {
  return new Refusal({ code: 'quota-exceeded', violated, retryAfterSeconds, quota });
}

/**
 * The share of refused callers that mark a shard: enough to save later requests the search, without many writes at
 * once.
 */
const shareThatMarks = 1 / 4;

/**
 * Returns the attempt that charges another shard, or the same one after shares were moved to it. Throws a `Refusal`
 * only when no shard has quota: two consecutive reads that differ only in use prove it, or an earlier request has
 * proved and marked it (decision 0103).
 */
export async function findShardWithQuota(
  store: AccessStore,
  { claim, shard: tried }: { claim: KeyClaim; shard: number },
  clock: Clock,
  signal: AbortSignal,
): Promise<ChargeAttempt> {
  let before: Access[] | undefined;
  while (!signal.aborted) {
    const shards = await store.readShards(claim.account, signal);
    const now = clock();
    const takes = (shard: Access) => admits(shard, claim, now);
    // Shard 0 decides why no shard accepts this key any more.
    if (!shards.some(takes)) return { claim, now, shard: 0 };
    const decision = decideShards(shards, takes, { now, tried, pick: Math.random() });
    switch (decision.kind) {
      case 'charge': {
        const { at, shard: seen, roll } = decision;
        return { claim, now, at, shard: seen.shard, roll: { seen, windows: roll } };
      }
      case 'move': {
        const { move } = decision;
        // If a shard had changed, then most likely because another caller made the same move.
        await store.move(claim.account, move, signal);
        return { claim, now, at: move.at, shard: move.target.shard };
      }
      case 'exceeded': {
        const isProved = before
          ? sameShares(before, shards)
          : shards.some(({ quota }) => markedExhausted(quota, clock()));
        if (isProved) {
          const seen = shards.find(({ shard }) => shard === tried);
          if (seen && Math.random() < shareThatMarks) await mark(store, seen, decision, signal);
          throw quotaExceeded(decision);
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

async function mark(store: AccessStore, seen: Access, { violated, quota }: Exceeded, signal: AbortSignal) {
  const starts = violated.map((name): [WindowName, number] => [name, (quota[name] as WindowCount).start]);
  await store.markExhausted(seen, Object.fromEntries(starts), signal);
}

/**
 * The one write of a lookup. Its condition compares attributes of the item with each other, so it needs no read before:
 *
 *   the key's hash is stored and the key has not expired, and account and plan are active
 *   and each window is not configured, or is the current one and below its limit
 *   and the day of usage is the current one
 *
 * With `roll`, the windows that have passed must still be the ones seen; they restart with this unit. Every window's
 * count goes up by one, or nothing changes and the old item is returned.
 */
export function chargeCommand(table: string, { claim, now, at = now, roll, shard }: ChargeAttempt): Update {
  const names: Record<string, string> = {
    '#keys': accessItem.keys,
    '#keyId': claim.keyId,
    '#state': accessItem.state,
    '#planState': accessItem.planState,
  };
  const { low, high } = expiringKeyBounds(claim.hash, now);
  const values: Record<string, unknown> = {
    ':hash': claim.hash,
    ':low': low,
    ':high': high,
    ':active': 'active',
    ':one': 1,
  };
  const conditions = [keyIsValid, accountIsActive, planIsActive];
  const sets: string[] = [];
  const adds: string[] = [];

  for (const window of windowNames) {
    names[`#${window}Start`] = accessItem.start(window);
    names[`#${window}Used`] = accessItem.used(window);
    names[`#${window}Limit`] = accessItem.limit(window);
    values[`:${window}Start`] = windowStart(window, Math.floor(at));
    if (roll?.windows.includes(window)) {
      values[`:${window}Seen`] = roll.seen.quota[window]?.start;
      conditions.push(passedAndAdmitsOne(window));
      sets.push(`#${window}Start = :${window}Start`, `#${window}Used = :one`);
    } else {
      conditions.push(notConfiguredOrAdmitsOne(window));
      adds.push(`#${window}Used :one`);
    }
  }
  names['#date'] = accessItem.date;
  names['#total'] = accessItem.total;
  values[':date'] = dateOf(Math.floor(at));
  adds.push('#total :one');
  if (roll && dayHasPassed(roll.seen.usage, at)) {
    names['#mark'] = accessItem.mark;
    names['#days'] = accessItem.days;
    const { date } = roll.seen.usage;
    if (date === null) {
      Object.assign(values, { ':none': {}, ':zero': 0 });
      conditions.push('attribute_not_exists(#date)');
      sets.push('#date = :date', '#mark = if_not_exists(#total, :zero)', '#days = :none');
    } else {
      names['#dateSeen'] = date;
      Object.assign(values, { ':dateSeen': date, ':mostDays': maxUnrecordedDays });
      conditions.push('#date = :dateSeen AND size(#days) < :mostDays');
      sets.push('#days.#dateSeen = #total - #mark', '#mark = #total', '#date = :date');
    }
  } else conditions.push('#date >= :date');
  return {
    TableName: table,
    Key: accessKey(claim.account, shard),
    UpdateExpression: [sets.length > 0 && `SET ${sets.join(', ')}`, `ADD ${adds.join(', ')}`].filter(Boolean).join(' '),
    ConditionExpression: conditions.join(' AND '),
    ExpressionAttributeNames: names,
    ExpressionAttributeValues: values,
    ReturnValues: 'ALL_NEW',
    ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
  };
}

/** As `isValidKey` decides. */
const keyIsValid = '(#keys.#keyId = :hash OR #keys.#keyId BETWEEN :low AND :high)';
const accountIsActive = '#state = :active';
const planIsActive = '#planState = :active';

/** A start after the current one was set by an instance whose clock is ahead; the window never moves backwards. */
function notConfiguredOrAdmitsOne(window: WindowName): string {
  const isCurrent = `#${window}Start >= :${window}Start`;
  const isBelowLimit = `(attribute_not_exists(#${window}Limit) OR #${window}Used < #${window}Limit)`;
  return `(attribute_not_exists(#${window}Start) OR (${isCurrent} AND ${isBelowLimit}))`;
}

function passedAndAdmitsOne(window: WindowName): string {
  return `#${window}Start = :${window}Seen AND (attribute_not_exists(#${window}Limit) OR #${window}Limit >= :one)`;
}
