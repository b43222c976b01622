import { hasKeyPrefix } from '../accounts/api-key.ts';
import type { AddressRequest } from '../contract.ts';
import { type IncludeName, readInclude } from '../place-fields.ts';
import { addressIn } from './address-input.ts';
import type { Sent } from './parameter-names.ts';

/** Valid lookups; `null` if anything is invalid: `batchFaults` then finds every fault. */
export type BatchInput = { requests: AddressRequest[]; include: IncludeName[] } | { requests: null };

/** How many addresses one request may have. */
export const maxAddresses = 100;

/**
 * Reads and normalises the addresses in the body of a request: JSON with `addresses` and, if need be, `include`. The
 * query means nothing here, but a key in it is in logs now.
 */
export function readBatchInput(body: string, rawQueryString = ''): BatchInput {
  if (hasKeyInQuery(rawQueryString)) return { requests: null };
  const sent = parseBody(body);
  const requests = requestsIn(sent);
  const include = isObject(sent) ? includeIn(sent.include) : null;
  if (!requests || !include || hasRepeatedMembers(body, sent as ValidBody)) return { requests: null };
  return { requests, include };
}

export function hasKeyInQuery(rawQueryString: string): boolean {
  return [...new URLSearchParams(rawQueryString)].flat().some(hasKeyPrefix);
}

/** What `parseBody` returns for text that is not JSON. */
export const unreadable = Symbol('not JSON');

export function parseBody(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return unreadable;
  }
}

export type JsonObject = Record<string, unknown>;
type ValidBody = JsonObject & { addresses: JsonObject[] };

/** Whether `JSON.parse` has left out members of a body that is valid otherwise: nothing else in that has a colon. */
function hasRepeatedMembers(body: string, sent: ValidBody): boolean {
  const members = [sent, ...sent.addresses].reduce((sum, one) => sum + Object.keys(one).length, 0);
  return body.split(':').length - 1 > members;
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export const bodyMembers = ['addresses', 'include'];
export const addressMembers = ['postcode', 'huisnummer', 'toevoeging'];

function requestsIn(sent: unknown): AddressRequest[] | null {
  if (!isObject(sent) || Object.keys(sent).some((name) => !bodyMembers.includes(name))) return null;
  const { addresses } = sent;
  if (!Array.isArray(addresses) || addresses.length < 1 || addresses.length > maxAddresses) return null;
  const requests: AddressRequest[] = [];
  for (const address of addresses) {
    if (!isObject(address) || Object.keys(address).some((name) => !hasItsType(name, address[name]))) return null;
    const request = addressIn(addressTexts(address));
    if (!request) return null;
    requests.push(request);
  }
  return requests;
}

function includeIn(names: unknown): IncludeName[] | null {
  if (names === undefined) return [];
  return Array.isArray(names) ? readInclude(names) : null;
}

/** Whether a member of an address is one of ours, with a type that it may have. */
export function hasItsType(name: string, value: unknown): boolean {
  if (typeof value === 'string') return addressMembers.includes(name);
  return (name === 'huisnummer' && Number.isInteger(value)) || (name === 'toevoeging' && value === null);
}

/** The members of an address as a query would have them; `null` is as good as absent. */
export function addressTexts(address: JsonObject): Sent {
  const entries = Object.entries(address).filter(([, value]) => value !== null);
  return new Map(entries.map(([name, value]) => [name, [typeof value === 'string' ? value : JSON.stringify(value)]]));
}
