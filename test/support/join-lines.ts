import { joinTexts } from '../../loader/dataset/join-rows.ts';
import { keyOf, type Line } from '../../loader/dataset/lines.ts';

/** The lines of a snapshot from lines with one place each, in any order. */
export function joinLines(rows: readonly Line[]): Line[] {
  return joinTexts(
    rows.map((row) => {
      const [placeAt, idAt] = [keyOf(row).length + 1, row.lastIndexOf('\t') + 1];
      return [keyOf(row), row.slice(placeAt, idAt), row.slice(idAt)];
    }),
  );
}
