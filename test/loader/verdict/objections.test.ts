import { describe, expect, it } from '@jest/globals';
import type { PlaceSize } from '../../../loader/addresses/place-sizes.ts';
import { emptyReport } from '../../../loader/bag/problem-report.ts';
import { localGuardDefaults } from '../../../loader/names.ts';
import { type LoadCounts, noChanges } from '../../../loader/verdict/load-counts.ts';
import { isAboutSize, type Judged, judge, type Live, thresholdsOfDays } from '../../../loader/verdict/objections.ts';
import { type AreaTally, noTallies, type PlaceKind } from '../../../loader/verdict/place-changes.ts';

/** 10,000 addresses in 100 woonplaatsen, none of which has enough to be judged by itself. */
const names = Array.from({ length: 100 }, (_, i) => `Plaats ${i}`);
const live: Live = {
  peildatum: '2026-01-08',
  addresses: 10_000,
  places: Object.fromEntries(names.map((name): [string, PlaceSize] => [name, [100, 10, 10, 5, 0, 0, 100]])),
};
const load = { peildatum: '2026-02-08', allowOlder: false, after: live.places };

/** These changes, spread over all woonplaatsen. */
function spread(changes: Partial<Record<PlaceKind, number>>): Judged['tallies'] {
  const shareOf = (count: number, i: number) => Math.floor((count * (i + 1)) / 100) - Math.floor((count * i) / 100);
  const tallyOf = (i: number): AreaTally =>
    Object.fromEntries(
      Object.entries(changes).map(([kind, count]) => [kind, { count: shareOf(count, i), examples: [] }]),
    );
  const all = Object.fromEntries(Object.entries(changes).map(([kind, count]) => [kind, { count, examples: [] }]));
  return { ...noTallies(), all, woonplaatsen: Object.fromEntries(names.map((name, i) => [name, tallyOf(i)])) };
}

function counts(problems = 0, addresses = 10_000): LoadCounts {
  const report = emptyReport();
  report.street_missing.count = problems;
  report.no_postcode.count = 5_000;
  return { ...noChanges(), voorkomens: 12_000, nummeraanduidingen: addresses, addresses, problems: report };
}

type Given = { problems?: number | null; addresses?: number } & Partial<Omit<Judged, 'tallies'>>;
function objections(
  changes: Partial<Record<PlaceKind, number>>,
  { problems = 0, addresses, ...given }: Given = {},
  base: Live | null = live,
  ofDay = localGuardDefaults as Parameters<typeof judge>[4],
) {
  const found = { ...counts(problems ?? 0, addresses), ...(problems === null && { problems: null }) };
  return judge(found, { ...load, ...given, tallies: spread(changes) }, base, localGuardDefaults, ofDay).objections;
}

