import { describe, expect, it } from '@jest/globals';
import type { AdresObject } from '../../../core/adres-object.ts';
import { lineOf } from '../../../loader/addresses/lines.ts';
import { rowOfLine } from '../../../local/engine/engine-rows.ts';

/**
 * As long as a text can be but for more than three gebruiksdoelen, which the register hardly has.
 */
const object = (number: number): AdresObject => ({
  identificatie: String(457_010_000_000_000 + number).padStart(16, '0'),
  type: 'verblijfsobject',
  status: 'Verblijfsobject in gebruik',
  gebruiksdoelen: ['kantoorfunctie', 'winkelfunctie', 'woonfunctie'],
  oppervlakte: 999_999,
  hoofdadres: true,
  locatie: { x: 131_234.56, y: 480_123.45 },
});

/** The size of the item of an address with so many objects, as the engine counts it. */
function itemBytes(objects: number): number {
  const place = {
    straat: 'A'.repeat(80),
    woonplaats: 'Nederhorst den Berg',
    gemeente: '1942',
    objecten: Array.from({ length: objects }, (_, number) => object(number)),
    nummeraanduidingen: ['0457200000000001'],
  };
  return rowOfLine(lineOf({ key: '1381AA#99999#A', places: [place] })).item_size;
}

describe('the item of an address', () => {
  it('takes a write unit of 1 KB with up to 15 objects, and half a read unit, 4 KB, with up to 70', () => {
    expect(itemBytes(15)).toBeLessThanOrEqual(1024);
    expect(itemBytes(70)).toBeLessThanOrEqual(4096);
  });

  it('takes 60 bytes at most for each object', () => {
    expect((itemBytes(10) - itemBytes(0)) / 10).toBeLessThanOrEqual(60);
  });
});
