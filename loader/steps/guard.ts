import { objections, type Thresholds } from '../dataset/guard.ts';
import { type Load, type LoadCounts, mergeShards, problemCount, problemCounts } from '../dataset/load.ts';
import { begin, type ManifestEntry } from '../dataset/manifest.ts';
import type { ImportSize } from '../storage/address-table.ts';
import { paths } from '../storage/paths.ts';
import { getJson, putJson, type Storage } from '../storage/storage.ts';
import { type Collected, inGroups, type ShardItem } from './collect.ts';
import { lambdaStep } from './lambda-step.ts';
import { type Plan, reportOf } from './load-report.ts';
import { type ChangeFile, currentManifest, type LoadContext, putManifest } from './manifest.ts';
import type { Merged } from './merge.ts';

/** Another load was published since this one began. */
export class StaleLoadError extends Error {
  override readonly name = 'StaleLoadError';
}

/**
 * Adds up all shards and holds them against the thresholds. If the load may go on, the manifest says so (`pending`):
 * from there on it will be finished, whatever happens. With `planOnly` nothing is begun.
 * @param owner must hold the lock
 * @param beforeApply hears of a load that may go on before that is said, and may throw to stop it there
 * @throws StaleLoadError, LockedError
 */
export async function guard(
  { storage, addresses }: LoadContext,
  { load: loadId, owner, planOnly = false }: { load: string; owner: string; planOnly?: boolean },
  thresholds: Thresholds,
  beforeApply: (size: ImportSize) => Promise<unknown> = async () => undefined,
): Promise<Plan> {
  const load = await getJson<Load>(storage, paths.load(loadId));
  const manifest = await currentManifest(storage, addresses);
  const base = planOnly ? (manifest.pending ?? manifest.published) : manifest.published;
  if ((base?.load ?? null) !== (load.base?.load ?? null)) {
    throw new StaleLoadError(`Another load was published since ${loadId} began. Run the load again.`);
  }
  const { counts, files, shards } = await addUp(storage, loadId);
  const approved = (await storage.open(paths.approval(loadId))) !== null;
  const mayGoBack = load.kind === 'rollback';
  const found = objections(counts, { peildatum: load.peildatum, mayGoBack }, base, thresholds);
  const plan: Plan = {
    load: loadId,
    peildatum: load.peildatum,
    livePeildatum: base?.peildatum ?? null,
    counts,
    objections: found,
    approved,
    go: found.length === 0 || approved,
  };
  await putJson(storage, paths.changeFiles(loadId), files);
  await putJson(storage, paths.plan(loadId), plan);
  if (!plan.go || planOnly) return plan;
  await beforeApply({ lines: counts.keys, writes: files.reduce((total, { writes }) => total + writes, 0) });
  await addresses.lock.check(owner);
  await putManifest(storage, begin(manifest, entryOf(load, plan, shards)));
  return plan;
}

async function addUp(storage: Storage, load: string) {
  const collected = await getJson<Collected>(storage, paths.collected(load));
  const items = await getJson<ShardItem[]>(storage, paths.shards(load));
  const merged = await inGroups(items, ({ shard }) => getJson<Merged>(storage, paths.merged(load, shard)));
  const { voorkomens, addresses, problems } = collected;
  const counts: LoadCounts = { voorkomens, addresses, problems, ...mergeShards(merged) };
  const files: ChangeFile[] = merged.flatMap((shard) =>
    shard.files.map(({ name, writes }) => ({ changes: name, writes })),
  );
  return { counts, files, shards: merged.filter(({ keys }) => keys > 0).map(({ shard }) => shard) };
}

function entryOf(load: Load, { counts }: Plan, shards: string[]): ManifestEntry {
  return {
    load: load.id,
    kind: load.kind,
    peildatum: load.peildatum,
    snapshot: load.target?.snapshot ?? { id: load.id, shards },
    identity: load.identity,
    source: load.source,
    voorkomens: counts.voorkomens,
    addresses: counts.addresses,
    keys: counts.keys,
    ...counts.changes,
    problems: counts.problems && problemCount(counts.problems),
    ...(counts.problems && { problemCounts: problemCounts(counts.problems) }),
    at: new Date().toISOString(),
  };
}

/** Lets one load, named by its id, go on in spite of what the guard has against it. */
export async function approve(storage: Storage, load: string): Promise<void> {
  await putJson(storage, paths.approval(load), { approved: new Date().toISOString() });
}

/** Decides whether the load may go on (`go`), and reports what it would change; `items` are the change files to apply. */
export const handler = /* @__PURE__ */ lambdaStep('guard', async (input, deployment) => {
  const { load, owner, planOnly = false, approve: approved } = input;
  const context = { storage: deployment.storage, addresses: deployment.addresses() };
  if (approved === load) await approve(context.storage, load);
  const plan = await guard(context, { load, owner, planOnly }, deployment.thresholds);
  const outcome = planOnly ? 'planned' : 'refused';
  return {
    load,
    go: plan.go && !planOnly,
    report: reportOf(plan, plan.go && !planOnly ? 'published' : outcome),
    items: deployment.itemsAt(paths.changeFiles(load)),
  };
});
