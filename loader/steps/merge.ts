import { addProblem, emptyReport, type ProblemReport } from '../bag/problem-report.ts';
import { ChangeWriter, diff } from '../dataset/changes.ts';
import { addressPart, joinRows, type Line, unpackLines } from '../dataset/lines.ts';
import { countChange, extractName, type Load, noChanges, type ShardCounts } from '../dataset/load.ts';
import type { Snapshot } from '../dataset/manifest.ts';
import { type Edits, edited } from '../dataset/object-edits.ts';
import { ObjectShardWriter } from '../dataset/object-shard.ts';
import { deriveRows } from '../dataset/objects.ts';
import { type ReferenceMemory, referenceAt } from '../dataset/reference-file.ts';
import { postcode3sOf, ShardReader, ShardWriter } from '../dataset/shard.ts';
import { paths } from '../storage/paths.ts';
import { getJson, getObject, openObject, putJson, type Storage } from '../storage/storage.ts';
import { type Collected, inGroups } from './collect.ts';
import { lambdaStep } from './lambda-step.ts';
import { readReference } from './reference.ts';

/** What `mergeShard` leaves; its being there says that the shard is finished. `files` names its change files. */
export type Merged = ShardCounts & {
  shard: string;
  files: { name: string; writes: number }[];
  addresses: number;
  problems: ProblemReport;
};

/** Small enough for one worker to write within minutes, however few writes a second it may do. */
const usualChangesPerFile = 20_000;

/**
 * Makes the new snapshot of one shard, objects and lines, and what has to change to get there from the live dataset. A shard
 * that is already there is left as it is. Holds the shard as bytes, old and new, and only one postcode3 of it as lines.
 * @param memory what `readReference` returns
 */
export async function mergeShard(
  storage: Storage,
  loadId: string,
  shard: string,
  memory: ReferenceMemory | undefined,
  changesPerFile = usualChangesPerFile,
): Promise<{ objects: number }> {
  if (await storage.open(paths.merged(loadId, shard))) return { objects: 0 };
  const load = await getJson<Load>(storage, paths.load(loadId));
  const before = await snapshotOf(storage, load.base?.snapshot ?? null, shard);
  const merged: Merged = { shard, files: [], ...noChanges(), addresses: 0, problems: emptyReport() };
  const objects = new ObjectShardWriter();
  const after = load.target
    ? await snapshotOf(storage, load.target.snapshot, shard)
    : await derived(storage, load, shard, memory, objects, merged);

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
  if (!objects.isEmpty) await storage.put(paths.snapshotObjects(load.id, shard), objects.pack());
  await putJson(storage, paths.merged(loadId, shard), merged);
  return { objects: objects.count };
}

/** Gives the lines of a shard in their order, one postcode3 at a time. */
type Lines = { next(postcode3: string): Line[] | Promise<Line[]> };

async function snapshotOf(storage: Storage, snapshot: Snapshot | null, shard: string): Promise<Lines> {
  if (!snapshot?.shards.includes(shard)) return new ShardReader(null);
  return new ShardReader(await getObject(storage, paths.snapshot(snapshot.id, shard)));
}

/** The lines of all addresses that follow from the objects; adds these to `objects`, and what was found to `merged`. */
async function derived(
  storage: Storage,
  load: Load,
  shard: string,
  memory: ReferenceMemory | undefined,
  objects: ObjectShardWriter,
  merged: Merged,
): Promise<Lines> {
  if (!memory) throw new Error('merging needs the streets and places of the load');
  const reference = referenceAt(memory);
  const { parts } = await getJson<Collected>(storage, paths.collected(load.id));
  const stored = await storage.get(paths.edits(load.id, shard));
  const edits: Edits = stored ? JSON.parse(stored.toString()) : {};
  const next = async (postcode3: string) => {
    const read = await inGroups(parts, async ({ part, segments }) => {
      const segment = segments[postcode3];
      if (!segment) return [];
      const packed = await openObject(storage, paths.rows(load.id, part));
      return unpackLines(await packed.read(...segment));
    });
    const lines = edited(read.flat(), edits[postcode3] ?? { remove: [], add: [] });
    objects.add(postcode3, lines, load.peildatum);
    const rows = deriveRows(lines, reference, load.peildatum, extractName(load), (problem) =>
      addProblem(merged.problems, problem),
    );
    merged.addresses += rows.length;
    return joinRows(rows);
  };
  return { next };
}

/** The streets and places of the load that this worker is at: 18 MB, read once a worker. */
let held: { load: string; reference: ReferenceMemory | undefined } | undefined;

/** Merges a batch of shards. */
export const handler = /* @__PURE__ */ lambdaStep('merge', async ({ Items, BatchInput: { load } }, { storage }) => {
  if (held?.load !== load) held = { load, reference: await readReference(storage, load) };
  for (const { shard } of Items) await mergeShard(storage, load, shard, held.reference);
  return { shards: Items.map(({ shard }) => shard) };
});
