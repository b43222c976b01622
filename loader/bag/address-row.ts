import type { Problem } from './problem-report.ts';
import type { Nummeraanduiding, OpenbareRuimte, Woonplaats } from './voorkomen.ts';

/** Finds an object by its identification; a `Map` does. */
type Lookup<T> = { get(identificatie: string): T | undefined };

/** The current streets and places. */
export type Reference = { openbareRuimten: Lookup<OpenbareRuimte>; woonplaatsen: Lookup<Woonplaats> };

/** One address of the register. Huisletter and huisnummertoevoeging stay apart: joined they would be ambiguous (`A`+`1` = ``+`A1`). */
export type AddressRow = {
  postcode: string;
  huisnummer: number;
  huisletter: string;
  huisnummertoevoeging: string;
  straat: string;
  woonplaats: string;
};

/**
 * The address of a current nummeraanduiding, or the problem that prevents one: it has no postcode, or its street or place
 * is not among the current ones. Never guesses. `file` is for the report.
 */
export function toAddressRow(
  nummeraanduiding: Nummeraanduiding,
  reference: Reference,
  file: string,
): AddressRow | Problem {
  const { identificatie, postcode, openbareRuimte } = nummeraanduiding;
  if (postcode === null) return { kind: 'no_postcode', file, identificatie: identificatie() };
  const street = reference.openbareRuimten.get(openbareRuimte);
  if (!street) return { kind: 'street_missing', file, identificatie: identificatie(), detail: openbareRuimte };
  const woonplaats = nummeraanduiding.woonplaats ?? street.woonplaats;
  const place = reference.woonplaatsen.get(woonplaats);
  if (!place) return { kind: 'place_missing', file, identificatie: identificatie(), detail: woonplaats };
  return {
    postcode,
    huisnummer: nummeraanduiding.huisnummer,
    huisletter: nummeraanduiding.huisletter,
    huisnummertoevoeging: nummeraanduiding.huisnummertoevoeging,
    straat: street.naam,
    woonplaats: place.naam,
  };
}
