import { joinRows, keyOf, type Line } from '../../loader/dataset/lines.ts';

/** The lines of a snapshot from lines with one place each, in any order. */
export function joinLines(rows: readonly Line[]): Line[] {
  const sorted = rows.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : keyOf(a) > keyOf(b) ? 1 : 0));
  return joinRows({
    keys: sorted.map(keyOf),
    places: sorted.map((row) => row.slice(keyOf(row).length + 1, row.lastIndexOf('\t') + 1)),
    ids: sorted.map((row) => row.slice(row.lastIndexOf('\t') + 1)),
  });
}
