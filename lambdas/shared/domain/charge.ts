import { type Access, admits, type Caller, requireAccess } from './access.ts';
import type { KeyClaim } from './api-key.ts';
import { findRoom } from './find-room.ts';
import { type AccessStore, type ChargeAttempt, type ChargeResult, type Clock, StoreUnavailable } from './ports.ts';
import { decideQuota } from './quota.ts';
import { Refusal } from './refusal.ts';
import { notedAsDry } from './shards.ts';

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
