import { forEachConcurrently } from '../concurrency.ts';
import type { Item } from '../dynamodb.ts';
import type { Plan } from './account.ts';
import { accessItem, newAccessItem } from './account-item.ts';
import { creation, setAccount } from './accounts.ts';
import {
  AdminError,
  checkAccountId,
  checkKeyId,
  checkLimits,
  checkOwnLimits,
  checkPerson,
  checkPlanCode,
  checkRole,
  checkShards,
} from './admin-error.ts';
import { type AdminStore, retryConflicts } from './admin-store.ts';
import { audited } from './audit.ts';
import { type AccountBackup, type Backup, exportBackup } from './backup.ts';
import { keyRecordItem } from './key-record.ts';
import { type MemberBackup, memberItems, normalizedPerson } from './members.ts';
import { getPlan, putPlan } from './plans.ts';
import type { Limits, WindowName } from './quota.ts';
import { checkDate } from './usage.ts';
import { restoreDay } from './usage-record.ts';
import { windowChanges } from './window-changes.ts';

/**
 * How many plans and accounts an import created, with how many members and days of usage these have, and how many plans and
 * accounts were there already, equal to the backup.
 */
export type ImportResult = { plans: number; accounts: number; members: number; days: number; unchanged: number };

/** How many accounts are created at the same time. */
const concurrency = 16;

/**
 * Creates the plans and accounts of a backup that the table does not have. It never changes what exists: it skips what
 * equals the backup, so an interrupted import can be run again, and imports nothing if anything differs. Throws
 * `invalid`, `not_found` (a plan), `exists`, `conflict`.
 */
export async function importBackup(
  store: AdminStore,
  backup: Backup,
  { checkOnly = false }: { checkOnly?: boolean | undefined } = {},
): Promise<ImportResult> {
  checkBackup(backup);
  const existing = await exportBackup(store);
  const plans = missingOf('Plan', backup.plans, existing.plans, ({ code }) => code, planText);
  const accounts = missingOf('Account', backup.accounts, existing.accounts, ({ id }) => id, accountText);
  const codes = new Set([...backup.plans, ...existing.plans].map(({ code }) => code));
  for (const { id, plan } of accounts) {
    if (!codes.has(plan))
      throw new AdminError('not_found', `Account "${id}" is on plan "${plan}", which does not exist.`);
  }
  const unchanged = backup.plans.length + backup.accounts.length - plans.length - accounts.length;
  const count = (of: (account: AccountBackup) => readonly unknown[] | undefined) =>
    accounts.reduce((sum, account) => sum + (of(account)?.length ?? 0), 0);
  const result = {
    plans: plans.length,
    accounts: accounts.length,
    members: count(({ members }) => members),
    days: count(({ days }) => days),
    unchanged,
  };
  if (checkOnly) return result;

  for (const plan of plans) await putPlan(store, plan);
  await forEachConcurrently(accounts, concurrency, (account) => importAccount(store, account));
  // An interrupted import may have left an account with fewer quota shards.
  const shardsOf = new Map(existing.accounts.map(({ id, shards }) => [id, shards]));
  for (const { id, shards } of backup.accounts) {
    if (shards !== (shardsOf.get(id) ?? 1)) await setAccount(store, { id, shards });
  }
  return result;
}

/** Before usage was counted, accounts could have this many active keys; they keep them. */
const mostKeys = 15;

