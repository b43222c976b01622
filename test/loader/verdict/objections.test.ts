import { describe, expect, it } from '@jest/globals';
import type { AdresObject } from '../../../core/adres-object.ts';
import type { Place } from '../../../core/place-fields.ts';
import { Change, keyOf, lineOf } from '../../../loader/addresses/lines.ts';
import type { PlaceSize } from '../../../loader/addresses/place-sizes.ts';
import { emptyReport } from '../../../loader/bag/problem-report.ts';
import { loadDefaults, localGuardDefaults } from '../../../loader/names.ts';
import { countChange, type LoadCounts, noChanges } from '../../../loader/verdict/load-counts.ts';
import {
  type Earlier,
  isAboutSize,
  type Judged,
  judge,
  type Live,
  type Objection,
  thresholdsOfDays,
} from '../../../loader/verdict/objections.ts';
import {
  type AreaTally,
  mergeTallies,
  noTallies,
  PlaceCounter,
  type PlaceKind,
} from '../../../loader/verdict/place-changes.ts';
import { Random } from '../../../tools/bench/generator/random.ts';
import { isFullSweep } from '../../support/sweep.ts';

/** 10,000 addresses in 100 woonplaatsen, none of which has enough to be judged by itself. */
const names = Array.from({ length: 100 }, (_, i) => `Plaats ${i}`);
const live: Live = {
  peildatum: '2026-01-08',
  addresses: 10_000,
  places: Object.fromEntries(
    names.map((name): [string, PlaceSize] => [name, [100, 10, 10, 5, 0, 0, 100]]),
  ),
};
const load = { peildatum: '2026-02-08', allowOlder: false, after: live.places };

/** These changes, spread over all woonplaatsen. */
function spread(changes: Partial<Record<PlaceKind, number>>): Judged['tallies'] {
  const shareOf = (count: number, i: number) =>
    Math.floor((count * (i + 1)) / 100) - Math.floor((count * i) / 100);
  const tallyOf = (i: number): AreaTally =>
    Object.fromEntries(
      Object.entries(changes).map(([kind, count]) => [
        kind,
        { count: shareOf(count, i), examples: [] },
      ]),
    );
  const all = Object.fromEntries(
    Object.entries(changes).map(([kind, count]) => [kind, { count, examples: [] }]),
  );
  return {
    ...noTallies(),
    all,
    woonplaatsen: Object.fromEntries(names.map((name, i) => [name, tallyOf(i)])),
  };
}

function counts(problems = 0, addresses = 10_000): LoadCounts {
  const report = emptyReport();
  report.street_missing.count = problems;
  report.no_postcode.count = 5_000;
  return {
    ...noChanges(),
    voorkomens: 12_000,
    nummeraanduidingen: addresses,
    addresses,
    problems: report,
  };
}

type Given = { problems?: number | null; addresses?: number } & Partial<Omit<Judged, 'tallies'>>;
function objections(
  changes: Partial<Record<PlaceKind, number>>,
  { problems = 0, addresses, ...given }: Given = {},
  base: Live | null = live,
  ofDay = localGuardDefaults as Parameters<typeof judge>[4],
) {
  const found = {
    ...counts(problems ?? 0, addresses),
    ...(problems === null && { problems: null }),
  };
  return judge(
    found,
    { ...load, ...given, tallies: spread(changes) },
    base,
    localGuardDefaults,
    ofDay,
  ).objections;
}

