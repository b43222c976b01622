import type { MutationGroup } from '../../../test/support/mutation-delivery.ts';
import type {
  AdresseerbaarStand,
  NumStand,
  PlaatsStand,
  VboStand,
  Voorkomens,
} from '../../../test/support/stand-xml.ts';
import type { Random } from './random.ts';

export type Objecten = { VBO: VboStand[]; LIG: PlaatsStand[]; STA: PlaatsStand[] };

/** Changes of verblijfsobjecten a day in each of the 1,230 blocks: 5,500 in the country. */
const changesADay = 5_500 / 1_230;

/**
 * The adresseerbare objecten of the nummeraanduidingen of a block: 2.4 occurrences each, as in the
 * real register. Some have a nevenadres, of which one in ten lies in another block, so that
 * relations cross municipalities and files.
 */
export function objectenOf(NUM: readonly NumStand[], random: Random, elsewhere: string): Objecten {
  const found: Objecten = { VBO: [], LIG: [], STA: [] };
  let last: NumStand | undefined;
  for (const [at, num] of NUM.entries()) {
    if (num.identificatie === last?.identificatie) continue;
    const occurrence = adresseerbaar(num, last, random, elsewhere);
    last = num;
    const isGone = !isCurrent(NUM.slice(at, at + mostOccurrences).findLast(sameAs(num)) ?? num);
    const x = 14_000_000 + random.int(260_000_000);
    const y = 306_000_000 + random.int(310_000_000);
    const metres = (value: number) => (value / 1_000).toFixed(random.chance(0.1) ? 1 : 3);
    if (num.type === 'Ligplaats' || num.type === 'Standplaats') {
      const corner = (dx: number, dy: number) => `${(x + dx) / 1_000} ${(y + dy) / 1_000}`;
      const corners = [
        corner(0, 0),
        corner(9_000, 250),
        corner(9_250, 4_750),
        corner(0, 4_500),
        corner(0, 0),
      ].join(' ');
      const [kind, code] =
        num.type === 'Ligplaats' ? (['LIG', '02'] as const) : (['STA', '03'] as const);
      found[kind].push(...lifeOf({ ...occurrence(code), corners }, random, isGone));
      continue;
    }
    const stand: VboStand = {
      ...occurrence('01'),
      punt: `${metres(x)} ${metres(y)}`,
      oppervlakte: 20 + random.int(280),
      gebruiksdoelen: random.chance(0.04)
        ? ['winkelfunctie', 'woonfunctie']
        : [
            random.chance(0.88)
              ? 'woonfunctie'
              : random.pick(['kantoorfunctie', 'industriefunctie', 'overige gebruiksfunctie']),
          ],
      ...(random.chance(0.02) && {
        status: random.pick(['Verblijfsobject gevormd', 'Verbouwing verblijfsobject']),
      }),
    };
    found.VBO.push(...lifeOf(stand, random, isGone));
  }
  return found;
}

/** Of a nummeraanduiding. */
const mostOccurrences = 3;
const sameAs = (num: NumStand) => (other: NumStand) => other.identificatie === num.identificatie;

/**
 * Whether the last occurrence of a nummeraanduiding still counts: objects go with their addresses.
 */
function isCurrent({ live, eind, tijdstipInactief }: NumStand): boolean {
  return live !== false && eind === undefined && tijdstipInactief === undefined;
}

function adresseerbaar(
  num: NumStand,
  other: NumStand | undefined,
  random: Random,
  elsewhere: string,
) {
  const neven = random.chance(0.003)
    ? random.chance(0.1)
      ? elsewhere
      : other?.identificatie
    : undefined;
  return (code: string): AdresseerbaarStand => ({
    identificatie: `${num.identificatie.slice(0, 4)}${code}${num.identificatie.slice(6)}`,
    hoofdadres: num.identificatie,
    ...(neven !== undefined && { nevenadressen: [neven] }),
    begin: num.begin,
    ...(num.geregistreerd !== undefined && { geregistreerd: num.geregistreerd }),
    ...(num.geregistreerdLV !== undefined && { geregistreerdLV: num.geregistreerdLV }),
    ...(num.documentnummer !== undefined && { documentnummer: num.documentnummer }),
  });
}

/** The occurrences of an object, of which the last one has no end: one to four, 2.4 on average. */
function lifeOf<One extends AdresseerbaarStand>(
  stand: One,
  random: Random,
  isGone: boolean,
): One[] {
  const moments = ['2012-05-03', '2016-11-21', '2021-02-14'].slice(
    0,
    random.pick([0, 1, 1, 1, 2, 3]),
  );
  const all: One[] = [];
  let next = stand;
  for (const moment of moments) {
    if (moment <= next.begin) continue;
    all.push({ ...next, eind: moment });
    next = { ...next, volgnummer: (next.volgnummer ?? 1) + 1, begin: moment };
  }
  return [...all, random.chance(0.04) || isGone ? { ...next, live: false } : next];
}

/** Changes verblijfsobjecten as a day does, in place, and gives the mutations that say so. */
export function passObjecten(
  { VBO = [] }: Voorkomens,
  random: Random,
  date: string,
): MutationGroup[] {
  const groups: MutationGroup[] = [];
  for (let change = 0; change < changesADay; change++) {
    const at = random.int(VBO.length);
    const was = VBO[at] as VboStand;
    if (was.eind !== undefined || was.live === false || was.begin >= date) continue;
    const wordt = { ...was, eind: date };
    const next = {
      ...was,
      volgnummer: (was.volgnummer ?? 1) + 1,
      begin: date,
      oppervlakte: 20 + random.int(280),
    };
    VBO.splice(at, 1, wordt, next);
    groups.push({ kind: 'VBO', changes: [{ was, wordt }, { wordt: next }] });
  }
  return groups;
}
