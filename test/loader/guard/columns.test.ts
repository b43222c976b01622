import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { AdresObject } from '../../../core/adres-object.ts';
import type { Place } from '../../../core/place-fields.ts';
import { diff, lineOf } from '../../../loader/addresses/lines.ts';
import { ColumnCounter, mergeTallies, nameChangeOf } from '../../../loader/guard/columns.ts';
import { lineBytes } from '../../../loader/register/stored-form.ts';

const vbo: AdresObject = {
  identificatie: '0457010000012345',
  type: 'verblijfsobject',
  status: 'Verblijfsobject in gebruik',
  hoofdadres: true,
  locatie: { x: 1_000, y: 2_000 },
  oppervlakte: 85,
  gebruiksdoelen: ['winkelfunctie', 'woonfunctie'],
};

type Address = { key?: string; ids?: string[]; objecten?: AdresObject[] } & Partial<Place>;
const weesp = { straat: 'Kade', woonplaats: 'Weesp', gemeente: '0457' };
const id = (number: number) => `${number}`.padStart(16, '0');

/** The lines of addresses, of which those with one key are one line. */
function linesOf(addresses: readonly Address[]): Buffer {
  const byKey = Map.groupBy(addresses, ({ key = '1381AA#9#' }) => key);
  const lines = [...byKey].map(([key, same]) => {
    const places = same.map(({ key: _, ids = [id(1)], ...place }) => ({
      ...weesp,
      ...place,
      nummeraanduidingen: ids,
    }));
    return lineOf({ key, places });
  });
  return lineBytes(lines.sort());
}

function tallied(before: Address[], after: Address[], hasObjects = true) {
  const counter = new ColumnCounter(hasObjects);
  const old = linesOf(before);
  const now = linesOf(after);
  for (const change of diff(old, now)) if (change.kind !== 'list') counter.add(change);
  counter.endPart(old, now);
  return counter.end();
}

/** How often each column differs, and the names that change. */
function columnsOf(before: Address[], after: Address[], hasObjects = true) {
  const { areas, names } = tallied(before, after, hasObjects);
  const columns = Object.entries(areas['']?.columns ?? {}).map(([column, { count }]) => [
    column,
    count,
  ]);
  const changes = Object.entries(names).map(([key, { count }]) => {
    return [nameChangeOf(key).column, count];
  });
  return Object.fromEntries([...columns, ...changes]);
}

const object = (more: Partial<AdresObject>) => [{ ...vbo, ...more }];
const of = (more: Address): Address => ({ objecten: [vbo], ...more });

