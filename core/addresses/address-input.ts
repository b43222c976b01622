import { longestHuisnummer, parameterPatterns } from '../address-form.ts';
import type { AddressRequest } from '../contract.ts';
import {
  type AvailableIncludes,
  type IncludeName,
  includeNames,
  readInclude,
} from '../place-fields.ts';

/**
 * The members of an address: parameters of a lookup, and members of each address of many lookups.
 */
export const addressNames = ['postcode', 'huisnummer', 'toevoeging'] as const;

/** The parameters of a lookup. Any other is invalid. */
export const parameterNames = [...addressNames, 'include'] as const;
export type ParameterName = (typeof parameterNames)[number];

/** A valid lookup; `null` if anything is invalid: `queryFaults` then finds every fault. */
export type AddressInput = { request: AddressRequest; include: IncludeName[] } | { request: null };

/**
 * Reads and normalises the parameters of a lookup from a raw query string; `include` can name the
 * `available` fields.
 */
export function readAddressInput(
  rawQueryString: string,
  available: AvailableIncludes = includeNames,
): AddressInput {
  const query = new URLSearchParams(rawQueryString);
  const sent = Object.fromEntries(query);
  const { postcode = '', huisnummer = '', toevoeging = '', include: names, ...unknown } = sent;
  const isRepeated = query.size > Object.keys(sent).length;
  if (isRepeated || Object.keys(unknown).length > 0) return { request: null };
  const request = readAddress(postcode, huisnummer, toevoeging);
  const include = names === undefined ? [] : readInclude(names.split(','), available);
  return request && include ? { request, include } : { request: null };
}

/** The normalised address from its texts; `null` if a text is invalid. */
export function readAddress(
  postcode: string,
  huisnummer: string,
  toevoeging: string,
): AddressRequest | null {
  const code = readPostcode(postcode);
  const number = readHuisnummer(huisnummer);
  const addition = readToevoeging(toevoeging);
  if (code === null || number === null || addition === null) return null;
  return { postcode: code, huisnummer: number, toevoeging: addition || null };
}

/** A postcode as typed, in the form of the register; `null` if it is invalid. */
export function readPostcode(text: string): string | null {
  return parameterPatterns.postcode.test(text) ? text.replaceAll(' ', '').toUpperCase() : null;
}

/** Digits, with leading zeros, as a house number; `null` if they are invalid. */
export function readHuisnummer(text: string): number | null {
  return text.length <= longestHuisnummer && parameterPatterns.huisnummer.test(text)
    ? Number(text)
    : null;
}

/** A toevoeging in the letter case that was sent, empty if absent; `null` if invalid. */
export function readToevoeging(text: string): string | null {
  return parameterPatterns.toevoeging.test(text) ? text.replaceAll(' ', '') : null;
}
