import type { AddressRequest } from '../contract.ts';

/**
 * The key of an address in the addresses table: `postcode#huisnummer#toevoeging`, such as
 * `1381AA#9#A` and `1381AA#7#`. It is ASCII, and the toevoeging is in upper case: the register
 * writes `a` in one street and `A` in the next, and a lookup finds both.
 */
const pattern = /^([1-9]\d{3}[A-Z]{2})#([1-9]\d{0,4})#([0-9A-Z]{0,5})$/;
/** Ends the postcode and the huisnummer of a key. */
export const keySeparator = '#';

/** The key of an address, in any letter case of its toevoeging. */
export function addressKey({ postcode, huisnummer, toevoeging }: AddressRequest): string {
  return postcode + keySeparator + huisnummer + keySeparator + (toevoeging ?? '').toUpperCase();
}

/**
 * The address of a key, its toevoeging in upper case; `null` for a text that is not an address key.
 */
export function parseAddressKey(key: string): AddressRequest | null {
  const [, postcode, huisnummer, toevoeging] = pattern.exec(key) ?? [];
  return postcode
    ? { postcode, huisnummer: Number(huisnummer), toevoeging: toevoeging || null }
    : null;
}

/** The same key without its toevoeging: `1381AA#9#`. */
export function bareKey(key: string): string {
  return key.slice(0, key.lastIndexOf(keySeparator) + 1);
}

/**
 * The parts of a key, also of one without a postcode, which is no address but an object may have.
 */
export function keyParts(key: string): {
  postcode: string;
  huisnummer: number;
  toevoeging: string;
} {
  const [postcode = '', huisnummer, toevoeging = ''] = key.split(keySeparator);
  return { postcode, huisnummer: Number(huisnummer), toevoeging };
}

/** An address as people write it, `1381 AA 9 A`, of its key. */
export function addressText(key: string): string {
  return `${key.slice(0, 4)} ${key.slice(4)}`.replaceAll(keySeparator, ' ').trimEnd();
}

/**
 * Whether this is the key of an address; the table also holds items about itself, under other keys.
 */
export function isAddressKey(key: string): boolean {
  return pattern.test(key);
}
