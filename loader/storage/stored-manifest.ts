import { randomInt } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { StoredAddress } from '../../core/addresses/address-item.ts';
import { unpackSegment } from '../addresses/line-segment.ts';
import { type Line, parseLine } from '../addresses/lines.ts';
import type { ManifestEntry } from '../dataset/load.ts';
import { emptyManifest, type Manifest } from '../dataset/manifest.ts';
import { LoadError } from '../load-error.ts';
import { checkedJson, parseCheckedJson } from '../register/stored-form.ts';
import type { Unchanged } from '../verdict/load-report.ts';
import type { AddressTable } from './address-table.ts';
import {
  DamagedObjectError,
  findJson,
  getUnpacked,
  paths,
  putJson,
  type Storage,
  UnusableObjectError,
} from './storage.ts';
import type { ChangeFile } from './work.ts';

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

/** The manifest of a storage, or its copy if it is damaged or missing. @throws DamagedObjectError */
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
 * The manifest, checked against the table: an empty table needs everything. With `refuseUnmarked` also refuses
 * addresses without the item that names their snapshot: a load would leave addresses that it does not overwrite.
 * @throws ForeignStorageError for a load that this storage does not know, UnmarkedTableError
 */
export async function currentManifest(
  storage: Storage,
  addresses: AddressTable,
  { refuseUnmarked = false } = {},
): Promise<StoredManifest> {
  const [manifest, dataset] = await Promise.all([readManifest(storage), addresses.dataset()]);
  const { published, pending, stored } = manifest;
  if (!dataset) {
    // Without a manifest it is an interrupted first load, or a lost storage: then the runbook prescribes a load and a
    // repair.
    if (!published) return manifest;
    if (!refuseUnmarked || !(await addresses.hasAddresses())) return { ...emptyManifest, stored };
    throw new LoadError(
      'UnmarkedTableError',
      'The addresses table holds addresses, but not the item "#dataset" that names their snapshot. Run "load repair" to make ' +
        'the table equal to the live snapshot of this storage.',
    );
  }
  if (dataset.load !== published?.load && dataset.load !== pending?.load) {
    throw new LoadError(
      'ForeignStorageError',
      `The addresses table holds the snapshot of ${dataset.peildatum} (load ${dataset.load || 'unknown'}), which this ` +
        'storage does not know. Use the storage of that load, or run "load repair" to make the table equal to the ' +
        'snapshot that this storage knows. If the storage was lost, see docs/runbook.md#restore-a-table.',
    );
  }
  return manifest;
}

/** Replaces the manifest that was read as `over`. @throws ObjectChangedError if another load has replaced it since */
export async function putManifest(storage: Storage, manifest: Manifest, over: StoredManifest): Promise<void> {
  const { published, pending, history, rejected } = manifest;
  const value = { published, pending, history, rejected };
  // First: the copy may be ahead of the table, as the manifest may be, but must never be behind it.
  await putJson(storage, paths.manifestCopy, value);
  await storage.put(paths.manifest, checkedJson(value, paths.manifest), over.stored);
}

/** The next action: none, finish a load interrupted while applying, load an extract, or roll back to a snapshot. */
export type Discovery = Unchanged | { action: LoadAction; load: string; peildatum: string };

/** Finishes a load interrupted while applying, before anything else. @throws WorkGoneError */
export async function finishPending(storage: Storage, pending: ManifestEntry): Promise<Discovery> {
  const { load, peildatum, at } = pending;
  const files = await findJson<ChangeFile[]>(storage, paths.changeFiles(load));
  const there = new Set(await storage.list(paths.changesAll(load)));
  const isWhole = files?.every(({ changes }) => there.has(paths.changes(load, changes)));
  if (!isWhole) {
    throw new LoadError(
      'WorkGoneError',
      `The load of ${peildatum} (${load}) began to write at ${at} and was interrupted, and the work that it would continue ` +
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
export function ageInDays({ peildatum }: Pick<ManifestEntry, 'peildatum'>, now = Date.now()): number {
  return Math.floor((now - Date.parse(peildatum)) / 86_400_000);
}

/** Published loads, newest first; a rollback can return to `kept` loads. @throws ForeignStorageError */
export async function loadHistory({ storage, addresses }: LoadContext): Promise<(ManifestEntry & { kept: boolean })[]> {
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
 * Compares 200 random addresses in 8 segments with the live snapshot: if 1% are damaged, a daily run finds it with 87%
 * probability. `null` if nothing is live, and between two snapshots. @throws ForeignStorageError
 */
export async function sampleTable({ storage, addresses }: LoadContext): Promise<TableSample | null> {
  const { published, pending } = await currentManifest(storage, addresses);
  if (!published || pending) return null;
  const { id, segments } = published.snapshot;
  const damaged: string[] = [];
  const expected = new Map<string, StoredAddress>();
  for (const segment of chosen(segments, sampledSegments)) {
    try {
      const lines = await getUnpacked(storage, paths.snapshot(id, segment), unpackSegment);
      for (const address of chosen<Line>(lines, keysPerSegment).map(parseLine)) expected.set(address.key, address);
    } catch (error) {
      if (!(error instanceof UnusableObjectError)) throw error;
      damaged.push(error.key);
    }
  }
  return { addresses: expected.size, differing: await differingKeys(addresses, expected), damaged };
}

/** The keys whose items are not as expected: an address, or no item for `undefined`. */
export async function differingKeys(
  addresses: AddressTable,
  expected: ReadonlyMap<string, StoredAddress | undefined>,
): Promise<string[]> {
  const found = await addresses.read([...expected.keys()]);
  return [...expected].flatMap(([key, address]) => (isDeepStrictEqual(found.get(key), address) ? [] : [key]));
}

/** `count` random items, or all if there are fewer. */
function chosen<T>(items: readonly T[], count: number): T[] {
  const left = [...items];
  return Array.from({ length: Math.min(count, items.length) }, () => left.splice(randomInt(left.length), 1)).flat();
}
