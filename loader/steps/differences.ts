import { diff } from '../dataset/changes.ts';
import { unpackLines } from '../dataset/lines.ts';
import { type ChangeExample, changeExample, type Load } from '../dataset/load.ts';
import { paths } from '../storage/paths.ts';
import { getJson, getUnpacked, type Storage } from '../storage/storage.ts';
import type { ShardItem } from './collect.ts';
import type { Merged } from './merge.ts';

/**
 * Every change of an address by a load that was merged, in the order of the keys. Only shards with changes are read, one at a time. They
 * are kept until the next load is published.
 * @throws MissingObjectError
 */
export async function* differences(storage: Storage, loadId: string): AsyncGenerator<ChangeExample> {
  const { base, target } = await getJson<Load>(storage, paths.load(loadId));
  const shards = await getJson<ShardItem[]>(storage, paths.shards(loadId));
  const linesOf = async (snapshot: string, shard: string) =>
    getUnpacked(storage, paths.snapshot(snapshot, shard), unpackLines);
  for (const { shard } of shards.toSorted((a, b) => (a.shard < b.shard ? -1 : 1))) {
    const { keys, changes } = await getJson<Merged>(storage, paths.merged(loadId, shard));
    if (changes.added + changes.changed + changes.removed === 0) continue;
    const before = base?.snapshot.shards.includes(shard) ? await linesOf(base.snapshot.id, shard) : [];
    const after = keys > 0 ? await linesOf(target?.snapshot.id ?? loadId, shard) : [];
    for (const change of diff(before, after)) if (change.kind !== 'list') yield changeExample(change);
  }
}
