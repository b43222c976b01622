import type { StoredAddress } from '../../../core/addresses/address-item.ts';
import type { Random } from '../../bench/generator/random.ts';

/** An address to send, and the response to it without anything included. */
type Wanted = { postcode: string; huisnummer: number | string; toevoeging?: string | null };

const postcodes = ['1012RJ', '1381AA', '3554VZ', '9711LM'];
const toevoegingen = ['', 'A', 'B', '2', 'BIS'];
const largestNumber = 30;

type Row = { straat: string; woonplaats: string; nummeraanduidingen: string[] };

/**
 * The places of a key, by a rule of its own: no address, one, one that is registered twice, or one in each of two
 * towns.
 */
function rowsOf(postcode: string, huisnummer: number, toevoeging: string): Row[] {
  const at = postcodes.indexOf(postcode);
  const one = toevoegingen.indexOf(toevoeging);
  const kind = (huisnummer * 7 + one * 3 + at) % 5;
  if (one < 0 || kind < 2 || huisnummer > largestNumber) return [];
  const id = (n: number) => `0${at}63200${String(huisnummer).padStart(5, '0')}${one}${n}`.padEnd(16, '0');
  const straat = `Straat ${at}`;
  if (kind === 2) return [{ straat, woonplaats: 'Weesp', nummeraanduidingen: [id(1)] }];
  if (kind === 3) return [{ straat, woonplaats: 'Weesp', nummeraanduidingen: [id(1), id(2)] }];
  return [
    { straat, woonplaats: 'Bussum', nummeraanduidingen: [id(1)] },
    { straat, woonplaats: 'Weesp', nummeraanduidingen: [id(2)] },
  ];
}

function existing(postcode: string, huisnummer: number): string[] {
  return toevoegingen.filter((one) => rowsOf(postcode, huisnummer, one).length > 0).sort();
}

/** All items of the table. */
export function storedAddresses(): StoredAddress[] {
  const items: StoredAddress[] = [];
  for (const postcode of postcodes) {
    for (let huisnummer = 1; huisnummer <= largestNumber; huisnummer++) {
      const all = existing(postcode, huisnummer);
      for (const toevoeging of new Set(['', ...all])) {
        const places = rowsOf(postcode, huisnummer, toevoeging);
        const isListed = toevoeging === '' && all.some((one) => one !== '');
        if (places.length === 0 && !isListed) continue;
        const listed = isListed && { toevoegingen: all.map((one) => one || null) };
        items.push({ key: `${postcode}#${huisnummer}#${toevoeging}`, places, ...listed });
      }
    }
  }
  return items;
}

/** An address as callers send it: mostly one that exists, in any letter case, its number as a number or as text. */
export function anAddress(random: Random): Wanted {
  const huisnummer = 1 + random.int(largestNumber + 2);
  const toevoeging = random.pick([...toevoegingen, 'Z']);
  const cased = random.chance(0.5) ? toevoeging.toLowerCase() : toevoeging;
  return {
    postcode: random.pick(postcodes),
    huisnummer: random.chance(0.5) ? huisnummer : String(huisnummer),
    ...(cased || random.chance(0.5) ? { toevoeging: cased || null } : {}),
  };
}

/** What the response to one address has to be. */
export function expectedAnswer(wanted: Wanted, include: readonly string[]): unknown {
  const { postcode } = wanted;
  const huisnummer = Number(wanted.huisnummer);
  const toevoeging = wanted.toevoeging || null;
  const rows = rowsOf(postcode, huisnummer, toevoeging?.toUpperCase() ?? '');
  const places = rows.map(({ nummeraanduidingen, ...place }) =>
    include.includes('nummeraanduidingen') ? { ...place, nummeraanduidingen } : place,
  );
  const [first = null] = places;
  const status = places.length === 0 ? 'not_found' : places.length === 1 ? 'ok' : 'ambiguous';
  const isListed = status === 'not_found' || include.includes('toevoegingen');
  return {
    status,
    request: { postcode, huisnummer, toevoeging },
    address: status === 'ok' ? first : null,
    candidates: status === 'ambiguous' ? places : [],
    ...(isListed && { toevoegingen: existing(postcode, huisnummer).map((one) => one || null) }),
  };
}
