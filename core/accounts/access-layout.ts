import { dateOf, daySeconds, secondsOf, type WindowName, windowNames, windows } from '../calendar.ts';

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
 * | account id | `details` | name, contact, note (`details.ts`) |
 * | `search#` | `00` to `99` | what accounts are found by (`search-index.ts`) |
 * | account id | `deleted` | what remains of a deleted account (`delete-account.ts`) |
 * | `usage#` | `retention` | for how many months usage is kept (`usage-range.ts`) |
 * | `account#`, `deleted#`, `plan#` | the id of an account, of a deleted one, a plan code | nothing: an index of names (`admin-store.ts`) |
 *
 * An access item has one of two layouts: the first release's, with long names, or the current one, which leaves
 * space for more. Whoever changes an item uses the layout in which it was read (decision 0152).
 */
export type AccessLayout = {
  /** How many shards take requests, on each of them; absent for an account that is not sharded. */
  shards: string;
  /** How often shares moved from or to this shard; absent is 0. */
  moves: string;
  state: string;
  plan: string;
  planState: string;
  /** The version of the plan whose limits this item carries. */
  planVersion: string;
  /** Map of the keys that were not revoked: key id to the stored form of the key (`storedKey`), 16 or 20 bytes. */
  keys: string;
  /** Map of window (`ownLimit`) to the account's own limit, number or NULL; it overrides the plan's. */
  ownLimits: string;
  ownLimit: (window: WindowName) => string;
  /**
   * On shard 0: counts the admin module's changes, so that two of them can't overwrite each other. On the others: the
   * last of those changes that changed shares.
   */
  version: string;
  created: string;
  /** All units ever consumed; no change of plan, limits, shards or state resets it (decision 0141). */
  total: string;
  /** The UTC date that is being counted, as `storedDate`, whatever windows the plan configures. */
  date: string;
  /** `total` at the beginning of that date. */
  mark: string;
  /** Map of earlier dates, as `storedDate`, to their units, until a usage record has them. */
  days: string;
  storedDate: (date: string) => string | number;
  readDate: (stored: string | number) => string;
  /** Absent when the plan does not configure the window; else the start of the window being counted, in seconds. */
  start: (window: WindowName) => string;
  /**
   * `start` of a window that the plan no longer configures: if the plan configures it again before it has passed, it
   * continues.
   */
  dropped: (window: WindowName) => string;
  /** Units consumed since then, of a dropped window too. Meaningless while there is neither `start` nor `dropped`. */
  used: (window: WindowName) => string;
  /** The effective limit, or this shard's share of it; absent is unlimited. */
  limit: (window: WindowName) => string;
  /** On a sharded account: the effective limit of the whole account. */
  windowTotal: (window: WindowName) => string;
  /** Start of a window in which no shard had quota left when this was recorded (decision 0103). */
  exhausted: (window: WindowName) => string;
};

/** What both layouts name alike: what decides whether a key works, also for a program that knows only one of them. */
const shared = { shards: 'shards', state: 'state', plan: 'plan', planState: 'plan_state', keys: 'keys' } as const;

/** The prefix of the sort keys of all shards. */
export const accessPrefix = 'access#';

/** The current layout. Dates are numbers of days since 1970. */
export const accessItem = {
  ...shared,
  moves: 'n',
  planVersion: 'w',
  ownLimits: 'o',
  ownLimit: (window) => windows[window].code,
  version: 'v',
  created: 'c',
  total: 't',
  date: 'd',
  mark: 'b',
  days: 'e',
  storedDate: (date) => secondsOf(date) / daySeconds,
  readDate: (stored) => dateOf(Number(stored) * daySeconds),
  start: (window) => `${windows[window].code}s`,
  dropped: (window) => `${windows[window].code}k`,
  used: (window) => `${windows[window].code}u`,
  limit: (window) => `${windows[window].code}l`,
  windowTotal: (window) => `${windows[window].code}t`,
  exhausted: (window) => `${windows[window].code}e`,
} as const satisfies AccessLayout;

/** The layout of the first release. */
export const firstLayout = {
  ...shared,
  moves: 'moves',
  planVersion: 'plan_version',
  ownLimits: 'own',
  ownLimit: (window) => window,
  version: 'version',
  created: 'created',
  total: 'total',
  date: 'date',
  mark: 'mark',
  days: 'days',
  storedDate: (date) => date,
  readDate: String,
  start: (window) => `${window}_start`,
  dropped: (window) => `${window}_kept`,
  used: (window) => `${window}_used`,
  limit: (window) => `${window}_limit`,
  windowTotal: (window) => `${window}_total`,
  exhausted: (window) => `${window}_dry`,
} as const satisfies AccessLayout;

/**
 * The attributes of an item of the current layout that list the attempts that it has counted last, the latest first: a
 * write whose answer was lost and that is sent again finds itself there, unless as many others came in between
 * (decision 0153).
 */
export const attemptSlots = ['0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'x', 'y'] as const;

export const attemptIdBytes = 6;

/**
 * The attributes of an item of the current layout that count the lookups of each key, by `keyCode`: a map of those of
 * the day that is being counted, and a map of earlier dates, as in `days`, to such maps (decision 0170).
 */
export const keyCounts = { today: 'p', days: 'q' } as const;

/** How an item and a record abbreviate the id of a key: so that the counts of all keys fit. */
export function keyCode(keyId: string): string {
  return keyId.slice(0, 4);
}

/**
 * Only on an item of the first layout: the date until which requests were last counted by a version that knows both, in
 * days since 1970. If that is the date that ends now, no older version has begun a day since, and the item is
 * rewritten.
 */
export const rolledByThisVersion = 'r';

/**
 * What an item of the current layout has under the first layout's name of the date: a version that knows only that
 * layout then finds every day passed and none that it can begin, so it answers 503 instead of counting without limits.
 */
export const noDateForOlderVersions = { [firstLayout.date]: '0' };

/** Which layout an access item has. */
export function layoutOf(item: Record<string, unknown>): AccessLayout {
  return firstLayout.version in item ? firstLayout : accessItem;
}

/** The attributes that only a sharded account has. */
export function shardAttributes(layout: AccessLayout): string[] {
  return [
    layout.shards,
    layout.moves,
    ...windowNames.flatMap((window) => [layout.windowTotal(window), layout.exhausted(window)]),
  ];
}
