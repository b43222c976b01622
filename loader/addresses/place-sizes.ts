/** How large each area is: what its changes are a share of. */

import { keyParts } from '../../core/addresses/address-key.ts';
import { type AdresObject, objectTextAt } from '../../core/adres-object.ts';
import type { Place } from '../../core/place-fields.ts';

/** The counts of addresses in an area: all, and the ones with a property that may be lost. */
export const sizeMembers = [
  'addresses',
  /** With a huisletter or a huisnummertoevoeging. */
  'toevoegingen',
  /** With a letter beyond ASCII in the street or the woonplaats. */
  'specialNames',
  'withObjects',
  /** With an object that has several gebruiksdoelen. */
  'severalUses',
  /** With an object whose hoofdadres is another address. */
  'nevenadressen',
  'ligplaatsen',
  'standplaatsen',
] as const;

export type SizeMember = (typeof sizeMembers)[number];
export type PlaceSize = Record<SizeMember, number>;

export const noSize = (): PlaceSize => ({
  addresses: 0,
  toevoegingen: 0,
  specialNames: 0,
  withObjects: 0,
  severalUses: 0,
  nevenadressen: 0,
  ligplaatsen: 0,
  standplaatsen: 0,
});

/** The sizes of areas by their names, in order: the same lines give the same JSON. */
export type PlaceSizes = Record<string, PlaceSize>;

/** The area of all addresses. */
export const everywhere = '';

const gemeentePrefix = 'gemeente ';
export const gemeenteArea = (code: string) => `${gemeentePrefix}${code}`;
export const isGemeente = (area: string) => area.startsWith(gemeentePrefix);
export const isWoonplaats = (area: string) => area !== everywhere && !isGemeente(area);

/** The areas that a place lies in: all, its woonplaats, and its gemeente as `gemeente 0457`. */
export function areasOf({ woonplaats, gemeente }: Omit<Place, 'straat'>): string[] {
  const areas = [everywhere, woonplaats];
  if (gemeente !== undefined) areas.push(gemeenteArea(gemeente));
  return areas;
}

/** The sizes of the areas of addresses at a place. */
export function sizesAt(place: Place, size: PlaceSize): [string, PlaceSize][] {
  const inArea = { ...size, specialNames: isSpecial(place) ? size.addresses : 0 };
  return areasOf(place).map((area) => [area, inArea]);
}

/** The sizes of one address. */
export function sizesOfAddress(key: string, place: Place): [string, PlaceSize][] {
  const objects = place.objecten ?? [];
  const has = (is: (object: AdresObject) => boolean) => Number(objects.some(is));
  return sizesAt(place, {
    ...noSize(),
    addresses: 1,
    toevoegingen: Number(keyParts(key).toevoeging !== ''),
    withObjects: has(() => true),
    severalUses: has(({ gebruiksdoelen = [] }) => gebruiksdoelen.length > 1),
    nevenadressen: has(({ hoofdadres }) => !hoofdadres),
    ligplaatsen: has(({ type }) => type === 'ligplaats'),
    standplaatsen: has(({ type }) => type === 'standplaats'),
  });
}

/** Adds an address with objects, by their texts. */
export function addObjects(size: PlaceSize, texts: readonly string[]): void {
  if (texts.length === 0) return;
  const has = (is: (text: string) => boolean) => Number(texts.some(is));
  size.withObjects++;
  size.severalUses += has(hasSeveralUses);
  size.nevenadressen += has((text) => text.charAt(objectTextAt.hoofdadres) !== '1');
  size.ligplaatsen += has((text) => text.charAt(objectTextAt.type) === 'L');
  size.standplaatsen += has((text) => text.charAt(objectTextAt.type) === 'S');
}

/** Gebruiksdoelen come last, each as a letter or as a text in parentheses. */
function hasSeveralUses(text: string): boolean {
  if (text.charAt(objectTextAt.type) !== 'V') return false;
  const uses = text.slice(text.lastIndexOf(',') + 1);
  return uses.replace(/\([^)]*\)/g, '.').length > 1;
}

/** Adds up sizes of the same name. */
export function addSizes(all: Iterable<[string, PlaceSize]>): PlaceSizes {
  const total = new Map<string, PlaceSize>();
  for (const [name, size] of all) {
    const sum = total.get(name);
    if (!sum) total.set(name, { ...size });
    else {
      for (const member of sizeMembers) sum[member] += size[member];
    }
  }
  return Object.fromEntries([...total].sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** A street as `Buitenveer, Weesp`. */
export function nameOf({ straat, woonplaats }: Place): string {
  return `${straat}, ${woonplaats}`;
}

const special = /[^\0-\x7f]/;
const isSpecial = (place: Place) => special.test(nameOf(place));
