import { type Access, keyCode } from '../../../core/accounts/account.ts';
import { itemKey } from '../../../core/accounts/account-item.ts';
import { type Limits, limitsOf } from '../../../core/accounts/quota.ts';
import {
  type CountsByDate,
  countsIn,
  type DayCounts,
  dateIn,
  lookupsIn,
  type Refusals,
  recordDays,
  refusalsIn,
  sumByDate,
  unitsByKey,
  unrecorded,
  usageRecord,
} from '../../../core/accounts/usage-record.ts';
import { dateOf, datesOf, daySeconds, secondsOf, windowStart } from '../../../core/calendar.ts';
import { mapConcurrently, mapInOrder } from '../../../core/concurrency.ts';
import { guardedUpdate, type Item, isStill, type Query } from '../../../core/dynamodb.ts';
import { defaultUsageMonths } from '../../../core/environment.ts';
import { pagesOf } from '../../../core/pages.ts';
import { accountsTable } from '../../../core/tables.ts';
import { AdminError, noAccount } from './admin-error.ts';
import {
  type AdminStore,
  findAccess,
  findAccessOf,
  maxPage,
  type NamePage,
  readNames,
  retryConflicts,
} from './admin-store.ts';
import { isDeleted } from './delete-account.ts';
import { keyRecordsOf } from './keys.ts';
import { firstDay, planHistoryOf } from './plan-history.ts';

/**
 * The lookups of an account for each UTC day from `from` to `to`, both included, in order; a day
 * without any has 0.
 */
export type AccountUsage = {
  account: string;
  from: string;
  to: string;
  days: DayUsage[];
  /**
   * The days with refused requests that had a valid key, in order. Never charged; counts are a
   * lower bound.
   */
  refusals: DayRefusals[];
};

export type DayUsage = { date: string; lookups: number };

export type DayRefusals = { date: string } & Refusals;

/** The first and the last day, both included. */
export type DayRange = { from: string; to: string };

/**
 * An account's use, exactly as charged, deleted or not. @throws AdminError `invalid`, `not_found`,
 * `conflict`
 */
export async function usageOf(
  store: AdminStore,
  id: string,
  range: UsageRange = {},
): Promise<AccountUsage> {
  const days = await readRange(store, range, id);
  return usageView(id, datesOf(days), await readCounts(store, id, days));
}

/** The usage of one account, with a member for each of `dates`. */
function usageView(
  account: string,
  dates: readonly string[],
  { counts, refusals }: Counts,
): AccountUsage {
  const from = dates[0] ?? '';
  const to = dates.at(-1) ?? '';
  const days = dates.map((date) => ({ date, lookups: counts[date] ? lookupsIn(counts[date]) : 0 }));
  return { account, from, to, days, refusals };
}

type Counts = { counts: CountsByDate; refusals: DayRefusals[] };

function countsInRecords(records: readonly Item[]): Counts {
  return {
    counts: Object.fromEntries(records.map((record) => [dateIn(record), countsIn(record)])),
    refusals: records.flatMap((record): DayRefusals[] => {
      const counts = refusalsIn(record);
      return counts ? [{ date: dateIn(record), ...counts }] : [];
    }),
  };
}

/**
 * Attempts, each a few reads. One fails only while a day is being recorded or the account changes.
 */
const maxReads = 20;

/**
 * The lookups by day. The access item is read before and after the records, so each lookup is seen
 * in one place only.
 */
export async function readCounts(
  store: AdminStore,
  id: string,
  range: DayRange,
  seen?: Access | null,
): Promise<Counts> {
  let before = seen === undefined ? await findAccess(store, id) : seen;
  for (let reads = 0; reads < maxReads; reads++) {
    const records = await store.query(recordsQuery(store.table, id, range));
    const after = await findAccess(store, id);
    if (movedNothing(before, after)) {
      if (!after && !(await isDeleted(store, id))) throw noAccount(id);
      const { counts, refusals } = countsInRecords(records);
      return { counts: after ? sumByDate([counts, unrecorded(after.usage)]) : counts, refusals };
    }
    before = after;
  }
  throw new AdminError('conflict', `The usage of account "${id}" is being recorded; retry.`);
}

/** Whether all days that were in the access item still are. */
function movedNothing(before: Access | null, after: Access | null): boolean {
  if (!before || !after) return before === after;
  if (before.version !== after.version) return false;
  // A day that has ended since is in `days` now, unless it was recorded already.
  const { date, days } = before.usage;
  const held = [...Object.keys(days), ...(date === after.usage.date ? [] : [date])];
  return held.every((day) => Object.hasOwn(after.usage.days, day));
}

