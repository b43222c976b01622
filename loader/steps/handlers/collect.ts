import { collect } from '../collect.ts';
import { bucketStorage, itemsAt, lambdaStep, ofLoad } from '../lambda-step.ts';
import { paths } from '../paths.ts';

const storage = bucketStorage();

/** Adds up the parts; `items` are the shards to merge. */
export const handler = lambdaStep('collect', ofLoad, async ({ load }) => {
  const { shards } = await collect(storage, load);
  return { load, shards, items: itemsAt(paths.shards(load)) };
});
