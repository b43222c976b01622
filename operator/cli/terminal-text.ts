import { styleText } from 'node:util';

/** The terminal that shows results; set by the executable. */
export const display: {
  /** Whether standard output and standard error show colours. */
  colours: { out: boolean; err: boolean };
  /**
   * How many columns standard output has when it is a terminal; results are then drawn for people.
   */
  columns: number | undefined;
} = { colours: { out: false, err: false }, columns: undefined };

/** Whether a stream shows colours: a terminal, unless `NO_COLOR` is set. */
export function hasColours(stream: NodeJS.WriteStream, env: NodeJS.ProcessEnv): boolean {
  return stream.isTTY === true && !env.NO_COLOR && env.TERM !== 'dumb';
}

/** The text in a style, if `stream` shows colours. */
export function painted(
  style: 'bold' | 'red',
  text: string,
  stream: 'out' | 'err' = 'out',
): string {
  return display.colours[stream] ? styleText(style, text, { validateStream: false }) : text;
}

/** A line, or several; `false`, `null` and `undefined` are none. */
export type Lines = string | false | null | undefined | readonly Lines[];

export function lines(...given: Lines[]): string {
  const all: unknown[] = given;
  return all
    .flat(Number.POSITIVE_INFINITY)
    .filter((line) => typeof line === 'string')
    .join('\n');
}

/** `12,345`. */
export function thousands(number: number): string {
  return number.toLocaleString('en');
}

/** `1 day`, `12,345 days`, `2 addresses`. */
export function counted(number: number, noun: string): string {
  const plural = noun.endsWith('s') ? `${noun}es` : `${noun}s`;
  return `${thousands(number)} ${number === 1 ? noun : plural}`;
}

const units = [
  ['minute', 60],
  ['hour', 3_600],
  ['day', 86_400],
  ['month', 30 * 86_400],
  ['year', 365 * 86_400],
] as const;

/**
 * How long ago a time or a UTC day is, for people: `3 minutes ago`, `yesterday`, `in 2 days`; `-`
 * for none.
 */
export function ago(at: string | null | undefined, now = Date.now()): string {
  if (!at) return '-';
  const isDay = /^\d{4}-\d\d-\d\d$/.test(at);
  const time = Date.parse(at);
  if (Number.isNaN(time)) return at;
  const seconds = ((isDay ? Math.floor(now / 86_400_000) * 86_400_000 : now) - time) / 1000;
  const days = Math.round(seconds / 86_400);
  if (isDay && Math.abs(days) < 2) return ['tomorrow', 'today', 'yesterday'][days + 1] ?? at;
  const distance = Math.abs(seconds);
  // Days up to two months, months up to two years: with a coarser unit too much is lost.
  const [unit, length] =
    units.findLast(([, length]) => distance >= (length > 86_400 ? 2 : 1) * length) ?? [];
  if (unit === undefined) return seconds >= 0 ? 'just now' : 'in less than a minute';
  const text = counted(Math.floor(distance / length), unit);
  return seconds >= 0 ? `${text} ago` : `in ${text}`;
}

/** Right-aligned cells: `1,234`, `12%`, `911 / 1,000`, and the words in place of a number. */
const amount = /^(?:-|unlimited|\d[\d,]*(?:\.\d+)?%?(?: \/ (?:unlimited|\d[\d,]*))?)$/;
const empty = /^-?$/;
const gap = '  ';

/** A number is shown as `1,234`, nothing as `-`. */
type Cells = readonly (string | number | null | undefined)[];

/**
 * Items as rows below a head, with numbers right-aligned. If that is wider than the terminal,
 * columns without any value are left out; if it still is, each row becomes a block of lines. No
 * number and no id is ever broken.
 */
export function table<T>(
  head: readonly string[],
  items: readonly T[],
  row: (item: T, at: number) => Cells,
): string {
  const { columns = Number.POSITIVE_INFINITY } = display;
  const rows = items
    .map(row)
    .map((cells) =>
      cells.map((cell) => (typeof cell === 'number' ? thousands(cell) : (cell ?? '-'))),
    );
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
      .map(({ width, isRight }, at) =>
        isRight ? cells[at]?.padStart(width) : cells[at]?.padEnd(width),
      )
      .join(gap)
      .trimEnd();
  return [
    painted('bold', line(shown.map(({ name }) => name))),
    ...rows.map((_, row) => line(shown.map(({ cells }) => cells[row] ?? ''))),
  ].join('\n');
}

/** Each row as its first cell with its other values below it. */
function blocks(
  [, ...head]: readonly string[],
  rows: readonly (readonly string[])[],
  columns: number,
): string {
  const width = Math.max(...head.map((name) => name.length));
  const indent = gap.repeat(2) + ' '.repeat(width);
  return rows
    .map(([title = '', ...cells]) => {
      const lines = head.flatMap((name, index) => {
        const cell = cells[index] ?? '';
        if (empty.test(cell)) return [];
        const [first = '', ...others] = wrapped(cell.split(' '), columns - indent.length);
        return [
          `${gap}${name.padEnd(width)}${gap}${first}`,
          ...others.map((text) => indent + text),
        ];
      });
      return [painted('bold', title), ...lines].join('\n');
    })
    .join('\n');
}

/** Words in lines of at most `columns`: a longer word keeps its line. */
export function wrapped(words: readonly string[], columns: number): string[] {
  const lines: string[] = [];
  for (const word of words) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= columns) {
      lines[lines.length - 1] = `${last} ${word}`;
    } else {
      lines.push(word);
    }
  }
  return lines;
}
