import { crc32 } from 'node:zlib';
import { addressKey } from '../../../core/addresses/address-key.ts';
import type { Historie, Voorkomens } from '../../../test/support/stand-xml.ts';
import { gemeenteOfPlace } from './country.ts';

/**
 * What a reader of a generated extract must find; the truths of all blocks add up to the country's.
 */
export type Truth = {
  voorkomens: { NUM: number; OPR: number; WPL: number };
  addresses: number;
  keys: number;
  /** Keys that only have a list of toevoegingen, and no address. */
  listKeys: number;
  /** Keys with more than one street or place. */
  ambiguous: number;
  noPostcode: number;
  streetMissing: number;
  /** Adresseerbare objecten whose hoofdadres is one of the addresses. */
  objecten: number;
  /**
   * The sum, modulo 2^48, of the CRC-32 of each key with its places: `1381AA#9#A`, two tabs, then
   * straat, woonplaats, gemeente and ids.
   */
  checksum: number;
};

/** Keys that differ between two states: what a load of the second one must write. */
export type Difference = { added: number; removed: number; changed: number; listsChanged: number };

/** Key to places, each `straat<tab>woonplaats<tab>gemeente<tab>ids`, sorted. */
export type Addresses = Map<string, string[]>;

/**
 * Works out what a block holds on `peildatum`, from the objects and not from the XML, by rules
 * written apart from the reader's.
 */
export function truthOf(
  { NUM, OPR, WPL, VBO = [], LIG = [], STA = [] }: Voorkomens,
  peildatum: string,
): { truth: Truth; addresses: Addresses } {
  const counts = (voorkomen: Historie) =>
    (voorkomen.live ?? true) &&
    voorkomen.begin <= peildatum &&
    !(voorkomen.eind !== undefined && voorkomen.eind <= peildatum) &&
    !voorkomen.tijdstipInactief &&
    !voorkomen.tijdstipInactiefLV &&
    !voorkomen.tijdstipNietBagLV;
  const streets = new Map(OPR.filter(counts).map((street) => [street.identificatie, street]));
  const places = new Map(
    WPL.filter(counts).map((place) => [
      place.identificatie,
      `${place.naam}\t${gemeenteOfPlace(place)}`,
    ]),
  );
  const truth: Truth = {
    ...noTruth(),
    voorkomens: { NUM: NUM.length, OPR: OPR.length, WPL: WPL.length },
  };
  const found = new Map<string, Map<string, string[]>>();
  const nums = new Set<string>();
  for (const {
    postcode,
    huisnummer,
    huisletter = '',
    huisnummertoevoeging = '',
    ...num
  } of NUM.filter(counts)) {
    const street = streets.get(num.openbareRuimte);
    if (!postcode) truth.noPostcode++;
    else if (!street) truth.streetMissing++;
    else {
      truth.addresses++;
      nums.add(num.identificatie);
      const key = addressKey({
        postcode,
        huisnummer,
        toevoeging: huisletter + huisnummertoevoeging,
      });
      const place = `${street.naam}\t${places.get(num.woonplaats ?? street.woonplaats)}`;
      const known = found.get(key) ?? new Map<string, string[]>();
      found.set(key, known.set(place, [...(known.get(place) ?? []), num.identificatie]));
    }
  }
  truth.objecten = [VBO, LIG, STA]
    .flat()
    .filter((stand) => counts(stand) && nums.has(stand.hoofdadres)).length;
  const addresses: Addresses = new Map();
  for (const [key, known] of found) {
    const places = [...known]
      .map(([place, ids]) => `${place}\t${[...new Set(ids)].sort().join()}`)
      .sort();
    addresses.set(key, places);
    truth.keys++;
    if (places.length > 1) truth.ambiguous++;
    truth.checksum = (truth.checksum + crc32(`${key}\t\t${places.join('\t')}`)) % 2 ** 48;
  }
  for (const key of listsOf(addresses).keys()) if (!addresses.has(key)) truth.listKeys++;
  return { truth, addresses };
}

/** The lists of toevoegingen, as text, by the key that they belong to. */
function listsOf(addresses: Addresses): Map<string, string> {
  const groups = new Map<string, string[]>();
  for (const key of addresses.keys()) {
    const bare = key.slice(0, key.lastIndexOf('#') + 1);
    const group = groups.get(bare);
    if (group) group.push(key);
    else {
      groups.set(bare, [key]);
    }
  }
  const lists = [...groups].filter(([bare, keys]) => keys.some((key) => key !== bare));
  return new Map(lists.map(([bare, keys]): [string, string] => [bare, keys.sort().join()]));
}

export function noTruth(): Truth {
  const voorkomens = { NUM: 0, OPR: 0, WPL: 0 };
  return {
    voorkomens,
    addresses: 0,
    keys: 0,
    listKeys: 0,
    ambiguous: 0,
    noPostcode: 0,
    streetMissing: 0,
    objecten: 0,
    checksum: 0,
  };
}

/** The sum of two records of numbers, member by member, at any depth. */
export function added<T extends object>(record: T, other: T): T {
  const sums = Object.entries(record).map(([name, value]) => {
    const another = other[name as keyof T];
    return [
      name,
      typeof value === 'number' ? value + Number(another) : added(value, another as object),
    ];
  });
  return Object.fromEntries(sums) as T;
}

export function addTruths(truth: Truth, other: Truth): Truth {
  const sum = added(truth, other);
  return { ...sum, checksum: sum.checksum % 2 ** 48 };
}

export function differenceOf(before: Addresses, after: Addresses): Difference {
  const difference = { added: 0, removed: 0, changed: 0, listsChanged: 0 };
  for (const [key, places] of after) {
    const was = before.get(key);
    if (!was) difference.added++;
    else if (was.join('\t') !== places.join('\t')) difference.changed++;
  }
  for (const key of before.keys()) if (!after.has(key)) difference.removed++;
  const old = listsOf(before);
  const now = listsOf(after);
  for (const key of new Set([...old.keys(), ...now.keys()])) {
    const isSamePlace = before.get(key)?.join('\t') === after.get(key)?.join('\t');
    if (isSamePlace && old.get(key) !== now.get(key)) difference.listsChanged++;
  }
  return difference;
}
