import { unpackSegment } from '../addresses/line-segment.ts';
import { diff } from '../addresses/lines.ts';
import { type Load, loadId, type ManifestEntry, resultOf } from '../dataset/load.ts';
import { contentsOf, type Manifest, reject, rejectedDay } from '../dataset/manifest.ts';
import { LoadError } from '../load-error.ts';
import { type ChangeExample, changeExample } from '../verdict/load-counts.ts';
import type { LoadProposal } from '../verdict/load-report.ts';
import { findJson, getJson, getUnpacked, paths, putJson, type Storage } from './storage.ts';
import { currentManifest, type Discovery, finishPending, type LoadContext, putManifest } from './stored-manifest.ts';
import { type Merged, putSegments, type SegmentItem } from './work.ts';

/**
 * Prepares a rollback, named by its date or its load. While a load is half written, returns to the load published
 * before it by reversing its changes: they replace or remove whole items, whether written or not. @throws
 * UnknownSnapshotError, PendingLoadError for another snapshot meanwhile, WorkGoneError
 */
export async function rollback({ storage, addresses }: LoadContext, dateOrLoad: string): Promise<Discovery> {
  const { target, published, pending } = await snapshotNamed({ storage, addresses }, dateOrLoad);
  const base = pending ?? published;
  if (target.snapshot.id === base.snapshot.id) {
    if (pending) return finishPending(storage, pending);
    return { action: 'none', reason: `the snapshot of ${target.peildatum} is already live`, live: published };
  }
  const load: Load = {
    id: loadId(target.peildatum, `rollback ${target.load}`, base.load),
    kind: 'rollback',
    peildatum: target.peildatum,
    base: { load: base.load, peildatum: base.peildatum, snapshot: base.snapshot },
    target: { load: target.load, snapshot: target.snapshot },
    source: target.source,
    days: [],
    extract: target.extract,
    members: [],
    identity: target.identity,
  };
  const segments = new Set([...base.snapshot.segments, ...target.snapshot.segments]);
  await putJson(storage, paths.load(load.id), load);
  await putSegments(storage, load.id, segments);
  return { action: 'rollback', load: load.id, peildatum: load.peildatum };
}

/**
 * The snapshot that a rollback names, by its date or its load, the live one, and the load that is half written.
 * @throws UnknownSnapshotError, PendingLoadError if that load has to be undone or finished first
 */
export async function snapshotNamed(
  { storage, addresses }: LoadContext,
  dateOrLoad: string,
): Promise<{ target: ManifestEntry; published: ManifestEntry; pending: ManifestEntry | null }> {
  const { published, pending, history } = await currentManifest(storage, addresses);
  const target = history.find(({ load, peildatum }) => dateOrLoad === load || dateOrLoad === peildatum);
  const ends = [pending, published].map((entry) => entry?.snapshot.id);
  if (pending && published && target && !ends.includes(target.snapshot.id)) {
    throw new LoadError(
      'PendingLoadError',
      `The load of ${pending.peildatum} (${pending.load}) is half written. Undo it with "load rollback ${published.load}", which puts back ` +
        `the register of ${published.peildatum}; then roll back to ${target.peildatum}.`,
    );
  }
  if (published && target && (await isKept(storage, target))) return { target, published, pending };
  const kept = [];
  for (const entry of history.slice(1)) if (await isKept(storage, entry)) kept.push(entry.peildatum);
  const choice =
    kept.length > 0 ? `Choose one of: ${[...new Set(kept)].join(', ')}.` : 'Load an extract of that date instead.';
  throw new LoadError('UnknownSnapshotError', `No snapshot of ${dateOrLoad} is kept. ${choice}`);
}

async function isKept(storage: Storage, { snapshot: { id, segments } }: ManifestEntry): Promise<boolean> {
  const [first] = segments;
  return first === undefined || (await storage.open(paths.snapshot(id, first))) !== null;
}

/** Removes the snapshots of refused loads whose work has expired, which nobody can approve any more. */
export async function removeExpiredSnapshots(
  storage: Storage,
  { published, pending, history }: Manifest,
): Promise<void> {
  const named = [published, pending, ...history].flatMap(
    (entry) => entry && [entry.snapshot, entry.replayBase?.snapshot],
  );
  const kept = new Set(named.map((snapshot) => snapshot?.id));
  const stored = await storage.list(paths.snapshots);
  for (const [id, keys] of Map.groupBy(stored, (key) => key.split('/')[1] ?? '')) {
    if (kept.has(id) || (await storage.open(paths.load(id))) !== null) continue;
    await storage.delete(keys);
  }
}

