import { mapConcurrently } from '../../lambdas/shared/concurrency.ts';
import type { Part } from '../dataset/load.ts';
import { type Load, type LoadCounts, mergeParts, type PartCounts } from '../dataset/load.ts';
import { editsByShard } from '../dataset/object-edits.ts';
import { checkedReference, referenceProblems } from '../dataset/reference-file.ts';
import { type Segments, shardOf } from '../dataset/shard.ts';
import { concurrentReads, getJson, getUnpacked, paths, putJson, putPacked, type Storage } from '../storage/storage.ts';
import { editsOfDivided } from './divided-objects.ts';
import type { Extracted } from './extract.ts';
import { lambdaStep } from './lambda-step.ts';

/** The counts of all parts together, the number of object lines, and where the lines of each postcode3 are stored. */
export type Collected = Pick<LoadCounts, keyof PartCounts> & {
  /** Only for a rollback: counted when the snapshot was made. */
  addresses?: number;
  objects: number;
  parts: { part: string; segments: Segments }[];
};

/** One shard to merge. */
export type ShardItem = { shard: string };

/**
 * Checks that every part was read, adds up their counts, and returns which shards to merge.
 * @throws MissingObjectError when a part is missing
 */
export async function collect(storage: Storage, loadId: string): Promise<{ shards: number; days: number }> {
  const load = await getJson<Load>(storage, paths.load(loadId));
  const parts = await getJson<Part[]>(storage, paths.parts(loadId));
  const extracted = await mapConcurrently(parts, concurrentReads, async ({ part }) => ({
    part,
    ...(await getJson<Extracted>(storage, paths.extracted(loadId, part))),
  }));
  const reference = await getUnpacked(storage, paths.reference(loadId), checkedReference);
  const collected: Collected = {
    ...mergeParts([...extracted, { voorkomens: 0, problems: referenceProblems(reference) }]),
    objects: extracted.reduce((sum, { objects }) => sum + objects, 0),
    parts: extracted.map(({ part, segments }) => ({ part, segments })),
  };
  const edits = editsByShard(await editsOfDivided(storage, load, extracted));
  for (const [shard, ofShard] of edits) await putJson(storage, paths.edits(loadId, shard), ofShard);
  await putPacked(storage, paths.snapshotReference(loadId), reference);
  await putJson(storage, paths.collected(loadId), collected);
  const shards = new Set([...(load.base?.snapshot.shards ?? []), ...edits.keys()]);
  for (const { segments } of extracted) for (const part of Object.keys(segments)) shards.add(shardOf(part));
  return { ...(await putShards(storage, loadId, shards)), days: load.days.length };
}

/** Stores the items of the map that merges. */
export async function putShards(storage: Storage, load: string, shards: Iterable<string>): Promise<{ shards: number }> {
  const items: ShardItem[] = [...shards].sort().map((shard) => ({ shard }));
  await putJson(storage, paths.shards(load), items);
  return { shards: items.length };
}

/**
 * Adds up the parts; `items` are the shards to merge, `days` the number of mutation deliveries to apply before that.
 */
export const handler = /* @__PURE__ */ lambdaStep('collect', async ({ load }, deployment) => {
  const { shards, days } = await collect(deployment.storage, load);
  return { load, shards, days, items: deployment.itemsAt(paths.shards(load)) };
});
