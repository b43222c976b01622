import { display, painted } from './paint.ts';

/** Right-aligned cells: `1,234`, `12%`, `911 / 1,000`, and the words in place of a number. */
const amount = /^(?:-|unlimited|\d[\d,]*(?:\.\d+)?%?(?: \/ (?:unlimited|\d[\d,]*))?)$/;
const empty = /^-?$/;
const gap = '  ';

/**
 * Rows below a head, with numbers right-aligned. If that is wider than `columns`, columns without any value are left
 * out; if it still is, each row becomes a block of lines. No number and no id is ever broken.
 */
export function table(
  head: readonly string[],
  rows: readonly (readonly string[])[],
  columns = display.columns ?? Number.POSITIVE_INFINITY,
): string {
  const all = head.map((name, index) => {
    const cells = rows.map((row) => row[index] ?? '');
    return {
      name,
      cells,
      width: Math.max(name.length, ...cells.map((cell) => cell.length)),
      isRight: index > 0 && cells.every((cell) => amount.test(cell)),
      isEmpty: index > 0 && cells.every((cell) => empty.test(cell)),
    };
  });
  const fits = (shown: typeof all) =>
    shown.reduce((sum, { width }) => sum + width + gap.length, -gap.length) <= columns;
  const shown = fits(all) ? all : all.filter(({ isEmpty }) => !isEmpty);
  if (!fits(shown)) return blocks(head, rows, columns);
  const line = (cells: string[]) =>
    shown
      .map(({ width, isRight }, at) => (isRight ? cells[at]?.padStart(width) : cells[at]?.padEnd(width)))
      .join(gap)
      .trimEnd();
  return [
    painted('bold', line(shown.map(({ name }) => name))),
    ...rows.map((_, row) => line(shown.map(({ cells }) => cells[row] ?? ''))),
  ].join('\n');
}

/** Each row as its first cell with its other values below it. */
function blocks([, ...head]: readonly string[], rows: readonly (readonly string[])[], columns: number): string {
  const width = Math.max(...head.map((name) => name.length));
  const indent = gap.repeat(2) + ' '.repeat(width);
  return rows
    .map(([title = '', ...cells]) => {
      const lines = head.flatMap((name, index) => {
        const cell = cells[index] ?? '';
        if (empty.test(cell)) return [];
        const [first = '', ...others] = wrapped(cell, columns - indent.length);
        return [`${gap}${name.padEnd(width)}${gap}${first}`, ...others.map((text) => indent + text)];
      });
      return [painted('bold', title), ...lines].join('\n');
    })
    .join('\n');
}

/** Lines of at most `columns`, broken at spaces only: a longer word keeps its line. */
function wrapped(text: string, columns: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= columns) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}
