import { ChangeWriter, diff } from '../dataset/changes.ts';
import { addressPart, joinRows, type Line, unpackLines } from '../dataset/lines.ts';
import { countChange, type Load, noChanges, type ShardCounts } from '../dataset/load.ts';
import type { Snapshot } from '../dataset/manifest.ts';
import { postcode3sOf, ShardReader, ShardWriter } from '../dataset/shard.ts';
import { paths } from '../storage/paths.ts';
import { getJson, getObject, openObject, putJson, type Storage } from '../storage/storage.ts';
import { type Collected, inGroups } from './collect.ts';
import { lambdaStep } from './lambda-step.ts';

/** What `mergeShard` leaves; its being there says that the shard is finished. `files` names its change files. */
export type Merged = ShardCounts & { shard: string; files: { name: string; writes: number }[] };

/** Small enough for one worker to write within minutes, however few writes a second it may do. */
const usualChangesPerFile = 20_000;

/**
 * Makes the new snapshot of one shard, and what has to change to get there from the one that is served. A shard that is
 * already there is left as it is. Holds the shard as bytes, old and new, and only one postcode3 of it as lines.
 */
export async function mergeShard(
  storage: Storage,
  loadId: string,
  shard: string,
  changesPerFile = usualChangesPerFile,
): Promise<{ keys: number }> {
  const done = await storage.get(paths.merged(loadId, shard));
  if (done) return JSON.parse(done.toString()) as Merged;
  const load = await getJson<Load>(storage, paths.load(loadId));
  const before = await snapshotOf(storage, load.base?.snapshot ?? null, shard);
  const after = load.target ? await snapshotOf(storage, load.target.snapshot, shard) : await rowsOf(storage, load);

  const merged: Merged = { shard, files: [], ...noChanges() };
  const snapshot = new ShardWriter();
  const changes = new ChangeWriter();
  const flush = async () => {
    if (changes.count === 0) return;
    const name = `${shard}-${String(merged.files.length).padStart(3, '0')}`;
    merged.files.push({ name, writes: changes.count });
    await storage.put(paths.changes(loadId, name), changes.pack());
  };
  for (const postcode3 of postcode3sOf(shard)) {
    const lines = await after.next(postcode3);
    snapshot.write(lines);
    const keys = lines.reduce((count, line) => (addressPart(line) === null ? count : count + 1), 0);
    merged.keys += keys;
    merged.listKeys += lines.length - keys;
    for (const change of diff(await before.next(postcode3), lines)) {
      countChange(merged, change);
      changes.add(change);
      if (changes.count === changesPerFile) await flush();
    }
  }
  await flush();
  if (!load.target && merged.keys > 0) await storage.put(paths.snapshot(load.id, shard), snapshot.pack());
  await putJson(storage, paths.merged(loadId, shard), merged);
  return { keys: merged.keys };
}

/** Gives the lines of a shard in their order, one postcode3 at a time. */
type Lines = { next(postcode3: string): Line[] | Promise<Line[]> };

async function snapshotOf(storage: Storage, snapshot: Snapshot | null, shard: string): Promise<Lines> {
  if (!snapshot?.shards.includes(shard)) return new ShardReader(null);
  return new ShardReader(await getObject(storage, paths.snapshot(snapshot.id, shard)));
}

/** What all parts have found. */
async function rowsOf(storage: Storage, load: Load): Promise<Lines> {
  const { parts } = await getJson<Collected>(storage, paths.collected(load.id));
  const next = async (postcode3: string) => {
    const rows = await inGroups(parts, async ({ part, segments }) => {
      const segment = segments[postcode3];
      if (!segment) return [];
      const packed = await openObject(storage, paths.rows(load.id, part));
      return unpackLines(await packed.read(...segment));
    });
    return joinRows(rows.flat());
  };
  return { next };
}

/** Merges a batch of shards. */
export const handler = /* @__PURE__ */ lambdaStep('merge', async ({ Items, BatchInput: { load } }, { storage }) => {
  for (const { shard } of Items) await mergeShard(storage, load, shard);
  return { shards: Items.map(({ shard }) => shard) };
});
