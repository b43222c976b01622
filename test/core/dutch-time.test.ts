import { describe, expect, it } from '@jest/globals';
import { dutchTime } from '../../core/dutch-time.ts';

describe('a day in the Netherlands', () => {
  it.each([
    ['in winter', '2026-12-31', '2026-12-31T23:00:00.000Z'],
    ['in summer', '2026-07-01', '2026-07-01T22:00:00.000Z'],
    ['on which summer time begins', '2026-03-29', '2026-03-29T22:00:00.000Z'],
    ['on which it ends', '2026-10-25', '2026-10-25T23:00:00.000Z'],
    ['before summer time begins', '2026-03-28', '2026-03-28T23:00:00.000Z'],
  ])('%s ends at midnight there', (_, date, instant) => {
    expect(dutchTime.endOfDay(date)?.toISOString()).toBe(instant);
    expect(dutchTime.dateEndingAt(instant)).toBe(date);
  });

  it('does not end at another time, nor where there is no date', () => {
    expect(dutchTime.dateEndingAt('2026-12-31T23:00:01Z')).toBeUndefined();
    expect(dutchTime.dateEndingAt('2026-07-01T23:00:00Z')).toBeUndefined();
    for (const text of ['', 'tomorrow', '2026-13-01', '2026-02-30']) {
      expect(dutchTime.endOfDay(text)).toBeUndefined();
    }
  });
});
