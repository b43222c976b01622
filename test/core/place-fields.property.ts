import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { type AdresObject, adresObjectTypes } from '../../core/adres-object.ts';
import {
  distinctPlaces,
  optionalFieldNames,
  type Place,
  placeAttribute,
  placeOfAttribute,
  placeOfTexts,
  placeTexts,
  placeWith,
} from '../../core/place-fields.ts';

const identificatie = fc.stringMatching(/^[0-9]{16}$/);
const metres = fc.integer({ min: 0, max: 63_000_000 }).map((centimetres) => centimetres / 100);

const object: fc.Arbitrary<AdresObject> = fc
  .record({
    identificatie,
    type: fc.constantFrom(...adresObjectTypes),
    gebruiksdoelen: fc.subarray(['celfunctie', 'overige gebruiksfunctie', 'woonfunctie']),
    oppervlakte: fc.integer({ min: 1, max: 999_999 }),
    hoofdadres: fc.boolean(),
    locatie: fc.record({ x: metres, y: metres }),
  })
  .map(({ gebruiksdoelen, oppervlakte, ...rest }) =>
    rest.type === 'verblijfsobject'
      ? { ...rest, status: 'Verbouwing verblijfsobject', gebruiksdoelen, oppervlakte }
      : { ...rest, status: 'Plaats aangewezen' },
  );

const place: fc.Arbitrary<Place> = fc.record({
  straat: fc.string({ minLength: 1 }),
  woonplaats: fc.string({ minLength: 1 }),
  gemeente: fc.stringMatching(/^[0-9]{4}$/),
  objecten: fc
    .uniqueArray(object, { minLength: 1, maxLength: 4, selector: (one) => one.identificatie })
    .map((objects) => objects.sort((a, b) => (a.identificatie < b.identificatie ? -1 : 1))),
  nummeraanduidingen: fc
    .uniqueArray(identificatie, { minLength: 1, maxLength: 3 })
    .map((ids) => ids.sort()),
});

describe('a place with its gemeente and objects', () => {
  it('has the fields of an address itself last in a line, as `LineJoiner` of the loader writes them', () => {
    expect(optionalFieldNames.slice(-2)).toEqual(['objecten', 'nummeraanduidingen']);
  });

  it('is the same after an item and after a line, whatever the order of its objects', () => {
    fc.assert(
      fc.property(place, (one) => {
        const turned = { ...one, objecten: one.objecten?.toReversed() ?? [] };
        expect(placeOfAttribute(placeAttribute(turned))).toEqual(one);
        expect(placeOfTexts(placeTexts(turned))).toEqual(one);
      }),
    );
  });

  it('has an object of two places of the same names once, and as hoofdadres where it is one in either', () => {
    fc.assert(
      fc.property(place, (one) => {
        const turned =
          one.objecten?.map((object) => ({ ...object, hoofdadres: !object.hoofdadres })) ?? [];
        const [found, ...others] = distinctPlaces([
          one,
          { ...one, gemeente: '9999', objecten: turned },
        ]);
        expect(others).toEqual([]);
        expect(found?.objecten).toEqual(
          one.objecten?.map((object) => ({ ...object, hoofdadres: true })),
        );
      }),
    );
  });

  it('takes nothing in an item or a line where it has none, and has an empty list and no gemeente in a response', () => {
    const without = { straat: 'Dam', woonplaats: 'Amsterdam' };
    const empty = { ...without, objecten: [] };
    expect(placeAttribute(empty)).toEqual(placeAttribute(without));
    expect(placeTexts(empty)).toEqual(placeTexts(without));
    expect(placeWith(without, ['objecten', 'gemeente'])).toEqual({ ...empty, gemeente: null });
    expect(placeWith(empty, [])).toEqual(without);
  });
});