function recordsQuery(table: string, id: string, { from, to }: DayRange): Query {
  return {
    TableName: table,
    KeyConditionExpression: '#account = :account AND #item BETWEEN :from AND :to',
    ExpressionAttributeNames: {
      '#account': accountsTable.partitionKey,
      '#item': accountsTable.sortKey,
    },
    ExpressionAttributeValues: {
      ':account': id,
      ':from': usageRecord.sortKey(from),
      ':to': usageRecord.sortKey(to),
    },
  };
}

/**
 * Moves the days of an account that have ended into records, which are kept for `months`. It may be
 * run at any time, twice or not at all: no lookup is lost, counted twice or moved to another day.
 * With `movesIdle` an account without lookups is moved on to today as well: then none can be
 * counted on an earlier day. Returns whether there was anything to write.
 */
export async function recordUsage(
  store: AdminStore,
  seen: Access,
  months: number,
  { movesIdle = false }: { movesIdle?: boolean } = {},
): Promise<boolean> {
  let access: Access | null = seen;
  return retryConflicts(async () => {
    const current = access ?? (await findAccess(store, seen.account));
    access = null; // if a write meets a conflict, the next attempt reads afresh
    if (!current) return false;
    const updates = recordDays(store.table, current, {
      today: dateOf(store.nowSeconds()),
      months,
      movesIdle,
    });
    await store.writeAll(updates.map((Update) => ({ Update })));
    return updates.length > 0;
  });
}

/**
 * UTC dates, `2026-11-21`. By default the last 30 days, today included, as far back as usage can
 * exist.
 */
export type UsageRange = { from?: string | undefined; to?: string | undefined };

/** The longest range of days: three years. */
const maxRangeDays = 1100;

/**
 * The days of a range. @throws AdminError `invalid` for one without data: in a future month, or
 * before the first
 */
export async function readRange(
  store: AdminStore,
  { from, to }: UsageRange,
  account?: string,
): Promise<DayRange> {
  const today = dateOf(store.nowSeconds());
  const last = to ?? today;
  const { month, why } = await firstMonthOf(store, account);
  const day = `${month}-01`;
  const monthBefore = dateOf(secondsOf(last) - 29 * daySeconds);
  const first = from ?? (monthBefore < day && day <= last ? day : monthBefore);
  if (first > last) {
    throw new AdminError('invalid', `The range ends (${last}) before it begins (${first}).`);
  }
  if ((secondsOf(last) - secondsOf(first)) / daySeconds >= maxRangeDays) {
    throw new AdminError(
      'invalid',
      `A range has at most ${maxRangeDays} days. Choose a shorter one.`,
    );
  }
  if (last.slice(0, 7) > today.slice(0, 7)) throw tooLate(last.slice(0, 7), today.slice(0, 7));
  if (first < day) throw tooEarly(month, `${why} Begin on ${day} or later.`);
  return { from: first, to: last };
}

/** The refusal of a month, or of a day, before the first month that there is. */
export function tooEarly(firstMonth: string, message: string): AdminError {
  return new AdminError('invalid', message, { reason: 'month', firstMonth });
}

/** The refusal of a month of the future. */
export function tooLate(month: string, current: string): AdminError {
  const message = `${month} has not begun yet; the current month is ${current}.`;
  return new AdminError('invalid', message, { reason: 'month' });
}

/** The first month that can have usage, and the reason why earlier months have none. */
export type FirstMonth = { month: string; why: string };

/**
 * The first month for all accounts or for one account. For an unknown account it is the first month
 * that is kept.
 */
export async function firstMonthOf(store: AdminStore, account?: string): Promise<FirstMonth> {
  const now = store.nowSeconds();
  const { months, since = dateOf(now).slice(0, 7) } = await readRetention(store);
  const kept = firstKeptDay(months, now).slice(0, 7);
  const created =
    account === undefined ? since : firstDay(await planHistoryOf(store, account))?.slice(0, 7);
  if (created !== undefined && created >= kept) {
    return { month: created, why: createdIn(created, account) };
  }
  return {
    month: kept,
    why: `Usage is kept for ${months} whole months, so no usage exists before ${kept}.`,
  };
}

/**
 * The reason why nothing exists before the month when an account, or the first account, was
 * created.
 */
