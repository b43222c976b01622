import { dateOf, datesOf } from '../../calendar.ts';
import type { Item, Query } from '../../dynamodb.ts';
import { accountsTable } from '../../names.ts';
import type { Access } from '../account.ts';
import {
  type CountsByDate,
  countsIn,
  dateIn,
  lookupsIn,
  type RefusalCounts,
  recordDays,
  refusalsIn,
  sumByDate,
  unrecorded,
  usageRecord,
} from '../usage-record.ts';
import { AdminError, checkAccountId } from './admin-error.ts';
import { type AdminStore, findAccess, retryConflicts } from './admin-store.ts';
import { isDeleted } from './delete-account.ts';
import { allShards } from './reshard.ts';
import { readRange, type UsageRange } from './usage-range.ts';

/** The lookups of an account for each UTC day from `from` to `to`, both included, in order; a day without any has 0. */
export type AccountUsage = {
  account: string;
  from: string;
  to: string;
  days: DayUsage[];
  /** The days on which requests with a valid key were refused, in order. Never charged; the counts are a lower bound */
  refusals: DayRefusals[];
};

export type DayUsage = { date: string; lookups: number };

export type DayRefusals = { date: string } & RefusalCounts;

/** The first and the last day, both included. */
export type DayRange = { from: string; to: string };

/**
 * What an account used, exactly as charged, also for a deleted account while its records are kept.
 * @throws AdminError `invalid`, `not_found`, `conflict`
 */
export async function usageOf(store: AdminStore, id: string, range: UsageRange = {}): Promise<AccountUsage> {
  checkAccountId(id);
  const days = await readRange(store, range);
  const { counts, refusals } = await readCounts(store, id, days);
  return usageView(id, datesOf(days), lookupsByDate(counts), refusals);
}

/** The usage of one account, with a member for each of `dates`. */
export function usageView(
  account: string,
  dates: readonly string[],
  lookups: ReadonlyMap<string, number>,
  refusals: DayRefusals[],
): AccountUsage {
  const [from = '', to = ''] = [dates[0], dates.at(-1)];
  return { account, from, to, days: dates.map((date) => ({ date, lookups: lookups.get(date) ?? 0 })), refusals };
}

export function lookupsByDate(counts: CountsByDate): Map<string, number> {
  return new Map(Object.entries(counts).map(([date, day]) => [date, lookupsIn(day)]));
}

/** The lookups and refusals of an account by day. */
type Counts = { counts: CountsByDate; refusals: DayRefusals[] };

/** What these records hold. */
function countsInRecords(records: readonly Item[]): Counts {
  return {
    counts: Object.fromEntries(records.map((record) => [dateIn(record), countsIn(record)])),
    refusals: records.flatMap((record): DayRefusals[] => {
      const counts = refusalsIn(record);
      return counts ? [{ date: dateIn(record), ...counts }] : [];
    }),
  };
}

/** Attempts, each a few reads. One fails only while a day is being recorded or the shards change. */
const maxReads = 20;

/**
 * The lookups by day. The access items are read before and after the records: if no day was moved between them
 * meanwhile, each lookup was seen in exactly one place.
 */
export async function readCounts(store: AdminStore, id: string, range: DayRange): Promise<Counts> {
  let before = await shardsOf(store, id);
  for (let reads = 0; reads < maxReads; reads++) {
    const records = await store.query(recordsQuery(store.table, id, range));
    const after = await shardsOf(store, id);
    if (movedNothing(before, after)) {
      if (after.length === 0 && !(await isDeleted(store, id))) {
        throw new AdminError('not_found', `There is no account "${id}".`, { subject: 'account' });
      }
      const { counts, refusals } = countsInRecords(records);
      return { counts: sumByDate([counts, ...after.map(({ usage }) => unrecorded(usage))]), refusals };
    }
    before = after;
  }
  throw new AdminError('conflict', `The usage of account "${id}" is being recorded; retry.`);
}

async function shardsOf(store: AdminStore, id: string): Promise<Access[]> {
  const access = await findAccess(store, id);
  return access ? allShards(store, access) : [];
}

/** Whether all days that were in the access items still are, and these are the same items. */
function movedNothing(before: readonly Access[], after: readonly Access[]): boolean {
  return (
    before.length === after.length &&
    before.every(({ shard, version, usage: { date, days } }, i) => {
      const other = after[i];
      if (!other || other.shard !== shard || other.version !== version) return false;
      // A day that has ended since is in `days` now, unless it was recorded already.
      const held = [...Object.keys(days), ...(date === other.usage.date ? [] : [date])];
      return held.every((day) => Object.hasOwn(other.usage.days, day));
    })
  );
}

/** The query of the records of an account in a range, with all their attributes or these. */
export function recordsQuery(
  table: string,
  id: string,
  { from, to }: DayRange,
  attributes: readonly string[] = [],
): Query {
  const names = { '#account': accountsTable.partitionKey, '#item': accountsTable.sortKey };
  const aliases = attributes.map((name, i) => [`#a${i}`, name] as const);
  return {
    TableName: table,
    KeyConditionExpression: '#account = :account AND #item BETWEEN :from AND :to',
    ExpressionAttributeNames: { ...names, ...Object.fromEntries(aliases) },
    ...(aliases.length > 0 && { ProjectionExpression: aliases.map(([alias]) => alias).join(', ') }),
    ExpressionAttributeValues: {
      ':account': id,
      ':from': usageRecord.sortKey(from),
      ':to': usageRecord.sortKey(to),
    },
  };
}

/**
 * Moves the days of an account that have ended into records, which are kept for `months`. It may be run at any time,
 * twice or not at all: no lookup is lost, counted twice or moved to another day. With `movesIdle` an account without
 * lookups is moved on to today as well: then none can be counted on an earlier day. Returns whether there was anything
 * to write.
 */
export async function recordUsage(
  store: AdminStore,
  seen: Access,
  months: number,
  { movesIdle = false }: { movesIdle?: boolean } = {},
): Promise<boolean> {
  let shards: Access[] | undefined = await allShards(store, seen);
  return retryConflicts(async () => {
    const current = shards ?? (await shardsOf(store, seen.account));
    shards = undefined; // if a write meets a conflict, the next attempt reads afresh
    let recorded = false;
    for (const shard of current) {
      const updates = recordDays(store.table, shard, { today: dateOf(store.nowSeconds()), months, movesIdle });
      await store.writeAll(updates.map((Update) => ({ Update })));
      if (updates.length > 0) recorded = true;
    }
    return recorded;
  });
}
