import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { AdresObjectBytes } from '../../../loader/bag/adres-object-bytes.ts';
import { NumBytes } from '../../../loader/bag/num-bytes.ts';
import { type AdresseerbaarVoorkomen, type NumVoorkomen, noEind } from '../../../loader/bag/voorkomen.ts';
import { keylessLines } from '../../../loader/dataset/adres-objects.ts';
import { AdresObjectRows, type LinesInPart, ObjectRows } from '../../../loader/dataset/object-rows.ts';
import { objectLines } from '../../../loader/dataset/objects.ts';
import { nextPartOf, type PartsOfNums, partsOfNums, writeNum } from '../../../loader/dataset/parts-of-nums.ts';
import { GrowingBytes, linesOf, unpackLineBytes } from '../../../loader/dataset/stored-form.ts';

const peildatum = '2026-01-08';

/** Few that are equal, and others that differ in one digit, wherever it is. */
const identificatie = fc
  .tuple(fc.constantFrom('0000000000000000', '0457200000199640'), fc.nat(15), fc.nat(9))
  .map(([id, at, digit]) => `${id.slice(0, at)}${digit}${id.slice(at + 1)}`);

const occurrence: fc.Arbitrary<NumVoorkomen> = fc.record({
  kind: fc.constant('NUM' as const),
  identificatie,
  volgnummer: fc.integer({ min: 1, max: 20 }),
  begin: fc.constantFrom(0, 20_100_929, 20_260_109),
  eind: fc.constantFrom(20_300_101, noEind),
  postcode: fc.constantFrom('1381AA', '1389ZZ', '9999ZZ', null),
  huisnummer: fc.integer({ min: 1, max: 99_999 }),
  huisletter: fc.constant(''),
  huisnummertoevoeging: fc.constantFrom('', 'BIS'),
  openbareRuimte: fc.constant('0457300000000035'),
  woonplaats: fc.constantFrom('1050', null),
});

/** Of two gemeenten, with the same number and others. */
const nums = ['0457200000199640', '0363200000199640', '0457200000199641'];
const num = fc.constantFrom(...nums);

const adresObject: fc.Arbitrary<AdresseerbaarVoorkomen> = fc
  .record({
    kind: fc.constant('VBO' as const),
    identificatie,
    volgnummer: fc.integer({ min: 1, max: 99_999 }),
    begin: fc.constantFrom(0, 20_100_929, 20_260_109),
    eind: fc.constantFrom(20_300_101, noEind),
    type: fc.constantFrom('verblijfsobject' as const, 'standplaats' as const),
    status: fc.constantFrom('Verblijfsobject in gebruik', 'Plaats aangewezen'),
    hoofdadres: num,
    nevenadressen: fc.constantFrom<string[]>([], [], ['0457200000199642']),
    locatie: fc.constantFrom({ x: 131_203.83, y: 480_083.5 }, { x: 5, y: 300_000 }),
    oppervlakte: fc.integer({ min: 1, max: 999_999 }),
    gebruiksdoelen: fc.constantFrom<string[]>(['woonfunctie'], ['winkelfunctie', 'woonfunctie']),
  })
  .map((one) => {
    const { oppervlakte: _, gebruiksdoelen: __, ...plaats } = one;
    return one.type === 'verblijfsobject' ? one : { ...plaats, kind: 'STA' };
  });

/** Adds occurrences as a worker reads them, and returns them by object. */
function added<One extends { identificatie: string }>(
  found: readonly (readonly [One, boolean])[],
  add: (one: One) => void,
): One[][] {
  const objects: One[][] = [];
  for (const [one, isOfLast] of found) {
    const last = objects.at(-1)?.[0]?.identificatie;
    const next = isOfLast && last ? { ...one, identificatie: last } : one;
    add(next);
    if (next.identificatie === last) objects.at(-1)?.push(next);
    else objects.push([next]);
  }
  return objects;
}

/** What the rows say of the edges of these objects. */
function edgesOf<One extends { identificatie: string }>(
  objects: One[][],
  linesIn: (object: One[]) => Iterable<LinesInPart>,
) {
  const ids = objects.map(([first]) => first?.identificatie ?? '');
  const edges = [...new Set([objects[0] ?? [], objects.at(-1) ?? []])];
  return {
    edges: edges.map((object) => [...linesIn(object)]),
    isSorted: ids.every((id, i) => i === 0 || (ids[i - 1] as string) < id),
  };
}