export function createdIn(month: string, account?: string): string {
  const what = account === undefined ? 'The first account' : `Account "${account}"`;
  return `${what} was created in ${month}; nothing exists before that month.`;
}

/**
 * The item that tells everyone who reads usage how long the job keeps it. No account id has a `#`.
 */
const retentionKey = itemKey('usage#', 'retention');

/**
 * How many whole months usage is kept, and the month when the first account was created, if there
 * was one.
 */
export type Retention = { months: number; since?: string };

/**
 * The job's latest value, or the default if no job has run, and the month that `noteFirstMonth`
 * recorded.
 */
export async function readRetention(store: AdminStore): Promise<Retention> {
  const { months = defaultUsageMonths, since } = (await store.get(retentionKey)) ?? {};
  return { months, ...(since && { since }) };
}

/** Tells readers for how many whole months usage is kept. */
export async function setRetention(store: AdminStore, months: number): Promise<void> {
  if ((await store.get(retentionKey))?.months === months) return;
  await store.update(guardedUpdate(store.table, retentionKey, { set: { months } }));
}

/**
 * Notes that an account was created in `month`, if no earlier one is known. The first one may be
 * deleted since.
 */
export async function noteFirstMonth(store: AdminStore, month: string): Promise<void> {
  await retryConflicts(async () => {
    const { since } = await readRetention(store);
    if (since !== undefined && since <= month) return;
    const changes = { set: { since: month } };
    await store.update(
      guardedUpdate(store.table, retentionKey, changes, [isStill('since', since)]),
    );
  });
}

/**
 * The first day that can have usage, for all accounts or for one: always the first of a month,
 * `2024-10-01`.
 */
export async function usageKeptSince(store: AdminStore, account?: string): Promise<string> {
  return `${(await firstMonthOf(store, account)).month}-01`;
}

/**
 * The first day whose record has not expired at `nowSeconds`, where records are kept for `months`.
 */
function firstKeptDay(months: number, nowSeconds: number): string {
  const month = new Date(windowStart('month', nowSeconds) * 1000);
  return dateOf(Date.UTC(month.getUTCFullYear(), month.getUTCMonth() - months, 1) / 1000);
}

/**
 * The usage of an account in a list, with its current `plan` and `limits`; a deleted account has
 * `null` and none.
 */
export type ListedUsage = AccountUsage & { plan: string | null; limits: Limits };

/**
 * The accounts after an id, up to another one, which is included; without them from the first, or
 * to the last.
 */
export type UsagePart = { after?: string | undefined; last?: string | undefined };

/** How many accounts are read at the same time, and how many names at once. */
const concurrency = 16;
const namesAtOnce = 1_000;

/**
 * The usage of all or some accounts, by id, a few in memory at a time, with deleted accounts that
 * have lookups.
 * @throws AdminError `invalid`, `conflict`
 */
export async function* eachUsage(
  store: AdminStore,
  options: UsageRange & UsagePart = {},
): AsyncGenerator<ListedUsage> {
  const { after, last, ...range } = options;
  const read = reader(store, await readRange(store, range));
  const accounts = accountsByName(store, { after, last });
  for await (const usage of mapInOrder(accounts, 2 * concurrency, read)) {
    if (isListed(usage)) yield usage;
  }
}

/**
 * The parts of so many accounts each that all come in; reads only names. @throws AdminError
 * `invalid`
 */
export async function usageParts(store: AdminStore, accounts: number): Promise<UsagePart[]> {
  if (!Number.isInteger(accounts) || accounts < 1) {
    throw new AdminError('invalid', 'A part has 1 account or more.');
  }
  const parts: UsagePart[] = [];
  for await (const { cursor } of pagesOf((at) => namesPage(store, accounts, at.cursor))) {
    parts.push({ after: parts.at(-1)?.last, last: cursor ?? undefined });
  }
  return parts;
}

/** A deleted account without lookups in the range is not. */
const isListed = ({ plan, days }: ListedUsage): boolean =>
  plan !== null || days.some(({ lookups }) => lookups > 0);

/** A page of the ids of all accounts, deleted ones too. */
export async function namesPage(
  store: AdminStore,
  limit: number,
  cursor?: string | undefined,
): Promise<NamePage> {
  const page = { limit, cursor };
  const existing = await readNames(store, 'account', page);
  // Read last: an account that is deleted in between is in both.
  const deleted = await readNames(store, 'deleted', page);
  const all = [...new Set([...existing.names, ...deleted.names])].sort();
  const names = all.slice(0, limit);
  const more = all.length > limit || existing.cursor !== null || deleted.cursor !== null;
  return { names, cursor: more ? (names.at(-1) ?? null) : null };
}

