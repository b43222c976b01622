import { keyDay, type QuotaName, type WindowName } from '../calendar.ts';
import type { ListedFaults } from '../contract.ts';
import { isValidKey, type KeyClaim } from './api-key.ts';
import { currentQuota, type Limits, type QuotaState, type WindowCount } from './quota.ts';

/** The part of an account that a request needs. `suspended`: an operator has stopped it. */
export type AccountState = 'active' | 'suspended';
export type PlanState = 'active' | 'inactive';

/** A plan: the limits of each window that it configures, for all accounts on it. */
export type Plan = { code: string; state: PlanState; limits: Limits };

/**
 * A plan as stored; each change makes a new version, and an account records the version that it
 * follows.
 */
export type PlanVersion = Plan & { version: number };

/** The terms of an account: a plan, and its own limits, which override the plan's. */
export type Terms = { plan: PlanVersion; ownLimits: Limits };

/**
 * The lookups of an access item that no usage record holds yet: on `date` (UTC, `2026-11-21`), the
 * day that is being counted, and of `days` before it (decision 0141).
 */
export type UsageCount = {
  date: string;
  lookups: number;
  days: Readonly<Record<string, number>>;
  /**
   * The part of it that is counted by key: of `date`, and of each of `days`, by the key's code
   * (decision 0141).
   */
  byKey: UnitsByKey;
  daysByKey: Readonly<Record<string, UnitsByKey>>;
};

/** Lookups by the code of the key that they were charged with. */
export type UnitsByKey = Readonly<Record<string, number>>;

/** How an item and a record abbreviate the id of a key: so that the counts of all keys fit. */
export function keyCode(keyId: string): string {
  return keyId.slice(0, 4);
}

/** All that a request needs to know of an account. */
export type Access = {
  account: string;
  state: AccountState;
  plan: string;
  planState: PlanState;
  planVersion: number;
  /** The keys that were not revoked, in their stored form, by key id. */
  keys: Readonly<Record<string, Uint8Array>>;
  ownLimits: Limits;
  quota: Partial<Record<WindowName, WindowCount>>;
  /** By the code of a key: its limit for a day, if it has one, and its lookups of the day. */
  keyLimits: UnitsByKey;
  keyUnits: UnitsByKey;
  usage: UsageCount;
  /** Seconds since 1970. */
  created: number;
  /** Counts administrative changes. */
  version: number;
};

/**
 * The most days in `days`, and counts of a key on a day, that fit the access item; others are
 * recorded first.
 */
export const maxUnrecordedDays = 2;
export const maxKeyCounts = 12;

/** Whether another unrecorded day, with all keys in use, has no space left. */
export function hasNoSpace({
  usage: { days, byKey, daysByKey },
  keys,
}: Pick<Access, 'usage' | 'keys'>): boolean {
  const counts = [byKey, ...Object.values(daysByKey)].flatMap(Object.keys).length;
  const isCrowded = counts > 0 && counts + Object.keys(keys).length > maxKeyCounts;
  return isCrowded || Object.keys(days).length >= maxUnrecordedDays;
}

/** The windows of the account and the day of the key: a request with the key counts in each. */
export function quotaOf(
  { quota, keyLimits, keyUnits }: Pick<Access, 'quota' | 'keyLimits' | 'keyUnits'>,
  keyId: string,
): QuotaState {
  const code = keyCode(keyId);
  const { start } = quota.day ?? { start: 0 };
  return { ...quota, [keyDay]: { start, used: keyUnits[code] ?? 0, limit: keyLimits[code] } };
}

/** Who made a request; `charged` if it consumed quota. `quota` is the rest at that time. */
export type Caller = {
  account: string;
  keyId: string;
  access: Access;
  quota: QuotaState;
  charged?: { units: number };
  /** The label of the key, if the request reads it. Never logged. */
  label?: string;
};

/** `units` were requested, and `violated` has fewer left. */
export type QuotaExceeded = {
  code: 'quota-exceeded';
  units: number;
  violated: QuotaName[];
  retryAfterSeconds: number;
  quota: QuotaState;
};

/** The reason of a refusal, with the details that the caller may know. */
export type RefusalReason =
  | { code: 'unauthorized' }
  | { code: 'account-inactive' }
  | { code: 'plan-inactive' }
  | ({ code: 'invalid-input' } & ListedFaults)
  | QuotaExceeded
  | { code: 'temporarily-unavailable'; retryAfterSeconds: number };

export type RefusalCode = RefusalReason['code'];

/**
 * An expected refusal: thrown by the code that decides, rendered once at the edge. Anything else
 * thrown is a 500.
 */
export class Refusal extends Error {
  override name = 'Refusal';
  readonly reason: RefusalReason;

  constructor(reason: RefusalReason, options?: ErrorOptions) {
    super(reason.code, options);
    this.reason = reason;
  }
}

/**
 * The holder of `claim`, if `access` admits it at `now` (seconds); throws a `Refusal` otherwise.
 */
export function requireCaller(access: Access | undefined, claim: KeyClaim, now: number): Caller {
  const admitting = requireAccess(access, claim, now);
  const { account, keyId } = claim;
  const quota = currentQuota(quotaOf(admitting, keyId), now);
  return { account, keyId, access: admitting, quota };
}

/**
 * Returns the item if it admits `claim` at `now` (seconds), else throws a `Refusal`, a wrong key's
 * first.
 */
export function requireAccess(access: Access | undefined, claim: KeyClaim, now: number): Access {
  if (!access || !hasKey(access, claim, now)) throw new Refusal({ code: 'unauthorized' });
  if (access.state !== 'active') throw new Refusal({ code: 'account-inactive' });
  if (access.planState !== 'active') throw new Refusal({ code: 'plan-inactive' });
  return access;
}

/** Whether the item admits `claim` at `now` (seconds). */
export function admits(access: Access, claim: KeyClaim, now: number): boolean {
  return hasKey(access, claim, now) && access.state === 'active' && access.planState === 'active';
}

function hasKey({ keys }: Access, claim: KeyClaim, now: number): boolean {
  const stored = Object.hasOwn(keys, claim.keyId) ? keys[claim.keyId] : undefined;
  return stored !== undefined && isValidKey(stored, claim, now);
}
