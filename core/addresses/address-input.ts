import * as z from 'zod/mini';
import { hasKeyPrefix } from '../accounts/api-key.ts';
import {
  type AddressRequest,
  huisnummerParameter,
  type IncludeName,
  type InputFault,
  includeSchema,
  postcodeParameter,
  toevoegingParameter,
} from '../contract.ts';
import { addressFaults, includeFaults } from './input-faults.ts';
import { isOwnName, meaningOf, type Sent } from './parameter-names.ts';

/** A valid lookup, or what finds every fault of an invalid one: only a caller whose key is valid needs to know. */
export type AddressInput =
  | { request: AddressRequest; include: IncludeName[] }
  | { request: null; faults: () => InputFault[] };

/** Reads and normalises the parameters of a lookup from a raw query string. */
export function readAddressInput(rawQueryString: string): AddressInput {
  const query = new URLSearchParams(rawQueryString);
  const sent: Sent = new Map([...new Set(query.keys())].map((name) => [name, query.getAll(name)]));
  const [request, include] = [addressIn(sent), includeIn(sent)];
  if (request && include) return { request, include };
  const faults = () => [...addressFaults(sent), ...includeFaults(sent)];
  return { request: null, faults: () => faults().map(({ name, ...fault }) => ({ parameter: name, ...fault })) };
}

/**
 * The address that was sent, normalised; `null` where anything is invalid. Ignores unknown names, except those that a
 * caller means as one of ours: without their values the response would be about another address.
 */
export function addressIn(sent: Sent): AddressRequest | null {
  for (const [name, values] of sent) {
    const isInvalid = isOwnName(name) ? values.length > 1 : meaningOf(name) !== null;
    if (isInvalid || hasKeyPrefix(name) || values.some(hasKeyPrefix)) return null;
  }
  const postcode = z.safeParse(postcodeParameter, sent.get('postcode')?.[0]);
  const huisnummer = z.safeParse(huisnummerParameter, sent.get('huisnummer')?.[0]);
  const toevoeging = z.safeParse(toevoegingParameter, sent.get('toevoeging')?.[0] ?? '');
  if (!postcode.success || !huisnummer.success || !toevoeging.success) return null;
  return { postcode: postcode.data, huisnummer: huisnummer.data, toevoeging: toevoeging.data };
}

/** The names in the parameter `include`, none where it is absent; `null` where it is invalid. */
function includeIn(sent: Sent): IncludeName[] | null {
  const names = sent.get('include')?.[0]?.split(',');
  return names === undefined ? [] : (z.safeParse(includeSchema, names).data ?? null);
}
