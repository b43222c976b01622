import { describe, expect, it } from '@jest/globals';
import { emptyReport } from '../../../loader/bag/problem-report.ts';
import { isAboutSize, type LoadCounts, noChanges, objections } from '../../../loader/dataset/load-counts.ts';
import { localGuardDefaults } from '../../../loader/names.ts';

const live = { peildatum: '2026-01-08', addresses: 10_000 };
const load = { peildatum: '2026-02-08', allowOlder: false };

function counts(changes: Partial<LoadCounts['changes']>, problems = 0, addresses = 10_000): LoadCounts {
  const report = emptyReport();
  report.street_missing.count = problems;
  report.no_postcode.count = 5_000;
  const none = noChanges();
  return {
    ...none,
    voorkomens: 12_000,
    nummeraanduidingen: addresses,
    addresses,
    problems: report,
    changes: { ...none.changes, ...changes },
  };
}

describe('the guard', () => {
  it('does not object to an ordinary month', () => {
    const month = counts({ added: 60, changed: 30, removed: 20 }, 3);
    expect(objections(month, load, live, localGuardDefaults)).toEqual([]);
  });

  it.each([
    [
      'too_many_removed',
      counts({ removed: 501 }),
      'it would remove 501 addresses where 10,000 are live: 5 %, over the limit of 5 %',
    ],
    [
      'too_many_changed',
      counts({ changed: 2000 }),
      'it would change 2,000 addresses where 10,000 are live: 20 %, over the limit of 10 %',
    ],
    [
      'too_many_added',
      counts({ added: 4000 }),
      'it would add 4,000 addresses where 10,000 are live: 40 %, over the limit of 10 %',
    ],
    ['too_many_problems', counts({}, 500), '500 of 10,500 addresses have a problem: 4.8 %, over the limit of 1 %'],
    ['too_few_addresses', counts({}, 0, 0), 'the extract has 0 addresses, fewer than the 1 required'],
  ])('objects with %s, and states by how much', (code, found, message) => {
    expect(objections(found, load, live, localGuardDefaults)).toEqual([{ code, message }]);
  });

  it('allows exactly the share', () => {
    expect(objections(counts({ removed: 500 }), load, live, localGuardDefaults)).toEqual([]);
  });

  it('ignores a large share of very few addresses', () => {
    const hamlet = { peildatum: '2026-01-08', addresses: 20 };
    expect(objections(counts({ added: 9, removed: 9 }), load, hamlet, localGuardDefaults)).toEqual([]);
    expect(objections(counts({ removed: 11 }), load, hamlet, localGuardDefaults)).toHaveLength(1);
  });

  it("does not judge the problems of a rollback's snapshot a second time", () => {
    const back = { ...load, allowOlder: true, wasJudged: true };
    expect(objections(counts({}, 500), back, live, localGuardDefaults)).toEqual([]);
    expect(objections({ ...counts({}), problems: null }, back, live, localGuardDefaults)).toEqual([]);
  });

  it('lets the first load add everything', () => {
    expect(objections(counts({ added: 10_000 }), load, null, localGuardDefaults)).toEqual([]);
  });

  it('objects to an older date unless it was requested', () => {
    const older = { peildatum: '2025-12-08', allowOlder: false };
    expect(objections(counts({}), older, live, localGuardDefaults).map(({ code }) => code)).toEqual([
      'older_peildatum',
    ]);
    expect(objections(counts({}), { ...older, allowOlder: true }, live, localGuardDefaults)).toEqual([]);
  });

  it('reports every objection to a load', () => {
    const found = objections(counts({ removed: 9000, changed: 9000 }, 900, 0), load, live, localGuardDefaults);
    expect(found).toHaveLength(4);
  });

  it('marks an objection as being about size if only the amount of change is objected to', () => {
    const older = { peildatum: '2025-12-08', allowOlder: false };
    const large = counts({ added: 5000, removed: 9000, changed: 9000 }, 900, 0);
    const found = objections(large, older, live, localGuardDefaults);
    expect(found.filter(isAboutSize).map(({ code }) => code)).toEqual([
      'too_many_removed',
      'too_many_changed',
      'too_many_added',
    ]);
    expect(found.filter((one) => !isAboutSize(one)).map(({ code }) => code)).toEqual([
      'too_few_addresses',
      'too_many_problems',
      'older_peildatum',
    ]);
  });
});
