import {
  dateOf,
  daySeconds,
  forEachWindow,
  inWindowOrder,
  secondsOf,
  windowNames,
  windowStart,
  windows,
} from '../calendar.ts';
import type { Changes, Item, Query } from '../dynamodb.ts';
import { accountsTable } from '../tables.ts';
import type { Access, PlanVersion, Terms, UsageCount } from './account.ts';

/**
 * How the accounts table lays out an account. The access item is all that a request touches: one
 * conditional write of it checks the key, the account's state, the plan's state and the quota at
 * once. It must stay under 1 KB, so that a charge costs one write unit; labels and revoked keys
 * therefore live in a record for each key, and attributes that no person looks at have names of one
 * or two letters.
 *
 * | `account` | `item` | holds |
 * |---|---|---|
 * | account id | `access` | the access item |
 * | account id | `key#<key id>` | label, created, revoked, last used (`key-record.ts`) |
 * | account id | `usage#2026-11-21` | the lookups and refusals of a UTC day (`usage-record.ts`) |
 * | account id or `plan#<code>` | `audit#<time>#<random>` | an audit entry (`audit-log.ts`) |
 * | `plan#<code>` | `plan` | limits, state, version |
 * | account id | `plans` | its plans by their first date (`plan-history.ts`) |
 * | account id | `details` | name, contact, note (`details.ts`) |
 * | account id | `deleted` | the remains of a deleted account (`delete-account.ts`) |
 * | `usage#` | `retention` | for how many months usage is kept, and the month of the first account (`usage.ts`) |
 * | `checksum#` | `secret` | the secret of the checksum of keys (`checksum-secret.ts`) |
 * | `account#` | the id of an account | plan, and the text to search (`search.ts`) |
 * | `deleted#`, `plan#` | the id of a deleted account, a plan code | nothing: an index of names (`admin-store.ts`) |
 */
export const accessItem = {
  state: 'state',
  plan: 'plan',
  planState: 'plan_state',
  /**
   * Map of the keys that were not revoked: key id to the stored form of the key (`storedKey`), 16
   * or 20 bytes.
   */
  keys: 'keys',
  /** The version of the plan whose limits this item carries. */
  planVersion: 'w',
  /**
   * Map of window, by its code, to the account's own limit, number or NULL; it overrides the
   * plan's.
   */
  ownLimits: 'o',
  /** Counts the admin module's changes, so that none overwrites another. */
  version: 'v',
  created: 'c',
  /** Map of earlier days (`dayNumber`) to their units, until a usage record has them. */
  days: 'e',
  /** The lookups of each key, by `keyCode`, on the day that is being counted (decision 0141). */
  byKey: 'p',
  /**
   * Map of the keys that have a limit for a day, by `keyCode`, to that limit; absent until one is
   * set (decision 0188).
   */
  keyLimits: 'k',
  /** Map of earlier days, as in `days`, to such maps. */
  daysByKey: 'q',
} as const;

/** The attributes of an access item for each window. */
export const windowItem = forEachWindow((window) => {
  const { code } = windows[window];
  return {
    /**
     * The start of the window being counted, in seconds; absent until a minute or an hour is first
     * charged.
     */
    start: `${code}s`,
    /** Units consumed since then. */
    used: `${code}u`,
    /**
     * The effective limit (`storedLimit`); absent for a window that the plan does not configure.
     */
    limit: `${code}l`,
    /**
     * The units of a minute or an hour when its plan stopped to configure it. A charge goes on to
     * add to `used`, because its one write can't know the plan; the units come back from here.
     */
    held: `${code}k`,
  };
});

/** Stored for unlimited: more than any limit or count, so that one comparison covers both. */
const unlimited = 1e15;

/** The stored form of a limit. */
export function storedLimit(limit: number | null): number {
  return limit ?? unlimited;
}

/** How an item stores a date: as the number of days since 1970. */
export function dayNumber(date: string): number {
  return secondsOf(date) / daySeconds;
}

/** The sort key of an access item. */
export const accessName = 'access';

export const planRecord = {
  partitionKey: (code: string) => `${accountsTable.planPartitionPrefix}${code}`,
  sortKey: 'plan',
  /** Map of window to limit, number or NULL for unlimited. */
  limits: 'limits',
  state: 'state',
  version: 'version',
  /**
   * While its accounts follow a change: how far that has come, and the last account that it has
   * looked at.
   */
  change: 'change',
  after: 'after',
} as const;

/** The primary key of an item of the accounts table. */
export function itemKey(account: string, item: string): Record<string, string> {
  return { [accountsTable.partitionKey]: account, [accountsTable.sortKey]: item };
}

/** The primary key of the access item of an account. */
export const accessKey = (account: string): Record<string, string> => ({
  [accountsTable.partitionKey]: account,
  [accountsTable.sortKey]: accessName,
});

