import { describe, expect, it } from '@jest/globals';
import { chart } from '../../../portal/pages/chart.ts';

/** The chart of some values, as HTML. */
const drawn = async (values: number[], limit?: number) => {
  const bars = values.map((value) => ({ value, says: `${value}` }));
  return String(await chart({ label: 'x', bars, limit, axis: [], format: String }));
};
const scaleOf = (html: string) => [...html.matchAll(/<span>(\d+)<\/span>/g)].map(([, mark]) => Number(mark));

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
    expect(await drawn([100], 300)).toContain('class="limit"');
    for (const far of [301, 0, undefined]) expect(await drawn([100], far)).not.toContain('class="limit"');
  });
});
