import { dateOf, type QuotaName, quotaNames, secondsOf, windowEnd } from '../calendar.ts';
import {
  documents,
  type Guard,
  guardedUpdate,
  type Item,
  isStill,
  type StoreClient,
  type Update,
} from '../dynamodb.ts';
import { defaultUsageMonths } from '../environment.ts';
import { accountsTable } from '../tables.ts';
import {
  type Access,
  keyCode,
  type RefusalCode,
  type UnitsByKey,
  type UsageCount,
} from './account.ts';
import { accessItem, accessKey, dayNumber, itemKey, windowItem } from './account-item.ts';
import { keyRecord, recordKey as recordOfKey } from './key-record.ts';

/**
 * An item for each account and UTC day with lookups or refusals: `usage#2026-11-21`. Lookups, in
 * total and by key, are exact: they move here from the access item that counted them, when their
 * day has ended (decision 0141). Refusal counts are a lower bound (decision 0141).
 */
export const usageRecord = {
  sortKey: (date: string) => `usage#${date}`,
  lookups: 'lookups',
  byKey: (code: string) => `by_${code}`,
  refused: (kind: RefusalKind | QuotaName) => `refused_${kind}`,
} as const;

const recordKey = (account: string, date: string) => itemKey(account, usageRecord.sortKey(date));

/** The counts of a record, by attribute: lookups, in total and by key. */
export type DayCounts = Readonly<Record<string, number>>;

/** The key is a UTC date. */
export type CountsByDate = Record<string, DayCounts>;

/** The lookups of the days without a record, with the day that is being counted. */
export function unrecorded(usage: UsageCount): CountsByDate {
  const { date, lookups, byKey } = usage;
  return withoutZeros(sumByDate([endedDays(usage), { [date]: countsOf(lookups, byKey) }]));
}

function endedDays({ days, daysByKey }: UsageCount): CountsByDate {
  return Object.fromEntries(
    Object.entries(days).map(([day, units]) => [day, countsOf(units, daysByKey[day])]),
  );
}

function countsOf(lookups: number, byKey: UnitsByKey = {}): DayCounts {
  const counts = Object.entries(byKey).map(([code, units]) => [usageRecord.byKey(code), units]);
  return { [usageRecord.lookups]: lookups, ...Object.fromEntries(counts) };
}

/** The sums of all of `parts`, by date. */
export function sumByDate(parts: readonly CountsByDate[]): CountsByDate {
  const sums: Record<string, Record<string, number>> = {};
  for (const [date, counts] of parts.flatMap(Object.entries<DayCounts>)) {
    sums[date] ??= {};
    const sum = sums[date];
    for (const [name, count] of Object.entries(counts)) sum[name] = (sum[name] ?? 0) + count;
  }
  return sums;
}

function withoutZeros(counts: CountsByDate): CountsByDate {
  return Object.fromEntries(Object.entries(counts).filter(([, { lookups }]) => lookups !== 0));
}

/** When the record of `date` may be deleted, in seconds: `months` after the end of its month. */
function expiryOfRecord(date: string, months: number): number {
  let end = secondsOf(`${date.slice(0, 7)}-01`);
  for (let i = 0; i <= months; i++) end = windowEnd('month', end);
  return end;
}

/**
 * The updates that add lookups to records, for the transaction that removes them from an access
 * item: a lookup is always in one of the two. Without `months` a record keeps its expiry, and a new
 * one gets the default.
 */
export function addToRecords(
  table: string,
  account: string,
  counts: CountsByDate,
  months?: number,
): Update[] {
  return Object.entries(withoutZeros(counts)).map(([date, day]) =>
    addition(table, account, date, day, months),
  );
}

function addition(
  table: string,
  account: string,
  date: string,
  counts: DayCounts,
  months?: number,
): Update {
  const expires = { [accountsTable.expires]: expiryOfRecord(date, months ?? defaultUsageMonths) };
  const changes = months === undefined ? { keep: expires } : { set: expires };
  return guardedUpdate(table, recordKey(account, date), { ...changes, raise: counts });
}

/**
 * The lookups of a day in a backup, in total and by the code of a key; `expires` in seconds since
 * 1970.
 */
