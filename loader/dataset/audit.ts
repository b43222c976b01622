import type { Reference } from './derive-rows.ts';
import { type Change, parseLine } from './lines.ts';
import { identificatieOf, type ObjectLine, referencesOf } from './objects.ts';

/**
 * Whether something that was recorded since the live date explains a change to a newer extract: of an object of the
 * address, its street or its place. Otherwise it is an error of the days before. @param lines of the part of the key
 */
export function isExplained(
  { before, after }: Change,
  lines: readonly ObjectLine[],
  changed: ReadonlySet<string>,
  { openbareRuimten }: Reference,
): boolean {
  const places = [before, after].flatMap((line) => (line === null ? [] : parseLine(line).places));
  const ids = new Set(places.flatMap(({ nummeraanduidingen = [] }) => nummeraanduidingen));
  const objects = places.flatMap(({ objecten = [] }) => objecten.map(({ identificatie }) => identificatie));
  for (const id of [...ids, ...objects]) if (changed.has(id)) return true;
  return lines.some((line) => {
    if (!ids.has(identificatieOf(line))) return false;
    const { street, place } = referencesOf(line);
    return [street, place, openbareRuimten.get(street)?.woonplaats ?? ''].some((id) => changed.has(id));
  });
}
