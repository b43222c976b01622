import { describe, expect, it } from '@jest/globals';
import { runBatches } from '../../../../tools/chaos/batches/run-batches.ts';

describe('batches at once on processes that are killed and lose answers', () => {
  it('are answered as the dataset says, and counted once and whole in every window, or not at all', async () => {
    const { counts, findings } = await runBatches({ batches: 50, seed: 5, killEvery: 4 });
    expect(findings).toEqual([]);
    // Without these the run shows nothing. Which batches are refused depends on those that were killed.
    const events = ['UpdateItem lost', 'UpdateItem failed', 'UpdateItem killed after', 'UpdateItem killed before'];
    const outcomes = ['served', 'windows passed'];
    expect(counts).toEqual(
      expect.objectContaining(Object.fromEntries([...events, ...outcomes].map((event) => [event, expect.any(Number)]))),
    );
  }, 300_000);
});
