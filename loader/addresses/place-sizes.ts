/** How large each woonplaats and gemeente is: what its changes are a share of. */

import { keyParts } from '../../core/addresses/address-key.ts';
import type { Place } from '../../core/place-fields.ts';

/**
 * How many addresses there are, how many have a huisletter, a toevoeging, and a name with special
 * letters; and how many have a ligplaats, a standplaats, and an object of any kind.
 */
export type PlaceSize = [
  addresses: number,
  huisletters: number,
  toevoegingen: number,
  special: number,
  ligplaatsen: number,
  standplaatsen: number,
  withObjects: number,
];

export const noSize = (): PlaceSize => [0, 0, 0, 0, 0, 0, 0];

/**
 * The sizes of woonplaatsen by their names, and the number of addresses of gemeenten by
 * `gemeente 0457`; in order: the same lines give the same JSON.
 */
export type PlaceSizes = Record<string, PlaceSize>;

/** The prefix of gemeenten among the names. */
export const gemeentePrefix = 'gemeente ';
export const isGemeente = (name: string) => name.startsWith(gemeentePrefix);

/**
 * Which of huisletter (1) and toevoeging (2) the toevoeging of a key has: the letter that it begins
 * with is one.
 */
export function suffixOf(first: number, length: number): number {
  if (length === 0) return 0;
  return first < 0x41 ? 2 : length === 1 ? 1 : 3;
}

/** The sizes of the woonplaats and the gemeente of addresses at a place. */
export function sizesAt(
  { straat, woonplaats, gemeente }: Place,
  size: PlaceSize,
): [string, PlaceSize][] {
  const [count, huisletters, toevoegingen, , ...objects] = size;
  const special = isSpecial({ straat, woonplaats }) ? count : 0;
  const all: [string, PlaceSize][] = [
    [woonplaats, [count, huisletters, toevoegingen, special, ...objects]],
  ];
  if (gemeente !== undefined) all.push([`${gemeentePrefix}${gemeente}`, [count, 0, 0, 0, 0, 0, 0]]);
  return all;
}

/** The sizes of one address. */
export function sizesOfAddress(key: string, place: Place): [string, PlaceSize][] {
  const { toevoeging } = keyParts(key);
  const suffix = suffixOf(toevoeging.charCodeAt(0), toevoeging.length);
  const types = new Set(place.objecten?.map(({ type }) => type));
  const has = [types.has('ligplaats'), types.has('standplaats'), types.size > 0].map(Number);
  return sizesAt(place, [1, suffix & 1, suffix >> 1, 0, ...has] as PlaceSize);
}

/** The member of a size that counts addresses with an object. */
export const withObjects = 6;

/** The position of the type's letter in the text of an object. */
export const typeInObject = 16;

/** Adds the objects of an address, by their texts. */
export function addObjects(size: PlaceSize, texts: readonly string[]): void {
  if (texts.length === 0) return;
  const types = new Set(texts.map((text) => text.charAt(typeInObject)));
  if (types.has('L')) size[4]++;
  if (types.has('S')) size[5]++;
  size[withObjects]++;
}

/** Adds up sizes of the same name. */
export function addSizes(all: Iterable<[string, PlaceSize]>): PlaceSizes {
  const total = new Map<string, PlaceSize>();
  for (const [name, size] of all) {
    const before = total.get(name);
    total.set(name, size.map((count, i) => (before?.[i] ?? 0) + count) as PlaceSize);
  }
  return Object.fromEntries([...total].sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** A street as `Buitenveer, Weesp`. */
export function nameOf({ straat, woonplaats }: Place): string {
  return `${straat}, ${woonplaats}`;
}

const special = /[^\0-\x7f]/;
export const isSpecial = (place: Place) => special.test(nameOf(place));
