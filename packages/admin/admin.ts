import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import {
  accountsOf,
  addMember,
  listMembers,
  removeMember,
  roleIn,
} from './accounts/account-members.ts';
import {
  auditPartitionOfAccount,
  createAccount,
  setAccount,
  setAccountState,
  showAccount,
} from './accounts/accounts.ts';
import { type AdminChange, type AdminStore, createAdminStore } from './accounts/admin-store.ts';
import { checkArguments } from './accounts/arguments.ts';
import { type AuditPageOptions, auditPageOf } from './accounts/audit-log.ts';
import { exportBackup, importBackup } from './accounts/backup.ts';
import { deleteAccount } from './accounts/delete-account.ts';
import { findKeys } from './accounts/find-keys.ts';
import { createKey, limitKey, listKeys, renameKey, revokeKey, rotateKey } from './accounts/keys.ts';
import { listAccounts } from './accounts/list-accounts.ts';
import {
  auditPartitionOfPlan,
  beginPlan,
  followPlan,
  listPlans,
  putPlan,
} from './accounts/plans.ts';
import { countByPlan } from './accounts/search.ts';
import {
  confirmSession,
  endSession,
  endSessions,
  findSession,
  listSessions,
  noteRefusal,
  signInPartition,
  startSession,
} from './accounts/sessions.ts';
import { eachUsage, usageByKey, usageKeptSince, usageOf, usageParts } from './accounts/usage.ts';

export type AdminConfig = {
  client: DynamoDBDocumentClient;
  /** The accounts table. */
  table: string;
  /** Who makes the changes, for the audit: an operator, or the user of a portal. */
  actor?: string | undefined;
  /** Milliseconds since 1970. */
  now?: (() => number) | undefined;
  /**
   * Is told each change that was made, to send an event for instance (`announceWith`). Its failure
   * changes nothing.
   */
  announce?: ((change: AdminChange) => Promise<void>) | undefined;
};

/** The calls of the admin module. `AdminRefusals` lists the refusal codes of each call. */
export type Admin = ReturnType<typeof createAdmin>;

/**
 * Plans, accounts and keys, for the command line and for a customer portal. A call has taken effect
 * for every request that starts after it returned. Calls may run concurrently with each other and
 * with requests, and may be repeated after an interruption; a refusal is thrown as `AdminError`.
 * @throws TypeError for a client of another copy of the AWS SDK
 */
