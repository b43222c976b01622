import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { OpenbareRuimte, Woonplaats } from '../../../loader/bag/voorkomen.ts';
import { ReferenceWriter, readReferenceFile, referenceProblems } from '../../../loader/dataset/reference-file.ts';

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
const street: fc.Arbitrary<OpenbareRuimte> = fc.record({ identificatie: streetId, naam, woonplaats: digits(4) });
const place: fc.Arbitrary<Woonplaats> = fc.record({ identificatie: digits(4), naam });

describe('the file of streets and places', () => {
  it('finds what a map would: of equal identifications the last one, and nothing else', () => {
    const groups = fc.array(fc.array(street, { maxLength: 40 }), { maxLength: 4 });
    fc.assert(
      fc.property(groups, fc.array(place), fc.array(streetId), (groups, places, others) => {
        const file = new ReferenceWriter();
        for (const one of places) file.addPlace(one);
        for (const group of groups) {
          for (const one of group) file.addStreet(one);
          file.endGroup([]);
        }
        const { openbareRuimten, woonplaatsen } = readReferenceFile(file.pack());
        const streets = new Map(groups.flat().map((one) => [one.identificatie, one]));
        for (const id of [...streets.keys(), ...others]) expect(openbareRuimten.get(id)).toEqual(streets.get(id));
        for (const [id, one] of new Map(places.map((one) => [one.identificatie, one]))) {
          expect(woonplaatsen.get(id)).toEqual(one);
        }
      }),
    );
  });

  it('says which objects are none, without being read as a whole', () => {
    const file = new ReferenceWriter();
    file.endGroup([{ kind: 'invalid_value', file: 'a.xml', identificatie: '35' }]);
    expect(referenceProblems(file.pack())).toMatchObject({ invalid_value: { count: 1 }, no_postcode: { count: 0 } });
  });

  it('is refused when a byte of it was damaged', () => {
    const file = new ReferenceWriter();
    file.addStreet({ identificatie: '0457300000000035', naam: 'Buitenveer', woonplaats: '3631' });
    file.endGroup([]);
    const packed = file.pack();
    packed.writeUInt8(packed.readUInt8(packed.length - 2) ^ 1, packed.length - 2);
    expect(() => readReferenceFile(packed)).toThrow();
  });
});
