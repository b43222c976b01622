import { StoreUnavailable } from '../dynamodb.ts';
import type { Clock } from '../environment.ts';
import { type Access, admits, type Caller, requireAccess } from './account-item.ts';
import type { KeyClaim } from './api-key.ts';
import { decideQuota, type QuotaDecision, type WindowCount, type WindowName } from './quota.ts';
import { Refusal } from './refusal.ts';
import { decideShards, notedAsDry, type Shard, type ShareMove, sameShares } from './shards.ts';

/**
 * One conditional write that authenticates and charges. `roll` restarts windows that had passed in the `seen` item.
 * Without `shard` the store takes any one that the account was last seen to have.
 */
export type ChargeAttempt = {
  claim: KeyClaim;
  now: number;
  shard?: number;
  roll?: { seen: Access; windows: WindowName[] };
};

/** `charged` tells whether the write took effect; `access` is the item of `shard` after it, or the unchanged one. */
export type ChargeResult =
  | { charged: true; access: Access }
  | { charged: false; access: Access | undefined; shard: number };

export type AccessStore = {
  /** Strongly consistent. Throws `StoreUnavailable`. */
  read(claim: KeyClaim, signal: AbortSignal): Promise<Access | undefined>;
  /** All of the attempt or nothing of it. Throws `StoreUnavailable`: then it may or may not have been applied. */
  charge(attempt: ChargeAttempt, signal: AbortSignal): Promise<ChargeResult>;
  /** All shards of an account, each as it was at some moment during the call. Throws `StoreUnavailable`. */
  readShards(account: string, signal: AbortSignal): Promise<Shard[]>;
  /** Whether the shares moved: all of them, or none because a shard had changed. Throws `StoreUnavailable`. */
  move(account: string, move: ShareMove, signal: AbortSignal): Promise<boolean>;
  /**
   * Notes on one shard that no shard of the account has quota left in these windows (name to start), unless the account
   * was changed since `seen`. It saves later requests the search, so a failure is nobody's concern.
   */
  noteDry(
    account: string,
    seen: Shard,
    windows: Partial<Record<WindowName, number>>,
    signal: AbortSignal,
  ): Promise<void>;
};

type Exceeded = Extract<QuotaDecision, { kind: 'exceeded' }>;

/** The share of refused callers that note what they found: enough to tell the next ones soon, few enough in a crowd. */
const shareThatNotes = 1 / 4;

/** The account, and the shard that has nothing left for it. */
export type Exhausted = { claim: KeyClaim; shard: number };

/**
 * The attempt that finds quota on another shard, or on the same one after some was moved there. Throws a `Refusal` only
 * when no shard has any: two reads in a row that differ in nothing but use prove it, or an earlier caller did so and noted
 * it (decision 0103).
 */
export async function findRoom(
  store: AccessStore,
  { claim, shard: tried }: Exhausted,
  clock: Clock,
  signal: AbortSignal,
): Promise<ChargeAttempt> {
  let before: Shard[] | undefined;
  while (!signal.aborted) {
    const shards = await store.readShards(claim.account, signal);
    const takes = (shard: Shard) => admits(shard, claim);
    // Shard 0 says why nobody takes this key any more.
    if (!shards.some(takes)) return { claim, now: clock(), shard: 0 };
    const decision = decideShards(shards, takes, { now: clock(), tried, pick: Math.random() });
    switch (decision.kind) {
      case 'charge': {
        const { at, shard: seen, roll } = decision;
        return { claim, now: at, shard: seen.shard, ...(roll.length > 0 && { roll: { seen, windows: roll } }) };
      }
      case 'move': {
        const { move } = decision;
        // If a shard had changed, then most likely because another caller moved the same.
        await store.move(claim.account, move, signal);
        return { claim, now: move.at, shard: move.target.shard };
      }
      case 'exceeded': {
        const isProved = before ? sameShares(before, shards) : shards.some(({ quota }) => notedAsDry(quota, clock()));
        if (isProved) {
          const seen = shards.find(({ shard }) => shard === tried);
          if (seen && Math.random() < shareThatNotes) await note(store, claim, seen, decision, signal);
          const { violated, retryAfterSeconds, quota } = decision;
          throw new Refusal({ code: 'quota-exceeded', violated, retryAfterSeconds, quota });
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

async function note(
  store: AccessStore,
  claim: KeyClaim,
  seen: Shard,
  { violated, quota }: Exceeded,
  signal: AbortSignal,
) {
  const starts = violated.map((name): [WindowName, number] => [name, (quota[name] as WindowCount).start]);
  await store.noteDry(claim.account, seen, Object.fromEntries(starts), signal);
}

/** Two writes settle a roll-over, three a lost race for it; more means that something else keeps changing the item. */
const maxAttempts = 8;

/** Where callers compete for the last units of several shards, each attempt that fails is one that another had. */
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
    const { charged, access } = result;
    if (charged) {
      return { account: claim.account, keyId: claim.keyId, access, charged: { rolled: attempt.roll?.windows ?? [] } };
    }
    const next = nextAttempt(claim, result, clock());
    if (next === 'elsewhere') {
      most = maxShardedAttempts;
      attempt = await findRoom(store, { claim, shard: result.shard }, clock, signal);
    } else attempt = next;
  }
  throw new StoreUnavailable('the account is contended: no write went through in time');
}

type Refused = Extract<ChargeResult, { charged: false }>;

function nextAttempt(claim: KeyClaim, { access, shard }: Refused, now: number): ChargeAttempt | 'elsewhere' {
  // Only shard 0 refuses a caller: another may be gone, or be about to go, or not have followed a change yet.
  if (shard > 0 && !(access && admits(access, claim))) return { claim, now, shard: 0 };
  const admitted = requireAccess(access, claim);
  const decision = decideQuota(admitted.quota, now);
  if (decision.kind === 'exceeded') {
    const refusal = isShared(admitted, decision.violated) ? notedAsDry(decision.quota, now) : decision;
    if (!refusal) return 'elsewhere';
    const { violated, retryAfterSeconds, quota } = refusal;
    throw new Refusal({ code: 'quota-exceeded', violated, retryAfterSeconds, quota });
  }
  // No window to roll: another caller has rolled it, or the plan changed, between the write and this decision.
  return decision.roll.length > 0
    ? { claim, now, shard, roll: { seen: admitted, windows: decision.roll } }
    : { claim, now, shard };
}

/** Whether other shards hold a part of what this one has exhausted. */
function isShared({ quota }: Access, violated: (keyof Access['quota'])[]): boolean {
  return violated.some((name) => quota[name]?.total !== undefined);
}
