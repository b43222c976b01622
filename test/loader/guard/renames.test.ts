import { describe, expect, it } from '@jest/globals';
import { noSize, type PlaceSizes } from '../../../loader/addresses/place-sizes.ts';
import { noTallies, type Tallies } from '../../../loader/guard/columns.ts';
import { explainNames } from '../../../loader/guard/renames.ts';
import { localGuardDefaults } from '../../../loader/names.ts';

type Change = {
  column: 'straat' | 'woonplaats' | 'gemeente';
  from: string;
  to: string;
  woonplaats?: string;
  gemeente?: string;
  count?: number;
  isOpen?: boolean;
};

const sizesOf = (addresses: Record<string, number>): PlaceSizes =>
  Object.fromEntries(
    Object.entries(addresses).map(([area, count]) => [area, { ...noSize(), addresses: count }]),
  );

const namesOf = (changes: readonly Change[]): Tallies['names'] =>
  Object.fromEntries(
    changes.map(({ column, woonplaats = '', gemeente = '', from, to, ...one }) => [
      [column, column === 'woonplaats' ? from : woonplaats, gemeente, from, to].join('\t'),
      { count: 100, examples: ['x'], isOpen: false, ...one },
    ]),
  );

/**
 * What is explained of changes, in a dataset of so many addresses by area. @param earlier names
 * that the days before have changed
 */
function explained(
  changes: Change[],
  live: Record<string, number>,
  after: Record<string, number> = live,
  more: Partial<Tallies> = {},
  earlier: Change[] = [],
) {
  const sizes = { live: sizesOf(live), after: sizesOf(after) };
  const { renamed, tallies } = explainNames(
    { ...noTallies(), ...more, names: namesOf(changes) },
    sizes,
    localGuardDefaults,
    namesOf(earlier),
  );
  const counts = Object.entries(tallies.areas).map(([area, { columns }]) => [
    area,
    Object.values(columns).reduce((sum, { count }) => sum + count, 0),
  ]);
  return { renamed, counted: Object.fromEntries(counts) as Record<string, number> };
}

const towns = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => [`Plaats ${i}`, 100]));
const without = (sizes: Record<string, number>, ...names: string[]) =>
  Object.fromEntries(Object.entries(sizes).filter(([name]) => !names.includes(name)));

describe('a renamed woonplaats', () => {
  const live = { '': 20_000, ...towns(200) };
  const rename = (i: number, to: string, more: Partial<Change> = {}): Change => {
    return { column: 'woonplaats', from: `Plaats ${i}`, to, ...more };
  };

  it('is one change, of at most 1% of the woonplaatsen', () => {
    const two = [rename(1, 'Stad'), rename(2, 'Dorp', { count: 80 })];
    expect(explained(two, live, without(live, 'Plaats 1', 'Plaats 2'))).toEqual({
      renamed: [
        { from: 'Plaats 1', to: 'Stad', addresses: 100 },
        { from: 'Plaats 2', to: 'Dorp', addresses: 80 },
      ],
      counted: {},
    });
    const three = [...two, rename(3, 'Gehucht')];
    const { renamed, counted } = explained(
      three,
      live,
      without(live, 'Plaats 1', 'Plaats 2', 'Plaats 3'),
    );
    expect(renamed).toEqual([]);
    expect(counted).toEqual({ '': 280, 'Plaats 1': 100, 'Plaats 2': 80, 'Plaats 3': 100 });
  });

  it.each<[string, Change[], Record<string, number>, Record<string, number>]>([
    ['of under 80% of it', [rename(1, 'Stad', { count: 79 })], live, without(live, 'Plaats 1')],
    ['that keeps addresses', [rename(1, 'Stad')], live, live],
    ['to a name that was live', [rename(1, 'Plaats 2')], live, without(live, 'Plaats 1')],
    [
      'like another one',
      [rename(1, 'Stad'), rename(2, 'Stad')],
      live,
      without(live, 'Plaats 1', 'Plaats 2'),
    ],
    ['that is the only one', [rename(1, 'Stad')], { '': 100, 'Plaats 1': 100 }, { '': 100 }],
    ['in upper case', [rename(1, 'PLAATS 1')], live, without(live, 'Plaats 1')],
    ['with a hyphen', [rename(1, 'Plaats-1')], live, without(live, 'Plaats 1')],
    ['to a number', [rename(1, '3631')], live, without(live, 'Plaats 1')],
    ['with a space after it', [rename(1, 'Stad ')], live, without(live, 'Plaats 1')],
    ['with two spaces in it', [rename(1, 'De  Stad')], live, without(live, 'Plaats 1')],
  ])('is none %s', (_, changes, before, after) => {
    const { renamed, counted } = explained(changes, before, after);
    expect(renamed).toEqual([]);
    expect(counted['']).toBeGreaterThan(0);
  });
});

