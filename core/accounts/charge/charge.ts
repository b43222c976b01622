import type { Clock } from '../../calendar.ts';
import { StoreUnavailable } from '../../dynamodb.ts';
import { type Access, admits, type Caller, dayHasPassed, hasCounted, hasNoSpace, requireAccess } from '../account.ts';
import type { KeyClaim } from '../api-key.ts';
import { decideQuota, type QuotaState, showsUnits } from '../quota.ts';
import { attemptId } from './charge-command.ts';
import type { AccessStore, ChargeAttempt, ChargeResult } from './charge-port.ts';
import { findShardWithQuota, quotaExceeded } from './find-shard.ts';
import { markedExhausted } from './shards.ts';

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
 * Writes of one request whose answers may be lost. Each may have been done, unseen by the next: two, so that none
 * counts a third time.
 */
const mostUnanswered = 2;

/**
 * Admits `claim` and consumes `units` in every configured window, or refuses and consumes nothing. The first write
 * succeeds unless a window has passed since the last one; then that window is rolled and charged in one write, which
 * one of the concurrent callers wins and the others follow. A write whose answer is lost is sent once more, and counts
 * nothing if the item still lists its attempt. If that answer is lost too, the item is read. So a request is counted at
 * most twice, and twice only where others came in between (decision 0153).
 * @throws Refusal or StoreUnavailable
 */
export async function charge(
  store: AccessStore,
  claim: KeyClaim,
  clock: Clock,
  signal: AbortSignal,
  units = 1,
): Promise<Caller> {
  const request = { claim, units, id: attemptId() };
  const served = (access: Access): Caller => ({
    account: claim.account,
    keyId: claim.keyId,
    access,
    charged: { units },
  });
  let attempt: ChargeAttempt = { ...request, now: clock() };
  let most = maxAttempts;
  let unanswered = 0;
  for (let tries = 0; tries < most && !signal.aborted; tries++) {
    const result = await store.charge(attempt, signal);
    if (result.charged === true) return served(requireCounted(result.access, attempt));
    if (result.charged === 'unknown') {
      attempt = { ...attempt, shard: result.shard };
      if (++unanswered < mostUnanswered) continue;
      const access = await store.read(claim, signal, result.shard);
      if (access && hasCounted(access, request.id)) return served(access);
      throw new StoreUnavailable('the store did not answer a charge', { cause: result.cause });
    }
    if (result.access && hasCounted(result.access, request.id)) return served(result.access);
    const next = nextAttempt(request, result, clock());
    if (next === 'other-shard') {
      most = maxShardedAttempts;
      attempt = await findShardWithQuota(store, request, result.shard, clock, signal);
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

/** If the returned item does not show the charge, the store did not make it: then nothing may be served. */
function requireCounted(access: Access | undefined, { claim, units, now, at = now }: ChargeAttempt): Access {
  if (access && admits(access, claim, now) && showsUnits(access.quota, at, units)) return access;
  throw new StoreUnavailable('the store reported a charge as done, but the returned item does not show it');
}

type NotCharged = Extract<ChargeResult, { charged: false }>;

function nextAttempt(
  request: Pick<ChargeAttempt, 'claim' | 'units' | 'id'>,
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
