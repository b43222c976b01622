import { type Access, type Caller, requireAccess } from './access.ts';
import type { KeyClaim } from './api-key.ts';
import { type AccessStore, type ChargeAttempt, type Clock, StoreUnavailable } from './ports.ts';
import { decideQuota } from './quota.ts';
import { Refusal } from './refusal.ts';

/** Two writes settle a roll-over, three a lost race for it; more means that something else keeps changing the item. */
const maxAttempts = 8;

/**
 * Admits `claim` and consumes one unit in every configured window, or refuses and consumes nothing. The first write
 * succeeds unless a window has passed since the last one; then that window is rolled and charged in one write, which
 * one of the concurrent callers wins and the others follow. Throws `Refusal` or `StoreUnavailable`.
 */
export async function charge(store: AccessStore, claim: KeyClaim, clock: Clock, signal: AbortSignal): Promise<Caller> {
  let attempt: ChargeAttempt = { claim, now: clock() };
  for (let tries = 0; tries < maxAttempts && !signal.aborted; tries++) {
    const { charged, access } = await store.charge(attempt, signal);
    if (charged) {
      return { account: claim.account, keyId: claim.keyId, access, charged: { rolled: attempt.roll?.windows ?? [] } };
    }
    attempt = nextAttempt(claim, access, clock());
  }
  throw new StoreUnavailable('the account is contended: no write went through in time');
}

function nextAttempt(claim: KeyClaim, seen: Access | undefined, now: number): ChargeAttempt {
  const admitted = requireAccess(seen, claim);
  const decision = decideQuota(admitted.quota, now);
  if (decision.kind === 'exceeded') {
    const { violated, retryAfterSeconds, quota } = decision;
    throw new Refusal({ code: 'quota-exceeded', violated, retryAfterSeconds, quota });
  }
  // No window to roll: another caller has rolled it, or the plan changed, between the write and this decision.
  return decision.roll.length > 0 ? { claim, now, roll: { seen: admitted, windows: decision.roll } } : { claim, now };
}
