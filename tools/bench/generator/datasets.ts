import type { AdresObject } from '../../../core/adres-object.ts';
import { townOfWeesp } from '../../../test/support/town.ts';
import { block, peildatumAfter } from './country.ts';
import { blocksOf } from './generate.ts';
import { streetName } from './names.ts';
import { Random } from './random.ts';
import { type Row, rowsOf } from './rows.ts';

const uses = ['woonfunctie', 'winkelfunctie', 'kantoorfunctie', 'industriefunctie'] as const;

/** Rows with objects: some are boats or caravans, some have several uses, some a nevenadres. */
function withObjects(rows: readonly Row[]): Row[] {
  return rows.map((row, i) => {
    const type = i % 97 === 7 ? 'ligplaats' : i % 97 === 8 ? 'standplaats' : 'verblijfsobject';
    const object: AdresObject = {
      identificatie: `${row.id.slice(0, 4)}01${row.id.slice(6)}`,
      type,
      status: type === 'verblijfsobject' ? 'Verblijfsobject in gebruik' : 'Plaats aangewezen',
      hoofdadres: true,
      locatie: { x: 131_000.25 + 7 * (i % 1_000), y: 480_000.75 + 13 * (i % 970) },
      ...(type === 'verblijfsobject' && {
        oppervlakte: 40 + (i % 150),
        gebruiksdoelen:
          i % 25 === 3 ? ['winkelfunctie', 'woonfunctie'] : [uses[i % 17 === 0 ? 1 + (i % 3) : 0]],
      }),
    } as AdresObject;
    const neighbour = rows[i - 1];
    const isNeven = i % 60 === 9 && neighbour !== undefined;
    const other = `${neighbour?.id.slice(0, 4)}01${neighbour?.id.slice(6)}`;
    const neven = { ...object, identificatie: other, hoofdadres: false };
    return { ...row, objecten: isNeven ? [object, neven] : [object] };
  });
}

/** A town of the size of Weesp. */
export const weesp = (): Row[] => withObjects(rowsOf(townOfWeesp(), peildatumAfter()));

/** A municipality of 900 addresses in one village. */
export const smallMunicipality = (): Row[] => withObjects(towns([900], ['0093']));

/** Six towns, one of them in a gemeente with another one. */
export const sixTowns = (): Row[] =>
  withObjects(
    towns(
      [9_000, 6_500, 4_000, 2_600, 1_400, 700],
      ['0363', '0402', '0406', '0457', '0376', '0376'],
    ),
  );

const townNames = ['Noordveen', 'Oosterhoek', 'Zuidzand', 'Westbroek', 'Hoogkerk', 'Laagwâld'];

function towns(sizes: readonly number[], gemeenten: readonly string[]): Row[] {
  const random = new Random(70);
  const rows: Row[] = [];
  for (const [town, size] of sizes.entries()) {
    const names = new Set<string>();
    for (let i = 0; i < size; ) {
      let straat = streetName(random);
      for (let n = 2; names.has(straat); n++) straat = `${streetName(random)} ${n}`;
      names.add(straat);
      const street = names.size - 1;
      const length = Math.min(size - i, 12 + random.int(60));
      for (let at = 0; at < length; at++, i++) {
        const letters = [Math.floor(street / 20) % 20, street % 20].map((digit) =>
          String.fromCharCode(65 + digit),
        );
        rows.push({
          id: `${gemeenten[town]}20${String(rows.length + 1).padStart(10, '0')}`,
          postcode: `${13 + 7 * town}${Math.floor(street / 400)}${1 + (street % 9)}${letters.join('')}`,
          huisnummer: 1 + (at % 10 === 9 ? at - 1 : at),
          toevoeging: at % 10 === 9 ? (at % 30 === 9 ? 'A1' : 'A') : '',
          straat,
          woonplaats: townNames[town] as string,
          gemeente: gemeenten[town] as string,
          objecten: [],
        });
      }
    }
  }
  return rows;
}

/** A share of the simulated country, with its objects. */
export function countryOf(scale: number): Row[] {
  const blocks = blocksOf(scale);
  return Array.from({ length: blocks }, (_, index) =>
    rowsOf(block({ seed: 1, blocks, objecten: true }, index), peildatumAfter()),
  ).flat();
}