describe('the guard', () => {
  it('does not object to an ordinary month', () => {
    expect(
      objections({ added: 60, renamed: 30, changed: 30, removed: 20 }, { problems: 3 }),
    ).toEqual([]);
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
    [
      'too_many_changed',
      { gemeenteLost: 11 },
      'take the gemeente off 11 addresses',
      '0.11%, over the limit of 10',
    ],
    [
      'too_many_objects_lost',
      { lost: 501 },
      'take an object from 501 addresses',
      '5%, over the limit of 5%',
    ],
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
    [
      'too_many_problems',
      {},
      { problems: 500 },
      '500 of 10,500 addresses have a problem: 4.8%, over the limit of 1%',
    ],
    [
      'too_few_addresses',
      {},
      { addresses: 0 },
      'the extract has 0 addresses, fewer than the 1 required',
    ],
  ])('objects with %s, which has a text of its own', (code, changes, given, message) => {
    expect(objections(changes, given)).toMatchObject([{ code, message }]);
  });

  it('lets a day change the gemeente of as many addresses as a load may, and nothing else', () => {
    const day = thresholdsOfDays(localGuardDefaults, [{ vanaf: '2025-12-31', tot: '2026-01-01' }]);
    const merger = (gemeente: number, changed = 0) =>
      objections({ gemeente, changed }, {}, live, day);
    expect(merger(1_000)).toEqual([]);
    expect(merger(1_000, 200)).toEqual([]);
    expect(merger(1_000, 201)).toMatchObject([
      { message: 'it would change 201 addresses where 10,000 are live: 2%, over the limit of 2%' },
    ]);
    const message =
      'it would change the gemeente of 1,001 addresses where 10,000 are live: 10%, over the limit of 10%';
    expect(merger(1_001)).toMatchObject([{ code: 'too_many_changed', message }]);
  });

  it('allows exactly the share', () => {
    expect(objections({ removed: 500 })).toEqual([]);
  });

  it('allows no larger share of a country than of a woonplaats', () => {
    const places = Object.fromEntries(
      names.map((name): [string, PlaceSize] => [name, [90_000, 0, 0, 0, 0, 0, 0]]),
    );
    const country: Live = { ...live, addresses: 9_000_000, places };
    expect(objections({ removed: 180_000, changed: 900_000 }, {}, country)).toEqual([]);
    expect(objections({ removed: 180_001 }, {}, country)[0]).toMatchObject({
      count: 180_001,
      of: 9_000_000,
    });
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
        message: expect.stringMatching(
          /^together with the days since 2026-01-08 it would remove 501 /,
        ),
      },
    ]);
    expect(
      objections({ added: 1 }, { earlier: { ...earlier, ...spread({ removed: 900 }) } }),
    ).toEqual([]);
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
    expect(codes(found.filter(isAboutSize))).toEqual([
      'too_many_added',
      'too_many_removed',
      'too_many_changed',
    ]);
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
    places: {
      ...live.places,
      Weesp: [12_000, 1_200, 300, 100, 300, 40, 11_000],
      Bussum: [400, 0, 0, 0, 0, 0, 0],
    },
  };
  const counted = (count: number) => ({ count, examples: ['1381AA#9#A'] });
  const inPlace = (kind: PlaceKind, count: number, place = 'Weesp') => {
    const street = { total: counted(count), [kind]: counted(count) };
    const tallies = {
      ...noTallies(),
      streets: { [`Kade, ${place}`]: street },
      woonplaatsen: { [place]: { [kind]: counted(count) } },
    };
    return judge(
      counts(),
      { ...load, tallies },
      { ...weesp, addresses: 9_000_000 },
      localGuardDefaults,
    ).objections;
  };

  it.each<[PlaceKind, number, string, string]>([
    [
      'removed',
      250,
      'Weesp',
      'remove 251 addresses where 12,000 are live in Weesp: 2.1%, over the limit of 2%',
    ],
    [
      'removed',
      250,
      'Bussum',
      'remove 251 addresses where 400 are live in Bussum: 62.7%, over the limit of 2%',
    ],
    [
      'added',
      6_000,
      'Weesp',
      'add 6,001 addresses where 12,000 are live in Weesp: 50%, over the limit of 50%',
    ],
    [
      'added',
      2_500,
      'Bussum',
      'add 2,501 addresses where 400 are live in Bussum, and no more than 2,500 may be',
    ],
    ['added', 2_500, 'Nieuwstad', 'add 2,501 addresses in Nieuwstad'],
    [
      'renamed',
      6_000,
      'Weesp',
      'change the street of 6,001 addresses where 12,000 are live in Weesp: 50%, over the l',
    ],
    [
      'renumbered',
      250,
      'Weesp',
      'change the huisnummer or postcode of 251 addresses where 12,000 are live in Weesp: ',
    ],
    [
      'toevoegingen',
      250,
      'Weesp',
      'take the toevoeging off 251 addresses where 300 have one in Weesp: 83.7%, over t',
    ],
    [
      'relocated',
      250,
      'Weesp',
      'change the woonplaats of 251 addresses where 12,000 are live in Weesp: 2.1%, over t',
    ],
    [
      'gemeente',
      250,
      'Weesp',
      'change the gemeente of 251 addresses where 12,000 are live in Weesp: 2.1%',
    ],
    [
      'uses',
      5_500,
      'Weesp',
      'change the gebruiksdoelen of the objects of 5,501 addresses where 11,000 have one in W',
    ],
    [
      'surfaces',
      5_500,
      'Weesp',
      'change the oppervlakte of the objects of 5,501 addresses where 11,000 have one in ',
    ],
    [
      'statuses',
      5_500,
      'Weesp',
      'change the status of the objects of 5,501 addresses where 11,000 have one in Weesp',
    ],
    [
      'locations',
      5_500,
      'Weesp',
      'change the location of the objects of 5,501 addresses where 11,000 have one in W',
    ],
    [
      'gained',
      5_500,
      'Weesp',
      'add objects to 5,501 addresses where 11,000 have one in Weesp: 50%',
    ],
    [
      'ligplaatsen',
      250,
      'Weesp',
      'take the ligplaats from 251 addresses where 300 have one in Weesp: 83.7%',
    ],
    ['renamedStreets', 25, 'Weesp', 'change the name of 26 streets in Weesp, over the limit of 25'],
    [
      'emptiedStreets',
      25,
      'Weesp',
      'remove many addresses from each of 26 streets in Weesp, over the limit of 25',
    ],
  ])(
    'allows %s up to %s in %s, and says where and by how much beyond',
    (kind, most, place, message) => {
      expect(inPlace(kind, most, place).filter(({ place: of }) => of === place)).toEqual([]);
      const [found] = inPlace(kind, most + 1, place);
      expect(found).toMatchObject({ place, count: most + 1, examples: expect.anything() });
      expect(found?.message).toContain(`it would ${message}`);
      expect(found?.message).toMatch(/, such as (Kade, .* \(\d+\); )?1381/);
    },
  );

  it('names the street that loses so many', () => {
    expect(inPlace('removed', 251)).toMatchObject([
      {},
      { code: 'too_many_removed', place: 'Kade, Weesp', count: 251 },
    ]);
  });

  it('names five, and says how many more there are', () => {
    const woonplaatsen = Object.fromEntries(
      names.slice(0, 30).map((name) => [name, { renumbered: counted(300) }]),
    );
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
      names: Object.fromEntries(
        Object.entries(names).map(([names, count]) => [names, { count, examples: [] }]),
      ),
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
      {
        code: 'too_many_places_renamed',
        examples: expect.arrayContaining([expect.stringContaining('Plaats 1 → ')]),
      },
    ]);
  });
});

