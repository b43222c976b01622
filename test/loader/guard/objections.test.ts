import { describe, expect, it } from '@jest/globals';
import { noSize, type PlaceSize } from '../../../loader/addresses/place-sizes.ts';
import { emptyReport } from '../../../loader/bag/problem-report.ts';
import { type ColumnTally, noTallies, type Tallies } from '../../../loader/guard/columns.ts';
import { type AddressColumn, limitOf, shareOfDays } from '../../../loader/guard/limits.ts';
import { type LoadCounts, noChanges } from '../../../loader/guard/load-counts.ts';
import {
  type GuardInput,
  guardLoad,
  isAboutSize,
  type Live,
  objectionsToSetAside,
} from '../../../loader/guard/objections.ts';
import { localGuardDefaults } from '../../../loader/names.ts';

/** All addresses have an object; a tenth has a toevoeging, and a twentieth each other property. */
const sizeOf = (addresses: number): PlaceSize => ({
  addresses,
  toevoegingen: addresses / 10,
  specialNames: addresses / 20,
  withObjects: addresses,
  severalUses: addresses / 20,
  nevenadressen: addresses / 20,
  ligplaatsen: addresses / 20,
  standplaatsen: addresses / 20,
});

/** A dataset of so many addresses, with one woonplaats of 12,000 in a gemeente. */
const liveOf = (addresses = 10_000): Live => ({
  peildatum: '2026-01-08',
  addresses,
  places: {
    '': sizeOf(addresses),
    Weesp: sizeOf(12_000),
    Bussum: sizeOf(400),
    'gemeente 0457': sizeOf(12_000),
  },
});
const live = liveOf();
const load = { peildatum: '2026-02-08', allowOlder: false, after: live.places };

type Changes = Partial<Record<AddressColumn, number>>;
const examples = ['1381 AA 9: a → b'];

