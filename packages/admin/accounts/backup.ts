import {
  type AccountState,
  keyCode,
  type Plan,
  type PlanVersion,
} from '../../../core/accounts/account.ts';
import {
  accessItem,
  accessName,
  newAccessItem,
  planRecord,
  readAccess,
  readPlan,
  windowItem,
} from '../../../core/accounts/account-item.ts';
import {
  type KeyRecord,
  keyRecord,
  keyRecordItem,
  readKeyRecord,
} from '../../../core/accounts/key-record.ts';
import type { Limits } from '../../../core/accounts/quota.ts';
import {
  backupDays,
  type DayBackup,
  restoreDay,
  unrecorded,
  usageRecord,
} from '../../../core/accounts/usage-record.ts';
import { dateOf, type WindowName } from '../../../core/calendar.ts';
import { forEachConcurrently } from '../../../core/concurrency.ts';
import type { Item } from '../../../core/dynamodb.ts';
import { accountsTable } from '../../../core/tables.ts';
import {
  type MemberBackup,
  memberItems,
  memberPrefix,
  normalizedPerson,
  readMember,
} from './account-members.ts';
import { creation } from './accounts.ts';
import { AdminError, checkDate, type DetailsChanges } from './admin-error.ts';
import { type AdminStore, retryConflicts } from './admin-store.ts';
import { audited } from './audit-log.ts';
import { detailsItem, readDetails } from './details.ts';
import { maxActiveKeys } from './keys.ts';
import { planHistoryItem, readPlanHistory } from './plan-history.ts';
import { getPlan, putPlan } from './plans.ts';

/**
 * A key in a backup. `hash` is `null` for a revoked key; the key itself is stored nowhere.
 * `limitPerDay` is absent without a limit.
 */
export type KeyBackup = KeyRecord & { hash: Uint8Array | null; limitPerDay?: number | undefined };

/** An account in a backup, with its use in each window; times are seconds since 1970. */
export type AccountBackup = DetailsChanges & {
  id: string;
  state: AccountState;
  plan: string;
  /** Which plan it has been on since when, by UTC date; the last one is `plan`. */
  plans: Record<string, string>;
  ownLimits: Limits;
  created: number;
  /** The use in each counted window. */
  usage: Partial<Record<WindowName, { start: number; used: number }>>;
  keys: KeyBackup[];
  /** Who may sign in to a portal for it. */
  members: MemberBackup[];
  /** Its lookups by UTC day, as far as they are kept. */
  days: DayBackup[];
};

const keyPrefix = keyRecord.sortKey('');
const usagePrefix = usageRecord.sortKey('');

/** All plans and accounts of a table, by code and id. */
export type Backup = { plans: Plan[]; accounts: AccountBackup[] };

/**
 * Everything that `importBackup` needs to create the same plans and accounts in another table,
 * without the audit, sessions and deleted accounts. Requests that are counted during the export may
 * be missing from `usage` and `days`.
 */
export async function exportBackup(store: AdminStore): Promise<Backup> {
  const prefixes = { ':key': keyPrefix, ':member': memberPrefix, ':usage': usagePrefix };
  const beginnings = Object.keys(prefixes).map((prefix) => `begins_with(#item, ${prefix})`);
  const found = store.scan({
    FilterExpression: `#item IN (:access, :plan, :plans, :details) OR ${beginnings.join(' OR ')}`,
    ExpressionAttributeNames: { '#item': accountsTable.sortKey },
    ExpressionAttributeValues: {
      ':access': accessName,
      ':plan': planRecord.sortKey,
      ':plans': planHistoryItem,
      ':details': detailsItem,
      ...prefixes,
    },
  });
  const items: Item[] = [];
  for await (const item of found) items.push(item);
  const plans = items
    .filter((item) => item[accountsTable.sortKey] === planRecord.sortKey)
    .map(readPlan);
  const accounts = [
    ...Map.groupBy(items, (item) => item[accountsTable.partitionKey]).values(),
  ].flatMap(accountBackup);
  return {
    plans: inOrderOf(plans, ({ code }) => code).map(({ code, state, limits }) => ({
      code,
      state,
      limits,
    })),
    accounts: inOrderOf(accounts, ({ id }) => id),
  };
}

/** The items by name; no two have the same. */
function inOrderOf<T>(items: readonly T[], nameOf: (item: T) => string): T[] {
  return items.toSorted((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1));
}