describe('the guard', () => {
  it('does not object to an ordinary month', () => {
    expect(objections({ added: 60, renamed: 30, changed: 30, removed: 20 }, { problems: 3 })).toEqual([]);
  });

  it.each<[string, Partial<Record<PlaceKind, number>>, string, string]>([
    ['too_many_removed', { removed: 501 }, 'remove 501 addresses', '5%, over the limit of 5%'],
    ['too_many_changed', { changed: 2000 }, 'change 2,000 addresses', '20%, over the limit of 10%'],
    ['too_many_added', { added: 4000 }, 'add 4,000 addresses', '40%, over the limit of 10%'],
    [
      'too_many_renumbered',
      { renumbered: 501 },
      'change the huisnummer or postcode of 501 addresses',
      '5%, over the limit of 5%',
    ],
    [
      'too_many_names_garbled',
      { garbled: 11 },
      'put characters that no name has into the names of 11 addresses',
      '0.11%, over the limit of 10',
    ],
    ['too_many_changed', { gemeenteLost: 11 }, 'take the gemeente off 11 addresses', '0.11%, over the limit of 10'],
    ['too_many_objects_lost', { lost: 501 }, 'take an object from 501 addresses', '5%, over the limit of 5%'],
    [
      'too_many_objects_moved',
      { moved: 501 },
      'move the objects by more than 50 m of 501 addresses',
      '5%, over the limit of 5%',
    ],
  ])('objects with %s, and states by how much', (code, changes, what, limit) => {
    const message = `it would ${what} where 10,000 are live: ${limit}`;
    expect(objections(changes)).toMatchObject([{ code, message }]);
  });

  it.each<[string, Partial<Record<PlaceKind, number>>, Given, string]>([
    [
      'too_many_toevoegingen_lost',
      { huisletters: 501 },
      {},
      'it would take the huisletter off 501 addresses where 1,000 have one: 50.1%, over the limit of 50%',
    ],
    ['too_many_problems', {}, { problems: 500 }, '500 of 10,500 addresses have a problem: 4.8%, over the limit of 1%'],
    ['too_few_addresses', {}, { addresses: 0 }, 'the extract has 0 addresses, fewer than the 1 required'],
  ])('objects with %s, which has a text of its own', (code, changes, given, message) => {
    expect(objections(changes, given)).toMatchObject([{ code, message }]);
  });

  it('lets a day change the gemeente of as many addresses as a load may, and nothing else', () => {
    const day = thresholdsOfDays(localGuardDefaults, [{ vanaf: '2025-12-31', tot: '2026-01-01' }]);
    const merger = (gemeente: number, changed = 0) => objections({ gemeente, changed }, {}, live, day);
    expect(merger(1_000)).toEqual([]);
    expect(merger(1_000, 200)).toEqual([]);
    expect(merger(1_000, 201)).toMatchObject([
      { message: 'it would change 201 addresses where 10,000 are live: 2%, over the limit of 2%' },
    ]);
    const message = 'it would change the gemeente of 1,001 addresses where 10,000 are live: 10%, over the limit of 10%';
    expect(merger(1_001)).toMatchObject([{ code: 'too_many_changed', message }]);
  });

  it('allows exactly the share', () => {
    expect(objections({ removed: 500 })).toEqual([]);
  });

  it('allows no larger share of a country than of a woonplaats', () => {
    const places = Object.fromEntries(names.map((name): [string, PlaceSize] => [name, [90_000, 0, 0, 0, 0, 0, 0]]));
    const country: Live = { ...live, addresses: 9_000_000, places };
    expect(objections({ removed: 180_000, changed: 900_000 }, {}, country)).toEqual([]);
    expect(objections({ removed: 180_001 }, {}, country)[0]).toMatchObject({ count: 180_001, of: 9_000_000 });
  });

  it('ignores a large share of very few addresses', () => {
    const hamlet: Live = { peildatum: '2026-01-08', addresses: 20, places: {} };
    expect(objections({ added: 9, removed: 9 }, {}, hamlet)).toEqual([]);
    expect(objections({ removed: 11 }, {}, hamlet)).toHaveLength(1);
  });

  it('adds the days since the last extract to what a load changes, and names their first date', () => {
    const earlier = { since: '2026-01-08', ...spread({ removed: 300 }) };
    expect(objections({ removed: 200 }, { earlier })).toEqual([]);
    expect(objections({ removed: 201 }, { earlier })).toMatchObject([
      {
        since: '2026-01-08',
        message: expect.stringMatching(/^together with the days since 2026-01-08 it would remove 501 /),
      },
    ]);
    expect(objections({ added: 1 }, { earlier: { ...earlier, ...spread({ removed: 900 }) } })).toEqual([]);
  });

  it("does not judge the problems of a rollback's snapshot a second time", () => {
    const back = { allowOlder: true, wasJudged: true };
    expect(objections({}, { ...back, problems: 500 })).toEqual([]);
    expect(objections({}, { ...back, problems: null })).toEqual([]);
  });

  it('lets the first load add everything', () => {
    expect(objections({ added: 10_000 }, {}, null)).toEqual([]);
  });

  it('objects to an older date unless it was requested', () => {
    const peildatum = '2025-12-08';
    expect(objections({}, { peildatum }).map(({ code }) => code)).toEqual(['older_peildatum']);
    expect(objections({}, { peildatum, allowOlder: true })).toEqual([]);
  });

  it('marks an objection as being about size if only the amount of change is objected to', () => {
    const found = objections(
      { added: 5000, removed: 9000, changed: 9000 },
      { problems: 900, addresses: 0, peildatum: '2025-12-08' },
    );
    const codes = (of: typeof found) => of.map(({ code }) => code);
    expect(codes(found.filter(isAboutSize))).toEqual(['too_many_added', 'too_many_removed', 'too_many_changed']);
    expect(codes(found.filter((one) => !isAboutSize(one)))).toEqual([
      'too_few_addresses',
      'too_many_problems',
      'older_peildatum',
    ]);
  });
});

