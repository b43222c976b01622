import { dateOf, daySeconds, isDate, secondsOf, windowStart } from '../../calendar.ts';
import { accountsTable } from '../../names.ts';
import { defaultUsageMonths } from '../usage-record.ts';
import { AdminError } from './admin-error.ts';
import type { AdminStore } from './admin-store.ts';

/** UTC dates, `2026-11-21`. Without them the last 30 days, today included. */
export type UsageRange = { from?: string | undefined; to?: string | undefined };

/** The longest range of days: three years. */
const maxRangeDays = 1100;

/**
 * The first and the last day of a range. Throws `invalid` for a range of which nothing can be known: one that ends in a month of the
 * future, or begins in a month whose records have expired. Zeros would look like an answer.
 */
export async function readRange(
  store: AdminStore,
  { from, to }: UsageRange,
): Promise<{ from: string; to: string; months: number }> {
  if (from !== undefined) checkDate('from', from);
  if (to !== undefined) checkDate('to', to);
  const today = dateOf(store.nowSeconds());
  const last = to ?? today;
  const first = from ?? dateOf(secondsOf(last) - 29 * daySeconds);
  if (first > last) throw new AdminError('invalid', `The range ends (${last}) before it begins (${first}).`);
  if ((secondsOf(last) - secondsOf(first)) / daySeconds >= maxRangeDays) {
    throw new AdminError('invalid', `A range has at most ${maxRangeDays} days. Choose a shorter one.`);
  }
  if (last.slice(0, 7) > today.slice(0, 7)) {
    throw new AdminError(
      'invalid',
      `${last.slice(0, 7)} has not begun yet; the current month is ${today.slice(0, 7)}.`,
    );
  }
  const months = await keptMonths(store);
  const kept = firstKeptDay(months, store.nowSeconds());
  if (first < kept) {
    throw new AdminError(
      'invalid',
      `Usage is kept for ${months} whole months, so there is none before ${kept}. Begin on that day or later.`,
    );
  }
  return { from: first, to: last, months };
}

/** Throws `invalid` unless `date` is a UTC date of this century. */
export function checkDate(name: string, date: string): void {
  if (isDate(date)) return;
  throw new AdminError('invalid', `"${name}" is a UTC date, for instance 2026-11-21.`);
}

/** The item that tells everyone who reads usage how long the job keeps it. No account id has a `#`. */
const retentionKey = { [accountsTable.partitionKey]: 'usage#', [accountsTable.sortKey]: 'retention' };

/** For how many whole months usage is kept: what the job said last, or the default where none has run. */
export async function keptMonths(store: AdminStore): Promise<number> {
  return (await store.get(retentionKey))?.months ?? defaultUsageMonths;
}

/** Tells readers for how many whole months usage is kept. */
export async function setKeptMonths(store: AdminStore, months: number): Promise<void> {
  const item = await store.get(retentionKey);
  if (item?.months === months) return;
  await store.update({
    TableName: store.table,
    Key: retentionKey,
    UpdateExpression: 'SET #months = :months',
    ExpressionAttributeNames: { '#months': 'months' },
    ExpressionAttributeValues: { ':months': months },
  });
}

/** The first day whose record has not expired at `nowSeconds`, where records are kept for `months`. */
export function firstKeptDay(months: number, nowSeconds: number): string {
  const month = new Date(windowStart('month', nowSeconds) * 1000);
  return dateOf(Date.UTC(month.getUTCFullYear(), month.getUTCMonth() - months, 1) / 1000);
}
