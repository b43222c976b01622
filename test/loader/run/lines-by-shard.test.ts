import { describe, expect, it } from '@jest/globals';
import { LinesByShard } from '../../../loader/run/repair.ts';

describe('lines by shard', () => {
  it('come back sorted, every one of them, also where they were compressed meanwhile', () => {
    const lines = Array.from({ length: 1000 }, (_, index) => `${10 + (index % 3)}12RJ#${index * 7919}#\tWeesp\tStraat`);
    const kept = new LinesByShard(16);
    for (const line of lines.toReversed()) kept.add(line);
    expect(kept.shards.sort()).toEqual(['10', '11', '12']);
    for (const shard of kept.shards) {
      expect(kept.of(shard)).toEqual(lines.filter((line) => line.startsWith(shard)).sort());
    }
    expect(kept.of('13')).toEqual([]);
  });
});