/**
 * @param items of one partition; without an access item it is no account, or what remains of a
 * deleted one
 */
function accountBackup(items: readonly Item[]): AccountBackup[] {
  const named = (name: string) => items.find((item) => item[accountsTable.sortKey] === name);
  const item = named(accessName);
  if (!item) return [];
  const access = readAccess(item);
  const having = (prefix: string) =>
    items.filter((item) => String(item[accountsTable.sortKey]).startsWith(prefix));
  const records = having(keyPrefix).map(readKeyRecord);
  const withoutRecord = Object.keys(access.keys)
    .filter((keyId) => !records.some((record) => record.keyId === keyId))
    .map((keyId) => ({ keyId, label: null, created: null, revoked: null }));
  const { account: id, state, plan, ownLimits, created, quota } = access;
  const keys = [...records, ...withoutRecord].map((key) => {
    const hash = access.keys[key.keyId] ?? null;
    const limitPerDay = hash ? access.keyLimits[keyCode(key.keyId)] : undefined;
    return { ...key, hash, ...(limitPerDay !== undefined && { limitPerDay }) };
  });
  return [
    {
      id,
      state,
      plan,
      ownLimits,
      created,
      plans: Object.fromEntries(readPlanHistory(named(planHistoryItem))) as Record<string, string>,
      ...readDetails(named(detailsItem)),
      // The windows that have begun.
      usage: Object.fromEntries(
        Object.entries(quota).flatMap(([name, { start, used }]) =>
          start > 0 ? [[name, { start, used }]] : [],
        ),
      ),
      keys: inOrderOf(keys, ({ keyId }) => keyId),
      members: inOrderOf(having(memberPrefix).map(readMember), ({ person }) => person),
      days: backupDays(having(usagePrefix), [unrecorded(access.usage)]),
    },
  ];
}

/** How many plans and accounts, with how many members and days of usage these have. */
export function countsOf({ plans, accounts }: Backup): Omit<ImportResult, 'unchanged'> {
  const sum = (of: (account: AccountBackup) => readonly unknown[]) =>
    accounts.reduce((total, account) => total + of(account).length, 0);
  return {
    plans: plans.length,
    accounts: accounts.length,
    members: sum(({ members }) => members),
    days: sum(({ days }) => days),
  };
}

/**
 * The numbers of items that an import created, and of plans and accounts that already equalled the
 * backup.
 */
export type ImportResult = {
  plans: number;
  accounts: number;
  members: number;
  days: number;
  unchanged: number;
};

/** How many accounts are created at the same time. */
const concurrency = 16;

/**
 * Creates the plans and accounts of a backup that the table does not have. It never changes what
 * exists: it skips what equals the backup, so an interrupted import can be run again, and imports
 * nothing if anything differs.
 * @throws AdminError `invalid`, `not_found` (a plan), `exists`, `conflict`
 */
export async function importBackup(
  store: AdminStore,
  backup: Backup,
  options: { checkOnly?: boolean | undefined } = {},
): Promise<ImportResult> {
  backup.accounts.forEach(checkAccount);
  const existing = await exportBackup(store);
  const plans = missingOf('Plan', backup.plans, existing.plans, ({ code }) => code, planText);
  const accounts = missingOf(
    'Account',
    backup.accounts,
    existing.accounts,
    ({ id }) => id,
    accountText,
  );
  const codes = new Set([...backup.plans, ...existing.plans].map(({ code }) => code));
  for (const { id, plan, plans } of accounts) {
    if (!codes.has(plan)) {
      throw new AdminError(
        'not_found',
        `Account "${id}" is on plan "${plan}", which does not exist.`,
      );
    }
    if ([...readPlanHistory(plans).values()].at(-1) === plan) continue;
    throw new AdminError(
      'invalid',
      `The last of the plans of account "${id}" is not "${plan}", which it is on.`,
    );
  }
  const unchanged = backup.plans.length + backup.accounts.length - plans.length - accounts.length;
  const result = { ...countsOf({ plans, accounts }), unchanged };
  if (options.checkOnly) return result;

  for (const plan of plans) await putPlan(store, plan);
  await forEachConcurrently(accounts, concurrency, (account) => importAccount(store, account));
  return result;
}

/** One more than an account can have, for a key that is being replaced. */
const mostKeys = maxActiveKeys + 1;

