import { html } from 'hono/html';
import type { Html } from '../visit/visit.ts';

/** A bar, with what it says to who points at it or moves to it. */
export type Bar = { value: number; says: string; isOver?: boolean; isUnfinished?: boolean };

export type Chart = {
  /** What the chart shows, in words, for who does not see it. */
  label: string;
  bars: readonly Bar[];
  /** A line across, if it is not far above the bars: that would press them to the ground. */
  limit?: number | undefined;
  /** What is written under the chart, from the first bar to the last. */
  axis: readonly string[];
  format: (value: number) => string;
};

/**
 * A chart as wide as its card. Its script (`chart.js`) makes it one tab stop, in which the arrow keys go from bar to
 * bar; without it a pointer shows what each bar says. A table beside it has the same values.
 */
export function chart({ label, bars, limit, axis, format }: Chart): Html {
  const most = Math.max(1, ...bars.map(({ value }) => value));
  const line = limit !== undefined && limit > 0 && limit <= most * 3 ? limit : undefined;
  const step = gridStep(Math.max(most, line ?? 0));
  const top = step * gridlines;
  const percent = (part: number) => `${(part * 100).toFixed(2)}%`;
  const across = (value: number, name: string) => {
    const y = percent(1 - value / top);
    return html`<line class="${name}" x2="100%" y1="${y}" y2="${y}"></line>`;
  };
  const marks = Array.from({ length: gridlines + 1 }, (_, i) => step * (gridlines - i));
  const drawn = bars.map(({ value, says, isOver, isUnfinished }, i) => {
    const name = isOver ? 'over' : isUnfinished ? 'unfinished' : '';
    return html`<rect class="${name}" x="${percent((i + 0.1) / bars.length)}" y="${percent(1 - value / top)}" width="${percent(0.8 / bars.length)}" height="${percent(value / top)}" rx="2"><title>${says}</title></rect>`;
  });
  return html`<div class="chart"><div class="scale" aria-hidden="true">${marks.map((mark) => html`<span>${format(mark)}</span>`)}</div>
<div class="plot"><svg role="img" aria-label="${label}">${marks.map((mark) => across(mark, 'grid'))}${drawn}${line === undefined ? '' : across(line, 'limit')}</svg></div>
<div class="axis" aria-hidden="true">${axis.map((mark) => html`<span>${mark}</span>`)}</div></div>`;
}

/** How many lines there are above the ground. */
const gridlines = 3;

/** The value of the first line: a whole number that is easy to count with, so that the highest is above every bar. */
function gridStep(most: number): number {
  const atLeast = most / gridlines;
  const unit = 10 ** Math.floor(Math.log10(atLeast));
  const steps = [1, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10].map((factor) => factor * unit);
  return steps.find((step) => step >= atLeast && Number.isInteger(step)) ?? Math.ceil(atLeast);
}
