import { painted } from './paint.ts';

/** Right-aligned cells: `1,234`, `12%`, `911 / 1,000`, and the words in place of a number. */
const amount = /^(?:-|unlimited|\d[\d,]*(?:\.\d+)?%?(?: \/ (?:unlimited|\d[\d,]*))?)$/;
const empty = /^-?$/;

/** A shorter line is blocks if it does not fit: wrapped cells would be unreadable beside each other. */
const gap = '  ';

/**
 * Rows below a head, with numbers right-aligned. If that is wider than `columns`, columns without any value are left
 * out, then the `optional` ones from the last, and then each row becomes a block of lines. No number and no id is ever
 * broken.
 */
export function table(
  head: readonly string[],
  rows: readonly (readonly string[])[],
  columns = Number.POSITIVE_INFINITY,
  optional: readonly string[] = [],
): string {
  const widths = head.map((name, index) => Math.max(name.length, ...rows.map((row) => cellOf(row, index).length)));
  const widthOf = (shown: readonly number[]) =>
    shown.reduce((sum, index) => sum + (widths[index] ?? 0), (shown.length - 1) * gap.length);
  let shown = head.map((_, index) => index);
  const leaveOut = (isOut: (index: number) => boolean) => {
    if (widthOf(shown) > columns) shown = shown.filter((index) => index === 0 || !isOut(index));
  };
  leaveOut((index) => rows.every((row) => empty.test(cellOf(row, index))));
  const all = shown;
  for (const name of optional.toReversed()) leaveOut((index) => head[index] === name);
  if (widthOf(shown) > columns) return blocks(head, rows, columns);
  const line = (cellAt: (index: number) => string) =>
    shown
      .map((index) => {
        const isRight = index > 0 && rows.every((row) => amount.test(cellOf(row, index)));
        return isRight ? cellAt(index).padStart(widths[index] ?? 0) : cellAt(index).padEnd(widths[index] ?? 0);
      })
      .join(gap)
      .trimEnd();
  const missing = all.filter((index) => !shown.includes(index)).map((index) => head[index]);
  return [
    painted(
      'bold',
      line((index) => head[index] ?? ''),
    ),
    ...rows.map((row) => line((index) => cellOf(row, index))),
    ...(missing.length > 0 ? wrapped(`Not shown on so narrow a terminal: ${missing.join(', ')}.`, columns) : []),
  ].join('\n');
}

/** Each row as its first cell with its other values below it. */
function blocks(head: readonly string[], rows: readonly (readonly string[])[], columns: number): string {
  const width = Math.max(...head.slice(1).map((name) => name.length));
  const indent = gap.repeat(2) + ' '.repeat(width);
  return rows
    .map((row) => {
      const lines = head.slice(1).flatMap((name, index) => {
        const cell = cellOf(row, index + 1);
        if (empty.test(cell)) return [];
        const [first = '', ...others] = wrapped(cell, columns - indent.length);
        return [`${gap}${name.padEnd(width)}${gap}${first}`, ...others.map((text) => indent + text)];
      });
      return [painted('bold', cellOf(row, 0)), ...lines].join('\n');
    })
    .join('\n');
}

function cellOf(row: readonly string[], index: number): string {
  return row[index] ?? '';
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
