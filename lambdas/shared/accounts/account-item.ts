import type { Item } from '../dynamodb.ts';
import { accountsTable } from '../tables.ts';
import { type KeyClaim, sameBytes } from './api-key.ts';
import { type QuotaState, type WindowCount, type WindowName, windowNames } from './quota.ts';
import { Refusal } from './refusal.ts';
import type { Shard } from './shards.ts';

/**
 * How the accounts table lays out an account. The access item is all that a request touches: one conditional write of
 * it is authentication, account state, plan state and quota at once. It must stay under 1 KB, so that a charge costs
 * one write unit; labels and revoked keys therefore live in a record a key.
 *
 * An account may have several quota shards: each is a whole access item with its own counts and its share of every
 * finite limit, and the shares add up to the limit (decision 0103). What shard 0 says of states and keys counts.
 *
 * | `account` | `item` | holds |
 * |---|---|---|
 * | account id | `access#0`, `access#1`, ... | an access item, one a quota shard |
 * | account id | `key#<key id>` | label, created, revoked |
 * | `plan#<code>` | `plan` | limits, state, version |
 */
export const accessItem = {
  sortKey: (shard = 0) => `access#${shard}`,
  /** What the sort keys of all shards begin with. */
  sortKeyPrefix: 'access#',
  /** How many shards take requests, on each of them; absent is 1. One from that number on is about to go. */
  shards: 'shards',
  /** How often shares moved from or to this shard; absent is 0. */
  moves: 'moves',
  state: 'state',
  plan: 'plan',
  planState: 'plan_state',
  /** The version of the plan whose limits this item carries. */
  planVersion: 'plan_version',
  /** Map of the active keys only: key id to the hash of the key, 16 bytes. */
  keys: 'keys',
  /** Map of window to the account's own limit, number or NULL; it goes before the plan's. */
  ownLimits: 'own_limits',
  /**
   * On shard 0: counts the admin module's changes, so that two of them can't overwrite each other. On the others: the
   * last of those changes that changed shares.
   */
  version: 'version',
  created: 'created',
  /** Absent when the plan does not configure the window; otherwise the start of the window being counted, in seconds. */
  start: (window: WindowName) => `${window}_start`,
  /** Units consumed since then. Meaningless while `start` is absent. */
  used: (window: WindowName) => `${window}_used`,
  /** The effective limit, or this shard's share of it; absent is unlimited. */
  limit: (window: WindowName) => `${window}_limit`,
  /** Where there are several shards: the effective limit of the account. */
  total: (window: WindowName) => `${window}_total`,
  /** Start of a window for which no shard has anything left, as far as this one knows (decision 0103). */
  dryAt: (window: WindowName) => `${window}_dry`,
} as const;

export const keyRecord = {
  sortKey: (keyId: string) => `key#${keyId}`,
  label: 'label',
  created: 'created',
  revoked: 'revoked',
} as const;

export const planRecord = {
  partitionKey: (code: string) => `${accountsTable.planPartitionPrefix}${code}`,
  sortKey: 'plan',
  /** Map of window to limit, number or NULL for unlimited. */
  limits: 'limits',
  state: 'state',
  version: 'version',
} as const;

export type AccountState = 'active' | 'suspended';
/** The state of a shard that is about to go: it takes no charge, and what it holds is moved to the others. */
export const closingState = 'closing';
export type PlanState = 'active' | 'inactive';

/** All that a request needs to know of an account, as one item of the store holds it. */
export type Access = {
  accountActive: boolean;
  planActive: boolean;
  planCode: string;
  /** The active keys: key id to hash. */
  keys: Readonly<Record<string, Uint8Array>>;
  quota: QuotaState;
  /** Which of the account's quota shards this item is, and how many take requests: from 0 to `shards` - 1. */
  shard: number;
  shards: number;
};

/** Whom a request acts for; `charged` if it consumed quota, with the windows that it restarted. */
export type Caller = { account: string; keyId: string; access: Access; charged?: { rolled: WindowName[] } };

/** The item, if it admits `claim`; throws a `Refusal` otherwise. A wrong key comes first: it learns nothing else. */
export function requireAccess(access: Access | undefined, claim: KeyClaim): Access {
  if (!access || !hasKey(access, claim)) throw new Refusal({ code: 'unauthorized' });
  if (!access.accountActive) throw new Refusal({ code: 'account-inactive' });
  if (!access.planActive) throw new Refusal({ code: 'plan-inactive' });
  return access;
}

/** Whether the item takes the requests of `claim`: as `requireAccess`, for a shard that must not be the one to refuse. */
export function admits(access: Access, claim: KeyClaim): boolean {
  const { accountActive, planActive, shard, shards } = access;
  return hasKey(access, claim) && accountActive && planActive && shard < shards;
}

function hasKey({ keys }: Access, { keyId, hash }: KeyClaim): boolean {
  const stored = Object.hasOwn(keys, keyId) ? keys[keyId] : undefined;
  return stored !== undefined && sameBytes(stored, hash);
}

/** Reads the access item of a shard, as `access-item.ts` lays it out. */
export function toAccess(item: Item, shard: number): Access {
  return {
    accountActive: item[accessItem.state] === 'active',
    planActive: item[accessItem.planState] === 'active',
    planCode: item[accessItem.plan],
    keys: item[accessItem.keys],
    quota: Object.fromEntries(windowNames.flatMap((window) => toWindowCount(item, window))),
    shard,
    shards: item[accessItem.shards] ?? 1,
  };
}

/** The same with what tells whether its shares changed. */
export function toShard(item: Item): Shard {
  const shard = Number(String(item[accountsTable.sortKey]).slice(accessItem.sortKeyPrefix.length));
  return { ...toAccess(item, shard), version: item[accessItem.version], moves: item[accessItem.moves] ?? 0 };
}

function toWindowCount(item: Item, window: WindowName): [WindowName, WindowCount][] {
  const start: number | undefined = item[accessItem.start(window)];
  if (start === undefined) return [];
  const count: WindowCount = {
    start,
    used: item[accessItem.used(window)],
    limit: item[accessItem.limit(window)] ?? null,
  };
  const total: number | undefined = item[accessItem.total(window)];
  if (total !== undefined) {
    count.total = total;
    const dryAt: number | undefined = item[accessItem.dryAt(window)];
    if (dryAt !== undefined) count.dryAt = dryAt;
  }
  return [[window, count]];
}
