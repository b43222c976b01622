import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { NumBytes } from '../../../loader/bag/num-bytes.ts';
import { type NumVoorkomen, noEind } from '../../../loader/bag/voorkomen.ts';
import { ObjectRows } from '../../../loader/dataset/object-rows.ts';
import { objectLines } from '../../../loader/dataset/objects.ts';
import { linesOf, unpackLineBytes } from '../../../loader/dataset/stored-form.ts';

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

describe('the rows of a worker', () => {
  it('are the lines of each object by part, and the order of objects is that of their digits', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(occurrence, fc.boolean()), { minLength: 1, maxLength: 12 }), (found) => {
        const rows = new ObjectRows(peildatum);
        const objects: NumVoorkomen[][] = [];
        for (const [one, isOfLast] of found) {
          const last = objects.at(-1)?.[0]?.identificatie;
          const num = isOfLast && last ? { ...one, identificatie: last } : one;
          rows.add(NumBytes.of(num), num);
          if (num.identificatie === last) objects.at(-1)?.push(num);
          else objects.push([num]);
        }
        const ids = objects.map(([first]) => first?.identificatie ?? '');
        const edges = [...new Set([objects[0] ?? [], objects.at(-1) ?? []])];
        expect(rows.end()).toEqual({ edges, isSorted: ids.every((id, i) => i === 0 || (ids[i - 1] as string) < id) });

        const expected: Record<string, string[]> = {};
        for (const object of objects) {
          for (const [part, lines] of objectLines(object, peildatum)) {
            expected[part] = [...(expected[part] ?? []), ...lines];
          }
        }
        const { packed, ranges } = rows.pack();
        const stored = Buffer.concat(packed);
        const lines = Object.entries(ranges).map(([part, [at, length]]) => [
          part,
          linesOf(unpackLineBytes(stored.subarray(at, at + length))),
        ]);
        expect(Object.fromEntries(lines)).toEqual(expected);
        expect(rows.count).toBe(Object.values(expected).flat().length);
      }),
    );
  });
});
