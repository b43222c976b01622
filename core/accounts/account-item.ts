import { dateOf, inWindowOrder, type WindowName, windowNames } from '../calendar.ts';
import type { Documents, Item } from '../dynamodb.ts';
import { accountsTable } from '../names.ts';
import type { Access, PlanVersion, Terms, UsageCount } from './account.ts';
import type { QuotaState, WindowCount } from './quota.ts';

/**
 * How the accounts table lays out an account. The access item is all that a request touches: one conditional write of
 * it checks the key, the account's state, the plan's state and the quota at once. It must stay under 1 KB, so that a
 * charge costs one write unit; labels and revoked keys therefore live in a record for each key.
 *
 * An account may have several quota shards: each is a whole access item with its own counts and its share of every
 * finite limit, and the shares add up to the limit (decision 0103). The states and keys of shard 0 are the valid ones.
 *
 * | `account` | `item` | holds |
 * |---|---|---|
 * | account id | `access#0`, `access#1`, ... | an access item, one for each quota shard |
 * | account id | `key#<key id>` | label, created, revoked, last used (`key-record.ts`) |
 * | account id | `usage#2026-11-21` | the lookups and refusals of a UTC day (`usage-record.ts`) |
 * | account id or `plan#<code>` | `audit#<time>#<random>` | an audit entry (`audit.ts`) |
 * | `plan#<code>` | `plan` | limits, state, version |
 * | account id | `deleted` | what remains of a deleted account (`delete-account.ts`) |
 * | `usage#` | `retention` | for how many months usage is kept (`usage-range.ts`) |
 * | `account#`, `deleted#`, `plan#` | the id of an account, of a deleted one, a plan code | nothing: an index of names (`admin-store.ts`) |
 */
export const accessItem = {
  sortKey: (shard: number) => `access#${shard}`,
  /** The prefix of the sort keys of all shards. */
  sortKeyPrefix: 'access#',
  /** How many shards take requests, on each of them; absent for an account that is not sharded. */
  shards: 'shards',
  /** How often shares moved from or to this shard; absent is 0. */
  moves: 'moves',
  state: 'state',
  plan: 'plan',
  planState: 'plan_state',
  /** The version of the plan whose limits this item carries. */
  planVersion: 'plan_version',
  /** Map of the keys that were not revoked: key id to the stored form of the key (`storedKey`), 16 or 20 bytes. */
  keys: 'keys',
  /** Map of window to the account's own limit, number or NULL; it overrides the plan's. */
  ownLimits: 'own',
  /**
   * On shard 0: counts the admin module's changes, so that two of them can't overwrite each other. On the others: the
   * last of those changes that changed shares.
   */
  version: 'version',
  created: 'created',
  /** All units ever consumed; no change of plan, limits, shards or state resets it (decision 0141). */
  total: 'total',
  /** The UTC date that is being counted, `2026-11-21`, whatever windows the plan configures. */
  date: 'date',
  /** `total` at the beginning of that date. */
  mark: 'mark',
  /** Map of earlier dates to their units, until a usage record has them. */
  days: 'days',
  /** Absent when the plan does not configure the window; otherwise the start of the window being counted, in seconds. */
  start: (window: WindowName) => `${window}_start`,
  /**
   * `start` of a window that the plan no longer configures: if the plan configures it again before it has passed, it
   * continues.
   */
  dropped: (window: WindowName) => `${window}_kept`,
  /** Units consumed since then, of a dropped window too. Meaningless while there is neither `start` nor `dropped`. */
  used: (window: WindowName) => `${window}_used`,
  /** The effective limit, or this shard's share of it; absent is unlimited. */
  limit: (window: WindowName) => `${window}_limit`,
  /** On a sharded account: the effective limit of the whole account. */
  windowTotal: (window: WindowName) => `${window}_total`,
  /** Start of a window in which no shard had quota left when this was recorded (decision 0103). */
  exhausted: (window: WindowName) => `${window}_dry`,
} as const;

export const planRecord = {
  partitionKey: (code: string) => `${accountsTable.planPartitionPrefix}${code}`,
  sortKey: 'plan',
  /** Map of window to limit, number or NULL for unlimited. */
  limits: 'limits',
  state: 'state',
  version: 'version',
} as const;

