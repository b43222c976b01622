import { hasKeyPrefix } from '../accounts/api-key.ts';
import { readHuisnummer, readPostcode, readToevoeging } from '../address-form.ts';
import type { AddressRequest } from '../contract.ts';
import { type IncludeName, readInclude } from '../place-fields.ts';
import { isOwnName, meaningOf, readQuery, type Sent } from './parameter-names.ts';

/** A valid lookup; `null` if anything is invalid: `queryFaults` then finds every fault. */
export type AddressInput = { request: AddressRequest; include: IncludeName[] } | { request: null };

/** Reads and normalises the parameters of a lookup from a raw query string. */
export function readAddressInput(rawQueryString: string): AddressInput {
  const sent = readQuery(rawQueryString);
  const [request, include] = [addressIn(sent), includeIn(sent)];
  return request && include ? { request, include } : { request: null };
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
  const [postcode, huisnummer] = [readPostcode(firstOf(sent, 'postcode')), readHuisnummer(firstOf(sent, 'huisnummer'))];
  const toevoeging = readToevoeging(firstOf(sent, 'toevoeging'));
  if (postcode === null || huisnummer === null || toevoeging === null) return null;
  return { postcode, huisnummer, toevoeging: toevoeging || null };
}

function firstOf(sent: Sent, name: string): string {
  return sent.get(name)?.[0] ?? '';
}

/** The names in the parameter `include`, none where it is absent; `null` where it is invalid. */
function includeIn(sent: Sent): IncludeName[] | null {
  const names = sent.get('include')?.[0]?.split(',');
  return names === undefined ? [] : readInclude(names);
}
