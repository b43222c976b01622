import type { WindowName } from '../domain/window.ts';
import { accountsTable } from '../tables.ts';

/**
 * How the accounts table lays out an account. The access item is all that a request touches: one conditional write of
 * it is authentication, account state, plan state and quota at once. It must stay under 1 KB, so that a charge costs
 * one write unit; labels and revoked keys therefore live in a record a key.
 *
 * An account may have several quota shards: each is a whole access item with its own counts and its share of every
 * finite limit, and the shares add up to the limit (decision 0080). What shard 0 says of states and keys counts.
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
  /** Start of a window for which no shard has anything left, as far as this one knows (decision 0081). */
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
