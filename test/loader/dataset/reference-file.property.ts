import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { OpenbareRuimte, WithBegin, Woonplaats } from '../../../loader/bag/voorkomen.ts';
import {
  ReferenceWriter,
  readReferenceFile,
  referenceAt,
  referenceProblems,
} from '../../../loader/dataset/reference-file.ts';

const digits = (count: number) => fc.stringMatching(new RegExp(`^[0-9]{${count}}$`));
/** All but what the reader calls a problem. */
const naam = fc
  .oneof(
    fc.constantFrom('’s-Gravelandseweg', "'t Nauwe Steegje", 'a\tb', '\u{1D538}'),
    fc.string({ minLength: 1, unit: 'grapheme' }),
  )
  .map((name) => name.replace(/[\n\r\u2028\u2029]/g, ' '));
/** Neighbours, as in the register, and any others. */
const streetId = fc.oneof(
  fc.nat(300).map((number) => `04573000000${String(number).padStart(5, '0')}`),
  digits(16),
);
const begin = fc.constantFrom('1999-12-31', '2010-09-29', '2010-10-01');
const street: fc.Arbitrary<WithBegin<OpenbareRuimte>> = fc.record({
  identificatie: streetId,
  begin,
  woonplaats: digits(4),
  naam,
});
const place: fc.Arbitrary<WithBegin<Woonplaats>> = fc.record({ identificatie: digits(4), begin, naam });

/** Of each object the occurrence that began last, as it is found; and the identification of every other one. */
function current<T extends { identificatie: string; begin: string }>(occurrences: T[]) {
  const sorted = occurrences.toSorted((a, b) => (a.begin < b.begin ? -1 : a.begin > b.begin ? 1 : 0));
  const found = new Map(sorted.map(({ begin: _, ...one }) => [one.identificatie, one]));
  const others = sorted.filter((one, i) => sorted.slice(i + 1).some((two) => two.identificatie === one.identificatie));
  return { found, others: others.map(({ identificatie }) => identificatie).sort() };
}

describe('the file of streets and places', () => {
  it('finds the last of each to begin, whatever the order that they come in, names the others, and finds nothing else', async () => {
    // No two of one object that begin on one day: the next test has those.
    const apart = {
      selector: ({ identificatie, begin }: { identificatie: string; begin: string }) => identificatie + begin,
    };
    const groups = fc
      .uniqueArray(street, { ...apart, maxLength: 120 })
      .chain((streets) => fc.tuple(fc.constant(streets), fc.nat(streets.length)));
    await fc.assert(
      fc.asyncProperty(
        groups,
        fc.uniqueArray(place, apart),
        fc.array(streetId),
        async ([streets, cut], places, others) => {
          const file = new ReferenceWriter();
          for (const one of places) file.addPlace(one);
          for (const group of [streets.slice(0, cut), streets.slice(cut)]) {
            for (const one of group) file.addStreet(one);
            file.endGroup();
          }
          const { severalCurrent, ...memory } = await readReferenceFile(file.pack());
          // As another thread gets it.
          const { openbareRuimten, woonplaatsen } = referenceAt(structuredClone(memory));
          const expected = { streets: current(streets), places: current(places) };
          const ids = [...streets.map(({ identificatie }) => identificatie), ...others];
          for (const id of ids) expect(openbareRuimten.get(id)).toEqual(expected.streets.found.get(id));
          for (const [id, one] of expected.places.found) expect(woonplaatsen.get(id)).toEqual(one);
          expect(severalCurrent.OPR.toSorted()).toEqual(expected.streets.others);
          expect(severalCurrent.WPL.toSorted()).toEqual(expected.places.others);
        },
      ),
    );
  });

  it('finds the same one of several that begin on one day, whatever the order that they come in', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(street, { minLength: 2, maxLength: 5 }),
        fc.array(place, { minLength: 2 }),
        async (streets, places) => {
          const [identificatie, id, begin] = ['0457300000000035', '3631', '2010-09-29'];
          const lookUp = async (turned: boolean) => {
            const file = new ReferenceWriter();
            for (const one of turned ? places.toReversed() : places)
              file.addPlace({ ...one, identificatie: id, begin });
            for (const one of turned ? streets.toReversed() : streets) file.addStreet({ ...one, identificatie, begin });
            file.endGroup();
            const { openbareRuimten, woonplaatsen } = referenceAt(await readReferenceFile(file.pack()));
            return [openbareRuimten.get(identificatie), woonplaatsen.get(id)];
          };
          expect(await lookUp(false)).toEqual(await lookUp(true));
        },
      ),
    );
  });

  it('says which objects are none, without being read as a whole', () => {
    const file = new ReferenceWriter();
    file.addProblems([{ kind: 'invalid_value', file: 'a.xml', identificatie: '35' }]);
    expect(referenceProblems(file.pack())).toMatchObject({ invalid_value: { count: 1 }, no_postcode: { count: 0 } });
  });

  it('is refused when a byte of it was damaged', async () => {
    const file = new ReferenceWriter();
    file.addStreet({ identificatie: '0457300000000035', begin: '2010-09-29', naam: 'Buitenveer', woonplaats: '3631' });
    file.endGroup();
    const packed = file.pack();
    packed.writeUInt8(packed.readUInt8(packed.length - 2) ^ 1, packed.length - 2);
    await expect(readReferenceFile(packed)).rejects.toThrow();
  });
});
