import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  addressItem,
  compareToevoegingen,
  maxToevoegingen,
  type StoredAddress,
  storedAddress,
} from '../../../core/addresses/address-item.ts';
import { addressKey } from '../../../core/addresses/address-key.ts';
import { comparePlaces, type Place } from '../../../core/place-fields.ts';
import {
  type LineCounts,
  LineSegmentReader,
  LineSegmentWriter,
  packSegment,
  unpackSegment,
} from '../../../loader/addresses/line-segment.ts';
import {
  addressPart,
  type Change,
  diff,
  keyOf,
  type Line,
  lineOf,
  parseLine,
  placeText,
  unpackWrites,
  WritesFile,
  writeOf,
} from '../../../loader/addresses/lines.ts';
import { addSizes, sizesOfAddress } from '../../../loader/addresses/place-sizes.ts';
import { rowsOfPart, sortedRows } from '../../../loader/addresses/sort-rows.ts';
import {
  GrowingBytes,
  lineBytes,
  packLineBytes,
  postcode3sOf,
  UnknownFormError,
} from '../../../loader/register/stored-form.ts';
import { joinLines } from '../../support/join-lines.ts';

type Row = { postcode: string; huisnummer: number; toevoeging: string; id: string; place: Place };

const name = fc.oneof(
  fc.constantFrom(
    'Weesp',
    "'s-Gravenhage",
    '’s-Gravelandsevaart',
    'Mr.J.C.Bührmannlaan',
    'a\tb',
    'a\\tb',
    'a\nb',
    '𝔸',
  ),
  fc.string({ minLength: 1, maxLength: 8, unit: 'grapheme' }),
);
/** From so few keys that many are equal. */
const row: fc.Arbitrary<Row> = fc.record({
  postcode: fc.constantFrom('1012RJ', '1381AA', '1381AB', '1399ZZ', '2513AA', '9999ZZ'),
  huisnummer: fc.constantFrom(1, 2, 12, 99999),
  toevoeging: fc.constantFrom('', 'a', 'A', 'A1'),
  id: fc.oneof(
    fc.constantFrom('0000000000000000', '0457200000199640'),
    fc.stringMatching(/^\d{16}$/),
  ),
  place: fc.record({ straat: name, woonplaats: name }),
});
const rows = fc.array(row, { maxLength: 60 });

const rowOf = (one: Row): Line => `${addressKey(one)}\t\t${placeText(one.place)}${one.id}`;

/** The places of each key, without any lines. */
function placesOf(all: Row[]): Map<string, Place[]> {
  const table = new Map<string, Place[]>();
  for (const one of all) {
    const places = table.get(addressKey(one)) ?? [];
    const same = places.find((place) => comparePlaces(place, one.place) === 0);
    if (same) {
      same.nummeraanduidingen = [...new Set([...(same.nummeraanduidingen ?? []), one.id])].sort();
    } else {
      places.push({ ...one.place, nummeraanduidingen: [one.id] });
    }
    table.set(addressKey(one), places.sort(comparePlaces));
  }
  return table;
}

/**
 * What joining has to give: the places, and where a postcode and huisnummer have other
 * toevoegingen, the list of all.
 */
function truth(all: Row[]): Map<string, StoredAddress> {
  const places = placesOf(all);
  const table = new Map(
    [...places].map(([key, places]): [string, StoredAddress] => [key, { key, places }]),
  );
  for (const { postcode, huisnummer } of all) {
    const bare = addressKey({ postcode, huisnummer, toevoeging: null });
    const toevoegingen = [...places.keys()]
      .filter((key) => key.startsWith(bare))
      .map((key) => key.slice(bare.length) || null)
      .sort(compareToevoegingen);
    if (toevoegingen.some((one) => one !== null)) {
      table.set(bare, { key: bare, places: places.get(bare) ?? [], toevoegingen });
    }
  }
  return table;
}

function tableOf(lines: Line[]): Map<string, StoredAddress> {
  return new Map(lines.map(parseLine).map((address) => [address.key, address]));
}

