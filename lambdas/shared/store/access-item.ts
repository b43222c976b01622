import type { WindowName } from '../domain/window.ts';

/**
 * How the accounts table lays out an account. The access item is all that a request touches: one conditional write of
 * it is authentication, account state, plan state and quota at once. It must stay under 1 KB, so that a charge costs
 * one write unit; labels and revoked keys therefore live in a record a key.
 *
 * | `account` | `item` | holds |
 * |---|---|---|
 * | account id | `access#0` | the access item; `#0` is the quota shard |
 * | account id | `key#<key id>` | label, created, revoked |
 * | `plan#<code>` | `plan` | limits, state, version |
 */
export const accessItem = {
  sortKey: (shard = 0) => `access#${shard}`,
  state: 'state',
  plan: 'plan',
  planState: 'plan_state',
  /** The version of the plan whose limits this item carries. */
  planVersion: 'plan_version',
  /** Map of the active keys only: key id to the hash of the key, 16 bytes. */
  keys: 'keys',
  /** Map of window to the account's own limit, number or NULL; it goes before the plan's. */
  ownLimits: 'own_limits',
  /** Counts the admin module's changes, so that two of them can't overwrite each other. */
  version: 'version',
  created: 'created',
  /** Absent when the plan does not configure the window; otherwise the start of the window being counted, in seconds. */
  start: (window: WindowName) => `${window}_start`,
  /** Units consumed since then. Meaningless while `start` is absent. */
  used: (window: WindowName) => `${window}_used`,
  /** The effective limit; absent is unlimited. */
  limit: (window: WindowName) => `${window}_limit`,
} as const;

export const keyRecord = {
  sortKey: (keyId: string) => `key#${keyId}`,
  label: 'label',
  created: 'created',
  revoked: 'revoked',
} as const;

export const planRecord = {
  partitionKey: (code: string) => `plan#${code}`,
  sortKey: 'plan',
  /** Map of window to limit, number or NULL for unlimited. */
  limits: 'limits',
  state: 'state',
  version: 'version',
} as const;

export type AccountState = 'active' | 'suspended';
export type PlanState = 'active' | 'inactive';
