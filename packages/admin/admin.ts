import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import type { Plan } from '../../core/accounts/account.ts';
import { revokeKey } from '../../core/accounts/admin/active-keys.ts';
import type { Role } from '../../core/accounts/admin/admin-error.ts';
import { type AdminChange, createAdminStore, type PageOptions } from '../../core/accounts/admin/admin-store.ts';
import {
  type AuditEntry,
  type AuditPage,
  type AuditPageOptions,
  auditOf,
  auditPageOf,
} from '../../core/accounts/admin/audit.ts';
import { deleteAccount } from '../../core/accounts/admin/delete-account.ts';
import { type KeyView, listKeys } from '../../core/accounts/admin/key-views.ts';
import {
  createKey,
  type KeyInput,
  type RotatedKey,
  type RotationInput,
  renameKey,
  rotateKey,
} from '../../core/accounts/admin/keys.ts';
import {
  accountsOf,
  addMember,
  listMembers,
  type MemberView,
  removeMember,
  roleIn,
} from '../../core/accounts/admin/members.ts';
import { type AccountUsage, usageOf } from '../../core/accounts/admin/usage.ts';
import {
  eachUsage,
  type ListedUsage,
  type UsagePage,
  type UsagePageOptions,
  type UsagePart,
  usageOfAll,
  usagePage,
  usageParts,
} from '../../core/accounts/admin/usage-pages.ts';
import { firstKeptDay, readRetention, type UsageRange } from '../../core/accounts/admin/usage-range.ts';
import { type AccountView, showAccount } from './account-views.ts';
import {
  type AccountChanges,
  type AccountInput,
  auditAccount,
  auditAccountPage,
  createAccount,
  type RepairedWindow,
  repairWindows,
  setAccount,
  setAccountState,
} from './accounts.ts';
import { type Backup, exportBackup, type ImportResult, importBackup } from './backup.ts';
import { beginPlan, followPlan, type PlanProgress, putPlan } from './change-plan.ts';
import { type AccountPage, type AccountPageOptions, countByPlan, listAccounts } from './list-accounts.ts';
import { auditPlan, auditPlanPage, listPlans, type PlanInput, type PlanPage } from './plans.ts';
import {
  confirmSession,
  endSession,
  endSessions,
  findSession,
  isSessionOpen,
  listSessions,
  noteRefusal,
  type SessionDetails,
  type SessionPage,
  type SessionScope,
  type SessionView,
  signInPartition,
  startSession,
} from './sessions.ts';
import { type UsageByKey, usageByKey } from './usage-by-key.ts';

/** What `createAdmin` needs. */
export type AdminConfig = {
  client: DynamoDBDocumentClient;
  /** The accounts table. */
  table: string;
  /**
   * The secret of the checksum of API keys: a function that reads it, called for each key that is created. A text stays
   * the same until the process ends: keys that it issues after a rotation would be refused when the rotation ends.
   */
  checksumSecret: string | (() => Promise<string>);
  /** Who makes the changes, for the audit: an operator, or the user of a portal. */
  actor?: string | undefined;
  /** Milliseconds since 1970. */
  now?: (() => number) | undefined;
  /** Is told each change that was made, to send an event for instance (`announceWith`). Its failure changes nothing. */
  announce?: ((change: AdminChange) => Promise<void>) | undefined;
};