export function createAdmin({
  client,
  table,
  actor = 'unknown',
  now = Date.now,
  announce,
}: AdminConfig) {
  // Commands of one copy of the SDK can fail on the client of another copy, in different ways:
  // refuse this before any write.
  if (!(client instanceof DynamoDBDocumentClient)) {
    throw new TypeError(
      'The client is not a DynamoDBDocumentClient of the @aws-sdk/lib-dynamodb that the admin module imports. Create it ' +
        'with DynamoDBDocumentClient.from(). If you did, two copies are installed: "npm ls @aws-sdk/lib-dynamodb" shows them.',
    );
  }
  const store = createAdminStore(client, table, actor, now, announce);
  const on =
    <Given extends unknown[], Result>(call: (store: AdminStore, ...given: Given) => Result) =>
    (...given: Given): Result =>
      call(store, ...given);
  return {
    plans: checkArguments('plans', {
      /** Creates or changes a plan; every account on it follows when this returns. */
      put: on(putPlan),
      /** The same, but returns before its accounts follow: call `follow` until it is done. */
      begin: on(beginPlan),
      /**
       * Brings a change to the next 1,000 accounts of the service, continuing an interrupted
       * change.
       */
      follow: on(followPlan),
      /**
       * A page of the plans, by code; `change` is how far one has come that accounts still follow.
       */
      list: on(listPlans),
      /** How many accounts are on each plan, by its code. */
      counts: on(countByPlan),
      /** A page of the changes of a plan, newest first. */
      audit: async (code: string, options?: AuditPageOptions) =>
        auditPageOf(store, await auditPartitionOfPlan(store, code), options),
    }),
    accounts: checkArguments('accounts', {
      /** Creates an active account on a plan. */
      create: on(createAccount),
      /** Changes plan, own limits or details; usage is kept. */
      set: on(setAccount),
      /** Refuses the requests of an account from the next one on, until it is activated. */
      suspend: (id: string) => setAccountState(store, id, 'suspended'),
      /** Lifts a suspension, from the next request on. */
      activate: (id: string) => setAccountState(store, id, 'active'),
      /** State, plan, limit and use of each window, and keys. */
      show: on(showAccount),
      /** A page of the accounts, by id: all accounts, or the accounts that contain a text. */
      list: on(listAccounts),
      /** Permanently deletes a suspended account and its keys. */
      delete: on(deleteAccount),
      /**
       * The lookups of an account for each UTC day of a range, exactly as charged, also of a
       * deleted account.
       */
      usage: on(usageOf),
      /** The same by key, the most used one first. */
      usageByKey: on(usageByKey),
      /**
       * The usage of all or some accounts, by id, one after the other, including deleted accounts
       * with lookups.
       */
      eachUsage: on(eachUsage),
      /**
       * The parts that all accounts come in, of so many each: for files of a size that a page can
       * return.
       */
      usageParts: on(usageParts),
      /** The first day that can have usage, for all accounts or for one, `2024-10-01`. */
      usageKeptSince: on(usageKeptSince),
      /** A page of the changes of an account and its keys, newest first. */
      audit: async (id: string, options?: AuditPageOptions) =>
        auditPageOf(store, await auditPartitionOfAccount(store, id), options),
    }),
    backup: checkArguments('backup', {
      /** Every plan and account, for `import` into another table. Scans the whole table. */
      export: on(exportBackup),
      /** Creates the plans and accounts of a backup; equal existing items stay. */
      import: on(importBackup),
    }),
    keys: checkArguments('keys', {
      /** Creates a key, which works when this returns. `key` is its only copy. */
      create: on(createKey),
      /** Replaces a key: the new one works when this returns, the old one until `ends`. */
      rotate: on(rotateKey),
      /** The keys of an account, expired and revoked ones too, the oldest first. */
      list: on(listKeys),
      /**
       * The keys that a text may be: a whole key, which is neither kept nor repeated, or the id of
       * one.
       */
      find: on(findKeys),
      /** Gives a key another label. */
      rename: on(renameKey),
      /** Sets the most lookups of a key in a UTC day, or removes that limit with `null`. */
      set: on(limitKey),
      /**
       * Permanently revokes a key: every request that starts after this has returned is refused.
       */
      revoke: on(revokeKey),
    }),
    members: checkArguments('members', {
      /** Makes a person a member of an account, or gives a member another role. */
      add: on(addMember),
      /** Removes a member: the next request of that person is refused. */
      remove: on(removeMember),
      /** The members of an account, by person. */
      list: on(listMembers),
      /**
       * The highest role that an account gives to one of `people`, who are one person signing in,
       * or `null`.
       */
      roleIn: on(roleIn),
      /** The accounts with any of `people`, the names of one person signing in, as a member. */
      accountsOf: on(accountsOf),
    }),
    sessions: checkArguments('sessions', {
      /**
       * Starts a session of a person that ends after `seconds`, and returns its id: a secret of
       * that browser.
       */
      start: on(startSession),
      /** Who has a session, or `null` if it has expired or was ended. */
      find: on(findSession),
      /**
       * Records that the provider confirmed the person of a session, with new claims; `false` if
       * not theirs.
       */
      confirm: on(confirmSession),
      /** Ends a session of a person: the next request with it is refused. */
      end: on(endSession),
      /**
       * Ends every session of a person, of the members of an account, or all, and returns how many.
       */
      endAll: on(endSessions),
      /** The open sessions; everybody's by page. */
      list: on(listSessions),
      /** Records a sign-in that the portal refused. */
      refuse: on(noteRefusal),
      /** A page of the sign-ins, refusals and endings, newest first. They are kept for 400 days. */
      audit: (options?: AuditPageOptions) => auditPageOf(store, signInPartition, options),
    }),
  };
}
