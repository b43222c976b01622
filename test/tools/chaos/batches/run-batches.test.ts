import { describe, expect } from '@jest/globals';
import { runBatches } from '../../../../tools/chaos/batches/run-batches.ts';
import { inSweep } from '../../../support/in-sweep.ts';

describe('batches at once on processes that are killed and lose answers', () => {
  inSweep(
    'are answered as the dataset says, and counted once and whole in every window, or not at all',
    async () => {
      const { counts, findings } = await runBatches({ batches: 50, seed: 5, killEvery: 4 });
      expect(findings).toEqual([]);
      // Without these the run shows nothing.
      const events = ['UpdateItem lost', 'UpdateItem failed', 'UpdateItem killed after', 'UpdateItem killed before'];
      expect(Object.keys(counts)).toEqual(expect.arrayContaining([...events, 'served', 'windows passed']));
    },
    300_000,
  );
});