describe('a snapshot', () => {
  it('has each key once, in order, with its distinct places and list of toevoegingen, whatever their names', () => {
    fc.assert(
      fc.property(rows, (all) => {
        const lines = joinLines(all.map(rowOf));
        expect(tableOf(lines)).toEqual(truth(all));
        const keys = lines.map(keyOf);
        expect(keys).toEqual([...new Set(keys)].sort());
      }),
    );
  });

  it('has lines that can be rebuilt from the table, and addresses that differ from lists', () => {
    fc.assert(
      fc.property(rows, (all) => {
        const lines = joinLines(all.map(rowOf));
        for (const line of lines) {
          expect(parseLine(lineOf(parseLine(line)))).toEqual(parseLine(line));
        }
        const addresses = lines.map(addressPart).filter((line) => line !== null);
        expect(new Map(addresses.map(parseLine).map(({ key, places }) => [key, places]))).toEqual(
          placesOf(all),
        );
        expect(addresses.every((line) => parseLine(line).toevoegingen === undefined)).toBe(true);
      }),
    );
  });

  it('is read back from its stored form, whole or one postcode3 at a time, counted, and copied as it is stored', () => {
    fc.assert(
      fc.property(rows, (all) => {
        const lines = joinLines(all.map(rowOf));
        expect(unpackSegment(packSegment(lines))).toEqual(lines);
        expect(lines.map((line) => storedAddress(addressItem(parseLine(line))))).toEqual(
          lines.map(parseLine),
        );
        const reader = new LineSegmentReader(packSegment(lines));
        for (const postcode3 of postcode3sOf('13')) {
          expect(reader.lines(postcode3)).toEqual(
            lines.filter((line) => line.startsWith(postcode3)),
          );
        }
        const copied = new LineSegmentWriter();
        const total: LineCounts = { lines: 0, lists: 0, places: {} };
        for (const part of reader.parts) {
          const counts = reader.counts(part);
          copied.add(reader.stored(part) as NonNullable<ReturnType<typeof reader.stored>>);
          total.lines += counts.lines;
          total.lists += counts.lists;
          total.places = addSizes([
            ...Object.entries(total.places),
            ...Object.entries(counts.places),
          ]);
        }
        const sizes = [...placesOf(all)].flatMap(([key, places]) =>
          places.flatMap((place) => sizesOfAddress(key, place)),
        );
        expect(total).toEqual({
          lines: lines.length,
          lists: lines.filter((line) => addressPart(line) === null).length,
          places: addSizes(sizes),
        });
        expect(Buffer.concat(copied.pack()).equals(packSegment(lines))).toBe(true);
      }),
    );
    expect(new LineSegmentReader(null).lines('138')).toEqual([]);
  });

  it('holds the first toevoegingen of a list that is too long for an item', () => {
    const many = Array.from(
      { length: maxToevoegingen + 100 },
      (_, i) => `X${String(i).padStart(3, '0')}`,
    );
    const place = { straat: 'Buitenveer', woonplaats: 'Weesp' };
    const rows = many.map((toevoeging) =>
      rowOf({ postcode: '1381AA', huisnummer: 9, toevoeging, id: '0457200000199640', place }),
    );
    const [list, ...others] = joinLines(rows).map(parseLine);
    expect(list).toEqual({
      key: '1381AA#9#',
      places: [],
      toevoegingen: many.slice(0, maxToevoegingen),
    });
    expect(others).toHaveLength(many.length);
    expect(JSON.stringify(list).length).toBeLessThan(4_000);
  });
});

const changesOf = (before: readonly Line[], after: readonly Line[]) => [
  ...diff(lineBytes(before), lineBytes(after)),
];

