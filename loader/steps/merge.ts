import { packChanges } from '../dataset/change-file.ts';
import { type Change, diff } from '../dataset/diff.ts';
import { joinRows } from '../dataset/join-rows.ts';
import { type Line, packLines, unpackLines } from '../dataset/lines.ts';
import type { Load, Snapshot } from '../dataset/load.ts';
import { countChange, noChanges, type ShardCounts } from '../dataset/load-counts.ts';
import { getJson, getObject, openObject, putJson, type Storage } from '../storage/storage.ts';
import type { Collected } from './collect.ts';
import { inGroups } from './in-groups.ts';
import { paths } from './paths.ts';

/** What `mergeShard` leaves; its being there says that the shard is finished. `files` names its change files. */
export type Merged = ShardCounts & { shard: string; files: { name: string; writes: number }[] };

/** Small enough for one worker to write within minutes, however few writes a second it may do. */
const usualChangesPerFile = 20_000;

/**
 * Makes the new snapshot of one shard, and what has to change to get there from the one that is served. A shard that is
 * already there is left as it is. Holds the shard's lines, old and new: at most 700 thousand each, 250 MB.
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
  const before = await linesOf(storage, load.base?.snapshot ?? null, shard);
  const after = load.target
    ? await linesOf(storage, load.target.snapshot, shard)
    : await newLines(storage, load, shard);

  const merged: Merged = { shard, files: [], ...noChanges(), keys: after.length };
  let changes: Change[] = [];
  const flush = async () => {
    if (changes.length === 0) return;
    const name = `${shard}-${String(merged.files.length).padStart(3, '0')}`;
    await storage.put(paths.changes(loadId, name), packChanges(changes));
    merged.files.push({ name, writes: changes.length });
    changes = [];
  };
  for (const change of diff(before, after)) {
    countChange(merged, change);
    changes.push(change);
    if (changes.length === changesPerFile) await flush();
  }
  await flush();
  await putJson(storage, paths.merged(loadId, shard), merged);
  return { keys: after.length };
}

async function linesOf(storage: Storage, snapshot: Snapshot | null, shard: string): Promise<Line[]> {
  if (!snapshot?.shards.includes(shard)) return [];
  return unpackLines(await getObject(storage, paths.snapshot(snapshot.id, shard)));
}

async function newLines(storage: Storage, load: Load, shard: string): Promise<Line[]> {
  const { parts } = await getJson<Collected>(storage, paths.collected(load.id));
  const segments = await inGroups(parts, async ({ part, segments }) => {
    const [position, length] = segments[shard] ?? [0, 0];
    if (length === 0) return [];
    const rows = await openObject(storage, paths.rows(load.id, part));
    return unpackLines(await rows.read(position, length));
  });
  const lines = joinRows(segments.flat());
  if (lines.length > 0) await storage.put(paths.snapshot(load.id, shard), packLines(lines));
  return lines;
}
