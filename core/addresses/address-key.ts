import type { AddressRequest } from '../contract.ts';

/**
 * The key of an address in the addresses table: `postcode#huisnummer#toevoeging`, such as `1381AA#9#A` and
 * `1381AA#7#`. It is ASCII, and the toevoeging is in upper case: the register writes `a` in one street and `A` in the
 * next, and a lookup finds both.
 */
const pattern = /^([1-9]\d{3}[A-Z]{2})#([1-9]\d{0,4})#([0-9A-Z]{0,5})$/;
const separator = '#';

/** The bytes of the longest key, such as `1381AA#99999#A1234`. */
export const longestAddressKey = 18;

/** The key of an address, in any letter case of its toevoeging. */
export function addressKey({ postcode, huisnummer, toevoeging }: AddressRequest): string {
  return postcode + separator + huisnummer + separator + (toevoeging ?? '').toUpperCase();
}

/** The address of a key, its toevoeging in upper case; `null` for a text that is not an address key. */
export function parseAddressKey(key: string): AddressRequest | null {
  const [, postcode, huisnummer, toevoeging] = pattern.exec(key) ?? [];
  return postcode ? { postcode, huisnummer: Number(huisnummer), toevoeging: toevoeging || null } : null;
}

/** The same key without its toevoeging: `1381AA#9#`. */
export function bareKey(key: string): string {
  return key.slice(0, key.lastIndexOf(separator) + 1);
}

/** The parts of a key, also of one without a postcode, which is no address but an object may have. */
export function keyParts(key: string): { postcode: string; huisnummer: number; toevoeging: string } {
  const [postcode = '', huisnummer, toevoeging = ''] = key.split(separator);
  return { postcode, huisnummer: Number(huisnummer), toevoeging };
}

/** An address as people write it, `1381 AA 9 A`, of its key. */
export function addressText(key: string): string {
  return `${key.slice(0, 4)} ${key.slice(4)}`.replaceAll(separator, ' ').trimEnd();
}

/** Whether this is the key of an address; the table also holds items about itself, under other keys. */
export function isAddressKey(key: string): boolean {
  return pattern.test(key);
}

/** The positions of the parts of an address in `bytes`, which are ASCII; a missing part has a position below 0. */
type AddressBytes = {
  bytes: Uint8Array;
  postcode: number;
  huisnummer: number;
  huisletter: number;
  toevoeging: number;
  toevoegingEnd: number;
};

/** Writes `addressKey` at `start`, where `longestAddressKey` bytes must be left; returns the position after it. */
export function writeAddressKey(target: Uint8Array, start: number, address: AddressBytes): number {
  const { bytes, postcode, huisletter, toevoeging, toevoegingEnd } = address;
  let at = start;
  if (postcode >= 0) for (let i = postcode; i < postcode + 6; i++) target[at++] = bytes[i] as number;
  target[at++] = separatorByte;
  at = writeNumber(target, at, address.huisnummer);
  target[at++] = separatorByte;
  if (huisletter >= 0) target[at++] = upperCase(bytes[huisletter] as number);
  if (toevoeging >= 0) for (let i = toevoeging; i < toevoegingEnd; i++) target[at++] = upperCase(bytes[i] as number);
  return at;
}

const separatorByte = separator.charCodeAt(0);

/** Writes the digits of a number from 1 to 99999. */
export function writeNumber(bytes: Uint8Array, start: number, number: number): number {
  const end = start + (number < 10 ? 1 : number < 100 ? 2 : number < 1_000 ? 3 : number < 10_000 ? 4 : 5);
  let rest = number;
  for (let at = end - 1; at >= start; at--) {
    const tens = (rest / 10) | 0;
    bytes[at] = 0x30 + rest - 10 * tens;
    rest = tens;
  }
  return end;
}

function upperCase(letter: number): number {
  return letter >= 0x61 && letter <= 0x7a ? letter - 0x20 : letter;
}
