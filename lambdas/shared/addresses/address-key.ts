import type { AddressRequest, Place } from '../contract.ts';

export type { AddressRequest, Place };

/**
 * The key of the addresses table: `1381AA#9#A`, `1381AA#7#`. Letter case of the toevoeging does not count, because the
 * register writes `a` in one street and `A` in the next. `toevoeging` is ASCII, so upper case is one letter for one.
 */
export function addressKey({ postcode, huisnummer, toevoeging }: AddressRequest): string {
  return `${postcode}#${huisnummer}#${(toevoeging ?? '').toUpperCase()}`;
}

/** Orders places by woonplaats, then straat, by code unit: the same on every machine and in every locale. */
export function comparePlaces(a: Place, b: Place): number {
  return compare(a.woonplaats, b.woonplaats) || compare(a.straat, b.straat);
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
