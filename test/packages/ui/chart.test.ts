import { describe, expect, it } from '@jest/globals';
import { chart } from '../../../packages/ui/chart.ts';

const bar = { name: 'lookups', label: 'lookups!' };

/** The chart of some values, as HTML. */
const drawn = async (values: number[], limit?: number, from = 0) => {
  const bars = values.map((value) => ({ value, says: `${value}` }));
  const line = limit === undefined ? undefined : { value: limit, from, label: 'limit' };
  return String(await chart({ label: 'x', bar, bars, limit: line, axis: [], format: String }));
};
const scaleOf = (html: string) =>
  [...html.matchAll(/<span>(\d+)<\/span>/g)].map(([, mark]) => Number(mark));

describe('a chart', () => {
  it.each<[highest: number, limit: number | undefined, scale: number[]]>([
    [0, undefined, [3, 2, 1, 0]],
    [2, undefined, [3, 2, 1, 0]],
    [4, undefined, [6, 4, 2, 0]],
    [100, undefined, [120, 80, 40, 0]],
    [3_899, undefined, [4500, 3000, 1500, 0]],
    [3_899, 5_000, [6000, 4000, 2000, 0]],
    [3_899, 100_000, [4500, 3000, 1500, 0]],
  ])(
    'of at most %i with the limit %s has three lines with round numbers, above all bars',
    async (most, limit, scale) => {
      expect(scaleOf(await drawn([0, most], limit))).toEqual(scale);
    },
  );

  it('has a line for a limit that is not far above the bars', async () => {
    expect(await drawn([100], 300)).toContain('<line class="limit"');
    for (const far of [301, 0, undefined]) {
      expect(await drawn([100], far)).not.toContain('<line class="limit"');
    }
  });

  it('draws that line from the bar on for which it is the limit, and none after the last bar', async () => {
    expect(await drawn([5, 5, 5, 5], 6, 1)).toMatch(/<line class="limit" x1="25\.00%" x2="100%"/);
    expect(await drawn([5, 5, 5, 5], 6, 4)).not.toContain('<line class="limit"');
  });

  it('has marks in a strip of their own, on no scale, so that they do not count against the limit', async () => {
    const marks = ['quota', 'input'].map((name) => ({ name, label: `${name}!` }));
    const limit = { value: 60, from: 0, label: 'limit' };
    const values = [10, 50].map((value) => ({ value, says: 'x' }));
    const marked = values.map((one, i) => ({ ...one, marks: i === 0 ? ['quota', 'input'] : [] }));
    const of = { label: 'x', bar, marks, limit, axis: [], format: String };
    const [plain = '', html = ''] = await Promise.all(
      [values, marked].map(async (bars) => String(await chart({ ...of, bars }))),
    );
    const plotOf = (text: string) =>
      text.slice(text.indexOf('<div class="chart'), text.indexOf('</svg>'));
    expect(plotOf(html)).toBe(plotOf(plain));
    expect(plain).not.toContain('class="strip"');
    const strip = html.slice(html.indexOf('class="strip"'));
    expect(strip.match(/<rect class="\w+" x="[\d.]+%" y="[\d.]+%"/g)).toEqual([
      '<rect class="quota" x="5.00%" y="7.50%"',
      '<rect class="input" x="5.00%" y="57.50%"',
    ]);
  });

  it('has a legend that names only what is drawn', async () => {
    const marks = ['quota', 'input'].map((name) => ({ name, label: `${name}!` }));
    const of = { label: 'x', bar, marks, axis: [], format: String };
    const legendOf = async (value: number, given: string[], limit: number) => {
      const bars = [{ value, marks: given, says: 'x' }];
      const line = { value: limit, from: 0, label: 'limit!' };
      const html = String(await chart({ ...of, bars, limit: line }));
      return [...html.matchAll(/<li class="(\w+)">\1!<\/li>/g)].map(([, name]) => name);
    };
    expect(await legendOf(50, [], 60)).toEqual(['lookups', 'limit']);
    expect(await legendOf(50, ['input'], 6_000)).toEqual(['lookups', 'input']);
    expect(await legendOf(0, ['quota'], 0)).toEqual(['quota']);
  });
});
