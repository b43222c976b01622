import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { gapAfter, pathFrom } from '../../../loader/storage/mutation-lists.ts';

const date = (day: number) => new Date(Date.UTC(2010, 0, day)).toISOString().slice(0, 10);
const delivery = ([from, to]: [number, number]) => ({ name: `${from}-${to}.zip`, vanaf: date(from), tot: date(to) });
/** Deliveries from a day to a day: `10-11 11-13`. */
const deliveries = (days: string) =>
  days.split(' ').map((one) => delivery(one.split('-').map(Number) as [number, number]));

describe('the path of deliveries', () => {
  it.each([
    ['starts at the date and covers missed days', '10-11 11-12 12-15', ['11-12.zip', '12-15.zip']],
    ['ends when no delivery is newer', '10-11', []],
    ['takes the way to the latest date', '11-12 11-13 13-14', ['11-13.zip', '13-14.zip']],
    ['takes days rather than a month to the same date', '11-13 11-12 12-13', ['11-12.zip', '12-13.zip']],
    ['takes a month where the days have a gap', '11-12 13-14 11-14', ['11-14.zip']],
    ['takes the first of equal ones', '11-12 11-12', ['11-12.zip']],
  ])('%s', (_, days, expected) => {
    expect(pathFrom(deliveries(days), date(11)).map(({ name }) => name)).toEqual(expected);
  });

  it('leads to the latest date that any way reaches, without a gap, for deliveries in any order', () => {
    const days = fc.array(
      fc.tuple(fc.nat(12), fc.integer({ min: 1, max: 4 })).map(([a, b]): [number, number] => [a, a + b]),
    );
    fc.assert(
      fc.property(days, (all) => {
        const found = pathFrom(all.map(delivery), date(0));
        let at = date(0);
        for (const { vanaf, tot } of found) {
          expect(vanaf).toBe(at);
          at = tot;
        }
        const reached = new Set([0]);
        for (let day = 0; day <= 16; day++) {
          for (const [from, to] of all) if (reached.has(from)) reached.add(to);
        }
        expect(at).toBe(date(Math.max(...reached)));
      }),
    );
  });

  it('is complete for thousands of deliveries', () => {
    const days = Array.from({ length: 5_000 }, (_, i): [number, number] => [i, i + 1]).reverse();
    expect(pathFrom(days.map(delivery), date(0))).toHaveLength(5_000);
  });
});

describe('a gap between deliveries', () => {
  it('names the next delivery, or the one that spans the date', () => {
    expect(gapAfter(deliveries('10-11 12-13'), date(11))).toContain(
      'No mutations follow 2010-01-11: the next delivery, 12-13.zip, starts at 2010-01-12.',
    );
    expect(gapAfter(deliveries('10-13'), date(11))).toContain(
      '10-13.zip spans that date, from 2010-01-10 to 2010-01-13',
    );
    expect(gapAfter(deliveries('10-11'), date(11))).toBeNull();
  });
});
