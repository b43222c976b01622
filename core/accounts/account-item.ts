import { dateOf, inWindowOrder, type WindowName, windowNames } from '../calendar.ts';
import type { Documents, Item } from '../dynamodb.ts';
import { accountsTable } from '../names.ts';
import {
  type AccessLayout,
  accessItem,
  accessPrefix,
  attemptIdBytes,
  attemptSlots,
  firstLayout,
  keyCounts,
  layoutOf,
  noDateForOlderVersions,
  rolledByThisVersion,
} from './access-layout.ts';
import type { Access, PlanVersion, Terms, UnitsByKey, UsageCount } from './account.ts';
import type { Limits, QuotaState, WindowCount } from './quota.ts';

export const planRecord = {
  partitionKey: (code: string) => `${accountsTable.planPartitionPrefix}${code}`,
  sortKey: 'plan',
  /** Map of window to limit, number or NULL for unlimited. */
  limits: 'limits',
  state: 'state',
  version: 'version',
  /** While its accounts follow a change: how far that has come, and the last account that it has looked at. */
  change: 'change',
  after: 'after',
} as const;

/** The primary key of an item: of the access item on which requests of an account count, or of one of its shards. */
export function accessKey(account: string, shard = 0): Record<string, string> {
  return { [accountsTable.partitionKey]: account, [accountsTable.sortKey]: `${accessPrefix}${shard}` };
}

/** The primary key of a plan. */
export function planKey(code: string): Record<string, string> {
  return { [accountsTable.partitionKey]: planRecord.partitionKey(code), [accountsTable.sortKey]: planRecord.sortKey };
}

/** Reads an access item. */
export function readAccess(item: Item): Access {
  const layout = layoutOf(item);
  const shards: number | undefined = item[layout.shards];
  return {
    account: item[accountsTable.partitionKey],
    shard: Number(String(item[accountsTable.sortKey]).slice(accessPrefix.length)),
    layout,
    shards: shards ?? 1,
    sharded: shards !== undefined,
    state: item[layout.state],
    plan: item[layout.plan],
    planState: item[layout.planState],
    planVersion: item[layout.planVersion],
    keys: item[layout.keys] ?? {},
    ownLimits: readOwnLimits(item, layout),
    quota: readQuota(item, layout),
    dropped: readDropped(item, layout),
    attempts: attemptSlots.flatMap((slot) => item[slot] ?? []),
    mayBeRewritten: mayBeRewritten(item, layout),
    usage: readUsage(item, layout),
    created: item[layout.created],
    version: item[layout.version],
    moves: item[layout.moves] ?? 0,
  };
}

function readOwnLimits(item: Item, layout: AccessLayout): Limits {
  const own: Record<string, number | null> = item[layout.ownLimits] ?? {};
  const limits = windowNames.map((window) => [window, own[layout.ownLimit(window)]] as const);
  return Object.fromEntries(limits.filter(([, limit]) => limit !== undefined));
}

function readQuota(item: Item, layout: AccessLayout): QuotaState {
  const quota: QuotaState = {};
  for (const window of windowNames) {
    const start: number | undefined = item[layout.start(window)];
    if (start === undefined) continue;
    const count: WindowCount = { start, used: item[layout.used(window)], limit: item[layout.limit(window)] ?? null };
    const total: number | undefined = item[layout.windowTotal(window)];
    if (total !== undefined) {
      count.total = total;
      const exhaustedAt: number | undefined = item[layout.exhausted(window)];
      if (exhaustedAt !== undefined) count.exhaustedAt = exhaustedAt;
    }
    quota[window] = count;
  }
  return quota;
}

function readDropped(item: Item, layout: AccessLayout): Access['dropped'] {
  const dropped: Access['dropped'] = {};
  for (const window of windowNames) {
    const start: number | undefined = item[layout.dropped(window)];
    if (start !== undefined) dropped[window] = { start, used: item[layout.used(window)] };
  }
  return dropped;
}

