import { describe, expect, it } from '@jest/globals';
import { runBatches } from '../../../../tools/chaos/batches/run-batches.ts';
import { isFullSweep } from '../../../support/sweep.ts';

describe('batches at once on processes that are killed and lose answers', () => {
  it('are answered as the dataset says, and counted once and whole in every window, or not at all', async () => {
    const { counts, findings } = await runBatches({ batches: isFullSweep ? 50 : 10, seed: 5, killEvery: 4 });
    expect(findings).toEqual([]);
    // Without these the run shows nothing; a short one has some of them.
    const events = ['UpdateItem lost', 'UpdateItem failed', 'UpdateItem killed after', 'UpdateItem killed before'];
    const expected = isFullSweep ? [...events, 'served', 'windows passed'] : ['served', 'unknown'];
    expect(Object.keys(counts)).toEqual(expect.arrayContaining(expected));
  }, 300_000);
});