describe('a renamed street', () => {
  const live = { '': 20_000, Weesp: 12_000 };
  const rename = (from: string, to: string, more: Partial<Change> = {}): Change => {
    return { column: 'straat', woonplaats: 'Weesp', gemeente: '0457', from, to, ...more };
  };
  const many = (count: number, more: Partial<Change> = {}) =>
    Array.from({ length: count }, (_, i) => rename(`Straat ${i}`, `Laan ${i} x`, more));

  it('counts in no column, up to 25 of a woonplaats', () => {
    expect(explained(many(25, { count: 40 }), live).counted).toEqual({});
    expect(explained(many(26, { count: 10 }), live).counted).toEqual({
      '': 260,
      Weesp: 260,
      'gemeente 0457': 260,
    });
  });

  it('counts if together they have more than 2% of the addresses, and 1,000', () => {
    expect(explained(many(10, { count: 100 }), live).counted).toEqual({});
    expect(explained(many(10, { count: 101 }), live).counted['']).toBe(1_010);
    expect(explained(many(10, { count: 101 }), { '': 51_000, Weesp: 12_000 }).counted).toEqual({});
  });

  it('is none if over a fifth of it goes', () => {
    const street = (removed: number) => ({
      streets: {
        'Kade, Weesp': { changed: removed, columns: { removed: { count: removed, examples: [] } } },
      },
    });
    const kade = [rename('Kade', 'Havenkade')];
    expect(explained(kade, live, live, street(25)).counted).toEqual({});
    expect(explained(kade, live, live, street(26)).counted['']).toBe(100);
  });

  it.each<[string, Change[]]>([
    ['whose old name stays', [rename('Kade', 'Laan', { isOpen: true })]],
    ['that gets two names', [rename('Kade', 'Laan'), rename('Kade', 'Dreef')]],
    ['with the name of another', [rename('Kade', 'XXXX'), rename('Laan', 'XXXX')]],
    ['in upper case', [rename('Kade', 'KADE')]],
    ['without letters', [rename('Kade', '-')]],
    ['that was not told apart', [rename('', '')]],
    ['that swaps names with another', [rename('Kade', 'Laan'), rename('Laan', 'Kade')]],
  ])('is none %s', (_, changes) => {
    expect(explained(changes, live).counted['']).toBe(100 * changes.length);
  });
});

describe('a name that changes on a day, after others since the last extract', () => {
  it('is one change of a woonplaats while all of them are within 1% and 10%', () => {
    const live = { '': 20_000, ...towns(200) };
    const rename = (i: number, count = 100): Change => {
      return { column: 'woonplaats', from: `Plaats ${i}`, to: `Stad ${i} x`, count };
    };
    const isOne = (...earlier: Change[]) =>
      explained([rename(1)], live, without(live, 'Plaats 1'), {}, earlier).renamed.length === 1;
    expect(isOne(rename(2))).toBe(true);
    expect(isOne(rename(2), rename(3))).toBe(false);
    expect(isOne(rename(2, 1_900))).toBe(true);
    expect(isOne(rename(2, 1_901))).toBe(false);
  });

  it('is one change of a street while all of them are within 25 of a woonplaats and 1,000', () => {
    const live = { '': 20_000, Weesp: 12_000 };
    const rename = (i: number, more: Partial<Change> = {}): Change => {
      return { column: 'straat', woonplaats: 'Weesp', from: `A${i}`, to: `B${i}`, ...more };
    };
    const isOne = (earlier: Change[], count = 10) =>
      explained([rename(0, { count })], live, live, {}, earlier).counted[''] === undefined;
    const many = (count: number, more: Partial<Change>) =>
      Array.from({ length: count }, (_, i) => rename(i + 1, { count: 1, ...more }));
    expect(isOne(many(24, {}))).toBe(true);
    expect(isOne(many(25, {}))).toBe(false);
    expect(isOne(many(25, { woonplaats: 'Muiden' }))).toBe(true);
    expect(isOne(many(10, { count: 99 }))).toBe(true);
    expect(isOne(many(10, { count: 99 }), 11)).toBe(false);
  });

  it('is one change of a gemeente while all of them are 3, or within 10%', () => {
    const live = { '': 1_000, 'gemeente 0457': 100, 'gemeente 0363': 100 };
    const merge = (from: string): Change => {
      return { column: 'gemeente', woonplaats: 'W', gemeente: from, from, to: '0363', count: 50 };
    };
    const isOne = (...earlier: string[]) =>
      explained([merge('0457')], live, without(live, 'gemeente 0457'), {}, earlier.map(merge))
        .renamed.length === 1;
    expect(isOne('0402', '0406')).toBe(true);
    expect(isOne('0402', '0406', '0424')).toBe(false);
  });
});

