import { describe, expect, it } from '@jest/globals';
import { chart } from '../../../packages/look/chart.ts';

/** The chart of some values, as HTML. */
const drawn = async (values: number[], limit?: number, from = 0) => {
  const bars = values.map((value) => ({ values: [value], says: `${value}` }));
  const line = limit === undefined ? undefined : { value: limit, from, label: 'limit' };
  const parts = [{ name: 'lookups', label: 'lookups' }];
  return String(await chart({ label: 'x', parts, bars, limit: line, axis: [], format: String }));
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

  it('stacks the parts of a bar, below its highest line, with a legend for each part', async () => {
    const parts = ['lookups', 'quota'].map((name) => ({ name, label: `${name}!` }));
    const bars = [{ values: [50, 10], says: 'x' }];
    const html = String(await chart({ label: 'x', parts, bars, axis: [], format: String }));
    expect(scaleOf(html)).toEqual([60, 40, 20, 0]);
    expect(html).toMatch(/class="lookups" x="10\.00%" y="16\.67%" [^>]*height="83\.33%"/);
    expect(html).toMatch(/class="quota" x="10\.00%" y="0\.00%" [^>]*height="16\.67%"/);
    for (const name of ['lookups', 'quota']) {
      expect(html).toContain(`<li class="${name}">${name}!</li>`);
    }
  });
});
