import { describe, expect, it } from '@jest/globals';
import type { AdresObject } from '../../../core/adres-object.ts';
import { emptyReport } from '../../../loader/bag/problem-report.ts';
import { type Change, diff, lineOf } from '../../../loader/dataset/lines.ts';
import {
  changeExample,
  countChange,
  isAboutSize,
  type LoadCounts,
  noChanges,
  objections,
  thresholdsOfDays,
} from '../../../loader/dataset/load-counts.ts';
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

  it('lets a day change the gemeente of as many addresses as a load may, and nothing else', () => {
    const day = thresholdsOfDays(localGuardDefaults, [{ vanaf: '2025-12-31', tot: '2026-01-01' }]);
    const merger = (gemeenteChanged: number, others = 0) =>
      objections({ ...counts({ changed: gemeenteChanged + others }), gemeenteChanged }, load, live, day);
    expect(merger(1_000)).toEqual([]);
    expect(merger(1_000, 200)).toEqual([]);
    expect(merger(1_000, 201)).toMatchObject([
      { message: 'it would change 201 addresses where 10,000 are live: 2 %, over the limit of 2 %' },
    ]);
    const message =
      'it would change the gemeente of 1,001 addresses where 10,000 are live: 10 %, over the limit of 10 %';
    expect(merger(1_001)).toEqual([{ code: 'too_many_changed', message }]);
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

describe('the guard of objects', () => {
  const withObjects = { ...live, objecten: 10_000 };
  const objecten = { live: 10_000, changed: 0, lost: 0, moved: 0 };
  const judged = (more: Partial<typeof objecten>, missing = 0) => {
    const found = { ...counts({}), objecten: { ...objecten, ...more } };
    if (found.problems) found.problems.address_missing.count = missing;
    return objections(found, load, withObjects, localGuardDefaults);
  };

  it.each([
    ['too_many_objects_lost', judged({ lost: 501 }), '501 addresses would lose an object where 10,000 are live: 5 %'],
    [
      'too_many_objects_moved',
      judged({ moved: 501 }),
      '501 objects would move by more than 50 m where 10,000 are live',
    ],
    ['too_many_object_problems', judged({}, 200), '200 of 10,200 objects have an address that is not there'],
  ])('objects with %s, and states by how much', (code, found, message) => {
    expect(found).toEqual([{ code, message: expect.stringContaining(message) }]);
  });

  it('allows any number to change, as when they are turned on', () => {
    expect(judged({ changed: 10_000, lost: 500, moved: 500 }, 100)).toEqual([]);
  });
});

describe('a change of the objects of an address', () => {
  const address = (more: Partial<AdresObject> | null, straat = 'Buitenveer') => {
    const object: AdresObject = {
      ...{ identificatie: '0457010000012345', status: 'Verblijfsobject in gebruik', hoofdadres: true },
      type: 'verblijfsobject',
      locatie: { x: 131_234.5, y: 480_123.4 },
      ...{ oppervlakte: 85, gebruiksdoelen: ['woonfunctie'] },
    };
    const objects = more ? [{ ...object, ...more }] : [];
    const place = { straat, woonplaats: 'Weesp', nummeraanduidingen: ['0457200000201234'], objecten: objects };
    return lineOf({ key: '1381AA#9#', places: [place] });
  };
  const far = { locatie: { x: 131_234.5, y: 480_173.5 } };

  it.each<[string, string, string, string, object]>([
    ['of its surface', address({}), address({ oppervlakte: 90 }), 'objecten', { changed: 1, lost: 0, moved: 0 }],
    ['of its location by 50.1 m', address({}), address(far), 'objecten', { changed: 1, lost: 0, moved: 1 }],
    ['to none', address({}), address(null), 'objecten', { changed: 1, lost: 1, moved: 0 }],
    ['from none', address(null), address({}), 'objecten', { changed: 1, lost: 0, moved: 0 }],
    ['with its street', address({}), address(null, 'Dam'), 'changed', { changed: 0, lost: 1, moved: 0 }],
  ])('%s is counted as what it is', (_, before, after, kind, objecten) => {
    const [change] = [...diff([before], [after])] as [Change];
    expect(change.kind).toBe(kind);
    const found = { ...noChanges(), objecten: { live: 1, changed: 0, lost: 0, moved: 0 } };
    countChange(found, change);
    expect(found.objecten).toEqual({ live: 1, ...objecten });
    expect(found.changes.changed).toBe(kind === 'changed' ? 1 : 0);
  });

  it('is shown by the objects before and after', () => {
    const shown = changeExample({ before: address({}), after: address(null) });
    expect(shown.before).toEqual([
      'Buitenveer, Weesp (objects: 0457010000012345 verblijfsobject, Verblijfsobject in gebruik, 85 m2 woonfunctie, 131234.5 480123.4)',
    ]);
    expect(shown.after).toEqual(['Buitenveer, Weesp (objects: none)']);
  });
});

describe('a change of an address', () => {
  const line = (gemeente: string, straat = 'Buitenveer', id = '0457200000201234') => {
    const place = { straat, woonplaats: 'Weesp', nummeraanduidingen: [id] };
    return lineOf({ key: '1381AA#9#', places: [gemeente ? { ...place, gemeente } : place] });
  };

  it.each([
    ['another gemeente', line('0457'), line('0363'), 1, 'Buitenveer, Weesp (gemeente 0363)'],
    ['no gemeente any more', line('0457'), line(''), 1, 'Buitenveer, Weesp (no gemeente)'],
    ['another street too', line('0457'), line('0363', 'Binnenveer'), 0, 'Binnenveer, Weesp'],
    [
      'another id',
      line('0457'),
      line('0457', 'Buitenveer', '1'.repeat(16)),
      0,
      `Buitenveer, Weesp (${'1'.repeat(16)})`,
    ],
    [
      'another gemeente and id',
      line('0457'),
      line('0363', 'Buitenveer', '1'.repeat(16)),
      0,
      'Buitenveer, Weesp (gemeente 0363)',
    ],
  ])('that gives it %s is shown by what differs', (_, before, after, gemeenteChanged, text) => {
    const found = noChanges();
    const change = { kind: 'changed', before, after } as const;
    countChange(found, change);
    expect(found).toMatchObject({ changes: { changed: 1 }, gemeenteChanged });
    expect(changeExample(change).after).toEqual([text]);
  });
});
