import { rowFields } from '../register/join-records.ts';
import type { Reference } from '../register/reference-file.ts';
import { linesOf } from '../register/stored-form.ts';
import { type Change, keyOf, parseLine } from './lines.ts';

/**
 * Tells whether something that was recorded since the live date explains a change to a newer extract: of an object of
 * the address, its street or its place. Otherwise it is an error of the days before.
 * @param rows of the part of the keys
 */
export function explainedBy(rows: Buffer, changed: ReadonlySet<string>, { openbareRuimten }: Reference) {
  const onChanged = new Set<string>();
  for (const row of linesOf(rows.subarray(0, -1))) {
    const fields = row.slice(keyOf(row).length + 1);
    const street = fields.slice(rowFields.street, rowFields.place);
    const named = [
      street,
      fields.slice(rowFields.place, rowFields.objects),
      openbareRuimten.get(street)?.woonplaats ?? '',
    ];
    if (named.some((id) => changed.has(id))) onChanged.add(fields.slice(0, rowFields.street));
  }
  return ({ before, after }: Change): boolean => {
    const places = [before, after].flatMap((line) => (line === null ? [] : parseLine(line).places));
    const ids = places.flatMap(({ nummeraanduidingen = [] }) => nummeraanduidingen);
    const objects = places.flatMap(({ objecten = [] }) => objecten.map(({ identificatie }) => identificatie));
    return ids.some((id) => onChanged.has(id)) || [...ids, ...objects].some((id) => changed.has(id));
  };
}
