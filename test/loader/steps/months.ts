import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { Toevoeging } from '../../../core/addresses/address-item.ts';
import { comparePlaces, type Place } from '../../../core/place-fields.ts';
import type { Voorkomens } from '../../support/stand-xml.ts';

/**
 * `1381AA 9 a` and where it lies; `was` is the address that it had before it moved, whose id it
 * keeps.
 */
type Address = [address: string, straat: string, woonplaats: string, was?: string];

/** A state of a tiny register: its date and its addresses. */
export type Month = { peildatum: string; addresses: Address[] };

const begin = '2010-09-29';

/** The gemeente of each woonplaats, by its code. */
const gemeenten: Record<string, string> = {
  Amsterdam: '0363',
  Weesp: '0457',
  '’s-Gravenhage': '0518',
  Apeldoorn: '0200',
};

/** The first state: four segments, a key with two places, an address registered twice. */
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

/**
 * A month on: one new, one withdrawn, one moved, a street renamed, a letter in another case, a
 * place joined.
 */
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

/** The keys that differ between the two: added, changed (one of them only loses an id), removed. */
export const februaryChanges = {
  added: ['1382LJ#30#'],
  changed: ['1012RJ#149#', '1381GH#3#', '1382LJ#28#', '9999ZZ#1#'],
  removed: ['2513AA#2#'],
};

/**
 * Yet another month on: a segment that goes, one that comes, and some that go back to what they
 * were.
 */
export const march: Month = {
  peildatum: '2026-03-08',
  addresses: [
    ['1012RJ 147', 'Nieuwezijds Voorburgwal', 'Amsterdam'],
    ['1012RJ 149', 'Nieuwezijds Voorburgwal', 'Amsterdam'],
    ['1381AA 7', 'Buitenveer', 'Weesp'],
    ['1381AA 9', 'Binnenveer', 'Weesp'],
    ['1382LJ 28', 'Nijverheidslaan', 'Weesp'],
    ['1382LJ 28', 'Nijverheidslaan', 'Weesp'],
    ['2513AA 2', 'Binnenhof', '’s-Gravenhage'],
    ['2513AA 3', 'Binnenhof', '’s-Gravenhage'],
    ['7311KZ 110', 'Hofstraat', 'Apeldoorn'],
  ],
};

/** What the table has to hold, made without any of the loader. */
export function tableOf({ addresses }: Month): Map<string, Place[]> {
  const ids = idsOf(addresses);
  const table = new Map<string, Place[]>();
  for (const [index, [address, straat, woonplaats]] of addresses.entries()) {
    const [postcode, huisnummer, letter = ''] = address.split(' ');
    const key = `${postcode}#${huisnummer}#${letter.toUpperCase()}`;
    const places = table.get(key) ?? [];
    const same = places.find((place) => place.straat === straat && place.woonplaats === woonplaats);
    const id = ids[index] as string;
    if (same) same.nummeraanduidingen = [...(same.nummeraanduidingen ?? []), id].sort();
    else {
      places.push({ straat, woonplaats, ...inGemeente(woonplaats), nummeraanduidingen: [id] });
    }
    table.set(key, places.sort(comparePlaces));
  }
  return table;
}

function inGemeente(woonplaats: string): Pick<Place, 'gemeente'> {
  const gemeente = gemeenten[woonplaats];
  return gemeente === undefined ? {} : { gemeente };
}

/**
 * The identificatie of each address: the same in every month, and another one for each time that an
 * address is registered.
 */
function idsOf(addresses: readonly Address[]): string[] {
  const times = new Map<string, number>();
  return addresses.map(([address, , , was = address]) => {
    const name = was.toUpperCase();
    const time = (times.get(name) ?? 0) + 1;
    times.set(name, time);
    return idOf(name, time);
  });
}

/**
 * The identificatie of an address, `1382LJ 30`, that is registered for the first or a later time.
 */
export function idOf(address: string, time = 1): string {
  return `000020${digitsOf(`${address} ${time}`)}`;
}

/** Ten digits that follow from a text. */
function digitsOf(text: string): string {
  return String(createHash('sha256').update(text).digest().readUIntBE(0, 5) % 10 ** 10).padStart(
    10,
    '0',
  );
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
  const straten = [
    ...new Set(addresses.map(([, straat, woonplaats]) => `${straat}|${woonplaats}`)),
  ].sort();
  const placeId = (woonplaats: string) => `1${digitsOf(woonplaats).slice(-3)}`;
  const streetId = (street: string) => `000030${digitsOf(street)}`;
  const ids = idsOf(addresses);
  const NUM = addresses.map(([address, straat, woonplaats], index) => {
    const [postcode = '', huisnummer, huisletter] = address.split(' ');
    return {
      identificatie: ids[index] as string,
      postcode,
      huisnummer: Number(huisnummer),
      ...(huisletter && { huisletter }),
      openbareRuimte: streetId(`${straat}|${woonplaats}`),
      begin,
    };
  });
  return {
    // As in the register.
    NUM: NUM.sort((a, b) => (a.identificatie < b.identificatie ? -1 : 1)),
    OPR: straten.map((street) => {
      const [naam = '', woonplaats = ''] = street.split('|');
      return { identificatie: streetId(street), naam, woonplaats: placeId(woonplaats), begin };
    }),
    WPL: woonplaatsen.map((naam) => ({ identificatie: placeId(naam), naam, begin })),
    relaties: woonplaatsen.flatMap((naam) => {
      const { gemeente } = inGemeente(naam);
      return gemeente === undefined ? [] : [{ woonplaats: placeId(naam), gemeente, begin }];
    }),
  };
}

/** The occurrences of a month, with what ends and what begins on the date of another one. */
export function stateBetween(before: Month, { peildatum: date, ...after }: Month): Voorkomens {
  const was = voorkomensOf(before);
  const is = voorkomensOf({ peildatum: date, ...after });
  const begun = <T extends { identificatie: string }>(old: readonly T[], all: readonly T[]) =>
    all.flatMap((one) =>
      old.some(({ identificatie }) => identificatie === one.identificatie) ? [] : [one],
    );
  const NUM = was.NUM.flatMap((num) => {
    const next = is.NUM.find(({ identificatie }) => identificatie === num.identificatie);
    if (isDeepStrictEqual(num, next)) return [num];
    return [{ ...num, eind: date }, ...(next ? [{ ...next, volgnummer: 2, begin: date }] : [])];
  });
  return {
    NUM: [...NUM, ...begun(was.NUM, is.NUM).map((num) => ({ ...num, begin: date }))],
    OPR: [...was.OPR, ...begun(was.OPR, is.OPR)],
    WPL: [...was.WPL, ...begun(was.WPL, is.WPL)],
  };
}

/**
 * The same with a verblijfsobject at each address, whose location follows from its identificatie.
 */
export function withObjecten(voorkomens: Voorkomens): Voorkomens {
  const VBO = voorkomens.NUM.map(({ identificatie }) => ({
    identificatie: identificatie.replace('000020', '000001'),
    hoofdadres: identificatie,
    punt: `13${identificatie.slice(-4)}.5 48${identificatie.slice(-6, -2)}`,
    oppervlakte: 1 + Number(identificatie.slice(-2)),
    gebruiksdoelen: ['woonfunctie'],
    begin,
  }));
  return { ...voorkomens, VBO, LIG: [], STA: [] };
}
