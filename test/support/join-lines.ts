import type { Place } from '../../core/place-fields.ts';
import { deriveLines } from '../../loader/addresses/derive.ts';
import { type Line, parseLine } from '../../loader/addresses/lines.ts';
import { lineBytes, linesOf } from '../../loader/register/stored-form.ts';

/**
 * What the lines with one place each of a part of the register lead to: the lines of a snapshot.
 */
export function joinLines(rows: readonly Line[]): Line[] {
  const openbareRuimten = new Map<
    string,
    { identificatie: string; naam: string; woonplaats: string }
  >();
  const woonplaatsen = new Map<
    string,
    { identificatie: string; naam: string; gemeente?: string }
  >();
  const known = new Map<string, string>();
  const streetOf = ({ straat: naam, woonplaats, gemeente }: Place) => {
    const name = JSON.stringify([naam, woonplaats, gemeente]);
    const street = known.get(name) ?? String(known.size).padStart(16, '0');
    known.set(name, street);
    const own = street.slice(-4);
    openbareRuimten.set(street, { identificatie: street, naam, woonplaats: own });
    woonplaatsen.set(own, {
      identificatie: own,
      naam: woonplaats,
      ...(gemeente !== undefined && { gemeente }),
    });
    return street;
  };
  const texts = rows.flatMap((row) => {
    const { key, places } = parseLine(row);
    return places.flatMap((place) =>
      (place.nummeraanduidingen ?? []).map((id) => `${key}\t${id}${streetOf(place)}....`),
    );
  });
  const by = { reference: { openbareRuimten, woonplaatsen }, file: '', objecten: false };
  const { lines } = deriveLines(lineBytes(texts.sort()), by, () => undefined);
  return linesOf(lines.subarray(0, -1));
}