function checkAccount({ id, keys, plans }: AccountBackup): void {
  for (const date of Object.keys(plans)) checkDate(date, '"date"');
  if (keys.filter(({ hash }) => hash !== null).length <= mostKeys) return;
  throw new AdminError('too_many_keys', `Account "${id}" has more than ${mostKeys} active keys.`);
}

/**
 * Those of `wanted` that are not among `existing`.
 * @throws AdminError `invalid` for a duplicate, `exists` if an existing item differs
 */
function missingOf<T>(
  what: string,
  wanted: readonly T[],
  existing: readonly T[],
  nameOf: (item: T) => string,
  textOf: (item: T) => string,
): T[] {
  const texts = new Map(existing.map((item) => [nameOf(item), textOf(item)]));
  const seen = new Set<string>();
  return wanted.filter((item) => {
    const name = nameOf(item);
    if (seen.has(name)) {
      throw new AdminError('invalid', `${what} "${name}" is in the backup twice.`);
    }
    seen.add(name);
    if (!texts.has(name)) return true;
    if (texts.get(name) === textOf(item)) return false;
    throw new AdminError(
      'exists',
      `${what} "${name}" exists and differs from the backup; nothing was imported. Import into another table, or ` +
        'make the two equal first.',
    );
  });
}

const planText = ({ code, state, limits }: Plan) =>
  JSON.stringify([code, state, Object.entries(limits).toSorted()]);

/** Without what changes meanwhile: usage and members. */
function accountText({ id, state, plan, ownLimits, created, keys }: AccountBackup): string {
  const keyTexts = keys.map(({ keyId, label, created, revoked, hash, limitPerDay }) => {
    const hex = hash && Buffer.from(hash).toString('hex');
    return [keyId, label, created, revoked, hex, limitPerDay].join();
  });
  return JSON.stringify([
    id,
    state,
    plan,
    Object.entries(ownLimits).toSorted(),
    created,
    keyTexts.toSorted(),
  ]);
}

async function importAccount(store: AdminStore, account: AccountBackup): Promise<void> {
  const { id, plan, keys, days } = account;
  const members = account.members.map((member) => ({
    ...member,
    person: normalizedPerson(member.person),
  }));
  const detail = { plan, keys: keys.length, members: members.length, days: days.length };
  await audited(store, { partition: id, action: 'account import', detail }, async () => {
    // Records are written first: an active key always has one, so it can be found and revoked.
    for (const key of keys) await store.put(keyRecordItem(id, key));
    // So are members and days. An existing account is therefore complete, and an import may skip
    // it.
    for (const item of members.flatMap((member) => memberItems(id, member))) await store.put(item);
    for (const day of days) {
      await store.update(restoreDay(store.table, id, withoutCounted(day, account.usage)));
    }
    await retryConflicts(async () => {
      const current = await getPlan(store, plan);
      const more = {
        members: members.map(({ person }) => person),
        history: readPlanHistory(account.plans),
      };
      await store.writeAll(
        await creation(store, current, accountItem(account, current), account, more),
      );
    });
  });
}

/** The access item has the lookups of the day that it counts, by key too. */
function withoutCounted(day: DayBackup, { day: counted }: AccountBackup['usage']): DayBackup {
  if (!counted || dateOf(counted.start) !== day.date) return day;
  return { ...day, lookups: day.lookups - counted.used, byKey: undefined };
}

function accountItem(
  { id, state, ownLimits, created, usage, keys, days }: AccountBackup,
  plan: PlanVersion,
): Item {
  const active = keys.flatMap(({ keyId, hash }) => (hash === null ? [] : [[keyId, hash] as const]));
  const counts: Item = {};
  for (const [window, count] of Object.entries(usage) as [
    WindowName,
    { start: number; used: number },
  ][]) {
    counts[windowItem[window].start] = count.start;
    counts[windowItem[window].used] = count.used;
  }
  const counted = usage.day && dateOf(usage.day.start);
  const { byKey = {} } = days.find(({ date }) => date === counted) ?? {};
  const limits = keys.flatMap(({ keyId, limitPerDay }) =>
    limitPerDay === undefined ? [] : [[keyCode(keyId), limitPerDay] as const],
  );
  const item = newAccessItem(id, { plan, ownLimits }, created);
  return {
    ...item,
    ...counts,
    [accessItem.state]: state,
    [accessItem.keys]: Object.fromEntries(active),
    [accessItem.byKey]: byKey,
    ...(limits.length > 0 && { [accessItem.keyLimits]: Object.fromEntries(limits) }),
  };
}
