/** How large each woonplaats is: what its changes are a share of. */

import { keyParts } from '../../core/addresses/address-key.ts';
import type { Place } from '../../core/place-fields.ts';

/** How many addresses there are, and how many have a huisletter, a toevoeging, and a name with special letters. */
export type PlaceSize = [addresses: number, huisletters: number, toevoegingen: number, special: number];

/** The sizes of woonplaatsen by their names, in order: the same lines give the same JSON. */
export type PlaceSizes = Record<string, PlaceSize>;

/** Which of huisletter (1) and toevoeging (2) the toevoeging of a key has: the letter that it begins with is one. */
export function suffixOf(first: number, length: number): number {
  if (length === 0) return 0;
  return first < 0x41 ? 2 : length === 1 ? 1 : 3;
}

/** The size of one address. */
export function sizeOfAddress(key: string, place: Place): PlaceSize {
  const { toevoeging } = keyParts(key);
  const suffix = suffixOf(toevoeging.charCodeAt(0), toevoeging.length);
  return [1, suffix & 1, suffix >> 1, Number(isSpecial(place))];
}

/** Adds up sizes; a negative `sign` takes the later ones off. */
export function addSizes(sizes: PlaceSizes, more: Iterable<[string, PlaceSize]>, sign = 1): PlaceSizes {
  const total = new Map(Object.entries(sizes));
  for (const [name, size] of more) {
    const before = total.get(name);
    total.set(name, size.map((count, i) => (before?.[i] ?? 0) + sign * count) as PlaceSize);
  }
  return Object.fromEntries([...total].filter(([, [count]]) => count !== 0).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** A street as `Buitenveer, Weesp`. */
export function nameOf({ straat, woonplaats }: Place): string {
  return `${straat}, ${woonplaats}`;
}

const special = /[^\0-\x7f]/;
export const isSpecial = (place: Place) => special.test(nameOf(place));
