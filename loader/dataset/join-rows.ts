import { keyOf, type Line } from './lines.ts';

/**
 * The lines of a snapshot from rows in any order: sorted by key, one a key, with its distinct places. Sorts `rows` in
 * place. The same rows give the same lines, whatever their order and however they were spread over workers.
 */
export function joinRows(rows: Line[]): Line[] {
  rows.sort();
  const lines: Line[] = [];
  let previous = '';
  let start = '';
  for (const row of rows) {
    if (row === previous) continue;
    previous = row;
    if (start !== '' && row.startsWith(start)) {
      lines.push(`${lines.pop()}${row.slice(start.length - 1)}`);
    } else {
      start = `${keyOf(row)}\t`;
      lines.push(row);
    }
  }
  return lines;
}
