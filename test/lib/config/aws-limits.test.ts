import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { awsLimits } from '../../../lib/config/aws-limits.ts';

const written = (limit: number) => limit.toLocaleString('en-US');

describe('the limits of AWS', () => {
  it('are those that docs/cost.md says what to do about, in its order', () => {
    const [, chapter = ''] =
      /^## Limits, and what to do about them$([\s\S]*?)\n\nThese limits/m.exec(
        readFileSync('docs/cost.md', 'utf8'),
      ) ?? [];
    const said = chapter
      .trim()
      .split('\n')
      .slice(2)
      .map((row) => row.split(' | ')[0]?.match(/\b\d+,\d{3}\b/g));
    const { writesPerSecond, newTable, concurrency, startedInstances, requestsPerSecond } =
      awsLimits;
    expect(said).toEqual([
      [written(writesPerSecond)],
      [written(newTable.writesPerSecond), written(newTable.readsPerSecond)],
      [written(concurrency), '60,000'],
      [written(startedInstances)],
      [written(requestsPerSecond)],
    ]);
  });
});
