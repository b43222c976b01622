export { isDate, monthOf } from '../../core/calendar.ts';

/** The periods that a bar or a row of usage can sum up; weeks begin on Monday. */
export const periods = ['day', 'week', 'month'] as const;
export type UsagePeriod = (typeof periods)[number];

const counts = ['lookups', 'quota', 'input', 'inactive'] as const;

/** The counts of a day, or their sum. */
export type PeriodCounts = Record<(typeof counts)[number], number>;

/** The sum of a period's days within a range, from the first such day to the last. */
export type PeriodSum = PeriodCounts & { from: string; to: string };

/** The most bars that can be told apart, and rows that somebody reads. */
const mostSums = 62;
const dayMilliseconds = 86_400_000;

export const utcDateOf = (date: Date): string => date.toISOString().slice(0, 10);

/** The date so many days later, or earlier. */
export function daysLater(date: string, days: number): string {
  return utcDateOf(new Date(Date.parse(date) + days * dayMilliseconds));
}

/** The first day of the period that a date is in. */
export function periodStart(period: UsagePeriod, date: string): string {
  if (period === 'month') return `${date.slice(0, 7)}-01`;
  return period === 'day' ? date : daysLater(date, -((new Date(date).getUTCDay() + 6) % 7));
}

/** How a file names a period: `2026-11-21`, the Monday of a week, or `2026-11`. */
export const periodName = (by: UsagePeriod, { from }: Pick<PeriodSum, 'from'>): string =>
  by === 'month' ? from.slice(0, 7) : periodStart(by, from);

/** The period asked for, or the next longer period that covers a range with few enough bars. */
export function periodFor(
  { from, to }: { from: string; to: string },
  asked: UsagePeriod = 'day',
): UsagePeriod {
  const days = (Date.parse(to) - Date.parse(from)) / dayMilliseconds + 1;
  const fits = { day: days <= mostSums, week: days <= 7 * (mostSums - 1), month: true };
  return periods.slice(periods.indexOf(asked)).find((period) => fits[period]) ?? 'month';
}

/** The sums of the daily counts, in order. */
export function sumsBy(
  period: UsagePeriod,
  days: readonly ({ date: string } & Partial<PeriodCounts>)[],
): PeriodSum[] {
  const sums = new Map<string, PeriodSum>();
  for (const { date, ...day } of days) {
    const start = periodStart(period, date);
    const sum = sums.get(start) ?? {
      from: date,
      to: date,
      lookups: 0,
      quota: 0,
      input: 0,
      inactive: 0,
    };
    if (date < sum.from) sum.from = date;
    if (date > sum.to) sum.to = date;
    for (const name of counts) sum[name] += day[name] ?? 0;
    sums.set(start, sum);
  }
  return [...sums.values()];
}
