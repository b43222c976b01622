import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import type { PageOptions } from './account-index.ts';
import {
  auditAccount,
  createAccount,
  listAccounts,
  repairWindows,
  setAccount,
  setAccountState,
  showAccount,
} from './accounts.ts';
import { createAdminStore } from './admin-store.ts';
import { type Backup, exportBackup, importBackup } from './backup.ts';
import { deleteAccount } from './delete-account.ts';
import { createKey, listKeys, revokeKey } from './keys.ts';
import { accountsOf, addMember, listMembers, removeMember, roleIn } from './members.ts';
import { auditPlan, listPlans, putPlan } from './plans.ts';
import { endSession, isSessionOpen, startSession } from './sessions.ts';
import { type UsageRange, usageOf, usageOfAll } from './usage.ts';

export type AdminConfig = {
  client: DynamoDBDocumentClient;
  /** The accounts table. */
  table: string;
  /** The secret of the checksum of API keys: the same text that the Lambdas have, or a function that fetches it. */
  checksumSecret: string | (() => Promise<string>);
  /** Who makes the changes, for the audit: an operator, or the user of a portal. */
  actor?: string;
  /** Milliseconds since 1970. */
  now?: () => number;
};

export type Admin = ReturnType<typeof createAdmin>;

/**
 * Plans, accounts and keys, for the command line and for a customer portal. A call has taken effect for every request that
 * starts after it returned. Calls may run concurrently with each other and with requests, and may be run again after they
 * died; a refusal is thrown as `AdminError`.
 */
export function createAdmin({ client, table, checksumSecret, actor = 'unknown', now = Date.now }: AdminConfig) {
  const store = createAdminStore(client, table, actor, now);
  return {
    plans: {
      put: (input: Parameters<typeof putPlan>[1]) => putPlan(store, input),
      list: (options?: PageOptions) => listPlans(store, options),
      audit: (code: string, last?: number) => auditPlan(store, code, last),
    },
    accounts: {
      create: (input: Parameters<typeof createAccount>[1]) => createAccount(store, input),
      set: (input: Parameters<typeof setAccount>[1]) => setAccount(store, input),
      suspend: (id: string) => setAccountState(store, id, 'suspended'),
      activate: (id: string) => setAccountState(store, id, 'active'),
      repairWindows: (id: string) => repairWindows(store, id),
      show: (id: string) => showAccount(store, id),
      list: (options?: PageOptions) => listAccounts(store, options),
      delete: (id: string) => deleteAccount(store, id),
      usage: (id: string, range?: UsageRange) => usageOf(store, id, range),
      usageOfAll: (range?: UsageRange) => usageOfAll(store, range),
      audit: (id: string, last?: number) => auditAccount(store, id, last),
    },
    backup: {
      export: () => exportBackup(store),
      import: (backup: Backup, options?: { checkOnly?: boolean }) => importBackup(store, backup, options),
    },
    keys: {
      create: async (input: Parameters<typeof createKey>[2]) =>
        createKey(store, typeof checksumSecret === 'string' ? checksumSecret : await checksumSecret(), input),
      list: (account: string) => listKeys(store, account),
      revoke: (input: Parameters<typeof revokeKey>[1]) => revokeKey(store, input),
    },
    members: {
      add: (input: Parameters<typeof addMember>[1]) => addMember(store, input),
      remove: (input: Parameters<typeof removeMember>[1]) => removeMember(store, input),
      list: (account: string) => listMembers(store, account),
      roleIn: (account: string, people: readonly string[]) => roleIn(store, account, people),
      accountsOf: (people: readonly string[]) => accountsOf(store, people),
    },
    sessions: {
      start: (person: string, seconds: number) => startSession(store, person, seconds),
      isOpen: (person: string, id: string) => isSessionOpen(store, person, id),
      end: (person: string, id: string) => endSession(store, person, id),
    },
  };
}