function checkBackup({ plans, accounts }: Backup): void {
  for (const { code, limits } of plans) {
    checkPlanCode(code);
    checkLimits(limits);
  }
  for (const { id, plan, ownLimits, shards, keys, members = [], days = [] } of accounts) {
    checkAccountId(id);
    checkPlanCode(plan);
    checkOwnLimits(ownLimits);
    checkShards(shards);
    for (const { keyId } of keys) checkKeyId(keyId);
    for (const { person, role } of members) {
      checkPerson(person);
      checkRole(role);
    }
    for (const { date } of days) checkDate('date', date);
    if (keys.filter(({ hash }) => hash !== null).length <= mostKeys) continue;
    throw new AdminError('too_many_keys', `Account "${id}" has more than ${mostKeys} active keys.`);
  }
  for (const [what, names] of [
    ['Plan', plans.map(({ code }) => code)],
    ['Account', accounts.map(({ id }) => id)],
  ] as const) {
    const seen = new Set<string>();
    const twice = names.find((name) => seen.size === seen.add(name).size);
    if (twice !== undefined) throw new AdminError('invalid', `${what} "${twice}" is in the backup twice.`);
  }
}

/** Those of `wanted` that are not among `existing`. @throws AdminError `exists` when one exists and differs */
function missingOf<T>(
  what: string,
  wanted: readonly T[],
  existing: readonly T[],
  nameOf: (item: T) => string,
  textOf: (item: T) => string,
): T[] {
  const texts = new Map(existing.map((item) => [nameOf(item), textOf(item)]));
  const other = wanted.find((item) => texts.has(nameOf(item)) && texts.get(nameOf(item)) !== textOf(item));
  if (other === undefined) return wanted.filter((item) => !texts.has(nameOf(item)));
  throw new AdminError(
    'exists',
    `${what} "${nameOf(other)}" exists and differs from the backup; nothing was imported. Import into another table, or ` +
      'make the two equal first.',
  );
}

function planText({ code, state, limits }: Plan): string {
  return JSON.stringify([code, state, Object.entries(limits).toSorted()]);
}

/** Without what changes by itself (usage), what others change (members), and what an interrupted import has yet to do (shards). */
function accountText({ id, state, plan, ownLimits, created, keys }: AccountBackup): string {
  const keyTexts = keys.map(({ keyId, label, created, revoked, hash }) => {
    return [keyId, label, created, revoked, hash && Buffer.from(hash).toString('hex')].join();
  });
  return JSON.stringify([id, state, plan, Object.entries(ownLimits).toSorted(), created, keyTexts.toSorted()]);
}

async function importAccount(store: AdminStore, account: AccountBackup): Promise<void> {
  const { id, plan, keys, members = [], days = [] } = account;
  const detail = { plan, keys: keys.length, members: members.length, days: days.length };
  await audited(store, { partition: id, action: 'account import', detail }, async () => {
    // Records are written first: an active key always has one, so it can be found and revoked.
    for (const key of keys) await store.put(keyRecordItem(id, key));
    // So do members and days: where the account exists, all that it had is there, and an import may skip it.
    for (const item of members.flatMap((member) => memberItems(id, normalized(member)))) await store.put(item);
    for (const day of days) await store.update(restoreDay(store.table, id, day));
    await retryConflicts(async () => {
      const current = await getPlan(store, plan);
      const item = accountItem(
        account,
        current.limits,
        newAccessItem(id, { plan: current, ownLimits: account.ownLimits }, account.created),
      );
      await store.writeAll(creation(store, current, item));
    });
  });
}

function normalized(member: MemberBackup): MemberBackup {
  return { ...member, person: normalizedPerson(member.person) };
}

function accountItem({ state, ownLimits, created, usage, keys }: AccountBackup, limits: Limits, item: Item): Item {
  const active = keys.flatMap(({ keyId, hash }) => (hash === null ? [] : [[keyId, hash] as const]));
  const windows = windowChanges({ quota: {}, dropped: {} }, limits, ownLimits, created).changes.set;
  for (const [window, count] of Object.entries(usage) as [WindowName, { start: number; used: number }][]) {
    const start = limits[window] === undefined ? accessItem.dropped(window) : accessItem.start(window);
    windows[start] = count.start;
    windows[accessItem.used(window)] = count.used;
  }
  return { ...item, ...windows, [accessItem.state]: state, [accessItem.keys]: Object.fromEntries(active) };
}
