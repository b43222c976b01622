import { diff, keyOf } from '../dataset/lines.ts';
import type { Load } from '../dataset/load.ts';
import { type ChangeExample, changeExample, type Objection } from '../dataset/load-counts.ts';
import { ObjectShardReader } from '../dataset/object-shard.ts';
import { identificatieOf } from '../dataset/objects.ts';
import { unpackLines } from '../dataset/stored-form.ts';
import type { ShardItem } from '../steps/collect.ts';
import type { Plan } from '../steps/load-report.ts';
import type { Merged } from '../steps/merge.ts';
import { findJson, findUnpacked, getJson, getUnpacked, paths, type Storage } from '../storage/storage.ts';

/** A load that the guard refused, or would refuse; it continues when it is approved. */
export type RefusedLoad = { load: string; peildatum: string; objections: Objection[] };

/** Every refused load onto the live dataset. Publishing a load removes the work of all other loads. */
export async function refusedLoads(storage: Storage): Promise<RefusedLoad[]> {
  return (await refusedPlans(storage)).map(({ load, peildatum, objections }) => ({ load, peildatum, objections }));
}

/** What each of them would change, by date. */
export async function refusedPlans(storage: Storage): Promise<Plan[]> {
  const keys = (await storage.list(paths.loads)).map(({ key }) => key);
  const ids = keys.flatMap((key) => {
    const id = key.slice(paths.loads.length).split('/')[0] ?? '';
    return key === paths.plan(id) ? [id] : [];
  });
  const plans = await Promise.all(ids.map((id) => findRefusedPlan(storage, id)));
  return plans.filter((plan) => plan !== null).toSorted((a, b) => (a.load < b.load ? -1 : 1));
}

/** The plan of one refused load; `null` where it is not refused, or its work is gone. */
export async function findRefusedPlan(storage: Storage, load: string): Promise<Plan | null> {
  const plan = await findJson<Plan>(storage, paths.plan(load));
  return plan && !plan.go ? plan : null;
}

/** A change with the BAG ids of the nummeraanduidingen that have the address, before or after it. */
export type Difference = ChangeExample & { nummeraanduidingen: string[] };

/**
 * Every change of an address by a merged load, ordered by key. Reads only shards with changes, one at a time. They are
 * kept until the next load is published.
 * @throws MissingObjectError
 */
export async function* differences(storage: Storage, loadId: string): AsyncGenerator<Difference> {
  const { base, target } = await getJson<Load>(storage, paths.load(loadId));
  const shards = await getJson<ShardItem[]>(storage, paths.shards(loadId));
  const linesOf = async (snapshot: string, shard: string) =>
    getUnpacked(storage, paths.snapshot(snapshot, shard), unpackLines);
  for (const { shard } of shards.toSorted((a, b) => (a.shard < b.shard ? -1 : 1))) {
    const { keys, changes } = await getJson<Merged>(storage, paths.merged(loadId, shard));
    if (changes.added + changes.changed + changes.removed === 0) continue;
    const before = base?.snapshot.shards.includes(shard) ? await linesOf(base.snapshot.id, shard) : [];
    const after = keys > 0 ? await linesOf(target?.snapshot.id ?? loadId, shard) : [];
    const snapshots = [base?.snapshot.id, target?.snapshot.id ?? loadId].flatMap((id) => id ?? []);
    const changed = [...diff(before, after)].flatMap((change) =>
      change.kind === 'list' ? [] : [changeExample(change)],
    );
    const ids = await nummeraanduidingenOf(storage, snapshots, shard, new Set(changed.map(({ key }) => key)));
    for (const change of changed) yield { ...change, nummeraanduidingen: [...(ids.get(change.key) ?? [])].sort() };
  }
}

/** The ids behind some keys in the objects of some snapshots. */
async function nummeraanduidingenOf(
  storage: Storage,
  snapshots: readonly string[],
  shard: string,
  keys: ReadonlySet<string>,
): Promise<Map<string, Set<string>>> {
  const ids = new Map<string, Set<string>>();
  for (const snapshot of snapshots) {
    const stored = paths.snapshotObjects(snapshot, shard);
    const lines = await findUnpacked(storage, stored, (bytes) => {
      const objects = new ObjectShardReader(bytes);
      return objects.parts.flatMap((part) => objects.lines(part));
    });
    for (const line of lines ?? []) {
      const key = keyOf(line);
      if (keys.has(key)) ids.set(key, (ids.get(key) ?? new Set()).add(identificatieOf(line)));
    }
  }
  return ids;
}
