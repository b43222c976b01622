import type { AddressRequest, Place } from './address-key.ts';

/** The answer to a lookup, as the API gives it. */
export type LookupAnswer = {
  status: 'ok' | 'not_found' | 'ambiguous';
  request: AddressRequest;
  address: Place | null;
  candidates: Place[];
};

/** `places` are the distinct ones of the request's key, sorted; none means that the register has no such address. */
export function lookupAnswer(request: AddressRequest, places: Place[]): LookupAnswer {
  const [first, ...others] = places;
  if (!first) return { status: 'not_found', request, address: null, candidates: [] };
  if (others.length > 0) return { status: 'ambiguous', request, address: null, candidates: places };
  return { status: 'ok', request, address: first, candidates: [] };
}
