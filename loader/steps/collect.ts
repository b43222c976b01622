import { type Load, type LoadCounts, mergeParts, type PartCounts } from '../dataset/load.ts';
import { referenceProblems } from '../dataset/reference-file.ts';
import { type Segments, shardOf } from '../dataset/shard.ts';
import { paths } from '../storage/paths.ts';
import { getJson, getObject, putJson, type Storage } from '../storage/storage.ts';
import type { Extracted } from './extract.ts';
import { lambdaStep } from './lambda-step.ts';
import type { Part } from './reference.ts';

const groupSize = 16;

/** Does `work` for each item, 16 at a time, and gives the results in the order of the items. */
export async function inGroups<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  for (let start = 0; start < items.length; start += groupSize) {
    results.push(...(await Promise.all(items.slice(start, start + groupSize).map(work))));
  }
  return results;
}

/** What the parts came to together, and where the rows of each postcode3 lie in each part. */
export type Collected = Pick<LoadCounts, keyof PartCounts> & { parts: { part: string; segments: Segments }[] };

/** One shard to merge. */
export type ShardItem = { shard: string };

/**
 * Makes sure that every part was read, adds up what they found, and says which shards there are to merge.
 * @throws MissingObjectError when a part is missing
 */
export async function collect(storage: Storage, loadId: string): Promise<{ shards: number }> {
  const load = await getJson<Load>(storage, paths.load(loadId));
  const parts = await getJson<Part[]>(storage, paths.parts(loadId));
  const extracted = await inGroups(parts, async ({ part }) => ({
    part,
    ...(await getJson<Extracted>(storage, paths.extracted(loadId, part))),
  }));
  const problems = referenceProblems(await getObject(storage, paths.reference(loadId)));
  const collected: Collected = {
    ...mergeParts([...extracted, { voorkomens: 0, addresses: 0, problems }]),
    parts: extracted.map(({ part, segments }) => ({ part, segments })),
  };
  await putJson(storage, paths.collected(loadId), collected);
  const shards = new Set(load.base?.snapshot.shards);
  for (const { segments } of extracted) for (const postcode3 of Object.keys(segments)) shards.add(shardOf(postcode3));
  return putShards(storage, loadId, shards);
}

/** Stores the items of the map that merges. */
export async function putShards(storage: Storage, load: string, shards: Iterable<string>): Promise<{ shards: number }> {
  const items: ShardItem[] = [...shards].sort().map((shard) => ({ shard }));
  await putJson(storage, paths.shards(load), items);
  return { shards: items.length };
}

/** Adds up the parts; `items` are the shards to merge. */
export const handler = /* @__PURE__ */ lambdaStep('collect', async ({ load }, deployment) => {
  const { shards } = await collect(deployment.storage, load);
  return { load, shards, items: deployment.itemsAt(paths.shards(load)) };
});
