import type { Problem } from './problem-report.ts';
import type { Nummeraanduiding, OpenbareRuimte, Woonplaats } from './voorkomen.ts';

/** Finds an object by its identification; a `Map` does. */
type Lookup<T> = { get(identificatie: string): T | undefined };

/** The current streets and places. */
export type Reference = { openbareRuimten: Lookup<OpenbareRuimte>; woonplaatsen: Lookup<Woonplaats> };

/**
 * The street and place of a current nummeraanduiding, or the problem that prevents an address: its street or place is
 * not current. Never guesses.
 */
export function toPlace(
  { openbareRuimte, woonplaats }: Pick<Nummeraanduiding, 'openbareRuimte' | 'woonplaats'>,
  reference: Reference,
): { straat: string; woonplaats: string } | Pick<Problem, 'kind' | 'detail'> {
  const street = reference.openbareRuimten.get(openbareRuimte);
  if (!street) return { kind: 'street_missing', detail: openbareRuimte };
  const identificatie = woonplaats ?? street.woonplaats;
  const place = reference.woonplaatsen.get(identificatie);
  if (!place) return { kind: 'place_missing', detail: identificatie };
  return { straat: street.naam, woonplaats: place.naam };
}
