import { type Clock, type WindowName, windowStarts } from '../../calendar.ts';
import { StoreUnavailable } from '../../dynamodb.ts';
import {
  type Access,
  admits,
  type Caller,
  hasNoSpace,
  quotaOf,
  Refusal,
  requireAccess,
} from '../account.ts';
import type { KeyClaim } from '../api-key.ts';
import { decideQuota, type QuotaState, showsUnits } from '../quota.ts';

/** One conditional write that authenticates a request and counts it: a charge. */
export type ChargeAttempt = {
  claim: KeyClaim;
  /** How many units: all in every window, or none. */
  units: number;
  /**
   * The time in seconds by the clock of this instance, and the starts of the windows that it is in.
   */
  now: number;
  starts: Record<WindowName, number>;
  /** The item as the write before this one, which the store refused, has returned it. */
  returned?: Access;
  /** The windows that have passed in it: this write restarts them. */
  restarts: readonly WindowName[];
};

/**
 * Whether the store made the write; `access` is the item after it, or as it was when its condition
 * did not hold.
 */
export type ChargeResult = { charged: boolean; access: Access | undefined };

export type AccessStore = {
  /** Strongly consistent. @throws StoreUnavailable */
  read(claim: KeyClaim, signal: AbortSignal): Promise<Access | undefined>;
  /**
   * Applies all of the attempt or nothing, and never twice: what may have been applied is not sent
   * again.
   * @throws ChargeUnknown if it may have been applied; StoreUnavailable if it was not
   */
  charge(attempt: ChargeAttempt, signal: AbortSignal): Promise<ChargeResult>;
  /**
   * Moves the days of usage that ended before `now` into records, unless another caller has.
   * @throws StoreUnavailable
   */
  recordDays(returned: Access, now: number, signal: AbortSignal): Promise<void>;
};

/**
 * Why nobody knows whether a charge was made: no answer in time, none at all, or a failure in the
 * store.
 */
export type UnknownCause = 'time-up' | 'connection' | 'server-error';

/**
 * A charge may have been made, and the caller is told so with a 503: sent again, it could count
 * twice.
 */
export class ChargeUnknown extends StoreUnavailable {
  override name = 'ChargeUnknown';
  readonly because: UnknownCause;

  constructor(because: UnknownCause, options: ErrorOptions) {
    super('it is not known whether a charge was made', options);
    this.because = because;
  }
}

/**
 * A window that begins takes two writes, a lost race for it three; with more, something keeps
 * changing the item.
 */
const maxAttempts = 8;

/**
 * Admits `claim` and consumes `units` in every window and of its key's limit, or refuses and
 * consumes nothing. The first
 * write succeeds unless a window has passed since the last one; then that window is restarted and
 * charged in one write, which one of the concurrent callers wins and the others follow. A write
 * follows another one only if the store has refused that.
 * @throws Refusal when nothing was counted; ChargeUnknown when the units may have been;
 * StoreUnavailable otherwise
 */
export async function charge(
  store: AccessStore,
  claim: KeyClaim,
  clock: Clock,
  signal: AbortSignal,
  units = 1,
): Promise<Caller> {
  let attempt: ChargeAttempt = attemptAt(claim, units, clock());
  for (let tries = 0; tries < maxAttempts && !signal.aborted; tries++) {
    const { charged, access } = await store.charge(attempt, signal);
    if (charged) {
      const { account, keyId } = claim;
      return { account, keyId, ...requireCounted(access, attempt), charged: { units } };
    }
    attempt = await nextAttempt(store, attempt, access, clock(), signal);
  }
  throw new StoreUnavailable('the account is contended: no write went through in time');
}

/**
 * The returned item with its counts. If it does not show the charge, the store did not make it:
 * then nothing may be served.
 */
function requireCounted(
  access: Access | undefined,
  { claim, units, now, starts }: ChargeAttempt,
): { access: Access; quota: QuotaState } {
  if (access && admits(access, claim, now)) {
    const quota = quotaOf(access, claim.keyId);
    if (showsUnits(quota, starts, units)) return { access, quota };
  }
  throw new StoreUnavailable(
    'the store reported a charge as done, but the returned item does not show it',
  );
}

/**
 * The attempt after a failed condition on the item. @throws Refusal if the item refuses the request
 */
async function nextAttempt(
  store: AccessStore,
  { claim, units }: ChargeAttempt,
  refusing: Access | undefined,
  now: number,
  signal: AbortSignal,
): Promise<ChargeAttempt> {
  const access = requireAccess(refusing, claim, now);
  const decision = decideQuota(quotaOf(access, claim.keyId), now, units);
  if (decision.kind === 'exceeded') {
    const { violated, retryAfterSeconds, quota } = decision;
    throw new Refusal({ code: 'quota-exceeded', units, violated, retryAfterSeconds, quota });
  }
  // Without a window to restart: another caller has restarted it, or limits changed, between the
  // write and now.
  let restarts = decision.passed;
  // The item has no space for another day where many keys were used, or nothing has recorded the
  // usage for days.
  if (restarts.includes('day') && hasNoSpace(access)) {
    await store.recordDays(access, now, signal);
    restarts = restarts.filter((name) => name !== 'day');
  }
  return { ...attemptAt(claim, units, now), returned: access, restarts };
}

export function attemptAt(claim: KeyClaim, units: number, now: number): ChargeAttempt {
  return { claim, units, now, starts: windowStarts(Math.floor(now)), restarts: [] };
}
