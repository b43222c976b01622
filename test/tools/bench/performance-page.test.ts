import { readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import type { Figures } from '../../../tools/bench/benchmark.ts';
import { recordedIn, withFigures } from '../../../tools/bench/performance-page.ts';

const page = 'docs/performance.md';
const text = readFileSync(page, 'utf8');
const recorded = recordedIn('docs/performance');

describe('docs/performance.md', () => {
  it('has in its tables what the files beside it have: `UPDATE_DOCS=1 npm test -- test/tools/bench` writes them', () => {
    const updated = withFigures(text, recorded);
    if (process.env.UPDATE_DOCS) writeFileSync(page, updated);
    expect(readFileSync(page, 'utf8')).toBe(updated);
    expect(updated.match(/^\| .* \| (?:yes|\*\*no\*\*) \|/gm)?.length).toBeGreaterThan(8);
  });

  it('says of a figure whether its limit is met', () => {
    const perSecond = (ratio: number) =>
      withFigures(text, (name) => {
        const figures = recorded(name);
        if (name !== 'local') return figures;
        return {
          ...figures,
          lookups_per_second_service: ratio * 1000,
          lookups_per_second_bare: 1000,
        };
      })
        .split('\n')
        .find((line) => line.startsWith('| lookups a second'));
    expect(perSecond(0.8)).toContain('| 0.8 (800 a second) | at least 0.8 | yes |');
    expect(perSecond(0.799)).toContain('| 0.799 (799 a second) | at least 0.8 | **no** |');
  });

  it('names a benchmark without a recorded run, and shows no figure of it', () => {
    const without = withFigures(text, (name) => (name === 'local' ? undefined : recorded(name)));
    expect(without).toMatch(/^No run is recorded of .*`npm run bench -- local`/m);
    expect(without).not.toContain('| lookups a second');
  });

  it('shows no run with another share of the country than its row is about', () => {
    const smaller = withFigures(text, (name) =>
      name === 'mutations' ? { ...recorded(name), scale: 0.05 } : recorded(name),
    );
    expect(smaller).toMatch(/^No run is recorded of .*`npm run bench -- mutations --scale 1`/m);
    expect(smaller).not.toContain('| a day of mutations');
  });

  it('refuses figures that have no number for a row', () => {
    const broken = (name: string): Figures | undefined =>
      name === 'request' ? { benchmark: name } : recorded(name);
    expect(() => withFigures(text, broken)).toThrow(
      'docs/performance/request.json has no number at cpu_ratio_to_bare.',
    );
  });
});
