import { html } from 'hono/html';
import type { Html } from './table.ts';

/**
 * A bar: the values of its parts from the ground up, and its text for a pointer or the keyboard
 * focus.
 */
export type Bar = { values: readonly number[]; says: string; isUnfinished?: boolean };

/** The meaning of a part of each bar, in the colour of its name. */
export type ChartPart = { name: string; label: string };

export type Chart = {
  /** The chart in words, for people who can't see it. */
  label: string;
  parts: readonly ChartPart[];
  bars: readonly Bar[];
  /**
   * In the legend, and as a line from one bar on, unless it is so far above the bars that it would
   * press them down.
   */
  limit?: { value: number; from: number; label: string } | undefined;
  /** The labels under the chart, from the first bar to the last. */
  axis: readonly string[];
  format: (value: number) => string;
};

/**
 * A chart under its legend. Its script (`chart.js`) makes it one tab stop, and the arrow keys, a
 * pointer or a finger move from bar to bar. Without the script a pointer shows each bar's text. A
 * table beside it has the same values.
 */
export function chart({ label, parts, bars, limit, axis, format }: Chart): Html {
  const sumOf = ({ values }: Bar) => values.reduce((sum, value) => sum + value, 0);
  const most = Math.max(1, ...bars.map(sumOf));
  const told = limit && limit.from < bars.length ? limit : undefined;
  const line = told && told.value > 0 && told.value <= most * 3 ? told : undefined;
  const step = gridStep(Math.max(most, line?.value ?? 0));
  const top = step * gridlines;
  const percent = (part: number) => `${(part * 100).toFixed(2)}%`;
  const across = (value: number, name: string, from = 0) => {
    const y = percent(1 - value / top);
    return html`<line class="${name}" x1="${percent(from)}" x2="100%" y1="${y}" y2="${y}"></line>`;
  };
  const marks = Array.from({ length: gridlines + 1 }, (_, i) => step * (gridlines - i));
  const drawn = bars.map(({ values, says, isUnfinished }, i) => {
    let below = 0;
    const stacked = values.map((value, part) => {
      below += value;
      const at = { x: percent((i + 0.1) / bars.length), y: percent(1 - below / top) };
      return value > 0
        ? html`<rect class="${parts[part]?.name}" x="${at.x}" y="${at.y}" width="${percent(0.8 / bars.length)}" height="${percent(value / top)}"></rect>`
        : '';
    });
    return html`<g class="bar-of${isUnfinished ? ' unfinished' : ''}"><title>${says}</title><rect class="reach" x="${percent(i / bars.length)}" y="0" width="${percent(1 / bars.length)}" height="100%"></rect>${stacked}</g>`;
  });
  const legend = [...parts, ...(told ? [{ name: 'limit', label: told.label }] : [])];
  return html`<ul class="legend">${legend.map(({ name, label }) => html`<li class="${name}">${label}</li>`)}</ul>
<div class="chart"><div class="scale" aria-hidden="true">${marks.map((mark) => html`<span>${format(mark)}</span>`)}</div>
<div class="plot"><svg role="img" aria-label="${label}">${marks.map((mark) => across(mark, 'grid'))}${drawn}${line ? across(line.value, 'limit', line.from / bars.length) : ''}</svg></div>
<div class="axis" aria-hidden="true">${axis.map((mark) => html`<span>${mark}</span>`)}</div></div>`;
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
