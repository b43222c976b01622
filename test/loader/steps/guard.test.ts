import { describe, expect, it } from '@jest/globals';
import { step } from '../../../loader/steps/guard.ts';
import type { StepContext } from '../../../loader/steps/step.ts';
import { s3Storage } from '../../../loader/storage/s3.ts';
import { paths, putJson } from '../../../loader/storage/storage.ts';
import { MemoryS3 } from '../../support/memory-s3.ts';

/** The guard of a load that began on this base, where nothing is published. */
async function guardOf(base: { load: string } | null, planOnly = false) {
  const buckets = new MemoryS3();
  buckets.createBucket('b');
  const storage = s3Storage(buckets.newClient(), 'b');
  await putJson(storage, paths.load('mine'), { base });
  const addresses = { dataset: async () => null };
  const context = {
    storage,
    addresses,
    options: {},
    fence: async () => null,
  } as unknown as StepContext;
  const before = await storage.list('');
  const ended = step.run(context, { load: 'mine', owner: 'me', planOnly });
  const written = async () => (await storage.list('')).length - before.length;
  return { ended, written };
}

describe('the guard', () => {
  it.each([false, true])(
    'refuses a load whose base is no longer live, and says to run it again (plan: %s)',
    async (planOnly) => {
      const { ended, written } = await guardOf({ load: 'another' }, planOnly);
      await expect(ended).rejects.toMatchObject({
        name: 'StaleLoadError',
        message: 'Another load was published since mine began. Run the load again.',
      });
      expect(await written()).toBe(0);
    },
  );

  it('looks at the changes of a load whose base is live', async () => {
    const { ended } = await guardOf(null);
    await expect(ended).rejects.not.toMatchObject({ name: 'StaleLoadError' });
  });
});