/** The calls of the admin module. `AdminRefusals` has the codes that each of them can refuse with. */
export type Admin = {
  plans: {
    /** Creates or changes a plan; every account on it follows when this returns. */
    put(input: PlanInput): Promise<Plan & { followed: number }>;
    /** The same, but returns before its accounts follow: call `follow` until it is done. */
    begin(input: PlanInput): Promise<Plan>;
    /** Brings a change to the next 1,000 accounts of the service; what was interrupted goes on. */
    follow(code: string, options?: { accounts?: number | undefined }): Promise<PlanProgress>;
    /** A page of the plans, by code; `change` is how far one has come that accounts still follow. */
    list(options?: PageOptions): Promise<PlanPage>;
    /** How many accounts are on each plan, by its code. */
    counts(): Promise<Record<string, number>>;
    /** The changes of a plan, newest first; 100 entries by default. */
    audit(code: string, last?: number): Promise<AuditEntry[]>;
    /** A page of them. */
    auditPage(code: string, options?: AuditPageOptions): Promise<AuditPage>;
  };
  accounts: {
    /** Creates an active account on a plan. */
    create(input: AccountInput): Promise<AccountView>;
    /** Changes plan, own limits or quota shards; usage is kept. */
    set(input: AccountChanges & { id: string }): Promise<AccountView>;
    /** Refuses the requests of an account from the next one on, until it is activated. */
    suspend(id: string): Promise<AccountView>;
    /** Lifts a suspension, from the next request on. */
    activate(id: string): Promise<AccountView>;
    /** Resets windows that a wrong clock has left in the future, and returns those. */
    repairWindows(id: string): Promise<RepairedWindow[]>;
    /** State, plan, limit and use of each window, and keys. */
    show(id: string): Promise<AccountView>;
    /** A page of the accounts, by id; all of them, or those that a text is found in. */
    list(options?: AccountPageOptions): Promise<AccountPage>;
    /** Permanently deletes a suspended account and its keys. */
    delete(id: string): Promise<void>;
    /** The lookups of an account for each UTC day of a range, exactly as charged, also of a deleted account. */
    usage(id: string, range?: UsageRange): Promise<AccountUsage>;
    /** The same by key, the most used one first. */
    usageByKey(id: string, range?: UsageRange): Promise<UsageByKey>;
    /** A page of the usage of all accounts, by id; of deleted ones too, if they have lookups in the range. */
    usagePage(options?: UsagePageOptions): Promise<UsagePage>;
    /** The same, one account after the other, with a few of them in memory; of all accounts or of a part of them. */
    eachUsage(range?: UsageRange & UsagePart): AsyncGenerator<ListedUsage>;
    /** The parts that all accounts come in, of so many each: for files of a size that a page can return. */
    usageParts(accounts: number): Promise<UsagePart[]>;
    /** The same in one list: for few accounts. */
    usageOfAll(range?: UsageRange): Promise<ListedUsage[]>;
    /** The first day whose usage is still kept, `2024-10-01`. */
    usageKeptSince(): Promise<string>;
    /** The changes of an account and its keys, newest first; 100 entries by default. */
    audit(id: string, last?: number): Promise<AuditEntry[]>;
    /** A page of them. */
    auditPage(id: string, options?: AuditPageOptions): Promise<AuditPage>;
  };
  backup: {
    /** Every plan and account, for `import` into another table. Scans the whole table. */
    export(): Promise<Backup>;
    /** Creates the plans and accounts of a backup; those that exist and are equal stay. */
    import(backup: Backup, options?: { checkOnly?: boolean | undefined }): Promise<ImportResult>;
  };
  keys: {
    /** Creates a key, which works when this returns. `key` is its only copy. */
    create(input: KeyInput): Promise<{ key: string; keyId: string }>;
    /** Replaces a key: the new one works when this returns, the old one until `ends`. */
    rotate(input: RotationInput): Promise<RotatedKey>;
    /** The keys of an account, expired and revoked ones too, the oldest first. */
    list(account: string): Promise<KeyView[]>;
    /** Gives a key another label. */
    rename(input: { account: string; keyId: string; label: string }): Promise<KeyView>;
    /** Permanently revokes a key: every request that starts after this has returned is refused. */
    revoke(input: { account: string; keyId: string }): Promise<KeyView>;
  };
  members: {
    /** Makes a person a member of an account, or gives a member another role. */
    add(input: { account: string; person: string; role: Role }): Promise<MemberView>;
    /** Removes a member: the next request of that person is refused. */
    remove(input: { account: string; person: string }): Promise<void>;
    /** The members of an account, by person. */
    list(account: string): Promise<MemberView[]>;
    /** The highest role that an account gives to one of `people`, who are one person signing in, or `null`. */
    roleIn(account: string, people: readonly string[]): Promise<Role | null>;
    /** The accounts that one of `people` is a member of; all of them are the same person signing in. */
    accountsOf(people: readonly string[]): Promise<{ account: string; role: Role }[]>;
  };
  sessions: {
    /** Starts a session of a person that ends after `seconds`, and returns its id: a secret of that browser. */
    start(person: string, seconds: number, details?: SessionDetails): Promise<string>;
    /** Who has a session, or `null` if it has expired or was ended. */
    find(id: string): Promise<SessionView | null>;
    /** Records that the provider confirmed the person of a session, with new claims; `false` if not theirs. */
    confirm(id: string, person: string, details?: SessionDetails): Promise<boolean>;
    /** Whether a session was started, has not expired and has not been ended. */
    isOpen(person: string, id: string): Promise<boolean>;
    /** Ends a session of a person: the next request with it is refused. */
    end(person: string, id: string): Promise<void>;
    /** Ends every session of a person, of the members of an account, or all, and returns how many. */
    endAll(scope: SessionScope): Promise<number>;
    /** The open sessions; everybody's by page. */
    list(scope: SessionScope, options?: { cursor?: string | undefined }): Promise<SessionPage>;
    /** Records a sign-in that the portal refused. */
    refuse(refusal: { reason: string; identity: string }): Promise<void>;
    /** Sign-ins, refusals and endings, newest first; 100 entries by default. They are kept for 400 days. */
    audit(last?: number): Promise<AuditEntry[]>;
    /** A page of them. */
    auditPage(options?: AuditPageOptions): Promise<AuditPage>;
  };
};

