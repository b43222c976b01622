import { randomInt } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { StoredAddress } from '../../core/addresses/address-item.ts';
import { diff, type Line, parseLine } from '../addresses/lines.ts';
import {
  type ChangeFile,
  contentsOf,
  emptyManifest,
  hasObjecten,
  isLabelOf,
  type Load,
  loadId,
  type Manifest,
  type ManifestEntry,
  nameOfLoad,
  reject,
  rejectedDay,
  resultOf,
  waysToEnd,
} from '../dataset/load.ts';
import { type ChangeExample, changeExample } from '../guard/load-counts.ts';
import type { LoadProposal, Unchanged } from '../guard/load-report.ts';
import { LoadError } from '../load-error.ts';
import { checkedJson, lineBytes, parseCheckedJson } from '../register/stored-form.ts';
import type { AddressTable } from './address-table.ts';
import {
  DamagedObjectError,
  findJson,
  getJson,
  paths,
  putJson,
  type Storage,
  UnusableObjectError,
} from './storage.ts';
import { snapshotLines } from './stored-register.ts';
import { type Merged, putSegments, type SegmentItem } from './work.ts';

/** The action that Discover chose; each begins at another step (`load-steps.ts`). */
export type LoadAction = 'load' | 'mutations' | 'rollback' | 'finish';

/** The context of steps that use the table. */
export type LoadContext = {
  storage: Storage;
  addresses: AddressTable;
  /** Whether an extract is loaded with its adresseerbare objecten. */
  objecten?: boolean;
  /** Until the step times out; unlimited if absent. */
  remainingMilliseconds?: () => number;
};

/** A manifest and the bytes that it was read from: `null` if none existed. */
export type StoredManifest = Manifest & { readonly stored: Buffer | null };

/**
 * The manifest of a storage, or its copy if it is damaged or missing. @throws DamagedObjectError
 */
export async function readManifest(storage: Storage): Promise<StoredManifest> {
  const stored = await storage.get(paths.manifest);
  try {
    if (stored) return { ...parseCheckedJson<Manifest>(stored, paths.manifest), stored };
  } catch (cause) {
    const copy = await findJson<Manifest>(storage, paths.manifestCopy);
    if (copy) return { ...copy, stored };
    throw new DamagedObjectError(paths.manifest, { cause });
  }
  return { ...((await findJson<Manifest>(storage, paths.manifestCopy)) ?? emptyManifest), stored };
}

/**
 * The manifest, checked against the table: an empty table needs everything. With `refuseUnmarked`
 * also refuses addresses without the item that names their snapshot: a load would leave addresses
 * that it does not overwrite.
 * @throws ForeignStorageError for a load that this storage does not know, UnmarkedTableError
 */
export async function currentManifest(
  storage: Storage,
  addresses: AddressTable,
  { refuseUnmarked = false } = {},
): Promise<StoredManifest> {
  const [manifest, dataset] = await Promise.all([readManifest(storage), addresses.dataset()]);
  const { published, stored } = manifest;
  if (!dataset) {
    // Without a manifest it is an interrupted first load, or a lost storage: then the runbook
    // prescribes a load and a repair.
    if (!published) return manifest;
    if (!refuseUnmarked || !(await addresses.hasAddresses())) return { ...emptyManifest, stored };
    throw new LoadError(
      'UnmarkedTableError',
      'The addresses table holds addresses, but not the item "#dataset" that names their snapshot. Run "load repair" to make ' +
        'the table equal to the live snapshot of this storage.',
    );
  }
  if (!isLabelOf(manifest, dataset.load)) {
    throw new LoadError(
      'ForeignStorageError',
      `The addresses table holds the snapshot of ${dataset.peildatum} (load ${dataset.load || 'unknown'}), which this ` +
        'storage does not know. Use the storage of that load, or run "load repair" to make the table equal to the ' +
        'snapshot that this storage knows. If the storage was lost, see docs/runbook.md#restore-a-table.',
    );
  }
  return manifest;
}

/**
 * Replaces the manifest that was read as `over`. @throws ObjectChangedError if another load has
 * replaced it since
 */
export async function putManifest(
  storage: Storage,
  manifest: Manifest,
  over: StoredManifest,
): Promise<void> {
  const { published, pending, history, rejected } = manifest;
  const value = { published, pending, history, rejected };
  // First: the copy may be ahead of the table, as the manifest may be, but must never be behind it.
  await putJson(storage, paths.manifestCopy, value);
  await storage.put(paths.manifest, checkedJson(value, paths.manifest), over.stored);
}

