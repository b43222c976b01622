import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { auditAccount, createAccount, listAccounts, setAccount, setAccountState, showAccount } from './accounts.ts';
import { createKey, listKeys, revokeKey } from './keys.ts';
import { auditPlan, listPlans, putPlan } from './plans.ts';
import type { AdminStore } from './updates.ts';

export type AdminConfig = {
  client: DynamoDBDocumentClient;
  /** The accounts table. */
  table: string;
  /** Keys the checksum of new API keys: the same text that the Lambdas have, or what fetches it when a key is made. */
  checksumSecret: string | (() => Promise<string>);
  /** Who makes the changes, for their audit entries: an operator, or the person behind a portal's request. */
  actor?: string;
  /** Milliseconds since 1970. */
  now?: () => number;
};

export type Admin = ReturnType<typeof createAdmin>;

/**
 * Plans, accounts and keys, for the command line and for a customer portal. What a call returned has taken effect for
 * every request that starts after it. Each call may run beside any other and beside requests, may be run again after it
 * died, and throws `AdminError` when it refuses.
 */
export function createAdmin({ client, table, checksumSecret, actor = 'unknown', now = Date.now }: AdminConfig) {
  const store: AdminStore = { client, table, actor, now, nowSeconds: () => Math.floor(now() / 1000) };
  return {
    plans: {
      put: (input: Parameters<typeof putPlan>[1]) => putPlan(store, input),
      list: () => listPlans(store),
      audit: (code: string, last?: number) => auditPlan(store, code, last),
    },
    accounts: {
      create: (input: Parameters<typeof createAccount>[1]) => createAccount(store, input),
      set: (input: Parameters<typeof setAccount>[1]) => setAccount(store, input),
      suspend: (id: string) => setAccountState(store, id, 'suspended'),
      activate: (id: string) => setAccountState(store, id, 'active'),
      show: (id: string) => showAccount(store, id),
      list: () => listAccounts(store),
      audit: (id: string, last?: number) => auditAccount(store, id, last),
    },
    keys: {
      create: async (input: Parameters<typeof createKey>[2]) =>
        createKey(store, typeof checksumSecret === 'string' ? checksumSecret : await checksumSecret(), input),
      list: (account: string) => listKeys(store, account),
      revoke: (input: Parameters<typeof revokeKey>[1]) => revokeKey(store, input),
    },
  };
}