export type DayBackup = {
  date: string;
  lookups: number;
  expires: number;
  byKey?: UnitsByKey | undefined;
};

/** The days of an account in a backup, in order, from its records and its access item. */
export function backupDays(
  records: readonly Item[],
  unrecorded: readonly CountsByDate[],
): DayBackup[] {
  const recorded = new Map(records.map((record) => [dateIn(record), record]));
  const counts = sumByDate([
    ...unrecorded,
    ...records.map((record) => ({ [dateIn(record)]: countsIn(record) })),
  ]);
  return Object.entries(withoutZeros(counts))
    .map(([date, day]) => {
      const expires =
        recorded.get(date)?.[accountsTable.expires] ?? expiryOfRecord(date, defaultUsageMonths);
      const byKey = unitsByKey(day);
      return {
        date,
        lookups: lookupsIn(day),
        expires,
        ...(Object.keys(byKey).length > 0 && { byKey }),
      };
    })
    .toSorted((a, b) => (a.date < b.date ? -1 : 1));
}

/**
 * The update that creates the record of a day from a backup; a record that has lookups keeps them.
 */
export function restoreDay(
  table: string,
  account: string,
  { date, lookups, expires, byKey }: DayBackup,
): Update {
  const keep = { ...countsOf(lookups, byKey), [accountsTable.expires]: expires };
  return guardedUpdate(table, recordKey(account, date), { keep });
}

/** The lookups of a record, in total and by key. */
export function countsIn(record: Item): DayCounts {
  return countsOf(lookupsIn(record), unitsByKey(record));
}

/** Those of each key, by its code. */
export function unitsByKey(counts: Item): UnitsByKey {
  const prefix = usageRecord.byKey('');
  const counted = Object.entries(counts).filter(([name]) => name.startsWith(prefix));
  return Object.fromEntries(counted.map(([name, units]) => [name.slice(prefix.length), units]));
}

/** The last UTC date with lookups that were charged to a key, or `undefined` without any. */
export function lastUseIn(counts: CountsByDate, keyId: string): string | undefined {
  const units = usageRecord.byKey(keyCode(keyId));
  const dates = Object.keys(counts).filter((date) => (counts[date]?.[units] ?? 0) > 0);
  return dates.toSorted().at(-1);
}

/** The date of a record. */
export function dateIn(record: Item): string {
  return String(record[accountsTable.sortKey]).slice(usageRecord.sortKey('').length);
}

/** The lookups of a record, which may be made before any were recorded. */
export function lookupsIn(record: Item): number {
  return record[usageRecord.lookups] ?? 0;
}

/** `today` is a UTC date; with `movesIdle` a day without lookups ends too. */
type RecordOptions = {
  today: string;
  months?: number | undefined;
  movesIdle?: boolean | undefined;
};

/**
 * The updates, to be made together, that move ended days from an access item into records, and the
 * last day of each key that was used on them into its own record; empty if no day has ended. They
 * include the day that is being counted, if it is before `today` and no request rolls it meanwhile.
 */
export function recordDays(
  table: string,
  { account, keys, usage }: Access,
  { today, months, movesIdle = false }: RecordOptions,
): Update[] {
  const { date, lookups, days } = usage;
  const dates = Object.keys(days);
  const ends = date < today && (movesIdle || lookups > 0);
  if (dates.length === 0 && !ends) return [];
  const held = dates.map((day) => ({ day, attribute: `${accessItem.days}.${dayNumber(day)}` }));
  const guards: Guard[] = held.map(({ day, attribute }) => ({
    attribute,
    is: '=',
    value: days[day],
  }));
  const remove = held.flatMap(({ day, attribute }) => [
    attribute,
    `${accessItem.daysByKey}.${dayNumber(day)}`,
  ]);
  let set: Item = {};
  if (ends) {
    const { start, used } = windowItem.day;
    set = { [start]: secondsOf(today), [used]: 0, [accessItem.byKey]: {} };
    guards.push(isStill(start, secondsOf(date)), isStill(used, lookups));
  }
  const taken = guardedUpdate(table, accessKey(account), { set, remove }, guards);
  const moved = ends ? unrecorded(usage) : endedDays(usage);
  return [
    taken,
    ...addToRecords(table, account, moved, months),
    ...Object.keys(keys).flatMap((keyId) => useOfKey(table, { account, keyId }, moved)),
  ];
}

