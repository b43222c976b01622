import type { Item } from '../dynamodb.ts';
import { accountsTable } from '../tables.ts';
import type { Access, AccountState, Plan } from './account.ts';
import { accessItem, isAccessItem, planRecord, readAccess, readPlan } from './account-item.ts';
import type { AdminStore } from './admin-store.ts';
import { type KeyRecord, keyRecord, readKeyRecord } from './key-record.ts';
import { type MemberBackup, memberPrefix, readMember } from './members.ts';
import { type Limits, type WindowName, windowNames } from './quota.ts';
import { backupDays, type DayBackup, unrecorded, usageRecord } from './usage-record.ts';

/** A key in a backup. `hash` is `null` for a revoked key; the key itself is stored nowhere. */
export type KeyBackup = KeyRecord & { hash: Uint8Array | null };

/** An account in a backup, with what it has used of each window. Instants are seconds since 1970. */
export type AccountBackup = {
  id: string;
  state: AccountState;
  plan: string;
  ownLimits: Limits;
  shards: number;
  created: number;
  /** Of the windows of the plan, and of those that it has dropped. */
  usage: Partial<Record<WindowName, { start: number; used: number }>>;
  keys: KeyBackup[];
  /** Who may sign in to a portal for it. None in an older backup. */
  members?: MemberBackup[] | undefined;
  /** Its lookups by UTC day, as far as they are kept. None in an older backup. */
  days?: DayBackup[] | undefined;
};

/** All plans and accounts of a table, by code and id. */
export type Backup = { plans: Plan[]; accounts: AccountBackup[] };

/**
 * Everything that `importBackup` needs to create the same plans and accounts in another table, without the audit,
 * sessions and deleted accounts. Requests that are counted during the export may be missing from `usage` and `days`.
 */
export async function exportBackup(store: AdminStore): Promise<Backup> {
  const plans: Plan[] = [];
  const shards = new Map<string, Access[]>();
  const records = new Map<string, Item[]>();
  const items = store.scan({
    FilterExpression: `#item = :plan OR ${[':access', ':key', ':member', ':usage'].map((prefix) => `begins_with(#item, ${prefix})`).join(' OR ')}`,
    ExpressionAttributeNames: { '#item': accountsTable.sortKey },
    ExpressionAttributeValues: {
      ':plan': planRecord.sortKey,
      ':access': accessItem.sortKeyPrefix,
      ':key': keyRecord.sortKey(''),
      ':member': memberPrefix,
      ':usage': usageRecord.sortKey(''),
    },
  });
  for await (const item of items) {
    const partition: string = item[accountsTable.partitionKey];
    if (isAccessItem(item)) pushTo(shards, partition, readAccess(item));
    else if (item[accountsTable.sortKey] === planRecord.sortKey) plans.push(withoutVersion(readPlan(item)));
    else pushTo(records, partition, item);
  }
  const accounts = [...shards].flatMap(([id, all]) => {
    const sorted = all.toSorted((a, b) => a.shard - b.shard);
    return sorted[0]?.shard === 0 ? [accountBackup(sorted, records.get(id) ?? [])] : [];
  });
  return {
    plans: plans.toSorted((a, b) => (a.code < b.code ? -1 : 1)),
    accounts: accounts.toSorted((a, b) => (a.id < b.id ? -1 : 1)),
  };
}

function pushTo<T>(lists: Map<string, T[]>, name: string, entry: T): void {
  const list = lists.get(name);
  if (list) list.push(entry);
  else lists.set(name, [entry]);
}

function withoutVersion({ code, state, limits }: Plan): Plan {
  return { code, state, limits };
}

/**
 * @param shards of one account, shard 0 first
 * @param items its other items: keys, members and days of usage
 */
function accountBackup(shards: readonly Access[], items: readonly Item[]): AccountBackup {
  const [first] = shards as [Access];
  const having = (prefix: string) => items.filter((item) => String(item[accountsTable.sortKey]).startsWith(prefix));
  const records = having(keyRecord.sortKey('')).map(readKeyRecord);
  const withoutRecord = Object.keys(first.keys).filter((keyId) => !records.some((record) => record.keyId === keyId));
  return {
    id: first.account,
    state: first.state as AccountState,
    plan: first.plan,
    ownLimits: first.ownLimits,
    shards: first.shards,
    created: first.created,
    usage: Object.fromEntries(
      windowNames
        .filter((window) => first.quota[window] ?? first.dropped[window])
        .map((window) => [window, usageOf(shards, window)]),
    ),
    keys: [...records, ...withoutRecord.map((keyId) => ({ keyId, label: null, created: null, revoked: null }))]
      .map((record) => ({ ...record, hash: first.keys[record.keyId] ?? null }))
      .toSorted((a, b) => (a.keyId < b.keyId ? -1 : 1)),
    members: having(memberPrefix)
      .map(readMember)
      .toSorted((a, b) => (a.person < b.person ? -1 : 1)),
    days: backupDays(
      having(usageRecord.sortKey('')),
      shards.map(({ usage }) => unrecorded(usage)),
    ),
  };
}

/** The shards may be in different windows; the latest is the current one. */
function usageOf(shards: readonly Access[], window: WindowName): { start: number; used: number } {
  const counts = shards.flatMap(({ quota, dropped }) => quota[window] ?? dropped[window] ?? []);
  const start = Math.max(...counts.map((count) => count.start));
  const used = counts.filter((count) => count.start === start).reduce((sum, count) => sum + count.used, 0);
  return { start, used };
}
