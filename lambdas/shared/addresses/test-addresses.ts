import type { AddressRequest } from '../contract.ts';
import type { Place } from './address-item.ts';
import type { Found } from './address-store.ts';

/** Never issued: postcodes don't use the letters SA, SD and SS (decision 0122). */
const testPostcode = '9999SD';

const dorp = { straat: 'Teststraat', woonplaats: 'Testdorp' };
const stad = { straat: 'Teststraat', woonplaats: 'Teststad' };

/** By huisnummer, then by toevoeging: one that is found, one with toevoegingen only, one in several places. */
const places: Record<number, Record<string, Place[]>> = {
  1: { '': [dorp] },
  2: { A: [dorp], B: [dorp] },
  3: { '': [dorp, stad] },
};

/**
 * What a lookup of a test address finds, the same in every deployment and with any data. `null` for every other
 * postcode; this one is never looked up in the dataset.
 */
export function findTestAddress({ postcode, huisnummer, toevoeging }: AddressRequest): Found | null {
  if (postcode !== testPostcode) return null;
  const existing = places[huisnummer] ?? {};
  const found = existing[(toevoeging ?? '').toUpperCase()];
  if (found) return { places: found, toevoegingen: [] };
  return { places: [], toevoegingen: Object.keys(existing).map((one) => one || null) };
}