/** These changes of an area, all of them by default. */
function talliesOf(changes: Changes, area = ''): Tallies {
  const columns = Object.fromEntries(
    Object.entries(changes).map(([column, count]) => [column, { count, examples }]),
  );
  return { ...noTallies(), areas: { [area]: { changed: 0, columns } satisfies ColumnTally } };
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

type Given = { problems?: number | null; addresses?: number } & Partial<GuardInput>;

function objections(
  changes: Changes,
  { problems = 0, addresses, ...given }: Given = {},
  base: Live | null = live,
  shareOfDay = 1,
) {
  const found = {
    ...counts(problems ?? 0, addresses),
    ...(problems === null && { problems: null }),
  };
  const input = { ...load, tallies: talliesOf(changes), ...given };
  return guardLoad(found, input, base, localGuardDefaults, shareOfDay).objections;
}

describe('the guard', () => {
  it('does not object to an ordinary month', () => {
    const month = { added: 60, straat: 30, id: 30, removed: 20 };
    expect(objections(month, { problems: 3 })).toEqual([]);
  });

  // The numbers of the docs, each by itself: a limit that changes must be changed here too.
  it.each<[AddressColumn, number, number, number]>([
    ['removed', 500, 240, 500],
    ['added', 2_500, 6_000, 6_000],
    ['doubled', 250, 250, 500],
    ['id', 500, 6_000, 6_000],
    ['postcode', 500, 250, 500],
    ['huisnummer', 500, 250, 500],
    ['toevoeging', 100, 250, 500],
    ['straat', 500, 250, 500],
    ['woonplaats', 500, 250, 500],
    ['gemeente', 500, 250, 500],
    ['gemeenteLost', 10, 0, 0],
    ['gemeenteUnknown', 10, 0, 0],
    ['lettersLost', 250, 300, 500],
    ['garbled', 10, 0, 0],
    ['objectLost', 500, 250, 500],
    ['objectGained', 1_000, 6_000, 6_000],
    ['status', 1_000, 6_000, 6_000],
    ['gebruiksdoel', 1_000, 6_000, 6_000],
    ['gebruiksdoelLost', 125, 300, 500],
    ['oppervlakte', 1_000, 6_000, 6_000],
    ['locatie', 1_000, 6_000, 6_000],
    ['moved', 500, 250, 500],
    ['hoofdadres', 50, 250, 500],
    ['ligplaatsLost', 250, 300, 500],
    ['standplaatsLost', 250, 300, 500],
    ['nevenadresLost', 250, 300, 500],
  ])(
    'allows %s up to %i of 10,000, %i of the 12,000 of a woonplaats and %i of a gemeente',
    (column, total, place, gemeente) => {
      const most = { '': total, Weesp: Math.max(place, column === 'removed' ? 250 : 0) };
      const all = { ...most, 'gemeente 0457': gemeente };
      for (const [area, count] of Object.entries(all)) {
        const tallies = (more: number) => talliesOf({ [column]: count + more }, area);
        expect(objections({}, { tallies: tallies(0) })).toEqual([]);
        if (count === 0) continue;
        expect(objections({}, { tallies: tallies(1) })).toMatchObject([
          { code: limitOf(column).code, count: count + 1, ...(area && { place: area }), examples },
        ]);
      }
    },
  );

  it.each<[Changes, string, string]>([
    [
      { removed: 501 },
      '',
      'it would remove 501 of the 10,000 addresses: 5.01%, over the limit of 500 (5%), such as 1381 AA 9: a → b',
    ],
    [
      { toevoeging: 251 },
      'Weesp',
      'it would change the huisletter or toevoeging of 251 of the 12,000 addresses in Weesp: 2.09%, over the limit of 250,',
    ],
    [
      { toevoeging: 101 },
      '',
      'it would change the huisletter or toevoeging of 101 of the 1,000 addresses with a huisletter or toevoeging: 10.1%, over the limit of 100,',
    ],
    [
      { added: 2_501 },
      'Bussum',
      'it would add 2,501 addresses where 400 addresses are live in Bussum, over the limit of 2,500,',
    ],
    [{ added: 2_501 }, 'Nieuwstad', 'it would add 2,501 addresses in Nieuwstad, over the limit of'],
    [
      { ligplaatsLost: 301 },
      'Weesp',
      'it would remove the ligplaats of 301 of the 600 addresses with a ligplaats in Weesp: 50.2%, over the limit of 300 (50%),',
    ],
  ])('says what, how many, the share, the limit and which: %j in "%s"', (changes, area, text) => {
    const [found] = objections({}, { tallies: talliesOf(changes, area) });
    expect(found?.message.slice(0, text.length)).toBe(text);
  });

  it('names the street that loses so many, and the streets of a woonplaats that lose the most', () => {
    const columns = { removed: { count: 251, examples } };
    const tallies = {
      ...talliesOf({ removed: 251 }, 'Weesp'),
      streets: { 'Kade, Weesp': { changed: 251, columns } },
    };
    expect(objections({}, { tallies })).toMatchObject([
      { place: 'Weesp', message: expect.stringContaining(', most on Kade (251), such as') },
      {
        place: 'Kade, Weesp',
        message:
          'it would remove 251 addresses of Kade, Weesp, over the limit of 250, such as 1381 AA 9: a → b',
      },
    ]);
  });

  it('names five places, and says how many more there are', () => {
    const areas = Object.fromEntries(
      Array.from({ length: 30 }, (_, i) => {
        return [`Plaats ${i}`, talliesOf({ postcode: 300 + i }).areas[''] as ColumnTally];
      }),
    );
    const found = objections({}, { tallies: { ...noTallies(), areas } });
    expect(found).toHaveLength(5);
    expect(found[0]).toMatchObject({ count: 329 });
    expect(found[0]?.message).toMatch(/; and so in 25 other places$/);
  });

  it.each<[string, Given, string]>([
    [
      'too_many_problems',
      { problems: 500 },
      '500 of 10,500 addresses have a problem: 4.76%, over the limit of 1%',
    ],
    [
      'too_few_addresses',
      { addresses: 0 },
      'the extract has 0 addresses, fewer than the 1 required',
    ],
  ])('objects with %s, which has a text of its own', (code, given, message) => {
    expect(objections({}, given)).toMatchObject([{ code, message }]);
  });

  it('allows no larger share of a country than of a woonplaats', () => {
    const country = liveOf(9_000_000);
    expect(objections({ removed: 180_000, status: 900_000 }, {}, country)).toEqual([]);
    expect(objections({ removed: 180_001 }, {}, country)).toMatchObject([
      { count: 180_001, of: 9_000_000 },
    ]);
    expect(objections({ garbled: 11 }, {}, country)).toMatchObject([{ count: 11 }]);
  });

  it('ignores a large share of very few addresses', () => {
    const hamlet = liveOf(20);
    expect(objections({ added: 9, removed: 9 }, {}, hamlet)).toEqual([]);
    expect(objections({ removed: 11 }, {}, hamlet)).toHaveLength(1);
  });

  it('lets the first load add everything', () => {
    expect(objections({ added: 10_000 }, {}, null)).toEqual([]);
  });

  it("does not judge the problems of a rollback's snapshot a second time", () => {
    const back = { allowOlder: true, wasGuarded: true };
    expect(objections({}, { ...back, problems: 500 })).toEqual([]);
    expect(objections({}, { ...back, problems: null })).toEqual([]);
  });

  it('objects to an older date unless it was requested', () => {
    const peildatum = '2025-12-08';
    expect(objections({}, { peildatum }).map(({ code }) => code)).toEqual(['older_peildatum']);
    expect(objections({}, { peildatum, allowOlder: true })).toEqual([]);
  });

  it('marks an objection as being about size if only the amount of change is objected to', () => {
    const found = objections(
      { added: 5000, removed: 9000, id: 9000 },
      { problems: 900, addresses: 0, peildatum: '2025-12-08' },
    );
    const codes = (of: typeof found) => of.map(({ code }) => code);
    expect(codes(found.filter(isAboutSize))).toEqual([
      'too_many_added',
      'too_many_removed',
      'too_many_ids',
    ]);
    expect(codes(found.filter((one) => !isAboutSize(one)))).toEqual([
      'too_few_addresses',
      'too_many_problems',
      'older_peildatum',
    ]);
  });
});

describe('the guard of days', () => {
  const day = [{ vanaf: '2025-12-31', tot: '2026-01-01' }];
  const earlier = (changes: Changes, area = '') => ({
    since: '2026-01-08',
    areas: talliesOf(changes, area).areas,
    names: {},
  });

  it('lets a day change a fifth of a share, and as many names as a load', () => {
    const share = shareOfDays(day);
    const ofDay = (changes: Changes) => objections(changes, {}, live, share);
    expect(share).toBe(0.2);
    expect(ofDay({ removed: 100, status: 200, gemeente: 500, straat: 500 })).toEqual([]);
    expect(ofDay({ removed: 101 })).toMatchObject([
      { message: expect.stringContaining('1.01%, over the limit of 100 (1%)') },
    ]);
    expect(ofDay({ status: 201 })).toMatchObject([{ code: 'too_many_statuses' }]);
    expect(ofDay({ gemeente: 501 })).toMatchObject([{ code: 'too_many_gemeenten' }]);
    expect(ofDay({ toevoeging: 101 })).toHaveLength(1);
  });

  it('lets a delivery of more days change more, up to what a load may', () => {
    expect(shareOfDays([{ vanaf: '2026-01-01', tot: '2026-01-04' }])).toBeCloseTo(0.6);
    expect(shareOfDays([{ vanaf: '2026-01-01', tot: '2026-02-01' }])).toBe(1);
    expect(shareOfDays([...day, { vanaf: '2026-01-01', tot: '2026-02-01' }])).toBe(0.2);
  });

  it.each(['', 'Weesp'])(
    'adds the days since the last extract to what a load changes, and names their first date: "%s"',
    (area) => {
      const most = area === '' ? 500 : 250;
      const given = (count: number, before: Changes) => ({
        tallies: talliesOf({ removed: count }, area),
        earlier: earlier(before, area),
      });
      expect(objections({}, given(100, { removed: most - 100 }))).toEqual([]);
      expect(objections({}, given(101, { removed: most - 100 }))).toMatchObject([
        {
          since: '2026-01-08',
          count: most + 1,
          message: expect.stringMatching(
            /^together with the days since 2026-01-08 it would remove \d+ of the 1\d,000 addresses/,
          ),
        },
      ]);
      // What this load doesn't change is not its fault.
      const added = { tallies: talliesOf({ added: 1 }, area) };
      expect(objections({}, { ...added, earlier: earlier({ removed: 9_000 }, area) })).toEqual([]);
    },
  );

  it('says of a load that is over a limit by itself how much it changes alone', () => {
    const given = { tallies: talliesOf({ removed: 501 }), earlier: earlier({ removed: 100 }) };
    const [found, ...others] = objections({}, given);
    expect([found, others]).toMatchObject([{ count: 501 }, []]);
    expect(found).not.toHaveProperty('since');
  });

  it('gives the next day the sums, without what was one change', () => {
    const tallies = {
      ...talliesOf({ removed: 3 }),
      names: {
        'straat\tWeesp\t0457\tKade\tHavenkade': { count: 20, examples, isOpen: false },
        'straat\tWeesp\t0457\tLaan\tXXXX': { count: 20, examples, isOpen: true },
      },
    };
    const input = { ...load, tallies, earlier: earlier({ removed: 4 }) };
    const { sums } = guardLoad(counts(), input, live, localGuardDefaults);
    expect(sums.areas['']?.columns).toEqual({
      removed: { count: 7, examples: [] },
      straat: { count: 20, examples: [] },
    });
    expect(sums.names).toEqual({
      'straat\tWeesp\t0457\tKade\tHavenkade': { count: 20, examples: [], isOpen: false },
    });
  });

  it('stops days that rename one street after another', () => {
    let earlier: GuardInput['earlier'] = null;
    const asked = Array.from({ length: 4 }, (_, day) => {
      const name = `straat\tWeesp\t0457\tKade ${day}\tLaan ${day} x`;
      const names = { [name]: { count: 300, examples, isOpen: false } };
      const input = { ...load, tallies: { ...noTallies(), names }, earlier };
      const { objections, sums } = guardLoad(counts(), input, live, localGuardDefaults, 0.2);
      earlier = { since: '2026-01-08', ...sums };
      return objections.map(({ code, place }) => [code, place]);
    });
    // Three have 900 addresses, and four more than the 1,000 of one change.
    expect(asked).toEqual([[], [], [], [['too_many_straten', 'Weesp']]]);
  });
});

describe('the guard of what days set aside', () => {
  const day = (objects: number, count: number) => [{ file: 'day.zip', objects, count, examples }];
  const of = (addresses: number) => ({ count: 20, addresses, examples });

  it('lets one object of a day not match, and 1% of many', () => {
    const found = (objects: number, count: number) =>
      objectionsToSetAside(day(objects, count), of(0), 10).map((one) => one.count);
    expect([found(50, 1), found(50, 2), found(300, 3), found(300, 4)]).toEqual([[], [2], [], [4]]);
  });

  it('lets few addresses stay as they were, and says nothing of days that an extract replaces', () => {
    const found = (days: ReturnType<typeof day>, addresses: number) =>
      objectionsToSetAside(days, of(addresses), 10).map(({ count, code }) => [code, count]);
    expect(found(day(50, 1), 10)).toEqual([]);
    expect(found(day(50, 1), 11)).toEqual([['too_many_set_aside', 11]]);
    expect(found([], 11)).toEqual([]);
  });
});

describe('the guard of returned data', () => {
  const restored = (changes: Changes, fromAccepted: Changes) =>
    objections(changes, {
      fromAccepted: { tallies: talliesOf(fromAccepted), places: live.places },
    });

  it('refuses it only if it differs too much from the accepted extract as well', () => {
    expect(restored({ toevoeging: 900 }, { toevoeging: 100 })).toEqual([]);
    expect(restored({ toevoeging: 900 }, { toevoeging: 101 })).toMatchObject([
      { code: 'too_many_toevoegingen', count: 900 },
    ]);
    expect(restored({ toevoeging: 100 }, { toevoeging: 900 })).toEqual([]);
    expect(restored({ toevoeging: 900 }, { removed: 900 })).toMatchObject([
      { code: 'too_many_toevoegingen' },
    ]);
  });
});

describe('the guard of objects', () => {
  it.each([
    [500, 0],
    [501, 1],
  ])(
    'objects to a first load with objects where %i of 10,000 addresses have none: %i times',
    (without, times) => {
      const objecten = { live: 10_000, changed: 0, lost: 0, moved: 0 };
      const withObjects = { ...counts(), objecten };
      const all = { ...sizeOf(10_000), withObjects: 10_000 - without };
      const after = { '': all, Weesp: { ...noSize(), addresses: 10, withObjects: 10 } };
      const given = { ...load, tallies: noTallies(), after, isFirstOfObjects: true };
      const { objections } = guardLoad(withObjects, given, live, localGuardDefaults);
      expect(objections.map(({ code, count }) => [code, count])).toEqual(
        Array.from({ length: times }, () => ['too_few_objects', without]),
      );
      // Without objects, and once they are live, that is nothing to weigh.
      expect(guardLoad(counts(), given, live, localGuardDefaults).objections).toEqual([]);
      expect(
        guardLoad(withObjects, { ...given, isFirstOfObjects: false }, live, localGuardDefaults)
          .objections,
      ).toEqual([]);
    },
  );

  it('objects to too_many_object_problems, and states by how much', () => {
    const found = { ...counts(), objecten: { live: 10_000, changed: 10_000, lost: 0, moved: 0 } };
    if (found.problems) found.problems.address_missing.count = 200;
    const input = { ...load, tallies: noTallies() };
    const { objections } = guardLoad(found, input, live, localGuardDefaults);
    const message =
      '200 of 10,200 objects have a missing address or an unknown location: 1.96%, over the limit of 1%';
    expect(objections).toMatchObject([{ code: 'too_many_object_problems', message }]);
  });
});
