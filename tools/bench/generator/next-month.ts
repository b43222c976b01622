import type { NumStand, OprStand, Voorkomens } from '../../../test/support/stand-xml.ts';
import type { Random } from './random.ts';

const day = '2026-01-21';

/**
 * The state of a month later: about one address in two hundred is new, withdrawn, or another than it was. Nothing goes
 * from a register: what changes ends, and has a next occurrence.
 */
export function nextMonth(first: Voorkomens, random: Random, peildatum: string): Voorkomens {
  const OPR = first.OPR.flatMap((street) => (isOpen(street) && random.chance(0.0005) ? renamed(street) : [street]));
  const NUM = first.NUM.flatMap((num, i) => {
    const isLast = isOpen(num) && first.NUM[i + 1]?.identificatie !== num.identificatie;
    return isLast && random.chance(0.003) ? changed(num, random) : [num];
  });
  const last = NUM.at(-1);
  // Its postcode is the block's own, so that the differences of all blocks add up to the country's.
  const neighbour = NUM.findLast(({ postcode }) => postcode !== undefined);
  const news = last && neighbour ? Math.floor(NUM.length * 0.0015) : 0;
  for (let i = 1; last && neighbour && i <= news; i++) {
    const { eind: _, ...kept } = neighbour;
    NUM.push({
      ...kept,
      identificatie: String(Number(last.identificatie) + i).padStart(16, '0'),
      live: true,
      volgnummer: 1,
      begin: random.chance(0.9) ? day : peildatum,
      huisnummer: 500 + i,
    });
  }
  return { NUM, OPR, WPL: first.WPL };
}

function isOpen({ eind, live, begin }: NumStand | OprStand): boolean {
  return eind === undefined && live !== false && begin < day;
}

function renamed(street: OprStand): OprStand[] {
  const { verkorteNaam: _, ...next } = street;
  return [
    { ...street, eind: day },
    { ...next, naam: `Nieuw ${street.naam}`.slice(0, 80), volgnummer: (street.volgnummer ?? 1) + 1, begin: day },
  ];
}

function changed(num: NumStand, random: Random): NumStand[] {
  const next = { ...num, volgnummer: (num.volgnummer ?? 1) + 1, begin: day };
  const changes: NumStand[] = [
    { ...next, live: false },
    { ...next, huisnummertoevoeging: random.pick(['1', '2', 'bis']) },
    { ...next, huisnummer: 300 + random.int(200) },
  ];
  return [{ ...num, eind: day }, random.pick(changes)];
}
