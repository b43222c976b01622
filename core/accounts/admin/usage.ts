import { forEachConcurrently } from '../../concurrency.ts';
import type { Item } from '../../dynamodb.ts';
import { accountsTable } from '../../names.ts';
import type { Access } from '../account.ts';
import { dateOf, daySeconds, isDate, secondsOf } from '../quota.ts';
import {
  dateIn,
  lookupsIn,
  type RefusalCounts,
  recordDays,
  refusalsIn,
  sumByDate,
  type UnitsByDate,
  unrecorded,
  usageRecord,
} from '../usage-record.ts';
import { AdminError, checkAccountId } from './admin-error.ts';
import { type AdminStore, allNames, findAccess, retryConflicts } from './admin-store.ts';
import { isDeleted } from './delete-account.ts';
import { allShards } from './reshard.ts';

/** The lookups of an account for each UTC day from `from` to `to`, both included, in order; a day without any has 0. */
export type AccountUsage = {
  account: string;
  from: string;
  to: string;
  days: DayUsage[];
  /** The days on which requests with a valid key were refused, in order. Not exact, and never charged: at least so many. */
  refusals: DayRefusals[];
};

export type DayUsage = { date: string; lookups: number };

export type DayRefusals = { date: string } & RefusalCounts;

/** UTC dates, `2026-11-21`. Without them the last 30 days, today included. */
export type UsageRange = { from?: string | undefined; to?: string | undefined };

/** The longest range of days: three years. */
const maxRangeDays = 1100;

/**
 * What an account used, exactly as charged, also for a deleted account while its records are kept. Throws `invalid`,
 * `not_found`, `conflict`.
 */
export async function usageOf(store: AdminStore, id: string, range: UsageRange = {}): Promise<AccountUsage> {
  checkAccountId(id);
  const { from, to } = readRange(range, store.nowSeconds());
  const { units, refusals } = await readUnits(store, id, { from, to });
  const days: DayUsage[] = [];
  for (let at = secondsOf(from); at <= secondsOf(to); at += daySeconds) {
    const date = dateOf(at);
    days.push({ date, lookups: units[date] ?? 0 });
  }
  return { account: id, from, to, days, refusals };
}

/** How many accounts are read at the same time. */
const concurrency = 16;

/**
 * The same for every account, by id: for each that exists, and for each deleted one with lookups in the range.
 * Throws `invalid`, `conflict`.
 */
export async function usageOfAll(store: AdminStore, range: UsageRange = {}): Promise<AccountUsage[]> {
  readRange(range, store.nowSeconds());
  const found: AccountUsage[] = [];
  const read = (keep: (usage: AccountUsage) => boolean) => async (id: string) => {
    const usage = await usageOf(store, id, range);
    if (keep(usage)) found.push(usage);
  };
  // An account that was deleted in the meantime has been read already, or is among the deleted ones.
  const existing = new Set<string>();
  await forEachConcurrently(allNames(store, 'account'), concurrency, async (id) => {
    existing.add(id);
    await read(() => true)(id);
  });
  await forEachConcurrently(allNames(store, 'deleted'), concurrency, async (id) => {
    if (!existing.has(id)) await read(({ days }) => days.some(({ lookups }) => lookups > 0))(id);
  });
  return found.toSorted((a, b) => (a.account < b.account ? -1 : 1));
}

function readRange({ from, to }: UsageRange, nowSeconds: number): { from: string; to: string } {
  if (from !== undefined) checkDate('from', from);
  if (to !== undefined) checkDate('to', to);
  const last = to ?? dateOf(nowSeconds);
  const first = from ?? dateOf(secondsOf(last) - 29 * daySeconds);
  if (first > last) throw new AdminError('invalid', `The range ends (${last}) before it begins (${first}).`);
  if ((secondsOf(last) - secondsOf(first)) / daySeconds >= maxRangeDays) {
    throw new AdminError('invalid', `A range has at most ${maxRangeDays} days. Choose a shorter one.`);
  }
  return { from: first, to: last };
}

/** Throws `invalid` unless `date` is a UTC date of this century. */
export function checkDate(name: string, date: string): void {
  if (isDate(date)) return;
  throw new AdminError('invalid', `"${name}" is a UTC date, for instance 2026-11-21.`);
}

/** Attempts, each a few reads. One fails only while a day is being recorded or the shards change. */
const maxReads = 20;

/**
 * The lookups by day. The access items are read before and after the records: if no day was moved between them meanwhile,
 * each lookup was seen in exactly one place.
 */
async function readUnits(
  store: AdminStore,
  id: string,
  range: { from: string; to: string },
): Promise<{ units: UnitsByDate; refusals: DayRefusals[] }> {
  let before = await shardsOf(store, id);
  for (let reads = 0; reads < maxReads; reads++) {
    const records = await readRecords(store, id, range);
    const after = await shardsOf(store, id);
    if (movedNothing(before, after)) {
      if (after.length === 0 && !(await isDeleted(store, id))) {
        throw new AdminError('not_found', `There is no account "${id}".`, { subject: 'account' });
      }
      const recorded = Object.fromEntries(records.map((record) => [dateIn(record), lookupsIn(record)]));
      const refusals = records.flatMap((record): DayRefusals[] => {
        const counts = refusalsIn(record);
        return counts ? [{ date: dateIn(record), ...counts }] : [];
      });
      return { units: sumByDate([recorded, ...after.map(({ usage }) => unrecorded(usage))]), refusals };
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
      const held = [...Object.keys(days), ...(date === null || date === other.usage.date ? [] : [date])];
      return held.every((day) => Object.hasOwn(other.usage.days, day));
    })
  );
}

function readRecords(store: AdminStore, id: string, { from, to }: { from: string; to: string }): Promise<Item[]> {
  return store.query({
    TableName: store.table,
    KeyConditionExpression: '#account = :account AND #item BETWEEN :from AND :to',
    ExpressionAttributeNames: { '#account': accountsTable.partitionKey, '#item': accountsTable.sortKey },
    ExpressionAttributeValues: {
      ':account': id,
      ':from': usageRecord.sortKey(from),
      ':to': usageRecord.sortKey(to),
    },
  });
}

/**
 * Moves the days of an account that have ended into records, which are kept for `months`. It may be run at any time, twice
 * or not at all: no lookup is lost, counted twice or moved to another day. Returns whether there was anything to record.
 */
export async function recordUsage(store: AdminStore, seen: Access, months: number): Promise<boolean> {
  let shards: Access[] | undefined = await allShards(store, seen);
  return retryConflicts(async () => {
    const current = shards ?? (await shardsOf(store, seen.account));
    shards = undefined; // if a write meets a conflict, the next attempt reads afresh
    let recorded = false;
    for (const shard of current) {
      const updates = recordDays(store.table, shard, { today: dateOf(store.nowSeconds()), months });
      await store.writeAll(updates.map((Update) => ({ Update })));
      if (updates.length > 0) recorded = true;
    }
    return recorded;
  });
}