/** An account as it is found by its name; a deleted account has no access item. */
type Named = { id: string; access: Access | undefined };

async function* accountsByName(
  store: AdminStore,
  { after, last }: UsagePart,
): AsyncGenerator<Named> {
  for await (const page of pagesOf(({ cursor = after }) => namesPage(store, namesAtOnce, cursor))) {
    const names = page.names.filter((id) => last === undefined || id <= last);
    for (let at = 0; at < names.length; at += maxPage) {
      yield* await findNamed(store, names.slice(at, at + maxPage));
    }
    if (names.length < page.names.length) return;
  }
}

async function findNamed(store: AdminStore, names: readonly string[]): Promise<Named[]> {
  const found = new Map(
    (await findAccessOf(store, names)).map((access) => [access.account, access]),
  );
  return names.map((id) => ({ id, access: found.get(id) }));
}

/** The usage of up to 100 accounts. */
export async function readAccounts(
  store: AdminStore,
  names: readonly string[],
  range: DayRange,
): Promise<ListedUsage[]> {
  return mapConcurrently(await findNamed(store, names), concurrency, reader(store, range));
}

function reader(store: AdminStore, range: DayRange): (account: Named) => Promise<ListedUsage> {
  const dates = datesOf(range);
  return async ({ id, access }) => {
    const now = { plan: access?.plan ?? null, limits: access ? limitsOf(access.quota) : {} };
    return { ...usageView(id, dates, await readCounts(store, id, range, access ?? null)), ...now };
  };
}

/** The lookups charged to one key, and the days with such lookups, in order. */
export type KeyUsage = {
  keyId: string;
  label: string | null;
  /** When it was revoked, if it was. */
  revoked: boolean;
  lookups: number;
  days: DayUsage[];
};

/**
 * The lookups of an account from `from` to `to` by key, the busiest key first, including revoked
 * keys. On each day, the lookups of all `keys` and `unattributed` add up to the account's lookups.
 */
export type UsageByKey = {
  account: string;
  from: string;
  to: string;
  lookups: number;
  keys: KeyUsage[];
  /** Those that belong to no known key: the record of the key is gone. */
  unattributed: { lookups: number; days: DayUsage[] };
};

/**
 * How often each key of an account was used, exactly as charged.
 * @throws AdminError `invalid`, `not_found`, `conflict`
 */
export async function usageByKey(
  store: AdminStore,
  id: string,
  options: UsageRange = {},
): Promise<UsageByKey> {
  const { from, to } = await readRange(store, options, id);
  const { counts } = await readCounts(store, id, { from, to });
  // Read after the counts: the record of a key is written before the key can be used.
  const records = await keyRecordsOf(store, id);
  // Two keys of one account hardly ever share a code; if they do, their lookups belong to neither.
  const isAlone = (keyId: string) =>
    records.filter((other) => keyCode(other.keyId) === keyCode(keyId)).length === 1;
  const known = records.filter(({ keyId }) => isAlone(keyId));
  const days = Object.entries(counts)
    .filter(([date]) => from <= date && date <= to)
    .toSorted(([a], [b]) => (a < b ? -1 : 1));
  const perDay = (of: (day: DayCounts) => number): { lookups: number; days: DayUsage[] } => {
    const used = days
      .map(([date, day]) => ({ date, lookups: of(day) }))
      .filter(({ lookups }) => lookups > 0);
    return { lookups: used.reduce((sum, { lookups }) => sum + lookups, 0), days: used };
  };
  const unitsOf = (keyId: string) => (day: DayCounts) => unitsByKey(day)[keyCode(keyId)] ?? 0;
  const keys = known
    .map(({ keyId, label, revoked }) => ({
      keyId,
      label,
      revoked: revoked !== null,
      ...perDay(unitsOf(keyId)),
    }))
    .filter(({ revoked, lookups }) => !revoked || lookups > 0)
    .toSorted((a, b) => b.lookups - a.lookups || (a.keyId < b.keyId ? -1 : 1));
  const ofKeys = (day: DayCounts) => known.reduce((sum, { keyId }) => sum + unitsOf(keyId)(day), 0);
  return {
    account: id,
    from,
    to,
    lookups: perDay(lookupsIn).lookups,
    keys,
    unattributed: perDay((day) => lookupsIn(day) - ofKeys(day)),
  };
}