describe('the guard of a woonplaats', () => {
  const weesp: Live = {
    ...live,
    places: { ...live.places, Weesp: [12_000, 1_200, 300, 100, 300, 40, 11_000], Bussum: [400, 0, 0, 0, 0, 0, 0] },
  };
  const counted = (count: number) => ({ count, examples: ['1381AA#9#A'] });
  const inPlace = (kind: PlaceKind, count: number, place = 'Weesp') => {
    const street = { total: counted(count), [kind]: counted(count) };
    const tallies = {
      ...noTallies(),
      streets: { [`Kade, ${place}`]: street },
      woonplaatsen: { [place]: { [kind]: counted(count) } },
    };
    return judge(counts(), { ...load, tallies }, { ...weesp, addresses: 9_000_000 }, localGuardDefaults).objections;
  };

  it.each<[PlaceKind, number, string, string]>([
    ['removed', 250, 'Weesp', 'remove 251 addresses where 12,000 are live in Weesp: 2.1%, over the limit of 2%'],
    ['removed', 250, 'Bussum', 'remove 251 addresses where 400 are live in Bussum: 62.7%, over the limit of 2%'],
    ['added', 6_000, 'Weesp', 'add 6,001 addresses where 12,000 are live in Weesp: 50%, over the limit of 50%'],
    ['added', 2_500, 'Bussum', 'add 2,501 addresses where 400 are live in Bussum, and no more than 2,500 may be'],
    ['added', 2_500, 'Nieuwstad', 'add 2,501 addresses in Nieuwstad'],
    ['renamed', 6_000, 'Weesp', 'change the street of 6,001 addresses where 12,000 are live in Weesp: 50%, over the l'],
    ['renumbered', 250, 'Weesp', 'change the huisnummer or postcode of 251 addresses where 12,000 are live in Weesp: '],
    ['toevoegingen', 250, 'Weesp', 'take the toevoeging off 251 addresses where 300 have one in Weesp: 83.7%, over t'],
    ['relocated', 250, 'Weesp', 'change the woonplaats of 251 addresses where 12,000 are live in Weesp: 2.1%, over t'],
    ['gemeente', 250, 'Weesp', 'change the gemeente of 251 addresses where 12,000 are live in Weesp: 2.1%'],
    ['uses', 5_500, 'Weesp', 'change the gebruiksdoelen of the objects of 5,501 addresses where 11,000 have one in W'],
    ['surfaces', 5_500, 'Weesp', 'change the oppervlakte of the objects of 5,501 addresses where 11,000 have one in '],
    ['statuses', 5_500, 'Weesp', 'change the status of the objects of 5,501 addresses where 11,000 have one in Weesp'],
    ['locations', 5_500, 'Weesp', 'change the location of the objects of 5,501 addresses where 11,000 have one in W'],
    ['ligplaatsen', 250, 'Weesp', 'take the ligplaats from 251 addresses where 300 have one in Weesp: 83.7%'],
    ['renamedStreets', 25, 'Weesp', 'change the name of 26 streets in Weesp, over the limit of 25'],
    ['emptiedStreets', 25, 'Weesp', 'remove many addresses from each of 26 streets in Weesp, over the limit of 25'],
  ])('allows %s up to %s in %s, and says where and by how much beyond', (kind, most, place, message) => {
    expect(inPlace(kind, most, place).filter(({ place: of }) => of === place)).toEqual([]);
    const [found] = inPlace(kind, most + 1, place);
    expect(found).toMatchObject({ place, count: most + 1, examples: expect.anything() });
    expect(found?.message).toContain(`it would ${message}`);
    expect(found?.message).toMatch(/, such as (Kade, .* \(\d+\); )?1381/);
  });

  it('names the street that loses so many', () => {
    expect(inPlace('removed', 251)).toMatchObject([{}, { code: 'too_many_removed', place: 'Kade, Weesp', count: 251 }]);
  });

  it('names five, and says how many more there are', () => {
    const woonplaatsen = Object.fromEntries(names.slice(0, 30).map((name) => [name, { renumbered: counted(300) }]));
    const found = judge(
      counts(),
      { ...load, tallies: { ...noTallies(), woonplaatsen } },
      { ...live, addresses: 9_000_000 },
      localGuardDefaults,
    );
    expect(found.objections).toHaveLength(5);
    expect(found.objections[0]?.message).toMatch(/; and so in 25 other places$/);
  });
});

