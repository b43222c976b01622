import { dateOf, daySeconds, forEachWindow, inWindowOrder, secondsOf, windowNames, windows } from '../calendar.ts';
import type { Documents, Item, Query } from '../dynamodb.ts';
import { accountsTable } from '../names.ts';
import type { Access, PlanVersion, Terms, UsageCount } from './account.ts';

/**
 * How the accounts table lays out an account. The access item is all that a request touches: one conditional write of
 * it checks the key, the account's state, the plan's state and the quota at once. It must stay under 1 KB, so that a
 * charge costs one write unit; labels and revoked keys therefore live in a record for each key, and attributes that no
 * person looks at have names of one or two letters.
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
 * | account id | `plans` | which plan it has been on since when (`plan-history.ts`) |
 * | account id | `details` | name, contact, note (`details.ts`) |
 * | `search#` | `00` to `99` | what accounts are found by (`search-index.ts`) |
 * | account id | `deleted` | what remains of a deleted account (`delete-account.ts`) |
 * | `usage#` | `retention` | for how many months usage is kept, and the month of the first account (`usage.ts`) |
 * | `account#`, `deleted#`, `plan#` | the id of an account, of a deleted one, a plan code | nothing: an index of names (`admin-store.ts`) |
 */
export const accessItem = {
  state: 'state',
  plan: 'plan',
  planState: 'plan_state',
  /** Map of the keys that were not revoked: key id to the stored form of the key (`storedKey`), 16 or 20 bytes. */
  keys: 'keys',
  /** How many shards take requests, on each of them; absent for an account that is not sharded. */
  shards: 'shards',
  /** How often shares moved from or to this shard; absent is 0. */
  moves: 'n',
  /** The version of the plan whose limits this item carries. */
  planVersion: 'w',
  /** Map of window, by its code, to the account's own limit, number or NULL; it overrides the plan's. */
  ownLimits: 'o',
  /**
   * Shard 0: counts the admin module's changes, so that none overwrites another. Others: the last that changed shares.
   */
  version: 'v',
  created: 'c',
  /** All units ever consumed; no change of plan, limits, shards or state resets it (decision 0141). */
  total: 't',
  /** When the last charge was sent, in milliseconds since 1970, by the clock of the instance that sent it. */
  sent: 'z',
  /** The UTC day that is being counted (`dayNumber`), whatever windows the plan configures. */
  date: 'd',
  /** `total` at the beginning of that day. */
  mark: 'b',
  /** Map of earlier days to their units, until a usage record has them. */
  days: 'e',
  /** The lookups of each key, by `keyCode`, on the day that is being counted (decision 0141). */
  byKey: 'p',
  /** Map of earlier days, as in `days`, to such maps. */
  daysByKey: 'q',
} as const;

/** The attributes of an access item for each window. */
export const windowItem = forEachWindow((window) => {
  const { code } = windows[window];
  return {
    /** Absent when the plan does not configure the window; else the start of the window being counted, in seconds. */
    start: `${code}s`,
    /**
     * `start` of a window that the plan no longer configures: it continues if it is configured again before it ends.
     */
    dropped: `${code}k`,
    /** Units consumed since then, of a dropped window too. Meaningless while there is neither `start` nor `dropped`. */
    used: `${code}u`,
    /** The effective limit, or this shard's share of it; absent is unlimited. */
    limit: `${code}l`,
    /** On a sharded account: the effective limit of the whole account. */
    total: `${code}t`,
    /** Start of a window in which no shard had quota left when this was recorded (decision 0103). */
    exhausted: `${code}e`,
  };
});

/**
 * The attempts that an item has counted last, latest first: a repeated write finds itself there, unless as many others
 * came in between (decision 0153). Their names need no alias in an expression.
 */
export const attemptSlots = [...'ABCDEFGHIJKLMNOPQRST'];

/** An id is compared with a few others only, so 24 random bits are enough. */
export const attemptIdBytes = 3;

/** The attributes that only a sharded account has. */
export const shardAttributes: readonly string[] = [
  accessItem.shards,
  accessItem.moves,
  ...windowNames.flatMap((window) => [windowItem[window].total, windowItem[window].exhausted]),
];

/** How an item stores a date: as the number of days since 1970. */
export function dayNumber(date: string): number {
  return secondsOf(date) / daySeconds;
}

function dateOfDay(day: number | string): string {
  return dateOf(Number(day) * daySeconds);
}

/** How an item and a record abbreviate the id of a key: so that the counts of all keys fit. */
export function keyCode(keyId: string): string {
  return keyId.slice(0, 4);
}

/** The prefix of the sort keys of all shards. */
export const accessPrefix = 'access#';

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