describe('a gemeente that changes', () => {
  const size = (count: number): PlaceSize => [count, 0, 0, 0, 0, 0, 0];
  /**
   * Each woonplaats `W` of 1,000 addresses from one gemeente to another. @param left the gemeenten
   * after it
   */
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
    const after = {
      ...places,
      ...Object.fromEntries(left.map((code) => [`gemeente ${code}`, size(1_000)])),
    };
    return judge(
      counts(),
      { ...load, tallies, after },
      { ...live, addresses: 100_000, places },
      localGuardDefaults,
    );
  };

  it('merges where it has no woonplaats left and its addresses go to one that none is taken from: one change', () => {
    const { objections, renamed } = change({ W1: ['1', '3'], W2: ['1', '3'], W3: ['2', '3'] }, [
      '3',
    ]);
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
    [
      'rotates with two others',
      { W1: ['1', '2'], W2: ['2', '3'], W3: ['3', '1'] },
      ['1', '2', '3'],
    ],
    [
      'becomes part of one that itself goes to a third',
      { W1: ['1', '2'], W2: ['2', '3'] },
      ['2', '3'],
    ],
    ['gives one woonplaats away and keeps others', { W1: ['1', '2'] }, ['1', '2']],
  ])('is weighed by each woonplaats where it %s', (_, moves, left) => {
    const { objections, renamed } = change(moves, left);
    expect(renamed).toEqual([]);
    expect(objections.filter(({ place }) => place).map(({ code, place }) => [code, place])).toEqual(
      Object.keys(moves).map((name) => ['too_many_changed', name]),
    );
    expect(objections.at(-1)?.message).toMatch(
      /change the gemeente of 1,000 addresses where 1,000 are live in W\d/,
    );
  });

  it('is weighed by its share of all where more than three merge', () => {
    const moves = Object.fromEntries(
      [1, 2, 3, 4].map((one) => [`W${one}`, [`${one}`, '9'] as [string, string]]),
    );
    expect(change(moves, ['9'])).toEqual({ objections: [], renamed: [] });
    const many = Object.fromEntries(
      Array.from({ length: 11 }, (_, i) => [`W${i}`, [`${i}`, '99'] as [string, string]]),
    );
    expect(change(many, ['99']).objections).toMatchObject([
      { code: 'too_many_changed', count: 11_000 },
    ]);
  });
});