/** The primary key of an item: of the access item on which requests of `account` are counted, or of one of its shards. */
export function accessKey(account: string, shard = 0): Record<string, string> {
  return { [accountsTable.partitionKey]: account, [accountsTable.sortKey]: accessItem.sortKey(shard) };
}

/** The primary key of a plan. */
export function planKey(code: string): Record<string, string> {
  return { [accountsTable.partitionKey]: planRecord.partitionKey(code), [accountsTable.sortKey]: planRecord.sortKey };
}

/** Reads an access item. */
export function readAccess(item: Item): Access {
  const shards: number | undefined = item[accessItem.shards];
  return {
    account: item[accountsTable.partitionKey],
    shard: Number(String(item[accountsTable.sortKey]).slice(accessItem.sortKeyPrefix.length)),
    shards: shards ?? 1,
    sharded: shards !== undefined,
    state: item[accessItem.state],
    plan: item[accessItem.plan],
    planState: item[accessItem.planState],
    planVersion: item[accessItem.planVersion],
    keys: item[accessItem.keys] ?? {},
    ownLimits: inWindowOrder<number | null>(item[accessItem.ownLimits] ?? {}),
    quota: readQuota(item),
    dropped: readDropped(item),
    usage: readUsage(item),
    created: item[accessItem.created],
    version: item[accessItem.version],
    moves: item[accessItem.moves] ?? 0,
  };
}

function readQuota(item: Item): QuotaState {
  const quota: QuotaState = {};
  for (const window of windowNames) {
    const start: number | undefined = item[accessItem.start(window)];
    if (start === undefined) continue;
    const count: WindowCount = {
      start,
      used: item[accessItem.used(window)],
      limit: item[accessItem.limit(window)] ?? null,
    };
    const total: number | undefined = item[accessItem.windowTotal(window)];
    if (total !== undefined) {
      count.total = total;
      const exhaustedAt: number | undefined = item[accessItem.exhausted(window)];
      if (exhaustedAt !== undefined) count.exhaustedAt = exhaustedAt;
    }
    quota[window] = count;
  }
  return quota;
}

function readDropped(item: Item): Access['dropped'] {
  const dropped: Access['dropped'] = {};
  for (const window of windowNames) {
    const start: number | undefined = item[accessItem.dropped(window)];
    if (start !== undefined) dropped[window] = { start, used: item[accessItem.used(window)] };
  }
  return dropped;
}

function readUsage(item: Item): UsageCount {
  return {
    total: item[accessItem.total] ?? 0,
    date: item[accessItem.date] ?? null,
    mark: item[accessItem.mark] ?? 0,
    days: item[accessItem.days] ?? {},
  };
}

/** The usage of an access item that has counted nothing yet. */
export function newUsage(nowSeconds: number): Item {
  return {
    [accessItem.total]: 0,
    [accessItem.date]: dateOf(nowSeconds),
    [accessItem.mark]: 0,
    [accessItem.days]: {},
  };
}

/** Whether an item of the accounts table is an access item. */
export function isAccessItem(item: Item): boolean {
  return String(item[accountsTable.sortKey]).startsWith(accessItem.sortKeyPrefix);
}

/** A new account's access item: active, without keys. Its windows come with its plan. */
export function newAccessItem(account: string, { plan, ownLimits }: Terms, nowSeconds: number): Item {
  return {
    ...accessKey(account),
    ...planAttributes({ plan, ownLimits }),
    ...newUsage(nowSeconds),
    [accessItem.state]: 'active',
    [accessItem.keys]: {},
    [accessItem.created]: nowSeconds,
    [accessItem.version]: 1,
  };
}

/** The attributes of an access item that come from the plan, except its windows. */
export function planAttributes({ plan, ownLimits }: Terms): Item {
  return {
    [accessItem.plan]: plan.code,
    [accessItem.planState]: plan.state,
    [accessItem.planVersion]: plan.version,
    [accessItem.ownLimits]: ownLimits,
  };
}

/** The attributes that only a sharded account has. */
export const shardAttributes: readonly string[] = [
  accessItem.shards,
  accessItem.moves,
  ...windowNames.flatMap((window) => [accessItem.windowTotal(window), accessItem.exhausted(window)]),
];

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
    ExpressionAttributeValues: { ':account': account, ':access': accessItem.sortKeyPrefix },
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
