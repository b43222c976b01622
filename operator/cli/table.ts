import Table from 'cli-table3';

/** A narrower column can't be read; the table is then wider than the terminal. */
const narrowest = 8;

/**
 * A table without colours: it reads the same on a terminal, in a file and in a ticket. On a terminal of so many
 * `columns` the widest columns are wrapped until it fits; never the first one, which has what people copy. Apart from
 * the other parts of a command, so that the smoke test starts without the client of DynamoDB.
 */
export function table(head: string[], rows: string[][], columns?: number): string {
  const made = new Table({
    head,
    style: { head: [], border: [], compact: true },
    ...(columns !== undefined && { colWidths: widthsOf([head, ...rows], columns), wordWrap: true }),
    wrapOnWordBoundary: false,
  });
  made.push(...rows);
  return made.toString();
}

/** The width of each column that must be narrower than its contents, with a space on both sides; `null` for others. */
function widthsOf(rows: readonly string[][], columns: number): (number | null)[] {
  const [head = []] = rows;
  const natural = head.map((_, index) =>
    Math.max(...rows.flatMap((row) => (row[index] ?? '').split('\n').map((line) => line.length))),
  );
  const widths = [...natural];
  // Each column has a border and two spaces, and the last one another border.
  let excess = widths.reduce((sum, width) => sum + width + 3, 1) - columns;
  for (; excess > 0; excess--) {
    const widest = Math.max(...widths.slice(1));
    if (widest <= narrowest) break;
    widths[widths.lastIndexOf(widest)] = widest - 1;
  }
  return widths.map((width, index) => (width === natural[index] ? null : width + 2));
}