describe('a difference', () => {
  it('applied to the old snapshot gives the new one, also from its stored form', () => {
    fc.assert(
      fc.property(rows, rows, (before, after) => {
        const table = truth(before);
        const changes = changesOf(joinLines(before.map(rowOf)), joinLines(after.map(rowOf)));
        const file = new WritesFile();
        for (const change of changes) file.add(writeOf(change));
        for (const write of unpackWrites(file.pack())) {
          if ('remove' in write) table.delete(write.remove);
          else {
            table.set(parseLine(write.put).key, parseLine(write.put));
          }
        }
        expect(table).toEqual(truth(after));
      }),
    );
  });

  it('is refused in a form that this version does not read', () => {
    expect(() => unpackWrites(packLineBytes(Buffer.from('lines 1\n-1381AA#7#')))).toThrow(
      UnknownFormError,
    );
  });

  it('names each key that differs once, and no other', () => {
    fc.assert(
      fc.property(rows, rows, (before, after) => {
        const old = truth(before);
        const now = truth(after);
        const differing = [...new Set([...old.keys(), ...now.keys()])].filter(
          (key) => JSON.stringify(old.get(key)) !== JSON.stringify(now.get(key)),
        );
        const changes = changesOf(joinLines(before.map(rowOf)), joinLines(after.map(rowOf)));
        expect(changes.map((change) => keyOf((change.after ?? change.before) as Line))).toEqual(
          differing.sort(),
        );
      }),
    );
  });

  it('has the lines of each key before and after, among many that are the same', () => {
    const many = fc.array(row, { maxLength: 200 });
    fc.assert(
      fc.property(many, rows, fc.nat(), (same, other, at) => {
        const before = joinLines(same.map(rowOf));
        const after = joinLines([...same.slice(at % 200), ...other].map(rowOf));
        const [old, now] = [before, after].map(
          (lines) => new Map(lines.map((line) => [keyOf(line), line])),
        );
        const pairs = [...new Set([...before, ...after].map(keyOf))]
          .sort()
          .map((key) => [old?.get(key), now?.get(key)]);
        const changes = changesOf(before, after).map((change) => [
          change.before ?? undefined,
          change.after ?? undefined,
        ]);
        expect(changes).toEqual(pairs.filter(([one, other]) => one !== other));
      }),
    );
  });

  it('distinguishes a change of an address from a change of only its list', () => {
    fc.assert(
      fc.property(rows, rows, (before, after) => {
        const old = placesOf(before);
        const now = placesOf(after);
        const changes = changesOf(joinLines(before.map(rowOf)), joinLines(after.map(rowOf)));
        const kinds = new Map(
          changes.map((change) => [keyOf((change.after ?? change.before) as Line), change.kind]),
        );
        const expected = (key: string): Change['kind'] => {
          const was = old.get(key);
          const is = now.get(key);
          if (JSON.stringify(was) === JSON.stringify(is)) return 'list';
          return was === undefined ? 'added' : is === undefined ? 'removed' : 'changed';
        };
        for (const [key, kind] of kinds) expect([key, kind]).toEqual([key, expected(key)]);
      }),
    );
  });
});

describe('rows of a segment', () => {
  it('are sorted by their bytes, also those of one key, and divided into parts', () => {
    const rest = fc.stringMatching(/^[0-9]{16}[0-9]{16}\.\.\.\.$/);
    const text = fc
      .tuple(row, rest)
      .map(([one, fields]) => `13${addressKey(one).slice(2)}\t${fields}`);
    fc.assert(
      fc.property(fc.array(text, { maxLength: 60 }), (texts) => {
        const sorted = sortedRows(Buffer.from(texts.map((one) => `${one}\n`).join(''), 'latin1'));
        const expected = texts.toSorted().map((one) => `${one}\n`);
        expect(sorted.toString('latin1')).toBe(expected.join(''));
        for (const part of postcode3sOf('13')) {
          const ofPart = expected.filter((one) => one.startsWith(part));
          expect(rowsOfPart(sorted, part).toString('latin1')).toBe(ofPart.join(''));
        }
      }),
    );
  });
});

describe('bytes that grow', () => {
  it('have memory for one more byte after any copy, at any place', () => {
    const length = fc.oneof(fc.nat(40), fc.constantFrom(4_095, 4_096, 8_191, 8_192));
    const from = Uint8Array.from({ length: 9_000 }, (_, index) => (31 * index) % 251);
    fc.assert(
      fc.property(fc.array(fc.tuple(length, fc.nat(800)), { maxLength: 6 }), (copies) => {
        const grown = new GrowingBytes();
        const expected = [] as number[];
        for (const [count, start] of copies) {
          grown.copy(new DataView(from.buffer), start, count);
          grown.memory[grown.length++] = 1;
          expected.push(...from.subarray(start, start + count), 1);
        }
        expect(grown.bytes.equals(Buffer.from(expected))).toBe(true);
      }),
    );
  });
});