describe('an address that is found again by its id', () => {
  it.each<[string, Address, Record<string, number>]>([
    ['postcode', { key: '1381AB#9#' }, { postcode: 1 }],
    ['huisnummer', { key: '1381AA#10#' }, { huisnummer: 1 }],
    ['toevoeging', { key: '1381AA#9#A' }, { toevoeging: 1 }],
    ['whole key', { key: '1382AB#10#A' }, { postcode: 1, huisnummer: 1, toevoeging: 1 }],
    ['straat', { straat: 'Laan' }, { straat: 1 }],
    ['woonplaats', { woonplaats: 'Muiden' }, { woonplaats: 1 }],
    [
      'street of another town',
      { straat: 'Laan', woonplaats: 'Muiden' },
      { straat: 1, woonplaats: 1 },
    ],
    ['gemeente', { gemeente: '0363' }, { gemeente: 1 }],
    ['gemeente to a code that is none', { gemeente: '9998' }, { gemeente: 1, gemeenteUnknown: 1 }],
    ['gemeente to none', { gemeente: undefined } as never, { gemeenteLost: 1 }],
    ['id', { ids: [id(2)] }, { id: 1 }],
    ['id, to two', { ids: [id(1), id(2)] }, { id: 1 }],
    ['name to a sign', { straat: '-' }, { straat: 1, garbled: 1 }],
    ['name with a space after it', { straat: 'Kade ' }, { straat: 1, garbled: 1 }],
    ['name encoded twice', { straat: 'IsraÃ«lkade' }, { straat: 1, garbled: 1 }],
    ['name with a capital encoded twice', { straat: 'Ã–stkade' }, { straat: 1, garbled: 1 }],
    ['name in two bytes of a Polish letter', { straat: 'PiÅ’kade' }, { straat: 1, garbled: 1 }],
    ['name in full-width letters', { straat: 'Ｋａｄｅ' }, { straat: 1, garbled: 1 }],
    ['name that is escaped', { straat: 'Achter &apos;t Hek' }, { straat: 1, garbled: 1 }],
    ['name with an ampersand', { straat: 'Kade & Hek; Zuid' }, { straat: 1 }],
    ['name in letters of another script', { straat: 'Kаde' }, { straat: 1, garbled: 1 }],
    ['name to a Frisian one', { straat: 'Âlde Dyk' }, { straat: 1 }],
    ['objects to none', { objecten: [] }, { objectLost: 1 }],
    ['object', { objecten: object({ identificatie: id(9) }) }, { objectLost: 1, objectGained: 1 }],
    [
      'object, with another',
      { objecten: [vbo, ...object({ identificatie: id(9) })] },
      { objectGained: 1 },
    ],
    ['status', { objecten: object({ status: 'Verblijfsobject gevormd' }) }, { status: 1 }],
    [
      'gebruiksdoel',
      {
        objecten: object({ gebruiksdoelen: ['winkelfunctie', 'woonfunctie', 'celfunctie'].sort() }),
      },
      { gebruiksdoel: 1 },
    ],
    [
      'one of several uses',
      { objecten: object({ gebruiksdoelen: ['woonfunctie'] }) },
      { gebruiksdoel: 1, gebruiksdoelLost: 1 },
    ],
    ['oppervlakte', { objecten: object({ oppervlakte: 86 }) }, { oppervlakte: 1 }],
    ['location by 50 m', { objecten: object({ locatie: { x: 1_050, y: 2_000 } }) }, { locatie: 1 }],
    [
      'location by 51 m',
      { objecten: object({ locatie: { x: 1_051, y: 2_000 } }) },
      { locatie: 1, moved: 1 },
    ],
    ['hoofdadres', { objecten: object({ hoofdadres: false }) }, { hoofdadres: 1 }],
  ])('counts another %s in its column', (_, after, columns) => {
    expect(columnsOf([of({})], [of(after)])).toEqual(columns);
  });

  it.each<[AdresObject, string]>([
    [{ ...vbo, type: 'ligplaats' }, 'ligplaatsLost'],
    [{ ...vbo, type: 'standplaats' }, 'standplaatsLost'],
    [{ ...vbo, hoofdadres: false }, 'nevenadresLost'],
  ])('counts %j that it loses in a column of its own too', (one, column) => {
    const { oppervlakte: _, gebruiksdoelen: __, ...site } = one;
    const before = one.type === 'verblijfsobject' ? one : site;
    expect(columnsOf([of({ objecten: [before] })], [of({ objecten: [] })])).toEqual({
      objectLost: 1,
      [column]: 1,
    });
  });

  it('counts letters that its name loses', () => {
    const before = of({ straat: 'Jozef Israëlskade' });
    expect(columnsOf([before], [of({ straat: 'Jozef Israelskade' })])).toEqual({
      straat: 1,
      lettersLost: 1,
    });
    expect(columnsOf([before], [of({ straat: 'Oude Jozef Israëlskade' })])).toEqual({ straat: 1 });
  });

  it('counts a letter that its name loses one of two times', () => {
    const [before, after] = ['Chloë en Noëkade', 'Chloë en Noekade'].map((straat) =>
      of({ straat }),
    );
    expect(columnsOf([before as Address], [after as Address])).toEqual({
      straat: 1,
      lettersLost: 1,
    });
  });

  it('counts another use as lost only beside others, and two objects once', () => {
    const withUse = (gebruiksdoel: 'woonfunctie' | 'celfunctie') =>
      of({ objecten: object({ gebruiksdoelen: [gebruiksdoel] }) });
    expect(columnsOf([withUse('woonfunctie')], [withUse('celfunctie')])).toEqual({
      gebruiksdoel: 1,
    });
    const flats = (oppervlakte: number) =>
      of({ objecten: [1, 2].flatMap((i) => object({ identificatie: id(i), oppervlakte })) });
    expect(columnsOf([flats(80)], [flats(90)])).toEqual({ oppervlakte: 1 });
  });

  it('counts odd characters only of a name that had none', () => {
    expect(columnsOf([of({ straat: 'Kade?' })], [of({ straat: 'Kade*' })])).toEqual({ straat: 1 });
  });

  it('does not look at objects that one side has not', () => {
    expect(columnsOf([of({ objecten: [] })], [of({})], false)).toEqual({});
  });
});