/** The primary key of an item of the accounts table. */
export function itemKey(account: string, item: string): Record<string, string> {
  return { [accountsTable.partitionKey]: account, [accountsTable.sortKey]: item };
}

/** The primary key of the access item on which requests of an account count, or of one of its shards. */
export const accessKey = (account: string, shard = 0) => itemKey(account, `${accessPrefix}${shard}`);

/** The primary key of a plan. */
export const planKey = (code: string) => itemKey(planRecord.partitionKey(code), planRecord.sortKey);

/** The query of the items of a partition whose sort keys begin with `prefix`. */
export function itemsQuery(TableName: string, account: string, prefix: string): Query {
  return {
    TableName,
    KeyConditionExpression: '#account = :account AND begins_with(#item, :prefix)',
    ExpressionAttributeNames: { '#account': accountsTable.partitionKey, '#item': accountsTable.sortKey },
    ExpressionAttributeValues: { ':account': account, ':prefix': prefix },
  };
}

/** Reads an access item. */
export function readAccess(item: Item): Access {
  const shards: number | undefined = item[accessItem.shards];
  const attempts: Uint8Array[] = [];
  for (const slot of attemptSlots) attempts.push(item[slot]);
  return {
    account: item[accountsTable.partitionKey],
    shard: Number(String(item[accountsTable.sortKey]).slice(accessPrefix.length)),
    shards: shards ?? 1,
    sharded: shards !== undefined,
    state: item[accessItem.state],
    plan: item[accessItem.plan],
    planState: item[accessItem.planState],
    planVersion: item[accessItem.planVersion],
    keys: item[accessItem.keys],
    ...readWindows(item),
    attempts,
    sent: item[accessItem.sent],
    usage: readUsage(item),
    created: item[accessItem.created],
    version: item[accessItem.version],
    moves: item[accessItem.moves] ?? 0,
  };
}

function readWindows(item: Item): Pick<Access, 'ownLimits' | 'quota' | 'dropped'> {
  const read: Pick<Access, 'ownLimits' | 'quota' | 'dropped'> = { ownLimits: {}, quota: {}, dropped: {} };
  for (const window of windowNames) {
    const names = windowItem[window];
    const own: number | null | undefined = item[accessItem.ownLimits][windows[window].code];
    if (own !== undefined) read.ownLimits[window] = own;
    const start: number | undefined = item[names.start];
    const dropped: number | undefined = item[names.dropped];
    const used: number = item[names.used];
    if (dropped !== undefined) read.dropped[window] = { start: dropped, used };
    if (start === undefined) continue;
    const total: number | undefined = item[names.total];
    const exhaustedAt: number | undefined = item[names.exhausted];
    read.quota[window] = {
      start,
      used,
      limit: item[names.limit] ?? null,
      ...(total !== undefined && { total, ...(exhaustedAt !== undefined && { exhaustedAt }) }),
    };
  }
  return read;
}

function readUsage(item: Item): UsageCount {
  const byDate = <T>(days: Record<string, T>): Record<string, T> =>
    Object.fromEntries(Object.entries(days).map(([day, counted]) => [dateOfDay(day), counted]));
  return {
    total: item[accessItem.total],
    date: dateOfDay(item[accessItem.date]),
    mark: item[accessItem.mark],
    days: byDate<number>(item[accessItem.days]),
    byKey: item[accessItem.byKey],
    daysByKey: byDate<UsageCount['byKey']>(item[accessItem.daysByKey]),
  };
}

/** The usage of an access item that has counted nothing yet. */
export function newUsage(nowSeconds: number): Item {
  return {
    [accessItem.total]: 0,
    [accessItem.sent]: 0,
    [accessItem.date]: dayNumber(dateOf(nowSeconds)),
    [accessItem.mark]: 0,
    [accessItem.days]: {},
    [accessItem.byKey]: {},
    [accessItem.daysByKey]: {},
    ...Object.fromEntries(attemptSlots.map((slot) => [slot, new Uint8Array(attemptIdBytes)])),
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
  const own = windowNames.flatMap((window) =>
    ownLimits[window] === undefined ? [] : [[windows[window].code, ownLimits[window]]],
  );
  return {
    [accessItem.plan]: plan.code,
    [accessItem.planState]: plan.state,
    [accessItem.planVersion]: plan.version,
    [accessItem.ownLimits]: Object.fromEntries(own),
  };
}

/**
 * Reads all shards of an account, shard 0 first. Each is consistent; a change of several at once may be seen in part. A
 * transactional read would see it whole, but is cancelled whenever one of the shards is being charged.
 */
export async function readShards(query: Documents['query'], table: string, account: string): Promise<Access[]> {
  const items = await query({ ...itemsQuery(table, account, accessPrefix), ConsistentRead: true });
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