function expectLines(rows: ObjectRows | AdresObjectRows, all: readonly LinesInPart[]): void {
  const expected: Record<string, string[]> = {};
  for (const [part, lines] of all) expected[part] = [...(expected[part] ?? []), ...lines];
  const { packed, ranges } = rows.pack();
  const stored = Buffer.concat(packed);
  const lines = Object.entries(ranges).map(([name, [at, length]]) => [
    name,
    linesOf(unpackLineBytes(stored.subarray(at, at + length))),
  ]);
  expect(Object.fromEntries(lines)).toEqual(expected);
  expect(rows.count).toBe(Object.values(expected).flat().length);
}

const occurrences = <One>(one: fc.Arbitrary<One>) =>
  fc.array(fc.tuple(one, fc.boolean()), { minLength: 1, maxLength: 12 });

describe('the rows of a worker', () => {
  it('are the lines of each object by part, and the order of objects is that of their digits', () => {
    fc.assert(
      fc.property(occurrences(occurrence), (found) => {
        const rows = new ObjectRows(peildatum);
        const objects = added(found, (num) => rows.add(NumBytes.of(num), num));
        const linesIn = (object: NumVoorkomen[]) => objectLines(object, peildatum);
        expect(rows.end()).toEqual(edgesOf(objects, linesIn));
        expectLines(
          rows,
          objects.flatMap((object) => [...linesIn(object)]),
        );
      }),
    );
  });

  it('are the lines of each adresseerbaar object in the parts of the nummeraanduidingen that it names', async () => {
    const [first, second, third] = nums as [string, string, string];
    const several: [string, number][] = [
      [second, 999],
      [first, 0],
      [second, 138],
      [second, 138],
      [third, 138],
    ];
    const places = [several.slice(0, 2), several, [], [[first, 138]] satisfies [string, number][]];
    const tables = await Promise.all(places.map(tableOf));
    fc.assert(
      fc.property(occurrences(adresObject), fc.nat(places.length - 1), (found, which) => {
        const rows = new AdresObjectRows(peildatum, 'VBO', tables[which] as PartsOfNums);
        const objects = added(found, (one) => rows.add(AdresObjectBytes.of(one), one));
        const linesIn = (object: AdresseerbaarVoorkomen[]) =>
          Array.from(keylessLines(object, peildatum)).flatMap(([id, lines]) => {
            const there = new Set(places[which]?.flatMap(([one, part]) => (one === id ? [part] : [])));
            const sorted = [...(there.size > 0 ? there : [0])].sort((a, b) => a - b);
            return sorted.map((part): LinesInPart => [String(part).padStart(3, '0'), lines]);
          });
        expect(rows.end()).toEqual(edgesOf(objects, linesIn));
        expectLines(rows, objects.flatMap(linesIn));
      }),
    );
  });

  it('say which parts each nummeraanduiding has lines of its own in', async () => {
    await fc.assert(
      fc.asyncProperty(occurrences(occurrence), async (found) => {
        const rows = new ObjectRows(peildatum);
        const objects = added(found, (num) => rows.add(NumBytes.of(num), num));
        rows.end();
        const packed = unpackLineBytes(rows.packNums());
        const table = await partsOfNums(async (add) => add(packed));
        const expected = Map.groupBy(objects.flat(), (one) => one.identificatie);
        for (const [id, all] of expected) {
          const parts = new Set(all.map(({ postcode }) => Number(postcode?.slice(0, 3) ?? 0)));
          expect(partsIn(table, id)).toEqual([...parts].sort((a, b) => a - b));
        }
        expect(partsIn(table, '9999999999999999')).toEqual([]);
      }),
      { numRuns: 20 },
    );
  });
});

async function tableOf(entries: readonly [num: string, part: number][]): Promise<PartsOfNums> {
  const bytes = new GrowingBytes();
  for (const [num, part] of entries) writeNum(bytes, part, Buffer.from(num), 0);
  return partsOfNums(async (add) => add(bytes.bytes));
}

function partsIn(table: PartsOfNums, id: string): number[] {
  const parts: number[] = [];
  for (let part = nextPartOf(table, Buffer.from(id), 0); part >= 0; part = nextPartOf(table, Buffer.from(id), 0, part))
    parts.push(part);
  return parts;
}