/** The primary key of a plan. */
export const planKey = (code: string) => itemKey(planRecord.partitionKey(code), planRecord.sortKey);

/** The query of the items of a partition whose sort keys begin with `prefix`. */
export function itemsQuery(TableName: string, account: string, prefix: string): Query {
  return {
    TableName,
    KeyConditionExpression: '#account = :account AND begins_with(#item, :prefix)',
    ExpressionAttributeNames: {
      '#account': accountsTable.partitionKey,
      '#item': accountsTable.sortKey,
    },
    ExpressionAttributeValues: { ':account': account, ':prefix': prefix },
  };
}

/** Reads an access item. */
export function readAccess(item: Item): Access {
  return {
    account: item[accountsTable.partitionKey],
    state: item[accessItem.state],
    plan: item[accessItem.plan],
    planState: item[accessItem.planState],
    planVersion: item[accessItem.planVersion],
    keys: item[accessItem.keys],
    ...readWindows(item),
    keyLimits: item[accessItem.keyLimits] ?? {},
    keyUnits: item[accessItem.byKey],
    /** Read when it is needed: few requests do. */
    get usage() {
      return readUsage(item);
    },
    created: item[accessItem.created],
    version: item[accessItem.version],
  };
}

function readWindows(item: Item): Pick<Access, 'ownLimits' | 'quota'> {
  const read: Pick<Access, 'ownLimits' | 'quota'> = { ownLimits: {}, quota: {} };
  for (const window of windowNames) {
    const names = windowItem[window];
    const own: number | null | undefined = item[accessItem.ownLimits][windows[window].code];
    if (own !== undefined) read.ownLimits[window] = own;
    const limit: number | undefined = item[names.limit];
    if (limit === undefined && !windows[window].isAlwaysCounted) continue;
    const count = { start: item[names.start] ?? 0, used: item[names.used] ?? 0 };
    read.quota[window] = { ...count, limit: limit === unlimited ? null : limit };
  }
  return read;
}

function readUsage(item: Item): UsageCount {
  const byDate = <T>(days: Record<string, T>): Record<string, T> =>
    Object.fromEntries(
      Object.entries(days).map(([day, counted]) => [dateOf(Number(day) * daySeconds), counted]),
    );
  return {
    date: dateOf(item[windowItem.day.start] ?? 0),
    lookups: item[windowItem.day.used] ?? 0,
    days: byDate<number>(item[accessItem.days]),
    byKey: item[accessItem.byKey],
    daysByKey: byDate<UsageCount['byKey']>(item[accessItem.daysByKey]),
  };
}

/** A new account's access item: active, without keys, with nothing used. */
export function newAccessItem(account: string, terms: Terms, nowSeconds: number): Item {
  const counts = windowNames.flatMap((window): [string, number][] => {
    if (!windows[window].isAlwaysCounted) return [];
    const { start, used } = windowItem[window];
    return [
      [start, windowStart(window, nowSeconds)],
      [used, 0],
    ];
  });
  return {
    ...accessKey(account),
    ...termsChanges(terms).set,
    ...Object.fromEntries(counts),
    [accessItem.days]: {},
    [accessItem.byKey]: {},
    [accessItem.daysByKey]: {},
    [accessItem.state]: 'active',
    [accessItem.keys]: {},
    [accessItem.created]: nowSeconds,
    [accessItem.version]: 1,
  };
}

/**
 * The attributes of a plan and an account's own limits in its access item. They leave the counts of
 * a day and a month alone.
 */
export function termsChanges({
  plan,
  ownLimits,
}: Terms): Required<Pick<Changes, 'set' | 'copy' | 'remove'>> {
  const own = windowNames.flatMap((window) =>
    ownLimits[window] === undefined ? [] : [[windows[window].code, ownLimits[window]]],
  );
  const set: Item = {
    [accessItem.plan]: plan.code,
    [accessItem.planState]: plan.state,
    [accessItem.planVersion]: plan.version,
    [accessItem.ownLimits]: Object.fromEntries(own),
  };
  const copy: Record<string, readonly [string, string]> = {};
  const remove: string[] = [];
  for (const window of windowNames) {
    const { limit: name, used, held } = windowItem[window];
    const { [window]: limit } = plan.limits;
    if (limit === undefined) remove.push(name);
    else {
      set[name] = storedLimit(ownLimits[window] === undefined ? limit : ownLimits[window]);
    }
    if (windows[window].isAlwaysCounted) continue;
    // Counted while it is configured, and only then: both are the same if they happen twice.
    copy[limit === undefined ? held : used] = [held, used];
    if (limit !== undefined) remove.push(held);
  }
  return { set, copy, remove };
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
