import type { AddressRequest } from '../contract/address-parameters.ts';
import type { LookupAnswer, Place } from '../contract/lookup-answer.ts';

/** `places` are the distinct ones of the request's key, sorted; none means that the register has no such address. */
export function lookupAnswer(request: AddressRequest, places: Place[]): LookupAnswer {
  const [first, ...others] = places;
  if (!first) return { status: 'not_found', request, address: null, candidates: [] };
  if (others.length > 0) return { status: 'ambiguous', request, address: null, candidates: places };
  return { status: 'ok', request, address: first, candidates: [] };
}
