import { dateOf, type WindowName } from '../calendar.ts';
import type { BodyFault, InputFault } from '../contract.ts';
import { isValidKey, type KeyClaim } from './api-key.ts';
import type { Limits, QuotaState } from './quota.ts';

/** What a request needs to know of an account. `suspended`: an operator has stopped it. */
export type AccountState = 'active' | 'suspended';
export type PlanState = 'active' | 'inactive';

/** `closing`: a shard that is about to be merged into the others; requests no longer charge it. */
export type ShardState = AccountState | 'closing';

/** A plan: the limits of each window that it configures, for all accounts on it. */
export type Plan = { code: string; state: PlanState; limits: Limits };

/** A plan as stored; each change makes a new version, and an account records the version that it follows. */
export type PlanVersion = Plan & { version: number };

/** What applies to an account: a plan, and its own limits, which override the plan's. */
export type Terms = { plan: PlanVersion; ownLimits: Limits };

/**
 * The lookups that an access item has counted. `total` is all of them, `mark` what it was when `date` (UTC,
 * `2026-11-21`) began; `days` are the sums of earlier days that no usage record holds yet (decision 0141).
 */
export type UsageCount = {
  total: number;
  date: string;
  mark: number;
  days: Readonly<Record<string, number>>;
  /** The part of it that is counted by key: of `date`, and of each of `days`, by the key's code (decision 0141). */
  byKey: UnitsByKey;
  daysByKey: Readonly<Record<string, UnitsByKey>>;
};

/** Lookups by the code of the key that they were charged with. */
export type UnitsByKey = Readonly<Record<string, number>>;

/** All that a request needs to know of an account; with quota shards, of one of them and its share of every limit. */
export type Access = {
  account: string;
  /** The number of this quota shard; the states and keys of shard 0 are the valid ones. */
  shard: number;
  /** How many shards take requests: those from 0 to `shards` - 1. */
  shards: number;
  /** Whether the account is sharded: its limits are divided into shares, even while only one shard is left. */
  sharded: boolean;
  state: ShardState;
  plan: string;
  planState: PlanState;
  planVersion: number;
  /** The keys that were not revoked, in their stored form, by key id. */
  keys: Readonly<Record<string, Uint8Array>>;
  ownLimits: Limits;
  quota: QuotaState;
  /** Windows that the plan no longer configures. Requests still count in them, but are not limited by them. */
  dropped: Partial<Record<WindowName, { start: number; used: number }>>;
  /** The attempts that were counted here last. */
  attempts: readonly Uint8Array[];
  /** When the last of them was sent, in milliseconds since 1970, by the clock of the instance that sent it. */
  sent: number;
  /** Every lookup that was charged here, by day. */
  usage: UsageCount;
  /** Seconds since 1970. */
  created: number;
  /** On shard 0, counts administrative changes; on the others, the last of those that changed shares. */
  version: number;
  /** How often shares moved from or to this shard. */
  moves: number;
};

/** The most days in `days`, and counts of a key on a day, that fit the access item; others are recorded first. */
export const maxUnrecordedDays = 2;
export const maxKeyCounts = 12;

/** Whether the attempt with this id was counted on this item, and no more than a few others since. */
export function hasCounted({ attempts }: Access, id: Uint8Array): boolean {
  return attempts.some((counted) => Buffer.compare(counted, id) === 0);
}

/** Whether the day that is being counted has passed at `now`. A day in the future is the current one. */
export function dayHasPassed({ date }: UsageCount, now: number): boolean {
  return date < dateOf(Math.floor(now));
}

/** Whether there is no space left for another unrecorded day, on which all keys may be used. */
export function hasNoSpace({ usage: { days, byKey, daysByKey }, keys }: Pick<Access, 'usage' | 'keys'>): boolean {
  const counts = [byKey, ...Object.values(daysByKey)].flatMap(Object.keys).length;
  const isCrowded = counts > 0 && counts + Object.keys(keys).length > maxKeyCounts;
  return isCrowded || Object.keys(days).length >= maxUnrecordedDays;
}

/** Who made a request; `charged` if it consumed quota. */
export type Caller = {
  account: string;
  keyId: string;
  access: Access;
  charged?: { units: number };
  /** The label of the key, if the request reads it. Never logged. */
  label?: string;
};

/** `units` were requested, and `violated` has fewer left; `quota` is what the account has. */
export type QuotaExceeded = {
  code: 'quota-exceeded';
  units: number;
  violated: WindowName[];
  retryAfterSeconds: number;
  quota: QuotaState;
};

/** Why a request is refused, with what the caller may know about it. */
export type RefusalReason =
  | { code: 'unauthorized' }
  | { code: 'account-inactive' }
  | { code: 'plan-inactive' }
  | { code: 'invalid-input'; faults: (InputFault | BodyFault)[] }
  | QuotaExceeded
  | { code: 'temporarily-unavailable'; retryAfterSeconds: number };

export type RefusalCode = RefusalReason['code'];

/** An expected refusal: thrown where it is decided, rendered once at the edge. Anything else thrown is a 500. */
export class Refusal extends Error {
  override name = 'Refusal';
  readonly reason: RefusalReason;

  constructor(reason: RefusalReason, options?: ErrorOptions) {
    super(reason.code, options);
    this.reason = reason;
  }
}

/** The holder of `claim`, if `access` admits it at `now` (seconds); throws a `Refusal` otherwise. */
export function requireCaller(access: Access | undefined, claim: KeyClaim, now: number): Caller {
  return { account: claim.account, keyId: claim.keyId, access: requireAccess(access, claim, now) };
}

/** Returns the item if it admits `claim` at `now` (seconds), else throws a `Refusal`: that of a wrong key first. */
export function requireAccess(access: Access | undefined, claim: KeyClaim, now: number): Access {
  if (!access || !hasKey(access, claim, now)) throw new Refusal({ code: 'unauthorized' });
  if (access.state !== 'active') throw new Refusal({ code: 'account-inactive' });
  if (access.planState !== 'active') throw new Refusal({ code: 'plan-inactive' });
  return access;
}

/** Whether this shard takes the requests of `claim`: as `requireAccess`, for a shard that may not refuse by itself. */
export function admits(access: Access, claim: KeyClaim, now: number): boolean {
  const { state, planState, shard, shards } = access;
  return hasKey(access, claim, now) && state === 'active' && planState === 'active' && shard < shards;
}

function hasKey({ keys }: Access, claim: KeyClaim, now: number): boolean {
  const stored = Object.hasOwn(keys, claim.keyId) ? keys[claim.keyId] : undefined;
  return stored !== undefined && isValidKey(stored, claim, now);
}
