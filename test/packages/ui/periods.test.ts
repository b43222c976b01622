import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  daysLater,
  periodFor,
  periodStart,
  periods,
  sumsBy,
  type UsagePeriod,
  utcDateOf,
} from '../../../packages/ui/periods.ts';

describe('the bars of a range', () => {
  it.each<[days: number, asked: UsagePeriod | undefined, shown: UsagePeriod]>([
    [1, undefined, 'day'],
    [62, undefined, 'day'],
    [63, undefined, 'week'],
    [365, undefined, 'week'],
    [365, 'day', 'week'],
    [365, 'month', 'month'],
    [30, 'month', 'month'],
    [427, undefined, 'week'],
    [428, undefined, 'month'],
    [1100, 'week', 'month'],
  ])('of %i days, asked for by %s, are by %s', (days, asked, shown) => {
    const from = '2024-02-29';
    expect(periodFor({ from, to: daysLater(from, days - 1) }, asked)).toBe(shown);
  });

  it('are 62 at most, and have every day once, in the period that it is in', () => {
    const range = fc.record({
      first: fc.integer({ min: 19_000, max: 21_000 }),
      days: fc.integer({ min: 1, max: 1100 }),
    });
    fc.assert(
      fc.property(range, fc.constantFrom(undefined, ...periods), ({ first, days }, asked) => {
        const dates = Array.from({ length: days }, (_, i) =>
          utcDateOf(new Date((first + i) * 86_400_000)),
        );
        const from = dates[0] ?? '';
        const to = dates.at(-1) ?? '';
        const by = periodFor({ from, to }, asked);
        const sums = sumsBy(
          by,
          dates.map((date) => ({ date, lookups: 1 })),
        );
        expect(sums.length).toBeLessThanOrEqual(62);
        expect(sums.reduce((sum, { lookups }) => sum + lookups, 0)).toBe(days);
        expect([sums[0]?.from, sums.at(-1)?.to]).toEqual([from, to]);
        for (const sum of sums) expect(periodStart(by, sum.from)).toBe(periodStart(by, sum.to));
      }),
    );
  });

  it('by week begin on Monday, also of a week that began before the range or in another year', () => {
    const days = ['2026-12-30', '2026-12-31', '2027-01-03', '2027-01-04'].map((date) => ({
      date,
      lookups: 1,
    }));
    expect(sumsBy('week', days)).toMatchObject([
      { from: '2026-12-30', to: '2027-01-03', lookups: 3 },
      { from: '2027-01-04', to: '2027-01-04', lookups: 1 },
    ]);
    expect(periodStart('week', '2027-01-03')).toBe('2026-12-28');
  });

  it('have the refusals of days, also where they come apart from the lookups', () => {
    const refusal = { date: '2026-11-21', quota: 1, input: 2, inactive: 3 };
    expect(sumsBy('month', [{ date: '2026-11-02', lookups: 5 }, refusal])).toEqual([
      { from: '2026-11-02', to: '2026-11-21', lookups: 5, quota: 1, input: 2, inactive: 3 },
    ]);
  });
});