describe('a gemeente that changes', () => {
  const codes = ['0363', '0402', '0406', '0424', '0425', '0457', '0376'];
  const size = (present: string[]) =>
    Object.fromEntries(present.map((code) => [`gemeente ${code}`, 1_000]));
  /** Each woonplaats from one gemeente to another. */
  const change = (
    moves: [from: string, to: string][],
    left: string[],
    { all = 100_000, live = codes } = {},
  ) =>
    explained(
      moves.map(([from, to], i) => {
        return { column: 'gemeente', woonplaats: `W${i}`, gemeente: from, from, to, count: 1_000 };
      }),
      { '': all, ...size(live) },
      { '': all, ...size(left) },
    );

  it('merges if it has no woonplaats left and the receiver gives none', () => {
    const left = codes.filter((code) => !['0424', '0425'].includes(code));
    const moves: [string, string][] = [
      ['0424', '0363'],
      ['0424', '0363'],
      ['0425', '0363'],
    ];
    expect(change(moves, left)).toEqual({
      renamed: [
        { from: 'gemeente 0424', to: 'gemeente 0363', addresses: 2_000 },
        { from: 'gemeente 0425', to: 'gemeente 0363', addresses: 1_000 },
      ],
      counted: {},
    });
  });

  it('is divided over others, or forms a new one with another', () => {
    const left = codes.filter((code) => code !== '0457');
    const divided: [string, string][] = [
      ['0457', '0363'],
      ['0457', '0402'],
    ];
    expect(change(divided, left).counted).toEqual({});
    const gone = codes.filter((code) => !['0424', '0425'].includes(code));
    const formed: [string, string][] = [
      ['0424', '1942'],
      ['0425', '1942'],
    ];
    expect(change(formed, [...gone, '1942']).counted).toEqual({});
  });

  it.each<[string, [string, string][], string[]]>([
    [
      'swaps with another',
      [
        ['0363', '0402'],
        ['0402', '0363'],
      ],
      codes,
    ],
    [
      'rotates with two others',
      [
        ['0363', '0402'],
        ['0402', '0406'],
        ['0406', '0363'],
      ],
      codes,
    ],
    ['gets a new code alone', [['0457', '1942']], [...codes.slice(0, 5), '0376', '1942']],
    [
      'gets an unknown code',
      [
        ['0457', '9998'],
        ['0424', '9998'],
      ],
      ['0363', '9998'],
    ],
    ['keeps a woonplaats', [['0457', '0363']], codes],
    [
      'goes in part to an unknown code',
      [
        ['0457', '0363'],
        ['0457', '9998'],
      ],
      codes.filter((code) => code !== '0457'),
    ],
  ])('is no merger if it %s', (_, moves, left) => {
    const { renamed, counted } = change(moves, left);
    expect(renamed).toEqual([]);
    expect(counted['']).toBe(1_000 * moves.length);
  });

  it('may merge in any number with together 10% of the addresses', () => {
    const moves = ['0424', '0425', '0457', '0376'].map((code): [string, string] => [code, '0363']);
    expect(change(moves, ['0363', '0402', '0406'], { all: 40_000 }).counted).toEqual({});
    expect(change(moves, ['0363', '0402', '0406'], { all: 39_000 }).counted['']).toBe(4_000);
  });

  it('is none that all addresses of a dataset without gemeenten get', () => {
    const changes: Change[] = [
      { column: 'gemeente', woonplaats: 'W', from: '', to: '0363', count: 1_000 },
    ];
    expect(explained(changes, { '': 1_000 }, { '': 1_000 }).counted).toEqual({});
    const has = { '': 2_000, 'gemeente 0402': 1_000 };
    expect(explained(changes, has, has).counted['']).toBe(1_000);
  });

  it('is missing for added addresses only where others have one', () => {
    const added = { changed: 20, columns: { gemeenteLost: { count: 20, examples: ['x'] } } };
    const areas = { areas: { '': added } };
    const live = { '': 100, 'gemeente 0457': 100 };
    expect(explained([], live, live, areas).counted).toEqual({ '': 20 });
    expect(explained([], { '': 100 }, live, areas).counted).toEqual({ '': 0 });
  });

  it('counts as unknown for added addresses too, until it is live', () => {
    const added = { changed: 20, columns: { added: { count: 20, examples: ['x'] } } };
    const areas = (code: string) => ({ areas: { '': added, [`gemeente ${code}`]: added } });
    const counted = (code: string, live: Record<string, number>) =>
      explained([], live, live, areas(code)).counted[''];
    expect(counted('9998', { '': 1_000 })).toBe(40);
    expect(counted('9998', { '': 1_000, 'gemeente 9998': 20 })).toBe(20);
    expect(counted('0363', { '': 1_000 })).toBe(20);
  });
});