/** Continues from the guard, without the extract. @throws UnknownLoadError, ForeignStorageError, WorkGoneError */
export async function resume({ storage, addresses }: LoadContext, loadId: string): Promise<Discovery> {
  const { pending } = await currentManifest(storage, addresses);
  if (pending) return finishPending(storage, pending);
  const [load, proposal] = await Promise.all([
    findJson<Load>(storage, paths.load(loadId)),
    storage.get(paths.proposal(loadId)),
  ]);
  if (!load || !proposal) {
    throw new LoadError(
      'UnknownLoadError',
      `The storage has no work of load ${loadId}: it is unknown, has expired, or another load was published since. Run "load run" ` +
        'with its extract; if it is refused again, approve that load.',
    );
  }
  return { action: 'rollback', load: loadId, peildatum: load.peildatum };
}

/** Rejects and removes a refused load: no check loads it again. @throws UnknownLoadError, NotRefusedError */
export async function rejectRefused(
  { storage, addresses }: LoadContext,
  loadId: string,
): Promise<Extract<Discovery, { action: 'none' }>> {
  const manifest = await currentManifest(storage, addresses);
  const load = await findJson<Load>(storage, paths.load(loadId));
  const proposal = await findJson<LoadProposal>(storage, paths.proposal(loadId));
  if (!load || !proposal) {
    throw new LoadError(
      'UnknownLoadError',
      `The storage has no work of load ${loadId}: it is unknown, was rejected already, or another load was published since. "load ` +
        'status" lists the refused loads.',
    );
  }
  if (proposal.go || manifest.pending?.load === loadId) {
    throw new LoadError(
      'NotRefusedError',
      `Load ${loadId} is not refused. To undo a published load, roll back to an earlier snapshot.`,
    );
  }
  if (load.kind === 'rollback') {
    throw new LoadError(
      'NotRefusedError',
      `Load ${loadId} is a rollback, which is never repeated by itself. Run "load discard ${loadId}".`,
    );
  }
  const live = new Set(manifest.published?.since?.map(rejectedDay));
  const contents = load.kind === 'extract' ? [load.identity] : contentsOf(load).filter((one) => !live.has(one));
  await putManifest(storage, reject(manifest, contents), manifest);
  const work = [paths.workOf(loadId), paths.snapshotOf(loadId)].map((prefix) => storage.list(prefix));
  await storage.delete((await Promise.all(work)).flat());
  const what =
    load.kind === 'extract' ? `the extract of ${load.peildatum}` : load.days.map(({ name }) => name).join(', ');
  const reason = `${what} was rejected and is not loaded again; a corrected one is, and "load run --again" loads it after all`;
  return { action: 'none', reason, live: manifest.published, rejected: loadId };
}

/** Every refused load onto the live dataset, by date. Publishing a load removes the work of all other loads. */
export async function refusedProposals(storage: Storage): Promise<LoadProposal[]> {
  const keys = await storage.list(paths.loads);
  const ids = keys.flatMap((key) => {
    const id = key.slice(paths.loads.length).split('/')[0] ?? '';
    return key === paths.proposal(id) ? [id] : [];
  });
  const proposals = await Promise.all(ids.map((id) => findRefusedProposal(storage, id)));
  return proposals.filter((proposal) => proposal !== null).toSorted((a, b) => (a.load < b.load ? -1 : 1));
}

/** The proposal of one refused load; `null` if it is not refused, or its work is gone. */
export async function findRefusedProposal(storage: Storage, load: string): Promise<LoadProposal | null> {
  const proposal = await findJson<LoadProposal>(storage, paths.proposal(load));
  return proposal && !proposal.go && !proposal.divided ? proposal : null;
}

/** Every change of an address by a merged load, by key, until the next load is published. @throws MissingObjectError */
export async function* differences(storage: Storage, loadId: string): AsyncGenerator<ChangeExample> {
  const load = await getJson<Load>(storage, paths.load(loadId));
  const { base } = load;
  const segments = await getJson<SegmentItem[]>(storage, paths.segments(loadId));
  const linesOf = async (snapshot: string, segment: string) =>
    getUnpacked(storage, paths.snapshot(snapshot, segment), unpackSegment);
  for (const { segment } of segments.toSorted((a, b) => (a.segment < b.segment ? -1 : 1))) {
    const { addresses, changes, objecten } = await getJson<Merged>(storage, paths.merged(loadId, segment));
    if (changes.added + changes.changed + changes.removed + (objecten?.changed ?? 0) === 0) continue;
    const before = base?.snapshot.segments.includes(segment) ? await linesOf(base.snapshot.id, segment) : [];
    const after = addresses > 0 ? await linesOf(resultOf(load), segment) : [];
    for (const change of diff(before, after)) {
      if (change.kind !== 'list') yield changeExample(change);
    }
  }
}
