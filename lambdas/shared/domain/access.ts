import { type KeyClaim, sameBytes } from './api-key.ts';
import type { QuotaState } from './quota.ts';
import { Refusal } from './refusal.ts';
import type { WindowName } from './window.ts';

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
