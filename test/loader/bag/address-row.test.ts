import { describe, expect, it } from '@jest/globals';
import { type Reference, toAddressRow } from '../../../loader/bag/address-row.ts';
import type { Nummeraanduiding } from '../../../loader/bag/voorkomen.ts';

const reference: Reference = {
  openbareRuimten: new Map([
    ['0457300000000035', { identificatie: '0457300000000035', naam: 'Buitenveer', woonplaats: '3631' }],
    ['0457300000000036', { identificatie: '0457300000000036', naam: 'Nergensweg', woonplaats: '9998' }],
  ]),
  woonplaatsen: new Map([
    ['3631', { identificatie: '3631', naam: 'Weesp' }],
    ['1050', { identificatie: '1050', naam: 'Amstelveen' }],
  ]),
};

const num: Nummeraanduiding = {
  identificatie: () => '0457200000199640',
  huisnummer: 9,
  huisletter: 'a',
  huisnummertoevoeging: 'bis',
  postcode: '1381AA',
  openbareRuimte: '0457300000000035',
  woonplaats: null,
};

describe('the address of a nummeraanduiding', () => {
  it("has its street's name and the name of its street's place, letter and addition apart", () => {
    expect(toAddressRow(num, reference, 'a.xml')).toEqual({
      postcode: '1381AA',
      huisnummer: 9,
      huisletter: 'a',
      huisnummertoevoeging: 'bis',
      straat: 'Buitenveer',
      woonplaats: 'Weesp',
    });
  });

  it('has its own place where it has one, also where the place of its street is missing', () => {
    expect(toAddressRow({ ...num, woonplaats: '1050' }, reference, 'a.xml')).toMatchObject({
      woonplaats: 'Amstelveen',
    });
    expect(
      toAddressRow({ ...num, openbareRuimte: '0457300000000036', woonplaats: '1050' }, reference, 'a.xml'),
    ).toMatchObject({ straat: 'Nergensweg', woonplaats: 'Amstelveen' });
  });

  it.each<[string, Partial<Nummeraanduiding>, object]>([
    ['no postcode', { postcode: null }, { kind: 'no_postcode' }],
    ['a street that is not there', { openbareRuimte: '1' }, { kind: 'street_missing', detail: '1' }],
    ['a place that is not there', { woonplaats: '9999' }, { kind: 'place_missing', detail: '9999' }],
    [
      'a street in a place that is not there',
      { openbareRuimte: '0457300000000036' },
      { kind: 'place_missing', detail: '9998' },
    ],
  ])('is a problem with %s, never invented', (_, change, problem) => {
    expect(toAddressRow({ ...num, ...change }, reference, 'a.xml')).toEqual({
      file: 'a.xml',
      identificatie: '0457200000199640',
      ...problem,
    });
  });
});