it('calls it no merger where an address gets the gemeente that it lacked', () => {
  const at = { straat: 'Kade', woonplaats: 'Weesp' };
  const lines = [{}, { gemeente: '0457' }].map((more) =>
    lineOf({ key: '1381AA#9#', places: [{ ...at, ...more }] }),
  );
  const places = new PlaceCounter();
  places.count(new Change(lines[0] as string, lines[1] as string), { isOfGemeente: true });
  expect(places.end(1).names).toEqual({});
});

describe('the guard of objects', () => {
  it.each([
    [500, 0],
    [501, 1],
  ])(
    'objects to a first load with objects where %i of 10,000 addresses have none: %i times',
    (without, times) => {
      const withObjects = {
        ...counts(),
        objecten: { live: 10_000, changed: 0, lost: 0, moved: 0 },
      };
      const after = {
        ...live.places,
        'Plaats 0': [100, 0, 0, 0, 0, 0, 100 - without] as PlaceSize,
      };
      const given = { ...load, tallies: noTallies(), after, isFirstOfObjects: true };
      const { objections } = judge(withObjects, given, live, localGuardDefaults);
      expect(
        objections.filter(({ place }) => !place).map(({ code, count }) => [code, count]),
      ).toEqual(Array.from({ length: times }, () => ['too_few_objects', without]));
      // Without objects, and once they are live, that is nothing to weigh.
      expect(judge(counts(), given, live, localGuardDefaults).objections).toEqual([]);
      expect(
        judge(withObjects, { ...given, isFirstOfObjects: false }, live, localGuardDefaults)
          .objections,
      ).toEqual([]);
    },
  );

  it('objects to too_many_object_problems, and states by how much', () => {
    const found = { ...counts(), objecten: { live: 10_000, changed: 10_000, lost: 0, moved: 0 } };
    if (found.problems) found.problems.address_missing.count = 200;
    const { objections } = judge(
      found,
      { ...load, tallies: noTallies() },
      live,
      localGuardDefaults,
    );
    const message =
      '200 of 10,200 objects have a missing address or an unknown location: 2%, over the limit of 1%';
    expect(objections).toMatchObject([{ code: 'too_many_object_problems', message }]);
  });
});

/** An address before or after an event. */
type Address = { number: number; suffix?: string; id: number } & Pick<
  Place,
  'straat' | 'woonplaats' | 'gemeente'
> & {
    object?: Partial<AdresObject>;
  };

/**
 * What happens to the addresses of one street: an address before and after it, by its place on the
 * street.
 */
type Event = (
  at: Address,
  i: number,
) => [before: Partial<Address> | null, after: Partial<Address> | null];

const moved = (after: Partial<Address>): ReturnType<Event> => [{}, after];

/**
 * What happens in a year of the country, and to how many addresses of a street each time: 0.5 % of
 * all addresses a month. Nobody publishes such numbers; they were chosen so that large ones are
 * more frequent than they are.
 */
