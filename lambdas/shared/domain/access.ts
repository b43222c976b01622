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
};

/** Whom a request acts for; `charged` if it consumed quota, with the windows that it restarted. */
export type Caller = { account: string; keyId: string; access: Access; charged?: { rolled: WindowName[] } };

/** The item, if it admits `claim`; throws a `Refusal` otherwise. A wrong key comes first: it learns nothing else. */
export function requireAccess(access: Access | undefined, claim: KeyClaim): Access {
  const hash = access && Object.hasOwn(access.keys, claim.keyId) ? access.keys[claim.keyId] : undefined;
  if (!access || !hash || !sameBytes(hash, claim.hash)) throw new Refusal({ code: 'unauthorized' });
  if (!access.accountActive) throw new Refusal({ code: 'account-inactive' });
  if (!access.planActive) throw new Refusal({ code: 'plan-inactive' });
  return access;
}