describe('a woonplaats that gets another name', () => {
  const rename = (names: Record<string, number>) => {
    const tallies = {
      ...noTallies(),
      names: Object.fromEntries(Object.entries(names).map(([names, count]) => [names, { count, examples: [] }])),
    };
    return judge(counts(), { ...load, tallies }, live, localGuardDefaults);
  };

  it('is one change, which is named', () => {
    expect(rename({ 'Plaats 1\tStad': 100, 'Plaats 2\tDorp': 80 })).toEqual({
      objections: [],
      renamed: [
        { from: 'Plaats 1', to: 'Stad', addresses: 100 },
        { from: 'Plaats 2', to: 'Dorp', addresses: 80 },
      ],
    });
  });

  it('is not one of which some addresses go to another', () => {
    expect(rename({ 'Plaats 1\tPlaats 2': 79 }).renamed).toEqual([]);
  });

  it.each([
    ['four', { 'Plaats 1\tA': 100, 'Plaats 2\tB': 100, 'Plaats 3\tC': 100, 'Plaats 4\tD': 100 }],
    ['two with the same new name', { 'Plaats 1\tXXXX': 100, 'Plaats 2\tXXXX': 100 }],
  ])('needs an approval if it is one of %s', (_, names) => {
    expect(rename(names).objections).toMatchObject([
      { code: 'too_many_places_renamed', examples: expect.arrayContaining([expect.stringContaining('Plaats 1 → ')]) },
    ]);
  });
});