/**
 * The next action: none, finish a load interrupted while applying, load an extract, or roll back to
 * a snapshot.
 */
export type Discovery = Unchanged | { action: LoadAction; load: string; peildatum: string };

/** Finishes a load interrupted while applying, before anything else. @throws WorkGoneError */
export async function finishPending(storage: Storage, pending: ManifestEntry): Promise<Discovery> {
  const { load, peildatum } = pending;
  const files = await findJson<ChangeFile[]>(storage, paths.changeFiles(load));
  const there = new Set(await storage.list(paths.changesAll(load)));
  const isWhole = files?.every(({ changes }) => there.has(paths.changes(load, changes)));
  if (!isWhole) {
    throw new LoadError(
      'WorkGoneError',
      `${nameOfLoad(pending)} began to write at ${pending.at} and was interrupted, and the work that it would continue ` +
        'from is gone: it is kept for 30 days. Run "load repair", which completes the table without it, and then the ' +
        'load again.',
    );
  }
  return { action: 'finish', load, peildatum };
}

/** The live and pending loads, and the age of the live dataset. Plain JSON. */
export type LoadStatus = Pick<Manifest, 'published' | 'pending'> & {
  /** Whole days since the peildatum; `null` when nothing is live. */
  ageDays: number | null;
};

/** @throws ForeignStorageError */
export async function loadStatus(context: LoadContext, now = Date.now()): Promise<LoadStatus> {
  const { published, pending } = await currentManifest(context.storage, context.addresses);
  return { published, pending, ageDays: published && ageInDays(published, now) };
}

/** Whole days since the peildatum. */
export function ageInDays(
  { peildatum }: Pick<ManifestEntry, 'peildatum'>,
  now = Date.now(),
): number {
  return Math.floor((now - Date.parse(peildatum)) / 86_400_000);
}

/**
 * Published loads, newest first; a rollback can return to `kept` loads. @throws ForeignStorageError
 */
export async function loadHistory({
  storage,
  addresses,
}: LoadContext): Promise<(ManifestEntry & { kept: boolean })[]> {
  const { history } = await currentManifest(storage, addresses);
  const keys = await storage.list(paths.snapshots);
  const snapshots = new Set(keys.map((key) => key.split('/')[1]));
  return history.map((entry) => ({ ...entry, kept: snapshots.has(entry.snapshot.id) }));
}

/** The result of comparing some keys. Plain JSON. */
export type TableSample = {
  addresses: number;
  /** The keys whose items differ from the live snapshot; "load repair" corrects them. */
  differing: string[];
  /** Stored objects of the snapshot that can't be read. */
  damaged: string[];
};

const sampledSegments = 8;
const keysPerSegment = 25;

/**
 * Compares 200 random addresses in 8 segments with the live snapshot: if 1% are damaged, a daily
 * run finds it with 87% probability. `null` if nothing is live, and between two snapshots. @throws
 * ForeignStorageError
 */
export async function sampleTable({
  storage,
  addresses,
}: LoadContext): Promise<TableSample | null> {
  const { published, pending } = await currentManifest(storage, addresses);
  if (!published || pending) return null;
  const damaged: string[] = [];
  const expected = new Map<string, StoredAddress>();
  for (const segment of chosen(published.snapshot.segments, sampledSegments)) {
    try {
      const lines = await snapshotLines(storage, published.snapshot, segment);
      for (const address of chosen<Line>(lines, keysPerSegment).map(parseLine)) {
        expected.set(address.key, address);
      }
    } catch (error) {
      if (!(error instanceof UnusableObjectError)) throw error;
      damaged.push(error.key);
    }
  }
  return { addresses: expected.size, differing: await differingKeys(addresses, expected), damaged };
}

/** The keys whose items are not as expected, in order: an address, or no item for `undefined`. */
export async function differingKeys(
  addresses: AddressTable,
  expected: ReadonlyMap<string, StoredAddress | undefined>,
): Promise<string[]> {
  const found = await addresses.read([...expected.keys()]);
  const isWrong = (key: string) => !isDeepStrictEqual(found.get(key), expected.get(key));
  return [...expected.keys()].filter(isWrong).sort();
}

/** `count` random items, or all if there are fewer. */
function chosen<T>(items: readonly T[], count: number): T[] {
  const left = [...items];
  return Array.from({ length: Math.min(count, items.length) }, () =>
    left.splice(randomInt(left.length), 1),
  ).flat();
}

