import { readHuisnummer, readPostcode, readToevoeging } from '../address-form.ts';
import type { AddressRequest } from '../contract.ts';
import { type IncludeName, readInclude } from '../place-fields.ts';

/** The members of an address: parameters of a lookup, and members of each address of many lookups. */
export const addressNames = ['postcode', 'huisnummer', 'toevoeging'] as const;

/** The parameters of a lookup. Any other is invalid. */
export const parameterNames = [...addressNames, 'include'] as const;
export type ParameterName = (typeof parameterNames)[number];

/** What was sent: the values of each name, in their order. */
export type Sent = ReadonlyMap<string, readonly string[]>;

/** The parameters of a raw query string. */
export function readQuery(rawQueryString: string): Sent {
  const sent = new Map<string, string[]>();
  for (const [name, value] of new URLSearchParams(rawQueryString)) {
    const values = sent.get(name);
    if (values) values.push(value);
    else sent.set(name, [value]);
  }
  return sent;
}

/** A valid lookup; `null` if anything is invalid: `queryFaults` then finds every fault. */
export type AddressInput = { request: AddressRequest; include: IncludeName[] } | { request: null };

/** Reads and normalises the parameters of a lookup from a raw query string. */
export function readAddressInput(rawQueryString: string): AddressInput {
  const sent = readQuery(rawQueryString);
  for (const [name, { length }] of sent) if (length > 1 || !isParameterName(name)) return { request: null };
  const [postcode = '', huisnummer = '', toevoeging = '', names] = parameterNames.map((name) => sent.get(name)?.[0]);
  const request = readAddress(postcode, huisnummer, toevoeging);
  const include = names === undefined ? [] : readInclude(names.split(','));
  return request && include ? { request, include } : { request: null };
}

/** The address of these texts, normalised; `null` if one of them is invalid. */
export function readAddress(postcode: string, huisnummer: string, toevoeging: string): AddressRequest | null {
  const [code, number, addition] = [readPostcode(postcode), readHuisnummer(huisnummer), readToevoeging(toevoeging)];
  if (code === null || number === null || addition === null) return null;
  return { postcode: code, huisnummer: number, toevoeging: addition || null };
}

function isParameterName(name: string): name is ParameterName {
  return (parameterNames as readonly string[]).includes(name);
}
