import { html } from 'hono/html';
import type { Html } from './table.ts';

/**
 * A bar: its value, the names of its marks, and its text for a pointer or the keyboard focus. Marks
 * say that something happened that is no part of the value; the text says how often.
 */
export type Bar = {
  value: number;
  marks?: readonly string[];
  says: string;
  isUnfinished?: boolean;
};

/** The meaning of the bars or of a mark, in the colour of its name. */
export type ChartPart = { name: string; label: string };

export type Chart = {
  /** The chart in words, for people who can't see it. */
  label: string;
  /** The meaning of the bars. */
  bar: ChartPart;
  /** The meaning of each mark; each that a bar has is a row in the strip under the bars. */
  marks?: readonly ChartPart[];
  bars: readonly Bar[];
  /** A line from one bar on, unless it is so far above the bars that it would press them down. */
  limit?: { value: number; from: number; label: string } | undefined;
  /** The labels under the chart, from the first bar to the last. */
  axis: readonly string[];
  format: (value: number) => string;
};

/**
 * A chart under its legend, which names only the parts that are drawn. Its script (`chart.js`)
 * makes it one tab stop, and the arrow keys, a pointer or a finger move from bar to bar. Without
 * the script a pointer shows each bar's text. A table has the same values.
 */
export function chart({ label, bar, marks = [], bars, limit, axis, format }: Chart): Html {
  const most = Math.max(1, ...bars.map(({ value }) => value));
  const isDrawn = limit && limit.from < bars.length && limit.value > 0 && limit.value <= most * 3;
  const line = isDrawn ? limit : undefined;
  const step = gridStep(Math.max(most, line?.value ?? 0));
  const top = step * gridlines;
  const across = (value: number, name: string, from = 0) => {
    const y = percent(1 - value / top);
    return html`<line class="${name}" x1="${percent(from)}" x2="100%" y1="${y}" y2="${y}"></line>`;
  };
  const scale = Array.from({ length: gridlines + 1 }, (_, i) => step * (gridlines - i));
  const drawn = bars.map(({ value, says, isUnfinished }, i) => {
    const { x, width } = placeOf(i, bars.length);
    const column =
      value > 0
        ? html`<rect class="${bar.name}" x="${x}" y="${percent(1 - value / top)}" width="${width}" height="${percent(value / top)}"></rect>`
        : '';
    return html`<g class="bar-of${isUnfinished ? ' unfinished' : ''}"><title>${says}</title><rect class="reach" x="${percent(i / bars.length)}" y="0" width="${percent(1 / bars.length)}" height="100%"></rect>${column}</g>`;
  });
  const rows = marks.filter(({ name }) => bars.some((bar) => bar.marks?.includes(name)));
  const legend = [
    ...(bars.some(({ value }) => value > 0) ? [bar] : []),
    ...rows,
    ...(line ? [{ name: 'limit', label: line.label }] : []),
  ];
  return html`<ul class="legend">${legend.map(({ name, label }) => html`<li class="${name}">${label}</li>`)}</ul>
<div class="chart"><div class="scale" aria-hidden="true">${scale.map((mark) => html`<span>${format(mark)}</span>`)}</div>
<div class="plot"><svg role="img" aria-label="${label}">${scale.map((mark) => across(mark, 'grid'))}${drawn}${line ? across(line.value, 'limit', line.from / bars.length) : ''}</svg></div>
${rows.length > 0 ? strip(rows, bars) : ''}<div class="axis" aria-hidden="true">${axis.map((mark) => html`<span>${mark}</span>`)}</div></div>`;
}

const percent = (part: number) => `${(part * 100).toFixed(2)}%`;

/** Where a bar and its marks stand, beside the others. */
const placeOf = (index: number, count: number) => {
  return { x: percent((index + 0.1) / count), width: percent(0.8 / count) };
};

/**
 * The marks under the bars, a row for each meaning: on the scale of the bars they would be taken
 * for a part of the value, and look as if they counted against the limit.
 */
function strip(rows: readonly ChartPart[], bars: readonly Bar[]): Html {
  const marks = rows.flatMap(({ name }, row) =>
    bars.map((bar, i) => {
      if (!bar.marks?.includes(name)) return '';
      const { x, width } = placeOf(i, bars.length);
      return html`<rect class="${name}" x="${x}" y="${percent((row + 0.15) / rows.length)}" width="${width}" height="${percent(0.7 / rows.length)}" rx="2"></rect>`;
    }),
  );
  return html`<div class="strip" aria-hidden="true"><svg height="${rows.length}em">${marks}</svg></div>
`;
}

/** How many lines there are above the ground. */
const gridlines = 3;

/**
 * The value of the first line: a whole number that is easy to count with, so that the highest is
 * above every bar.
 */
function gridStep(most: number): number {
  const atLeast = most / gridlines;
  const unit = 10 ** Math.floor(Math.log10(atLeast));
  const steps = [1, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10].map((factor) => factor * unit);
  return steps.find((step) => step >= atLeast && Number.isInteger(step)) ?? Math.ceil(atLeast);
}