function readUsage(item: Item, layout: AccessLayout): UsageCount {
  const date: string | number | undefined = item[layout.date];
  const byDate = <T>(days: Record<string, T> = {}): Record<string, T> =>
    Object.fromEntries(Object.entries(days).map(([day, counted]) => [layout.readDate(day), counted]));
  return {
    total: item[layout.total] ?? 0,
    date: date === undefined ? null : layout.readDate(date),
    mark: item[layout.mark] ?? 0,
    days: byDate<number>(item[layout.days]),
    byKey: item[keyCounts.today] ?? {},
    daysByKey: byDate<UnitsByKey>(item[keyCounts.days]),
  };
}

function mayBeRewritten(item: Item, layout: AccessLayout): boolean {
  const date: string | undefined = item[layout.date];
  if (layout !== firstLayout || date === undefined) return false;
  return item[rolledByThisVersion] === accessItem.storedDate(date);
}

/** The list of attempts of an item that has counted none, and its counts by key. */
export const nothingCounted: Item = {
  ...Object.fromEntries(attemptSlots.map((slot) => [slot, new Uint8Array(attemptIdBytes)])),
  [keyCounts.today]: {},
  [keyCounts.days]: {},
};

/** The usage of an access item that has counted nothing yet. */
export function newUsage(nowSeconds: number): Item {
  return {
    [accessItem.total]: 0,
    [accessItem.date]: accessItem.storedDate(dateOf(nowSeconds)),
    [accessItem.mark]: 0,
    [accessItem.days]: {},
    ...nothingCounted,
    ...noDateForOlderVersions,
  };
}

/** Whether an item of the accounts table is an access item. */
export function isAccessItem(item: Item): boolean {
  return String(item[accountsTable.sortKey]).startsWith(accessPrefix);
}

/** A new account's access item: active, without keys. Its windows come with its plan. */
export function newAccessItem(account: string, { plan, ownLimits }: Terms, nowSeconds: number): Item {
  return {
    ...accessKey(account),
    ...planAttributes(accessItem, { plan, ownLimits }),
    ...newUsage(nowSeconds),
    [accessItem.state]: 'active',
    [accessItem.keys]: {},
    [accessItem.created]: nowSeconds,
    [accessItem.version]: 1,
  };
}

/** The attributes of an access item that come from the plan, except its windows. */
export function planAttributes(layout: AccessLayout, { plan, ownLimits }: Terms): Item {
  const own = Object.entries(ownLimits).map(([window, limit]) => [layout.ownLimit(window as WindowName), limit]);
  return {
    [layout.plan]: plan.code,
    [layout.planState]: plan.state,
    [layout.planVersion]: plan.version,
    [layout.ownLimits]: Object.fromEntries(own),
  };
}

/**
 * Reads all shards of an account, shard 0 first. Each is consistent; a change of several at once may be seen in part. A
 * transactional read would see it whole, but is cancelled whenever one of the shards is being charged.
 */
export async function readShards(query: Documents['query'], table: string, account: string): Promise<Access[]> {
  const items = await query({
    TableName: table,
    ConsistentRead: true,
    KeyConditionExpression: '#account = :account AND begins_with(#item, :access)',
    ExpressionAttributeNames: { '#account': accountsTable.partitionKey, '#item': accountsTable.sortKey },
    ExpressionAttributeValues: { ':account': account, ':access': accessPrefix },
  });
  return items.map(readAccess).toSorted((a, b) => a.shard - b.shard);
}

/** Reads a plan. */
export function readPlan(record: Item): PlanVersion {
  return {
    code: String(record[accountsTable.partitionKey]).slice(planRecord.partitionKey('').length),
    state: record[planRecord.state],
    limits: inWindowOrder<number | null>(record[planRecord.limits]),
    version: record[planRecord.version],
  };
}
