import { dateOf, daySeconds, isDate, secondsOf, windowStart } from '../../calendar.ts';
import { accountsTable, defaultUsageMonths } from '../../names.ts';
import { AdminError } from './admin-error.ts';
import type { AdminStore } from './admin-store.ts';

/** UTC dates, `2026-11-21`. Without them the last 30 days, today included. */
export type UsageRange = { from?: string | undefined; to?: string | undefined };

/** The longest range of days: three years. */
const maxRangeDays = 1100;

/**
 * The first and the last day of a range. Zeros would look like an answer.
 * @throws AdminError `invalid` for a range of which nothing can be known: one that ends in a month of the future, or
 * begins in a month whose records have expired
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
  const { months } = await readRetention(store);
  const kept = firstKeptDay(months, store.nowSeconds());
  if (first < kept) {
    throw new AdminError(
      'invalid',
      `Usage is kept for ${months} whole months, so there is none before ${kept}. Begin on that day or later.`,
    );
  }
  return { from: first, to: last, months };
}

/** @throws AdminError `invalid` unless `date` is a UTC date of this century */
export function checkDate(name: string, date: string): void {
  if (isDate(date)) return;
  throw new AdminError('invalid', `"${name}" is a UTC date, for instance 2026-11-21.`);
}

/** The item that tells everyone who reads usage how long the job keeps it. No account id has a `#`. */
const retentionKey = { [accountsTable.partitionKey]: 'usage#', [accountsTable.sortKey]: 'retention' };

/** For how many whole months usage is kept, and the month when the first account was created, if the job has run. */
export type Retention = { months: number; since?: string };

/** What the job said last, or the default where none has run. */
export async function readRetention(store: AdminStore): Promise<Retention> {
  const { months = defaultUsageMonths, since } = (await store.get(retentionKey)) ?? {};
  return { months, ...(since && { since }) };
}

/** Tells readers for how many whole months usage is kept, and since when. */
export async function setRetention(store: AdminStore, { months, since }: Retention): Promise<void> {
  const known = await readRetention(store);
  // The first account may have been deleted since.
  const first = [since, known.since].filter((month) => month !== undefined).toSorted()[0];
  if (known.months === months && known.since === first) return;
  await store.update({
    TableName: store.table,
    Key: retentionKey,
    UpdateExpression: `SET #months = :months${first === undefined ? '' : ', #since = :since'}`,
    ExpressionAttributeNames: { '#months': 'months', ...(first !== undefined && { '#since': 'since' }) },
    ExpressionAttributeValues: { ':months': months, ...(first !== undefined && { ':since': first }) },
  });
}

/** The first day whose usage is still kept, `2024-10-01`. */
export async function usageKeptSince(store: AdminStore): Promise<string> {
  return firstKeptDay((await readRetention(store)).months, store.nowSeconds());
}

/** The first day whose record has not expired at `nowSeconds`, where records are kept for `months`. */
export function firstKeptDay(months: number, nowSeconds: number): string {
  const month = new Date(windowStart('month', nowSeconds) * 1000);
  return dateOf(Date.UTC(month.getUTCFullYear(), month.getUTCMonth() - months, 1) / 1000);
}
