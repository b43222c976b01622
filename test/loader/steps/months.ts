import type { Toevoeging } from '../../../core/addresses/address-item.ts';
import { comparePlaces, type Place } from '../../../core/place-fields.ts';
import type { Voorkomens } from '../../../local/demo/stand-xml.ts';

/** `1381AA 9 a` and where it lies. */
type Address = [address: string, straat: string, woonplaats: string];

/** A state of a tiny register: its date and its addresses. */
export type Month = { peildatum: string; addresses: Address[] };

const begin = '2010-09-29';

/** The first state: four shards, a key with two places, an address registered twice. */
export const january: Month = {
  peildatum: '2026-01-08',
  addresses: [
    ['1012RJ 147', 'Nieuwezijds Voorburgwal', 'Amsterdam'],
    ['1012RJ 149', 'Nieuwezijds Voorburgwal', 'Amsterdam'],
    ['1381AA 7', 'Buitenveer', 'Weesp'],
    ['1381AA 9', 'Buitenveer', 'Weesp'],
    ['1381AA 9 a', 'Buitenveer', 'Weesp'],
    ['1382LJ 28', 'Nijverheidslaan', 'Weesp'],
    ['1382LJ 28', 'Nijverheidslaan', 'Weesp'],
    ['1381GH 3', 'Mr.J.C.Bührmannlaan', 'Weesp'],
    ['2513AA 1 A', 'Binnenhof', '’s-Gravenhage'],
    ['2513AA 2', 'Binnenhof', '’s-Gravenhage'],
    ['2513AA 3', 'Binnenhof', '’s-Gravenhage'],
    ['9999ZZ 1', 'Kerkstraat', 'Weesp'],
    ['9999ZZ 1', 'Dorpsstraat', 'Amsterdam'],
  ],
};

/** A month on: one new, one withdrawn, one moved, a street renamed, a letter in another case, a place joined. */
export const february: Month = {
  peildatum: '2026-02-08',
  addresses: [
    ['1012RJ 147', 'Nieuwezijds Voorburgwal', 'Amsterdam'],
    ['1012RJ 149', 'Nieuwezijds Achterburgwal', 'Amsterdam'],
    ['1381AA 7', 'Buitenveer', 'Weesp'],
    ['1381AA 9', 'Buitenveer', 'Weesp'],
    ['1381AA 9 A', 'Buitenveer', 'Weesp'],
    ['1382LJ 28', 'Nijverheidslaan', 'Weesp'],
    ['1382LJ 30', 'Nijverheidslaan', 'Weesp'],
    ['1381GH 3', 'Burgemeester Bührmannlaan', 'Weesp'],
    ['2513AA 1 A', 'Binnenhof', '’s-Gravenhage'],
    ['2513AA 3', 'Binnenhof', '’s-Gravenhage'],
    ['9999ZZ 1', 'Kerkstraat', 'Weesp'],
  ],
};

/** The keys that differ between the two: added, changed, removed. */
export const februaryChanges = {
  added: ['1382LJ#30#'],
  changed: ['1012RJ#149#', '1381GH#3#', '9999ZZ#1#'],
  removed: ['2513AA#2#'],
};

/** Yet another month on: a shard that goes, one that comes, and some that go back to what they were. */
export const march: Month = {
  peildatum: '2026-03-08',
  addresses: [
    ['1012RJ 147', 'Nieuwezijds Voorburgwal', 'Amsterdam'],
    ['1012RJ 149', 'Nieuwezijds Voorburgwal', 'Amsterdam'],
    ['1381AA 7', 'Buitenveer', 'Weesp'],
    ['1381AA 9', 'Binnenveer', 'Weesp'],
    ['1382LJ 28', 'Nijverheidslaan', 'Weesp'],
    ['2513AA 2', 'Binnenhof', '’s-Gravenhage'],
    ['2513AA 3', 'Binnenhof', '’s-Gravenhage'],
    ['7311KZ 110', 'Hofstraat', 'Apeldoorn'],
  ],
};

/** What the table has to hold, made without any of the loader. */
export function tableOf({ addresses }: Month): Map<string, Place[]> {
  const table = new Map<string, Place[]>();
  for (const [address, straat, woonplaats] of addresses) {
    const [postcode, huisnummer, letter = ''] = address.split(' ');
    const key = `${postcode}#${huisnummer}#${letter.toUpperCase()}`;
    const places = table.get(key) ?? [];
    if (!places.some((place) => place.straat === straat && place.woonplaats === woonplaats)) {
      places.push({ straat, woonplaats });
    }
    table.set(key, places.sort(comparePlaces));
  }
  return table;
}

/** The lists of toevoegingen that the table has to hold, made without any of the loader. */
export function listsOf(month: Month): Map<string, Toevoeging[]> {
  const lists = new Map<string, Toevoeging[]>();
  for (const key of [...tableOf(month).keys()].sort()) {
    const [postcode, huisnummer, toevoeging] = key.split('#');
    const bare = `${postcode}#${huisnummer}#`;
    lists.set(bare, [...(lists.get(bare) ?? []), toevoeging || null]);
  }
  return new Map([...lists].filter(([, list]) => list.some((one) => one !== null)));
}

/** The occurrences of a month, for `writeExtract`. */
export function voorkomensOf({ addresses }: Month): Voorkomens {
  const woonplaatsen = [...new Set(addresses.map(([, , woonplaats]) => woonplaats))].sort();
  const straten = [...new Set(addresses.map(([, straat, woonplaats]) => `${straat}|${woonplaats}`))].sort();
  const placeId = (woonplaats: string) => String(1000 + woonplaatsen.indexOf(woonplaats));
  const streetId = (street: string) => `000030${String(straten.indexOf(street) + 1).padStart(10, '0')}`;
  return {
    NUM: addresses.map(([address, straat, woonplaats], index) => {
      const [postcode = '', huisnummer, huisletter] = address.split(' ');
      return {
        identificatie: `000020${String(index + 1).padStart(10, '0')}`,
        postcode,
        huisnummer: Number(huisnummer),
        ...(huisletter && { huisletter }),
        openbareRuimte: streetId(`${straat}|${woonplaats}`),
        begin,
      };
    }),
    OPR: straten.map((street) => {
      const [naam = '', woonplaats = ''] = street.split('|');
      return { identificatie: streetId(street), naam, woonplaats: placeId(woonplaats), begin };
    }),
    WPL: woonplaatsen.map((naam) => ({ identificatie: placeId(naam), naam, begin })),
  };
}
