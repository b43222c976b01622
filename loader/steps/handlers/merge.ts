import * as z from 'zod';
import { batchOf, bucketStorage, lambdaStep, ofLoad } from '../lambda-step.ts';
import { mergeShard } from '../merge.ts';

const storage = bucketStorage();
const shardItem = z.object({ shard: z.string() });

/** Merges a batch of shards. */
export const handler = lambdaStep('merge', batchOf(shardItem, ofLoad), async ({ Items, BatchInput: { load } }) => {
  for (const { shard } of Items) await mergeShard(storage, load, shard);
  return { shards: Items.map(({ shard }) => shard) };
});