describe('an address that is not', () => {
  it('is removed or added', () => {
    expect(columnsOf([of({})], [])).toEqual({ removed: 1 });
    expect(columnsOf([], [of({})])).toEqual({ added: 1 });
    expect(columnsOf([], [of({ straat: '?' })])).toEqual({ added: 1, garbled: 1 });
    const nowhere = of({ gemeente: undefined } as never);
    expect(columnsOf([], [nowhere])).toEqual({ added: 1, gemeenteLost: 1 });
    const elsewhere = of({ key: '1381AA#10#', ids: [id(2)] });
    expect(columnsOf([of({})], [elsewhere])).toEqual({ removed: 1, added: 1 });
  });

  it('gives its key a second street', () => {
    const second = of({ straat: 'Laan', ids: [id(2)], objecten: [] });
    expect(columnsOf([of({})], [of({}), second])).toEqual({ added: 1, doubled: 1 });
  });

  it('is the same under another id, also beside another that stays', () => {
    expect(columnsOf([of({ ids: [id(1), id(2)] })], [of({ ids: [id(1)] })])).toEqual({ id: 1 });
    expect(columnsOf([of({ ids: [id(1), id(2)] })], [of({ ids: [id(3), id(4)] })])).toEqual({
      id: 2,
    });
  });
});

