import { windowEnd } from './quota.ts';

/**
 * The lookups that an access item has counted. `total` is all of them, `mark` what it was when `date` (UTC,
 * `2026-11-21`) began; `days` are the sums of earlier days that no usage record holds yet. Without a `date` nothing was
 * counted so far (decision 0141).
 */
export type UsageCount = {
  total: number;
  date: string | null;
  mark: number;
  days: Readonly<Record<string, number>>;
};

/** Lookups by UTC date. */
export type UnitsByDate = Record<string, number>;

/** The most days in `days`: what fits the access item. A charge that would begin another one records these first. */
export const maxUnrecordedDays = 2;

/** How many whole months usage records are kept unless a deployment configures it. */
export const defaultUsageMonths = 25;

export const daySeconds = 86_400;

/** The UTC date of an instant, in seconds since 1970. */
export function dateOf(seconds: number): string {
  return new Date(seconds * 1000).toISOString().slice(0, 10);
}

/** Whether `text` is a date of this century, `2026-11-21`. */
export function isDate(text: string): boolean {
  const seconds = /^20\d\d-\d\d-\d\d$/.test(text) ? secondsOf(text) : Number.NaN;
  return !Number.isNaN(seconds) && dateOf(seconds) === text;
}

/** When a date begins, in seconds since 1970. */
export function secondsOf(date: string): number {
  return Date.parse(`${date}T00:00:00Z`) / 1000;
}

/** The first and the last day of a month, `2026-11`; `undefined` for any other text. */
export function monthOf(month: string): { from: string; to: string } | undefined {
  const from = `${month}-01`;
  if (!isDate(from)) return undefined;
  return { from, to: dateOf(windowEnd('month', secondsOf(from)) - daySeconds) };
}

/** Whether the day that is being counted has passed at `now`. A day in the future is the current one. */
export function dayHasPassed({ date }: UsageCount, now: number): boolean {
  return date === null || date < dateOf(Math.floor(now));
}

/** Whether there is no space left for another unrecorded day. */
export function hasNoSpace({ days }: UsageCount): boolean {
  return Object.keys(days).length >= maxUnrecordedDays;
}

/** The lookups of the days that are not recorded yet, with the one that is being counted. */
export function unrecorded({ total, date, mark, days }: UsageCount): UnitsByDate {
  const units = { ...days };
  if (date !== null) units[date] = (units[date] ?? 0) + total - mark;
  return withoutZeros(units);
}

/** The sums of all of `parts`, by date. */
export function sumByDate(parts: readonly UnitsByDate[]): UnitsByDate {
  const sums: UnitsByDate = {};
  for (const part of parts) {
    for (const [date, units] of Object.entries(part)) sums[date] = (sums[date] ?? 0) + units;
  }
  return sums;
}

/** Only the dates with lookups. */
export function withoutZeros(units: UnitsByDate): UnitsByDate {
  return Object.fromEntries(Object.entries(units).filter(([, count]) => count !== 0));
}

/** When the record of `date` may be deleted, in seconds: `months` after the end of its month. */
export function expiryOfRecord(date: string, months: number): number {
  let end = secondsOf(`${date.slice(0, 7)}-01`);
  for (let i = 0; i <= months; i++) end = windowEnd('month', end);
  return end;
}