/**
 * Plans, accounts and keys, for the command line and for a customer portal. A call has taken effect for every request
 * that starts after it returned. Calls may run concurrently with each other and with requests, and may be repeated
 * after an interruption; a refusal is thrown as `AdminError`.
 * @throws TypeError for a client of another copy of the AWS SDK
 */
export function createAdmin({
  client,
  table,
  checksumSecret,
  actor = 'unknown',
  now = Date.now,
  announce,
}: AdminConfig): Admin {
  // Commands of one copy of the SDK can fail on the client of another copy, in different ways: refuse this before any
  // write.
  if (!(client instanceof DynamoDBDocumentClient)) {
    throw new TypeError(
      'The client is not a DynamoDBDocumentClient of the @aws-sdk/lib-dynamodb that the admin module imports. Create it ' +
        'with DynamoDBDocumentClient.from(). If you did, two copies are installed: "npm ls @aws-sdk/lib-dynamodb" shows them.',
    );
  }
  const store = createAdminStore(client, table, actor, now, announce);
  const secretNow = async () => (typeof checksumSecret === 'string' ? checksumSecret : checksumSecret());
  return {
    plans: {
      put: (input) => putPlan(store, input),
      begin: (input) => beginPlan(store, input),
      follow: (code, options) => followPlan(store, code, options?.accounts),
      list: (options) => listPlans(store, options),
      counts: () => countByPlan(store),
      audit: (code, last) => auditPlan(store, code, last),
      auditPage: (code, options) => auditPlanPage(store, code, options),
    },
    accounts: {
      create: (input) => createAccount(store, input),
      set: (input) => setAccount(store, input),
      suspend: (id) => setAccountState(store, id, 'suspended'),
      activate: (id) => setAccountState(store, id, 'active'),
      repairWindows: (id) => repairWindows(store, id),
      show: (id) => showAccount(store, id),
      list: (options) => listAccounts(store, options),
      delete: (id) => deleteAccount(store, id),
      usage: (id, range) => usageOf(store, id, range),
      usageByKey: (id, range) => usageByKey(store, id, range),
      usagePage: (options) => usagePage(store, options),
      eachUsage: (range) => eachUsage(store, range),
      usageParts: (accounts) => usageParts(store, accounts),
      usageOfAll: (range) => usageOfAll(store, range),
      usageKeptSince: async () => firstKeptDay((await readRetention(store)).months, store.nowSeconds()),
      audit: (id, last) => auditAccount(store, id, last),
      auditPage: (id, options) => auditAccountPage(store, id, options),
    },
    backup: {
      export: () => exportBackup(store),
      import: (backup, options) => importBackup(store, backup, options),
    },
    keys: {
      create: async (input) => createKey(store, await secretNow(), input),
      rotate: async (input) => rotateKey(store, await secretNow(), input),
      list: (account) => listKeys(store, account),
      rename: (input) => renameKey(store, input),
      revoke: (input) => revokeKey(store, input),
    },
    members: {
      add: (input) => addMember(store, input),
      remove: (input) => removeMember(store, input),
      list: (account) => listMembers(store, account),
      roleIn: (account, people) => roleIn(store, account, people),
      accountsOf: (people) => accountsOf(store, people),
    },
    sessions: {
      start: (person, seconds, details) => startSession(store, person, seconds, details),
      find: (id) => findSession(store, id),
      confirm: (id, person, details) => confirmSession(store, id, person, details),
      isOpen: (person, id) => isSessionOpen(store, person, id),
      end: (person, id) => endSession(store, person, id),
      endAll: (scope) => endSessions(store, scope),
      list: (scope, options) => listSessions(store, scope, options),
      refuse: (refusal) => noteRefusal(store, refusal),
      audit: (last = 100) => auditOf(store, signInPartition, last),
      auditPage: (options) => auditPageOf(store, signInPartition, options),
    },
  };
}
