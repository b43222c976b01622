import { describe, expect, it } from '@jest/globals';
import { sixTowns, smallMunicipality, weesp } from '../../../tools/bench/generator/datasets.ts';
import { GuardedDataset } from '../../../tools/bench/generator/guarded.ts';
import { healthyDatasets } from '../../../tools/bench/generator/healthy.ts';
import {
  isWithinLimits,
  nameOfWrong,
  namesColumn,
  type Wrong,
  wrongChanges,
  wrongDatasets,
} from '../../../tools/bench/generator/wrong.ts';
import { askedInYear } from '../../../tools/bench/generator/year.ts';
import { isFullSweep, sweep } from '../../support/sweep.ts';

const made = { weesp, sixTowns, smallMunicipality };
const known = new Map<string, GuardedDataset>();

/** A dataset that is made once: each takes a while. */
function datasetOf(name: keyof typeof made): GuardedDataset {
  const dataset = known.get(name) ?? new GuardedDataset(made[name]());
  known.set(name, dataset);
  return dataset;
}

/** The wrong datasets that can be made of this one. */
const wrongOf = (name: keyof typeof made): [string, keyof typeof made, Wrong][] =>
  wrongDatasets.map((wrong) => [nameOfWrong(wrong), name, wrong]);

describe('a dataset with an error in one column', () => {
  // 31 and 53 have no factor in common with the numbers of faults and extents.
  it.each([...sweep(wrongOf('weesp'), 1, 240), ...sweep(wrongOf('sixTowns'), 1, 240)])(
    '%s, of %s is refused with a reason that names the column, unless it is within the limits',
    (_, name, wrong) => {
      const dataset = datasetOf(name);
      const changes = wrongChanges(dataset, wrong);
      if (!changes) return;
      const result = dataset.guard(changes);
      const { objections } = result;
      if (objections.length === 0) {
        expect(isWithinLimits(wrong, dataset, changes)).toBe(true);
      } else {
        expect(namesColumn(wrong, result) || objections).toBe(true);
      }
    },
  );

  it('is nearly always over the limits', () => {
    const dataset = datasetOf('weesp');
    const all = sweep(wrongDatasets, 6, 120).flatMap((wrong) => {
      const changes = wrongChanges(dataset, wrong);
      return changes ? isWithinLimits(wrong, dataset, changes) : [];
    });
    expect(all.filter(Boolean).length).toBeLessThan(all.length / 5);
  });
});

describe('a healthy change', () => {
  const cases = Object.keys(made).flatMap((name) =>
    healthyDatasets.map((healthy): [string, keyof typeof made, typeof healthy] => {
      return [healthy.name, name as keyof typeof made, healthy];
    }),
  );

  it.each(sweep(cases, 3))('%s, of %s is published without a question', (_, name, healthy) => {
    const dataset = datasetOf(name);
    const changes = healthy.changes(dataset);
    if (!changes) return;
    expect(dataset.guard(changes, healthy.load).objections).toEqual([]);
  });
});

describe('a year of the country', () => {
  it.each(
    isFullSweep
      ? [
          [1, 0, 365],
          [2, 0, 365],
          [3, 0, 365],
        ]
      : [[1, 20, 5]],
  )('%i has no question, from day %i on, in %i days', (seed, first, days) => {
    const { daily, monthly } = askedInYear(seed, first, days);
    expect([...daily, ...monthly].flat().map(({ message }) => message)).toEqual([]);
  });
});
