import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { noEind } from '../../../loader/bag/voorkomen.ts';
import { objectLines } from '../../../loader/dataset/objects.ts';
import { sortObjectLines } from '../../../loader/dataset/sort-objects.ts';
import { bytesOf, linesOf } from '../../../loader/dataset/stored-form.ts';

const part = '138';
const occurrence = fc.record({
  kind: fc.constant('NUM' as const),
  volgnummer: fc.constantFrom(1, 2, 11),
  begin: fc.constantFrom(20_100_101, 20_260_301),
  eind: fc.constant(noEind),
  postcode: fc.oneof(
    fc.constantFrom('1381AA', '1381AB', '1381BA', '1389ZZ', '1380ZZ'),
    fc.stringMatching(/^138\d[A-Z]{2}$/),
  ),
  huisnummer: fc.oneof(fc.constantFrom(1, 2, 9, 10, 11, 100, 99_999), fc.integer({ min: 1, max: 99_999 })),
  huisletter: fc.constantFrom('', 'A', 'Z'),
  huisnummertoevoeging: fc.constantFrom('', '1', '10', 'BIS'),
  openbareRuimte: fc.constantFrom('0457300000000035', '0457300000000036'),
  woonplaats: fc.constantFrom(null, '3631'),
});
const someOccurrence = {
  kind: 'NUM' as const,
  identificatie: '0457200000199640',
  begin: 20_100_101,
  eind: noEind,
  postcode: '1381AA',
  huisnummer: 9,
  huisletter: '',
  huisnummertoevoeging: '',
  openbareRuimte: '0457300000000035',
  woonplaats: null,
};
/** A second occurrence in another part, or without a postcode, stands among the lines of this one. */
const object = fc.record({
  identificatie: fc.stringMatching(/^0457200000\d{6}$/),
  first: occurrence,
  second: fc.option(fc.tuple(occurrence, fc.constantFrom('1381AA', '9999ZZ', null))),
});
const lines = fc.array(object, { maxLength: 60 }).map((objects) =>
  objects.flatMap(({ identificatie, first, second }) => {
    const others = second ? [{ ...second[0], postcode: second[1] }] : [];
    const occurrences = [first, ...others].map((one) => ({ ...one, identificatie }));
    return objectLines(occurrences, '2026-01-08').get(part) ?? [];
  }),
);

describe('the object lines of a part', () => {
  it('are sorted by their bytes, also those that are there twice and those of other parts', () => {
    fc.assert(
      fc.property(lines, (all) => {
        expect(linesOf(sortObjectLines(bytesOf(all)))).toEqual(all.toSorted());
      }),
      { numRuns: 500 },
    );
  });

  it('without a postcode, and many with one huisnummer, are sorted too', () => {
    fc.assert(
      fc.property(fc.array(occurrence, { minLength: 40, maxLength: 100 }), fc.boolean(), (all, hasPostcode) => {
        const made = all.flatMap((one, index) => {
          const identificatie = `0457200000${String(index).padStart(6, '0')}`;
          const postcode = hasPostcode ? '1381AA' : null;
          const huisnummer = hasPostcode ? 9 : one.huisnummer;
          const lines = objectLines([{ ...one, identificatie, postcode, huisnummer }], '2026-01-08');
          return lines.get(hasPostcode ? part : '000') ?? [];
        });
        expect(linesOf(sortObjectLines(bytesOf(made)))).toEqual(made.toSorted());
      }),
      { numRuns: 100 },
    );
  });

  it('are sorted where one is the beginning of another, wherever they stand', () => {
    const [[line = '']] = [...objectLines([{ ...someOccurrence, volgnummer: 1 }], '2026-01-08').values()] as [string[]];
    const numbers = Array.from({ length: 40 }, (_, index) => `${line.slice(0, -1)}${index + 1}`);
    fc.assert(
      fc.property(fc.shuffledSubarray(numbers, { minLength: 1 }), (all) => {
        expect(linesOf(sortObjectLines(bytesOf(all)))).toEqual(all.toSorted());
      }),
    );
  });
});