/**
 * Prepares a rollback, named by its date or its load. While a load is half written, returns to the
 * load published before it by reversing its changes: they replace or remove whole items, whether
 * written or not. @throws UnknownSnapshotError, PendingLoadError for another snapshot meanwhile,
 * WorkGoneError
 */
export async function rollback(
  { storage, addresses }: LoadContext,
  dateOrLoad: string,
): Promise<Discovery> {
  const { target, published, pending } = await snapshotNamed({ storage, addresses }, dateOrLoad);
  const base = pending ?? published;
  if (target.snapshot.id === base.snapshot.id) {
    if (pending) return finishPending(storage, pending);
    return {
      action: 'none',
      reason: `the snapshot of ${target.peildatum} is already live`,
      live: published,
    };
  }
  const load: Load = {
    id: loadId(target.peildatum, `rollback ${target.load}`, base.load),
    kind: 'rollback',
    ...(hasObjecten(target.snapshot) && { objecten: true }),
    peildatum: target.peildatum,
    base: { load: base.load, peildatum: base.peildatum, snapshot: base.snapshot },
    target: { load: target.load, snapshot: target.snapshot },
    source: target.source,
    days: [],
    extract: target.extract,
    members: [],
    identity: target.identity,
  };
  await putJson(storage, paths.load(load.id), load);
  await putSegments(storage, load.id, [...base.snapshot.segments, ...target.snapshot.segments]);
  return { action: 'rollback', load: load.id, peildatum: load.peildatum };
}

/**
 * The snapshot that a rollback names, by its date or its load, the live one, and the load that is
 * half written.
 * @throws UnknownSnapshotError, AmbiguousSnapshotError for a date with several snapshots,
 * PendingLoadError if that load has to be undone or finished first
 */
export async function snapshotNamed(
  { storage, addresses }: LoadContext,
  dateOrLoad: string,
): Promise<{ target: ManifestEntry; published: ManifestEntry; pending: ManifestEntry | null }> {
  const { published, pending, history } = await currentManifest(storage, addresses);
  const ofLoad = history.filter(({ load }) => load === dateOrLoad);
  const ofDate = history.filter(({ peildatum }) => peildatum === dateOrLoad);
  const [target, ...others] = await keptOf(storage, ofLoad.length > 0 ? ofLoad : ofDate);
  if (target && others.length > 0) {
    const choices = [target, ...others].map(
      (entry) =>
        `"load rollback ${entry.load}" (published at ${entry.at}${entry.load === published?.load ? ', live' : ''})`,
    );
    throw new LoadError(
      'AmbiguousSnapshotError',
      `Several snapshots of ${dateOrLoad} are kept. Choose one by its load: ${choices.join(', ')}.`,
    );
  }
  const ends = [pending, published].map((entry) => entry?.snapshot.id);
  const isOther = target ? !ends.includes(target.snapshot.id) : pending?.load === dateOrLoad;
  if (pending && published && isOther) {
    const then = target ? ` Then roll back to ${target.peildatum}.` : '';
    throw new LoadError(
      'PendingLoadError',
      `${nameOfLoad(pending)} is half written: ${waysToEnd(pending, published)}${then}`,
    );
  }
  if (published && target) return { target, published, pending };
  const kept = await keptOf(storage, history.slice(1));
  const dates = new Set(kept.map(({ peildatum }) => peildatum));
  const choice =
    dates.size > 0
      ? `Choose one of: ${[...dates].join(', ')}.`
      : 'Load an extract of that date instead.';
  throw new LoadError('UnknownSnapshotError', `No snapshot of ${dateOrLoad} is kept. ${choice}`);
}

/** The newest of the entries, which are from new to old, for each snapshot that is kept. */
async function keptOf(
  storage: Storage,
  entries: readonly ManifestEntry[],
): Promise<ManifestEntry[]> {
  const kept = new Map<string, ManifestEntry>();
  for (const entry of entries) {
    const { id } = entry.snapshot;
    if (!kept.has(id) && (await isKept(storage, entry))) kept.set(id, entry);
  }
  return [...kept.values()];
}

async function isKept(
  storage: Storage,
  { snapshot: { id, segments } }: ManifestEntry,
): Promise<boolean> {
  const [first] = segments;
  return first === undefined || (await storage.open(paths.snapshot(id, first))) !== null;
}

/**
 * Removes the snapshots of refused loads whose work has expired, which nobody can approve any more.
 */
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

