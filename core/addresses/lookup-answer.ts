import type { AddressRequest, LookupAnswer } from '../contract.ts';
import { distinctPlaces, type IncludeName, placeWith } from '../place-fields.ts';
import { compareToevoegingen, maxToevoegingen, type Toevoeging } from './address-item.ts';
import type { FoundItems } from './address-store.ts';

/**
 * The outcome of a lookup from its items in the dataset: the same for a single lookup and in a
 * batch.
 */
export function lookupAnswer(
  request: AddressRequest,
  include: readonly IncludeName[],
  found: FoundItems,
): LookupAnswer {
  const [first, ...others] = distinctPlaces(found.address?.places ?? []).map((place) =>
    placeWith(place, include),
  );
  if (!first) {
    return {
      status: 'not_found',
      request,
      address: null,
      candidates: [],
      toevoegingen: existing(request, found),
    };
  }
  const listed = include.includes('toevoegingen') ? { toevoegingen: existing(request, found) } : {};
  if (others.length > 0) {
    return {
      status: 'ambiguous',
      request,
      address: null,
      candidates: [first, ...others],
      ...listed,
    };
  }
  return { status: 'ok', request, address: first, candidates: [], ...listed };
}

/** The toevoegingen that exist. A load may write between the two reads: the first read decides. */
function existing({ toevoeging }: AddressRequest, { address, bare }: FoundItems): Toevoeging[] {
  const sent = toevoeging?.toUpperCase() ?? null;
  const isFound = (address?.places.length ?? 0) > 0;
  const listed = bare?.toevoegingen ?? (bare && bare.places.length > 0 ? [null] : []);
  const others = listed.filter((toevoeging) => toevoeging !== sent);
  if (!isFound) return others.slice(0, maxToevoegingen);
  if (others.length < listed.length || others.length >= maxToevoegingen) {
    return listed.slice(0, maxToevoegingen);
  }
  return [...others, sent].sort(compareToevoegingen);
}
