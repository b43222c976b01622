import { describe, expect, it } from '@jest/globals';
import { startStateMachineBench } from '../loader/state-machine-bench.ts';
import { start } from '../loader/steps/mutation-register.ts';
import { startForTests } from '../support/start-for-tests.ts';
import { isFullSweep, sweep } from '../support/sweep.ts';
import { walkConfiguration, walkDays } from './walk-days.ts';

const loader = startForTests(() => startStateMachineBench(walkConfiguration), 60_000);

describe('days with kills, corrections, rejections and extracts', () => {
  it.each(sweep([41, 42], 1))('end with exactly the table of the last extract (seed %i)', async (seed) => {
    const { happened, found, expected } = await walkDays(loader, {
      seed,
      start,
      days: isFullSweep ? 40 : 9,
      objects: 40,
    });
    expect(found).toEqual(expected);
    // Fewer days have some of it.
    expect(Object.values(happened).filter((times) => times > 0).length).toBeGreaterThan(isFullSweep ? 4 : 1);
  });
});