/** Finds a load to approve or reject. @throws UnknownLoadError */
async function refusedWork(storage: Storage, id: string, advice: string) {
  const load = await findJson<Load>(storage, paths.load(id));
  const proposal = await findJson<LoadProposal>(storage, paths.proposal(id));
  if (load && proposal) return { load, proposal };
  const why =
    'it is unknown, has expired, was rejected already, or another load was published since';
  throw new LoadError(
    'UnknownLoadError',
    `The storage has no work of load ${id}: ${why}. ${advice}`,
  );
}

/**
 * Continues from the guard, without the extract. @throws UnknownLoadError, ForeignStorageError,
 * WorkGoneError
 */
export async function resume(
  { storage, addresses }: LoadContext,
  loadId: string,
): Promise<Discovery> {
  const { pending } = await currentManifest(storage, addresses);
  if (pending) return finishPending(storage, pending);
  const advice = 'Run "load run" with its extract; if it is refused again, approve that load.';
  const { load } = await refusedWork(storage, loadId, advice);
  return { action: 'rollback', load: loadId, peildatum: load.peildatum };
}

/**
 * Rejects and removes a refused load: no check loads it again. @throws UnknownLoadError,
 * NotRefusedError
 */
export async function rejectRefused(
  { storage, addresses }: LoadContext,
  loadId: string,
): Promise<Extract<Discovery, { action: 'none' }>> {
  const manifest = await currentManifest(storage, addresses);
  const { load, proposal } = await refusedWork(
    storage,
    loadId,
    '"load status" lists the refused loads.',
  );
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
  const contents =
    load.kind === 'extract'
      ? [load.identity]
      : contentsOf(load).filter((contents) => !live.has(contents));
  await putManifest(storage, reject(manifest, contents), manifest);
  for (const prefix of [paths.workOf(loadId), paths.snapshotOf(loadId)]) {
    await storage.delete(await storage.list(prefix));
  }
  const [what, where] = load.source
    ? [`the extract of ${load.peildatum}`, `--extract ${load.source.location}`]
    : [load.days.map(({ name }) => name).join(', '), '--mutations FILE'];
  const reason = `${what} was rejected; a corrected version still loads, and "load run --again ${where}" loads this one`;
  return { action: 'none', reason, live: manifest.published, rejected: loadId };
}

/**
 * Every refused load onto the live dataset, by date. Publishing a load removes the work of all
 * other loads.
 */
export async function refusedProposals(storage: Storage): Promise<LoadProposal[]> {
  const keys = await storage.list(paths.loads);
  const ids = keys.flatMap((key) => {
    const id = key.slice(paths.loads.length).split('/')[0] ?? '';
    return key === paths.proposal(id) ? [id] : [];
  });
  const proposals = await Promise.all(ids.map((id) => findRefusedProposal(storage, id)));
  return proposals
    .filter((proposal) => proposal !== null)
    .toSorted((a, b) => (a.load < b.load ? -1 : 1));
}

/** The proposal of one refused load; `null` if it is not refused, or its work is gone. */
export async function findRefusedProposal(
  storage: Storage,
  load: string,
): Promise<LoadProposal | null> {
  const proposal = await findJson<LoadProposal>(storage, paths.proposal(load));
  return proposal && !proposal.go && !proposal.divided ? proposal : null;
}

/**
 * Every change of an address by a merged load, by key, until the next load is published. @throws
 * MissingObjectError
 */
export async function* differences(
  storage: Storage,
  loadId: string,
): AsyncGenerator<ChangeExample> {
  const load = await getJson<Load>(storage, paths.load(loadId));
  const { base } = load;
  const segments = await getJson<SegmentItem[]>(storage, paths.segments(loadId));
  for (const { segment } of segments.toSorted((a, b) => (a.segment < b.segment ? -1 : 1))) {
    const { addresses, changes, objecten } = await getJson<Merged>(
      storage,
      paths.merged(loadId, segment),
    );
    if (changes.added + changes.changed + changes.removed + (objecten?.changed ?? 0) === 0) {
      continue;
    }
    const result = { id: resultOf(load), segments: addresses > 0 ? [segment] : [] };
    const before = base ? await snapshotLines(storage, base.snapshot, segment) : [];
    for (const change of diff(
      lineBytes(before),
      lineBytes(await snapshotLines(storage, result, segment)),
    )) {
      if (change.kind !== 'list') yield changeExample(change);
    }
  }
}
