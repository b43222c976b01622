import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { type HistoryEntry, lowerRatios, ratioLosses, ratiosOf } from '../../../../tools/bench/history/history.ts';

const history: HistoryEntry[] = [
  { date: '2026-01-01', ratios: { 'request.cpu_ratio_to_bare': 2, 'read.cpu_ratio_to_inflate': 4 } },
  { date: '2026-02-01', ratios: { 'request.cpu_ratio_to_bare': 1 } },
];

describe('the history of ratios', () => {
  it('finds each ratio of a benchmark, and no absolute figure', () => {
    const figures = {
      cpu_ms_whole: 3,
      cpu_ratio_to_bare: 1.1,
      address: { cpu_ratio_to_bare: 0.9 },
      bare: { cpu_ratio_to_bare: 1 },
    };
    expect(ratiosOf('request', figures)).toEqual({
      'request.cpu_ratio_to_bare': 1.1,
      'request.address.cpu_ratio_to_bare': 0.9,
    });
  });

  it.each([
    ['tolerates a ratio that is 10 % above its last record', 1.1, []],
    ['reports a ratio that is more than 10 % above its last record', 1.11, ['request.cpu_ratio_to_bare']],
    ['accepts a ratio that is better', 0.5, []],
  ])('%s', (_, measured, lost) => {
    expect(ratioLosses(history, { 'request.cpu_ratio_to_bare': measured }).map(({ name }) => name)).toEqual(lost);
  });

  it('compares a ratio with the last entry that has it', () => {
    expect(ratioLosses(history, { 'read.cpu_ratio_to_inflate': 5, 'new.cpu_ratio_to_bare': 9 })).toEqual([
      { name: 'read.cpu_ratio_to_inflate', recorded: 4, date: '2026-01-01', measured: 5 },
    ]);
  });

  it('takes the lower of each ratio of two runs', () => {
    expect(lowerRatios({ a: 1, b: 3 }, { b: 2, c: 4 })).toEqual({ a: 1, b: 2, c: 4 });
  });

  it('is kept for every ratio that the docs publish of a lookup', () => {
    const kept: HistoryEntry[] = JSON.parse(readFileSync('docs/performance/history.json', 'utf8'));
    const names = kept.flatMap(({ ratios }) => Object.keys(ratios));
    for (const name of ['request', 'cold-start', 'local', 'batch']) {
      const published = JSON.parse(readFileSync(`docs/performance/${name}.json`, 'utf8'));
      expect(names).toEqual(expect.arrayContaining(Object.keys(ratiosOf(name, published))));
    }
  });
});
