import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { comparePlaces, type Place } from '../../../lambdas/shared/addresses/address-item.ts';
import { addressKey } from '../../../lambdas/shared/addresses/address-key.ts';
import { ChangeWriter, diff, unpackWrites } from '../../../loader/dataset/changes.ts';
import {
  joinRows,
  keyOf,
  type Line,
  packLines,
  parseLine,
  placeText,
  unpackLines,
} from '../../../loader/dataset/lines.ts';
import { postcode3sOf, ShardReader, ShardWriter } from '../../../loader/dataset/shard.ts';

type Row = { postcode: string; huisnummer: number; toevoeging: string; place: Place };

const name = fc.oneof(
  fc.constantFrom('Weesp', "'s-Gravenhage", '’s-Gravelandsevaart', 'Mr.J.C.Bührmannlaan', 'a\tb', 'a\\tb', 'a\nb', '𝔸'),
  fc.string({ minLength: 1, maxLength: 8, unit: 'grapheme' }),
);
/** From so few keys that many are equal. */
const row: fc.Arbitrary<Row> = fc.record({
  postcode: fc.constantFrom('1012RJ', '1381AA', '1381AB', '1399ZZ', '2513AA', '9999ZZ'),
  huisnummer: fc.constantFrom(1, 2, 12, 99999),
  toevoeging: fc.constantFrom('', 'a', 'A', 'A1'),
  place: fc.record({ straat: name, woonplaats: name }),
});
const rows = fc.array(row, { maxLength: 60 });

const lineOf = (one: Row): Line => `${addressKey(one)}\t${placeText(one.place)}`;

/** What joining has to give, without any lines. */
function truth(all: Row[]): Map<string, Place[]> {
  const table = new Map<string, Place[]>();
  for (const one of all) {
    const places = table.get(addressKey(one)) ?? [];
    if (!places.some((place) => comparePlaces(place, one.place) === 0)) places.push(one.place);
    table.set(addressKey(one), places.sort(comparePlaces));
  }
  return table;
}

function tableOf(lines: Line[]): Map<string, Place[]> {
  return new Map(lines.map(parseLine).map(({ key, places }) => [key, places]));
}

describe('a snapshot', () => {
  it('has each key once, in order, with its distinct places, whatever their names', () => {
    fc.assert(
      fc.property(rows, (all) => {
        const lines = joinRows(all.map(lineOf));
        expect(tableOf(lines)).toEqual(truth(all));
        const keys = lines.map(keyOf);
        expect(keys).toEqual([...new Set(keys)].sort());
      }),
    );
  });

  it('is the same bytes whatever the order of the rows', () => {
    const shuffled = rows.chain((all) =>
      fc.tuple(fc.constant(all), fc.shuffledSubarray(all, { minLength: all.length })),
    );
    fc.assert(
      fc.property(shuffled, ([all, turned]) => {
        expect(packLines(joinRows(turned.map(lineOf))).equals(packLines(joinRows(all.map(lineOf))))).toBe(true);
      }),
    );
  });

  it('is the same lines however many shards there are', () => {
    fc.assert(
      fc.property(rows, fc.integer({ min: 0, max: 4 }), (all, digits) => {
        const lines = all.map(lineOf);
        const shards = [...new Set(lines.map((line) => line.slice(0, digits)))].sort();
        const joined = shards.flatMap((shard) => joinRows(lines.filter((line) => line.startsWith(shard))));
        expect(joined).toEqual(joinRows(lines));
      }),
    );
  });

  it('is the same, one postcode3 at a time: its lines, and its bytes', () => {
    fc.assert(
      fc.property(rows, (all) => {
        const lines = joinRows(all.map(lineOf)).filter((line) => line.startsWith('13'));
        const reader = new ShardReader(packLines(lines));
        const writer = new ShardWriter();
        const taken = postcode3sOf('13').map((postcode3) => {
          const lines = reader.next(postcode3);
          expect(lines.every((line) => line.startsWith(postcode3))).toBe(true);
          writer.write(lines);
          return lines;
        });
        expect(taken.flat()).toEqual(lines);
        expect(writer.pack().equals(packLines(lines))).toBe(true);
      }),
    );
    expect(new ShardReader(null).next('138')).toEqual([]);
  });

  it('comes back from its stored form', () => {
    fc.assert(
      fc.property(rows, (all) => {
        const lines = joinRows(all.map(lineOf));
        expect(unpackLines(packLines(lines))).toEqual(lines);
      }),
    );
  });

  it('is refused when a byte of it was damaged', () => {
    const packed = packLines(
      joinRows([
        lineOf({
          postcode: '1381AA',
          huisnummer: 9,
          toevoeging: '',
          place: { straat: 'Buitenveer', woonplaats: 'Weesp' },
        }),
      ]),
    );
    packed.writeUInt8(packed.readUInt8(packed.length - 6) ^ 1, packed.length - 6);
    expect(() => unpackLines(packed)).toThrow();
  });
});

describe('a difference', () => {
  it('applied to the old snapshot gives the new one, by way of its stored form', () => {
    fc.assert(
      fc.property(rows, rows, (before, after) => {
        const table = truth(before);
        const changes = new ChangeWriter();
        for (const change of diff(joinRows(before.map(lineOf)), joinRows(after.map(lineOf)))) changes.add(change);
        for (const write of unpackWrites(changes.pack())) {
          if ('remove' in write) table.delete(write.remove);
          else table.set(parseLine(write.put).key, parseLine(write.put).places);
        }
        expect(table).toEqual(truth(after));
      }),
    );
  });

  it('names each key that differs once, and no other', () => {
    fc.assert(
      fc.property(rows, rows, (before, after) => {
        const [old, now] = [truth(before), truth(after)];
        const differing = [...new Set([...old.keys(), ...now.keys()])].filter(
          (key) => JSON.stringify(old.get(key)) !== JSON.stringify(now.get(key)),
        );
        const changes = [...diff(joinRows(before.map(lineOf)), joinRows(after.map(lineOf)))];
        expect(changes.map((change) => keyOf((change.after ?? change.before) as Line))).toEqual(differing.sort());
      }),
    );
  });

  it('of a snapshot with itself is empty', () => {
    fc.assert(
      fc.property(rows, (all) => {
        const lines = joinRows(all.map(lineOf));
        expect([...diff(lines, [...lines])]).toEqual([]);
      }),
    );
  });
});
