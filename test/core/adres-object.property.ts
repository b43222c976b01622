import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  type AdresObject,
  adresObjectOfText,
  adresObjectText,
  betweenObjects,
} from '../../core/adres-object.ts';

const identificatie = fc
  .integer({ min: 0, max: 9_999_999_999 })
  .map((n) => `045701${String(n).padStart(10, '0')}`);
/** Metres, to the millimetre. */
const metres = (to: number) =>
  fc.integer({ min: -to * 1000, max: to * 1000 }).map((mm) => mm / 1000);
const locatie = fc.record({ x: metres(300_000), y: metres(650_000) });

const verblijfsobject: fc.Arbitrary<AdresObject> = fc.record({
  identificatie,
  type: fc.constant('verblijfsobject'),
  status: fc.constantFrom(
    'Verblijfsobject gevormd',
    'Verblijfsobject in gebruik',
    'Verbouwing verblijfsobject',
  ),
  gebruiksdoelen: fc
    .subarray(
      [
        '(other;use),\n',
        'bijeenkomstfunctie',
        'overige gebruiksfunctie',
        'winkelfunctie',
        'woonfunctie',
      ],
      {
        minLength: 1,
      },
    )
    .map((doelen) => doelen.sort()),
  oppervlakte: fc.integer({ min: 1, max: 999_999 }),
  hoofdadres: fc.boolean(),
  locatie,
});
const plaats: fc.Arbitrary<AdresObject> = fc.record({
  identificatie,
  type: fc.constantFrom('ligplaats', 'standplaats'),
  status: fc.constant('Plaats aangewezen'),
  hoofdadres: fc.boolean(),
  locatie,
});

describe('the text of an adresseerbaar object', () => {
  it('gives back the object, and has nothing that a line or a list of texts is divided by', () => {
    fc.assert(
      fc.property(fc.oneof(verblijfsobject, plaats), (object) => {
        const text = adresObjectText(object);
        expect(adresObjectOfText(text)).toEqual(object);
        expect(text).not.toMatch(new RegExp(`[\\t\\n${betweenObjects}]`));
      }),
    );
  });

  it('sorts objects by identificatie', () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(verblijfsobject, { selector: (one) => one.identificatie }),
        (objects) => {
          const sorted = objects.map(adresObjectText).sort().map(adresObjectOfText);
          expect(sorted.map((one) => one.identificatie)).toEqual(
            objects.map((one) => one.identificatie).sort(),
          );
        },
      ),
    );
  });

  it('has no letter for a value that the register lacks', () => {
    expect(() =>
      adresObjectText({
        identificatie: '0457010000000001',
        type: 'ligplaats',
        status: 'Plaats ingetrokken',
        hoofdadres: true,
        locatie: { x: 1, y: 2 },
      }),
    ).toThrow(`an adresseerbaar object can't have the value "Plaats ingetrokken"`);
  });
});