/** A revoked key has no place in the item any more: its last use was noted when it lost it. */
function useOfKey(
  table: string,
  key: { account: string; keyId: string },
  moved: CountsByDate,
): Update[] {
  const date = lastUseIn(moved, key.keyId);
  if (date === undefined) return [];
  return [guardedUpdate(table, recordOfKey(key), { set: { [keyRecord.lastUsed]: date } })];
}

/**
 * Why requests with a valid key were refused: no quota left (429), invalid input (422), account or
 * plan inactive (403).
 */
export type RefusalKind = 'quota' | 'input' | 'inactive';

const refusalKinds: readonly RefusalKind[] = ['quota', 'input', 'inactive'];

/** Refusals by kind; the counts are a lower bound. */
export type RefusalCounts = Record<RefusalKind, number>;

/** The refusals of a day; `windows` divides `quota` by each window that had no quota left. */
export type Refusals = RefusalCounts & { windows?: Partial<Record<QuotaName, number>> };

const kindOf: Partial<Record<RefusalCode, RefusalKind>> = {
  'quota-exceeded': 'quota',
  'invalid-input': 'input',
  'account-inactive': 'inactive',
  'plan-inactive': 'inactive',
};

/**
 * Counts refusals in memory, and now and then adds them to the record of the day (decision 0141).
 * Never throws.
 */
export type RefusalCount = {
  /**
   * Notes a refusal of a request whose key is one of the account. One without a kind is not
   * counted.
   */
  note(account: string, code: RefusalCode, now: number, violated?: readonly QuotaName[]): void;
  /** Writes the counts, unless it did within the last minute. Nothing waits for it. */
  flush(now: number): void;
};

const flushSeconds = 60;

/**
 * Days of accounts that one flush writes, and that an instance remembers; refusals of others are
 * not counted.
 */
const mostWrites = 10;
const mostPending = 1_000;

const writeMilliseconds = 2_000;

export function createRefusalCount(client: StoreClient, table: string): RefusalCount {
  const { update } = documents(client);
  const pending = new Map<
    string,
    { account: string; date: string; counts: Record<string, number> }
  >();
  let flushed = Number.NEGATIVE_INFINITY;

  return {
    note(account, code, now, violated = []) {
      const kind = kindOf[code];
      if (!kind) return;
      const date = dateOf(Math.floor(now));
      const key = `${account}#${date}`;
      const counts: Record<string, number> = pending.get(key)?.counts ?? {};
      if (!pending.has(key) && pending.size >= mostPending) return;
      for (const name of [kind, ...violated].map(usageRecord.refused)) {
        counts[name] = (counts[name] ?? 0) + 1;
      }
      pending.set(key, { account, date, counts });
    },
    flush(now) {
      if (pending.size === 0 || Math.abs(now - flushed) < flushSeconds) return;
      flushed = now;
      for (const [key, { account, date, counts }] of [...pending].slice(0, mostWrites)) {
        // Before the write, whose answer may be lost: counted once at most.
        pending.delete(key);
        update(
          addition(table, account, date, counts),
          AbortSignal.timeout(writeMilliseconds),
        ).catch(() => undefined);
      }
    },
  };
}

/** The refusals in the record of a day, if there were any. */
export function refusalsIn(record: Item): Refusals | undefined {
  const countOf = (kind: RefusalKind | QuotaName): number => record[usageRecord.refused(kind)] ?? 0;
  const counts = {
    quota: countOf('quota'),
    input: countOf('input'),
    inactive: countOf('inactive'),
  };
  if (refusalKinds.every((kind) => counts[kind] === 0)) return undefined;
  const windows = quotaNames.flatMap((name) => (countOf(name) > 0 ? [[name, countOf(name)]] : []));
  return { ...counts, ...(windows.length > 0 && { windows: Object.fromEntries(windows) }) };
}