const events: [aYear: number, least: number, most: number, Event][] = [
  // A new house, a new street, a quarter, and one of 2,000.
  [15_000, 1, 1, () => [null, {}]],
  [2_500, 5, 60, () => [null, {}]],
  [60, 300, 800, () => [null, {}]],
  [6, 2_000, 2_000, () => [null, {}]],
  // A house goes, a block of flats, and a large one.
  [12_000, 1, 1, () => [{}, null]],
  [400, 10, 120, () => [{}, null]],
  [12, 150, 250, () => [{}, null]],
  // A street is numbered anew, a holiday park is, and a street gets another postcode.
  [150, 10, 120, ({ number }) => moved({ number: number + 200 })],
  [4, 150, 250, ({ number }) => moved({ number: number + 500 })],
  // A street is renamed; its name is corrected in a special letter.
  [1_200, 5, 120, ({ straat }) => moved({ straat: `Nieuwe ${straat}` })],
  [60, 5, 100, ({ straat }) => [{ straat: `${straat}é` }, { straat: `${straat}e` }]],
  // Flats lose their letter, or have digits instead.
  [3_000, 1, 1, () => [{ suffix: 'A' }, {}]],
  [40, 20, 120, () => [{ suffix: 'A' }, {}]],
  [100, 10, 60, (_, i) => [{ suffix: 'A' }, { suffix: `${i % 10}` }]],
  // Another object at the same address; addresses that go to the next woonplaats.
  [30_000, 1, 1, ({ id }) => moved({ id: id + 1_000_000_000 })],
  [20, 5, 150, () => moved({ woonplaats: 'Elders' })],
  // Objects: a block is taken into use; one of them, or those of a quarter, are rebuilt, used or
  // measured otherwise.
  [1_500, 5, 120, () => [{ object: { status: 'Verblijfsobject gevormd' } }, { object: {} }]],
  [20_000, 1, 1, () => moved({ object: { oppervlakte: 120 } })],
  [60, 100, 800, () => moved({ object: { oppervlakte: 120 } })],
  [2_000, 1, 20, () => moved({ object: { gebruiksdoelen: ['kantoorfunctie'] } })],
  [60, 100, 800, () => moved({ object: { locatie: { x: 1002, y: 2001 } } })],
  [6, 5, 40, () => [{ object: { type: 'ligplaats', status: 'Plaats aangewezen' } }, {}]],
];

const vbo: AdresObject = {
  identificatie: '0001010000000001',
  type: 'verblijfsobject',
  status: 'Verblijfsobject in gebruik',
  hoofdadres: true,
  locatie: { x: 1000, y: 2000 },
  oppervlakte: 85,
  gebruiksdoelen: ['woonfunctie'],
};

/** 2,500 woonplaatsen: most have fewer than 1,000 addresses, and the largest half a million. */
function country(random: Random): [name: string, addresses: number][] {
  const normal = () =>
    Array.from({ length: 12 }, () => random.int(1_000) / 1_000).reduce((a, b) => a + b) - 6;
  const cities = [480_000, 330_000, 280_000, 180_000, 120_000, 110_000];
  return Array.from({ length: 2_500 }, (_, i) => [
    `Plaats ${i}`,
    cities[i] ?? Math.ceil(900 * Math.exp(1.6 * normal())),
  ]);
}

/** A year of days, with an extract each month; how often a person is asked, by day or by month. */
class Year {
  readonly #random: Random;
  readonly #places: [string, number][];
  readonly #ends: number[] = [];
  readonly sizes: Record<string, PlaceSize>;
  readonly addresses: number;
  #made = 0;

  constructor(seed: number) {
    this.#random = new Random(seed);
    this.#places = country(this.#random);
    let end = 0;
    for (const [, size] of this.#places) {
      end += size;
      this.#ends.push(end);
    }
    this.addresses = end;
    const sizeOf = (size: number): PlaceSize => [
      size,
      size >> 4,
      size >> 5,
      size >> 5,
      size >> 9,
      size >> 9,
      size,
    ];
    this.sizes = Object.fromEntries(this.#places.map(([name, size]) => [name, sizeOf(size)]));
  }

  /** What changes on a day, the first of which is 1 January. */
  day(day: number) {
    const counts = {
      ...noChanges(),
      objecten: { live: this.addresses, changed: 0, lost: 0, moved: 0 },
    };
    const places = new PlaceCounter();
    const happen = (woonplaats: string, size: number, event: Event) => {
      const straat = `Straat ${this.#made++}`;
      for (let i = 0; i < size; i++) {
        const at: Address = {
          number: 1 + i,
          id: this.#made++,
          straat,
          woonplaats,
          gemeente: '0001',
        };
        const [before, after] = event(at, i).map((one) => one && line({ ...at, ...one }));
        const old = before ?? null;
        const now = after ?? null;
        const hasOneKey = !old || !now || keyOf(old) === keyOf(now);
        const changes = hasOneKey
          ? [new Change(old, now)]
          : [new Change(old, null), new Change(null, now)];
        for (const change of changes) places.count(change, countChange(counts, change));
      }
      places.endPart();
    };
    for (const [aYear, least, most, event] of events) {
      const often = Math.floor(aYear / 365) + Number(this.#random.chance((aYear / 365) % 1));
      for (let i = 0; i < often; i++) {
        happen(this.#anyPlace(most), least + this.#random.int(most - least + 1), event);
      }
    }
    if (day === 0) this.#mergers(happen);
    if (day % 90 === 30) {
      const [name, size] = this.#places[100 + this.#random.int(2_000)] as [string, number];
      happen(name, size, () => moved({ woonplaats: `${name} aan Zee` }));
    }
    return places.end(50);
  }

  /** Four gemeenten of 25 woonplaatsen each become part of others, and rename 60 streets. */
  #mergers(happen: (woonplaats: string, size: number, event: Event) => void): void {
    for (let merger = 0; merger < 4; merger++) {
      for (let i = 0; i < 25; i++) {
        const [name, size] = this.#places[200 + merger * 25 + i] as [string, number];
        happen(name, Math.min(size, 4_000), () => [
          { gemeente: `200${merger}` },
          { gemeente: `100${merger}` },
        ]);
        for (let street = 0; street < 60 / 25; street++) {
          happen(name, 20, ({ straat }) => moved({ straat: `Oude ${straat}` }));
        }
      }
    }
  }

  /** A woonplaats by its size; large ones happen where there is room for them. */
  #anyPlace(size: number): string {
    for (;;) {
      const at = this.#random.int(this.addresses);
      const [name, addresses] = this.#places[this.#ends.findIndex((end) => at < end)] as [
        string,
        number,
      ];
      if (addresses >= size / 2) return name;
    }
  }
}