describe('a gemeente that changes', () => {
  const size = (count: number): PlaceSize => [count, 0, 0, 0, 0, 0, 0];
  /** Each woonplaats `W` of 1,000 addresses from one gemeente to another. @param left the gemeenten after it */
  const change = (moves: Record<string, [from: string, to: string]>, left: string[]) => {
    const places = Object.fromEntries(Object.keys(moves).map((name) => [name, size(1_000)]));
    const tallies = {
      ...noTallies(),
      names: Object.fromEntries(
        Object.entries(moves).map(([name, [from, to]]) => [
          `gemeente ${from}\tgemeente ${to}\t${name}`,
          { count: 1_000, examples: ['1381AA#9#A'] },
        ]),
      ),
    };
    const after = { ...places, ...Object.fromEntries(left.map((code) => [`gemeente ${code}`, size(1_000)])) };
    return judge(counts(), { ...load, tallies, after }, { ...live, addresses: 100_000, places }, localGuardDefaults);
  };

  it('merges where it has no woonplaats left and its addresses go to one that none is taken from: one change', () => {
    const { objections, renamed } = change({ W1: ['1', '3'], W2: ['1', '3'], W3: ['2', '3'] }, ['3']);
    expect(objections).toEqual([]);
    expect(renamed).toEqual([
      { from: 'gemeente 1', to: 'gemeente 3', addresses: 2_000 },
      { from: 'gemeente 2', to: 'gemeente 3', addresses: 1_000 },
    ]);
  });

  it('is divided over four others: one change too', () => {
    const moves = { W1: ['1', '3'], W2: ['1', '4'], W3: ['1', '5'], W4: ['1', '6'] } as const;
    expect(change(structuredClone(moves) as never, ['3', '4', '5', '6']).objections).toEqual([]);
  });

  it.each<[string, Record<string, [string, string]>, string[]]>([
    ['swaps with another', { W1: ['1', '2'], W2: ['2', '1'] }, ['1', '2']],
    ['rotates with two others', { W1: ['1', '2'], W2: ['2', '3'], W3: ['3', '1'] }, ['1', '2', '3']],
    ['becomes part of one that itself goes to a third', { W1: ['1', '2'], W2: ['2', '3'] }, ['2', '3']],
    ['gives one woonplaats away and keeps others', { W1: ['1', '2'] }, ['1', '2']],
  ])('is weighed by each woonplaats where it %s', (_, moves, left) => {
    const { objections, renamed } = change(moves, left);
    expect(renamed).toEqual([]);
    expect(objections.filter(({ place }) => place).map(({ code, place }) => [code, place])).toEqual(
      Object.keys(moves).map((name) => ['too_many_changed', name]),
    );
    expect(objections.at(-1)?.message).toMatch(/change the gemeente of 1,000 addresses where 1,000 are live in W\d/);
  });

  it('is weighed by its share of all where more than three merge', () => {
    const moves = Object.fromEntries([1, 2, 3, 4].map((one) => [`W${one}`, [`${one}`, '9'] as [string, string]]));
    expect(change(moves, ['9'])).toEqual({ objections: [], renamed: [] });
    const many = Object.fromEntries(
      Array.from({ length: 11 }, (_, i) => [`W${i}`, [`${i}`, '99'] as [string, string]]),
    );
    expect(change(many, ['99']).objections).toMatchObject([{ code: 'too_many_changed', count: 11_000 }]);
  });
});

describe('the guard of objects', () => {
  it.each([
    [500, 0],
    [501, 1],
  ])('objects to a first load with objects where %i of 10,000 addresses have none: %i times', (without, times) => {
    const withObjects = { ...counts(), objecten: { live: 10_000, changed: 0, lost: 0, moved: 0 } };
    const after = { ...live.places, 'Plaats 0': [100, 0, 0, 0, 0, 0, 100 - without] as PlaceSize };
    const given = { ...load, tallies: noTallies(), after, isFirstOfObjects: true };
    const { objections } = judge(withObjects, given, live, localGuardDefaults);
    expect(objections.filter(({ place }) => !place).map(({ code, count }) => [code, count])).toEqual(
      Array.from({ length: times }, () => ['too_few_objects', without]),
    );
    // Without objects, and once they are live, that is nothing to weigh.
    expect(judge(counts(), given, live, localGuardDefaults).objections).toEqual([]);
    expect(judge(withObjects, { ...given, isFirstOfObjects: false }, live, localGuardDefaults).objections).toEqual([]);
  });

  it('objects to too_many_object_problems, and states by how much', () => {
    const found = { ...counts(), objecten: { live: 10_000, changed: 10_000, lost: 0, moved: 0 } };
    if (found.problems) found.problems.address_missing.count = 200;
    const { objections } = judge(found, { ...load, tallies: noTallies() }, live, localGuardDefaults);
    const message = '200 of 10,200 objects have a missing address or an unknown location: 2%, over the limit of 1%';
    expect(objections).toMatchObject([{ code: 'too_many_object_problems', message }]);
  });
});