describe('the tallies', () => {
  it('count an address in all, its woonplaats, its gemeente and its street, and show it', () => {
    const { areas, streets } = tallied([of({})], []);
    const examples = ['1381 AA 9: Kade, Weesp → -'];
    const tally = { changed: 1, columns: { removed: { count: 1, examples } } };
    expect(areas).toEqual({ '': tally, Weesp: tally, 'gemeente 0457': tally });
    expect(streets).toEqual({ 'Kade, Weesp': tally });
  });

  it.each<[Address, Address, string]>([
    [{}, { key: '1381AA#9#A' }, '1381 AA 9 → 1381 AA 9 A'],
    [{}, { ids: [id(2)] }, `1381 AA 9: ${id(1)} → ${id(2)}`],
    [{}, { objecten: object({ oppervlakte: 1 }) }, '1381 AA 9: 85 m2 → 1 m2'],
    [{}, { objecten: object({ hoofdadres: false }) }, '1381 AA 9: hoofdadres → nevenadres'],
  ])('show the value before and after: %j, %j', (before, after, example) => {
    const { areas } = tallied([of(before)], [of(after)]);
    const [counted] = Object.values(areas['']?.columns ?? {});
    expect(counted?.examples).toEqual([example]);
  });

  it('show both streets of a key that gains one', () => {
    const second = of({ straat: 'Laan', ids: [id(2)], objecten: [] });
    const { areas } = tallied([of({})], [of({}), second]);
    expect(areas['']?.columns.doubled?.examples).toEqual([
      '1381 AA 9: Kade, Weesp → Kade, Weesp | Laan, Weesp',
    ]);
  });

  it('leave a name open if one part does', () => {
    const other = { key: '1381AA#11#', ids: [id(2)] };
    const closed = tallied([of({})], [of({ straat: 'Laan' })]);
    const open = tallied([of({}), of(other)], [of({ straat: 'Laan' }), of(other)]);
    for (const all of [
      [closed, open],
      [open, closed],
    ]) {
      const isOpen = Object.values(mergeTallies(all).names).map((change) => change.isOpen);
      expect(isOpen).toEqual([true]);
    }
  });

  it('keep the streets with the most changes, and with the most removed addresses', () => {
    const at = (straat: string, number: number, key = `1381AA#${number}#`) =>
      of({ key, ids: [id(number)], straat });
    const busy = (prefix: string) =>
      Array.from({ length: 120 }, (_, i) => at(`${prefix} ${i >> 1}`, i + 1));
    const { streets } = tallied([...busy('Kade'), at('Laan', 999)], busy('Dreef'));
    expect(Object.keys(streets)).toHaveLength(51);
    expect(streets['Laan, Weesp']?.columns.removed?.count).toBe(1);
  });

  it('tell 500 names apart in a segment, and count the others together', () => {
    const streets = (name: string) =>
      Array.from({ length: 502 }, (_, i) =>
        of({ key: `1381AA#${i + 1}#`, ids: [id(i)], straat: `${name} ${i}` }),
      );
    const { names } = tallied(streets('Kade'), streets('Laan'));
    expect(Object.keys(names)).toHaveLength(501);
    expect(names['straat\tWeesp\t0457\t\t']?.count).toBe(2);
  });

  it('keep three examples, and add up', () => {
    const keys = [1, 2, 3, 4].map((one) => of({ key: `1381AA#${one}#`, ids: [id(one)] }));
    const one = tallied(keys, []);
    const { areas } = mergeTallies([one, one]);
    expect(areas['']?.columns.removed).toMatchObject({ count: 8, examples: { length: 3 } });
    expect(one.areas['']?.columns.removed?.count).toBe(4);
  });

  it('tell whether the old name of a street stays, or the new one was there', () => {
    const isOpen = (before: Address[], after: Address[]) =>
      Object.values(tallied(before, after).names).map((change) => change.isOpen);
    const other = { key: '1381AA#11#', ids: [id(2)] };
    expect(isOpen([of({}), of(other)], [of({ straat: 'Laan' }), of(other)])).toEqual([true]);
    const laan = { ...other, straat: 'Laan' };
    expect(isOpen([of({}), of(laan)], [of({ straat: 'Laan' }), of(laan)])).toEqual([true]);
    expect(isOpen([of({})], [of({ straat: 'Laan' })])).toEqual([false]);
  });

  it('lose no address, whatever happens to it', () => {
    const address = fc.record({
      key: fc.constantFrom('1381AA#9#', '1381AA#9#A', '1381AB#7#'),
      straat: fc.constantFrom('Kade', 'Laan'),
      number: fc.integer({ min: 1, max: 6 }),
    });
    const register = fc.uniqueArray(address, { selector: ({ number }) => number }).map((all) =>
      [...Map.groupBy(all, ({ key, straat }) => `${key} ${straat}`).values()].map((same) => {
        const { key, straat } = same[0] as (typeof same)[number];
        return { key, straat, ids: same.map(({ number }) => id(number)) };
      }),
    );
    fc.assert(
      fc.property(register, register, (before, after) => {
        const found = columnsOf(before, after);
        const count = (all: Address[]) => all.reduce((sum, { ids = [] }) => sum + ids.length, 0);
        const { removed = 0, added = 0 } = found;
        // Ids that go or come at an address that stays count as such.
        expect(removed).toBeLessThanOrEqual(count(before));
        expect(added).toBeLessThanOrEqual(count(after));
        const isSame = linesOf(before).equals(linesOf(after));
        expect(Object.keys(found).length > 0).toBe(!isSame);
      }),
    );
  });
});
