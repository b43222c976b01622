/** A column of a file: its stable name for programs, and its heading for people. */
export type CsvColumn = { name: string; heading: string };

type Cell = string | number | null | undefined;

/**
 * A CSV file to download, for programs or, if the address says so, for people: Excel, as it is set
 * up in the Netherlands, splits columns at semicolons and knows UTF-8 by its mark.
 */
export function csvTable(
  { query }: { query: Readonly<Record<string, string>> },
  {
    name,
    columns,
    rows,
  }: { name: string; columns: readonly CsvColumn[]; rows: readonly (readonly Cell[])[] },
) {
  const isForPeople = query.for === 'people';
  const head = columns.map((column) => (isForPeople ? column.heading : column.name));
  const file = csvFile(name, csvText([head, ...rows], isForPeople ? ';' : ','));
  return isForPeople ? { ...file, file: `\u{feff}${file.file}`, type: excelType } : file;
}

/**
 * Rows as CSV (RFC 4180). A text that a spreadsheet would take for a formula gets an apostrophe
 * first.
 */
export function csvText(rows: readonly (readonly Cell[])[], separator = ','): string {
  const written = (cell: Cell): string => {
    const text = String(cell ?? '');
    const safe = /^[=+\-@\t]/.test(text) ? `'${text}` : text;
    return /[",;\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
  };
  return rows.map((row) => `${row.map(written).join(separator)}\r\n`).join('');
}

/** The type of a file for people, which tells the handler to keep its bytes. */
export const excelType = 'text/csv; charset=utf-8; header=present';

export function csvFile(name: string, file: string) {
  return { file, type: 'text/csv; charset=utf-8', name };
}
