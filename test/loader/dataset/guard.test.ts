import { describe, expect, it } from '@jest/globals';
import { emptyReport } from '../../../loader/bag/problem-report.ts';
import { objections } from '../../../loader/dataset/guard.ts';
import { type LoadCounts, noChanges } from '../../../loader/dataset/load.ts';
import { localGuardDefaults } from '../../../loader/names.ts';

const served = { peildatum: '2026-01-08', keys: 10_000 };
const load = { peildatum: '2026-02-08', mayGoBack: false };

function counts(changes: Partial<LoadCounts['changes']>, problems = 0, addresses = 10_000): LoadCounts {
  const report = emptyReport();
  report.street_missing.count = problems;
  report.no_postcode.count = 5_000;
  const none = noChanges();
  return { ...none, voorkomens: 12_000, addresses, problems: report, changes: { ...none.changes, ...changes } };
}

describe('the guard', () => {
  it('has nothing against an ordinary month', () => {
    const month = counts({ added: 60, changed: 30, removed: 20 }, 3);
    expect(objections(month, load, served, localGuardDefaults)).toEqual([]);
  });

  it.each([
    [
      'too_many_removed',
      counts({ removed: 501 }),
      '501 of 10000 served keys would be removed, 5 %; at most 5 % may be',
    ],
    [
      'too_many_changed',
      counts({ changed: 2000 }),
      '2000 of 10000 served keys would be changed, 20 %; at most 10 % may be',
    ],
    [
      'too_many_added',
      counts({ added: 4000 }),
      '4000 of 10000 keys would be added to those served, 40 %; at most 10 % may be',
    ],
    ['too_many_problems', counts({}, 500), '500 of 10500 addresses are problems, 4.8 %; at most 1 % may be'],
    ['too_few_addresses', counts({}, 0, 0), '0 addresses are fewer than the 1 that a state must have'],
  ])('says %s, and by how much', (code, found, message) => {
    expect(objections(found, load, served, localGuardDefaults)).toEqual([{ code, message }]);
  });

  it('allows exactly the share', () => {
    expect(objections(counts({ removed: 500 }), load, served, localGuardDefaults)).toEqual([]);
  });

  it('does not mind a large share of very few', () => {
    const hamlet = { peildatum: '2026-01-08', keys: 20 };
    expect(objections(counts({ added: 9, removed: 9 }), load, hamlet, localGuardDefaults)).toEqual([]);
    expect(objections(counts({ removed: 11 }), load, hamlet, localGuardDefaults)).toHaveLength(1);
  });

  it('does not judge the problems of a state to go back to a second time, counted or not', () => {
    const back = { ...load, mayGoBack: true };
    expect(objections(counts({}, 500), back, served, localGuardDefaults)).toEqual([]);
    expect(objections({ ...counts({}), problems: null }, back, served, localGuardDefaults)).toEqual([]);
  });

  it('lets the first load add everything', () => {
    expect(objections(counts({ added: 10_000 }), load, null, localGuardDefaults)).toEqual([]);
  });

  it('goes back in time only when that was asked for', () => {
    const older = { peildatum: '2025-12-08', mayGoBack: false };
    expect(objections(counts({}), older, served, localGuardDefaults).map(({ code }) => code)).toEqual([
      'older_peildatum',
    ]);
    expect(objections(counts({}), { ...older, mayGoBack: true }, served, localGuardDefaults)).toEqual([]);
  });

  it('says everything that speaks against a load', () => {
    const found = objections(counts({ removed: 9000, changed: 9000 }, 900, 0), load, served, localGuardDefaults);
    expect(found).toHaveLength(4);
  });
});