function line({ number, suffix = '', id, object, ...place }: Address): string {
  const nummeraanduidingen = [`${id}`.padStart(16, '0')];
  const objecten = [{ ...vbo, ...object }];
  return lineOf({
    key: `1381AA#${number}#${suffix}`,
    places: [{ ...place, nummeraanduidingen, objecten }],
  });
}

/**
 * The objections of a year, of which these days happen: all gemeenten that merge do so on the first
 * one.
 */
function asked(seed: number, first: number, days: number) {
  const year = new Year(seed);
  const counts = {
    ...noChanges(),
    voorkomens: 0,
    nummeraanduidingen: 0,
    addresses: 9_000_000,
    problems: emptyReport(),
  };
  const live = { peildatum: '2025-12-31', addresses: year.addresses, places: year.sizes };
  const ofDay = thresholdsOfDays(loadDefaults.guard, [{ vanaf: '2025-12-31', tot: '2026-01-01' }]);
  const load = { peildatum: '2026-12-31', allowOlder: false, after: year.sizes };
  const found: { daily: Objection[][]; monthly: Objection[][] } = { daily: [], monthly: [] };
  let earlier: Earlier | null = null;
  let month = noTallies();
  for (let day = first; day < first + days; day++) {
    const tallies = year.day(day);
    const { objections } = judge(
      counts,
      { ...load, tallies, earlier },
      live,
      loadDefaults.guard,
      ofDay,
    );
    if (objections.length > 0) found.daily.push(objections);
    const isMonth = day % 30 === 29;
    earlier =
      objections.length > 0 || isMonth
        ? null
        : { since: '', ...mergeTallies([earlier ?? noTallies(), { ...tallies, streets: {} }]) };
    month = mergeTallies([month, tallies]);
    if (!isMonth) continue;
    const ofMonth = judge(counts, { ...load, tallies: month }, live, loadDefaults.guard).objections;
    if (ofMonth.length > 0) found.monthly.push(ofMonth);
    month = noTallies();
  }
  return found;
}

describe('the guard of the country', () => {
  it.each(
    isFullSweep
      ? [
          [1, 0, 365, 0, 0],
          [2, 0, 365, 0, 0],
          [3, 0, 365, 0, 0],
        ]
      : [[1, 20, 10, 0, 0]],
  )(
    'asks a person as often as this in year %i, from day %i on, of %i ordinary days: %i times where each day is loaded, %i times where each month is',
    (seed, first, days, daily, monthly) => {
      const { daily: ofDays, monthly: ofMonths } = asked(seed, first, days);
      const messages = [...ofDays, ...ofMonths].flat().map(({ message }) => message);
      expect({ daily: ofDays.length, monthly: ofMonths.length, messages }).toEqual({
        daily,
        monthly,
        messages,
      });
    },
  );
});
