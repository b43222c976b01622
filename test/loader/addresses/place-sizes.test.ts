import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { type AdresObject, adresObjectText, gebruiksdoelen } from '../../../core/adres-object.ts';
import { deriveLines } from '../../../loader/addresses/derive.ts';
import { parseLine } from '../../../loader/addresses/lines.ts';
import { addSizes, noSize, sizesOfAddress } from '../../../loader/addresses/place-sizes.ts';
import { lineBytes, linesOf } from '../../../loader/register/stored-form.ts';

const site = fc.record({
  type: fc.constantFrom('ligplaats' as const, 'standplaats' as const),
  status: fc.constant('Plaats aangewezen'),
});
const vbo = fc.record({
  type: fc.constant('verblijfsobject' as const),
  status: fc.constant('Verblijfsobject in gebruik'),
  oppervlakte: fc.integer({ min: 1, max: 999_999 }),
  // Beside those of the XSDs there may be others, which a text has in parentheses.
  gebruiksdoelen: fc
    .uniqueArray(fc.constantFrom(...Object.values(gebruiksdoelen), 'anders', 'nog anders'), {
      maxLength: 3,
    })
    .map((uses) => uses.sort()),
});
const object = fc
  .tuple(fc.oneof(vbo, site), fc.integer({ min: 1, max: 40 }), fc.boolean())
  .map(([one, number, hoofdadres]): AdresObject => {
    const identificatie = `${number}`.padStart(16, '0');
    return { ...one, identificatie, hoofdadres, locatie: { x: 1_000.5, y: 2_000 } };
  });
const row = fc.record({
  number: fc.integer({ min: 1, max: 6 }),
  suffix: fc.constantFrom('', 'A', 'A1', '2'),
  street: fc.constantFrom('0', '1'),
  objects: fc.uniqueArray(object, {
    maxLength: 3,
    selector: ({ identificatie }) => identificatie,
  }),
});

const reference = {
  openbareRuimten: new Map(
    ['Kade', 'Israëlskade'].map((naam, i) => {
      const identificatie = `${i}`.padStart(16, '0');
      return [identificatie, { identificatie, naam, woonplaats: '0001' }];
    }),
  ),
  woonplaatsen: new Map([['0001', { identificatie: '0001', naam: 'Weesp', gemeente: '0457' }]]),
};

describe('the sizes of areas', () => {
  it('are the same from the bytes of rows as from addresses, whatever their objects', () => {
    fc.assert(
      fc.property(fc.array(row, { maxLength: 20 }), (rows) => {
        const texts = rows.map(({ number, suffix, street, objects }, i) => {
          const id = `${i}`.padStart(16, '0');
          const said = objects.map(adresObjectText).sort().join(';');
          return `1381AA#${number}#${suffix}\t${id}${street.padStart(16, '0')}....${said}`;
        });
        const by = { reference, file: '', objecten: true };
        const derived = deriveLines(lineBytes(texts.sort()), by, () => undefined);
        const lines = rows.length > 0 ? linesOf(derived.lines.subarray(0, -1)) : [];
        const sizes = lines
          .map(parseLine)
          .flatMap(({ key, places }) => places.flatMap((place) => sizesOfAddress(key, place)));
        expect(derived.counts.places).toEqual(addSizes(sizes));
      }),
    );
  });

  it('count an address in all areas that it lies in, with what it may lose', () => {
    const one: AdresObject = {
      identificatie: '0457010000012345',
      type: 'verblijfsobject',
      status: 'Verblijfsobject in gebruik',
      hoofdadres: false,
      locatie: { x: 1, y: 2 },
      oppervlakte: 85,
      gebruiksdoelen: ['winkelfunctie', 'woonfunctie'],
    };
    const place = { straat: 'Israëlskade', woonplaats: 'Weesp', gemeente: '0457' };
    const size = {
      ...noSize(),
      addresses: 1,
      toevoegingen: 1,
      specialNames: 1,
      withObjects: 1,
      severalUses: 1,
      nevenadressen: 1,
    };
    expect(sizesOfAddress('1381AA#9#A', { ...place, objecten: [one] })).toEqual([
      ['', size],
      ['Weesp', size],
      ['gemeente 0457', size],
    ]);
  });
});
