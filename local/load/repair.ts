import { mapConcurrently } from '../../core/concurrency.ts';
import {
  type Change,
  type ChangeCounts,
  diff,
  keyOf,
  type Line,
  unpackWrites,
  writeOf,
} from '../../loader/addresses/lines.ts';
import {
  type ChangeFile,
  type Manifest,
  type ManifestEntry,
  nameOfLoad,
  type Snapshot,
  waysToEnd,
} from '../../loader/dataset/load.ts';
import { countKey, noChanges, type SegmentCounts } from '../../loader/guard/load-counts.ts';
import { LoadError } from '../../loader/load-error.ts';
import { lineBytes, packLineBytes, unpackLines } from '../../loader/register/stored-form.ts';
import {
  concurrentReads,
  getJson,
  getUnpacked,
  paths,
  putJson,
  type Storage,
  UnusableObjectError,
} from '../../loader/storage/storage.ts';
import { readManifest } from '../../loader/storage/stored-loads.ts';
import {
  putSnapshotLines,
  snapshotLines,
  unusableObjects,
} from '../../loader/storage/stored-register.ts';
import { inSession, type LoadOptions, type LoadSession } from './session.ts';

const usualLinesAPack = 10_000;

/**
 * Lines that arrive in any order, compressed until their segment is requested: the country takes
 * 200 MB.
 */
export class LinesBySegment {
  readonly #linesAPack: number;
  readonly #segments = new Map<string, { packed: Buffer[]; loose: Line[] }>();

  constructor(linesAPack = usualLinesAPack) {
    this.#linesAPack = linesAPack;
  }

  get segments(): string[] {
    return [...this.#segments.keys()];
  }

  add(line: Line): void {
    const name = line.slice(0, 2);
    let segment = this.#segments.get(name);
    if (!segment) {
      segment = { packed: [], loose: [] };
      this.#segments.set(name, segment);
    }
    segment.loose.push(line);
    if (segment.loose.length < this.#linesAPack) return;
    segment.packed.push(packLineBytes(Buffer.from(segment.loose.join('\n'), 'latin1')));
    segment.loose = [];
  }

  /** All lines of a segment, in order. */
  of(name: string): Line[] {
    const { packed, loose } = this.#segments.get(name) ?? { packed: [], loose: [] };
    return [...packed.map(unpackLines), loose].flat().sort();
  }
}

export type RepairOptions = LoadOptions & {
  /** Every address in the table, as `scanAddresses` gives them. */
  scan: () => AsyncIterable<Line[]>;
  /** Changes nothing. */
  planOnly?: boolean;
};

/** How the table differed from its snapshot. Plain JSON. */
export type RepairReport = ChangeCounts & {
  /** Lists of toevoegingen that differed although the address did not. */
  listsChanged: number;
  /** `planned`: nothing was changed. */
  outcome: 'repaired' | 'planned';
  peildatum: string;
  load: string;
  addresses: number;
  examples: SegmentCounts['examples'];
  /** The load that is being applied and not yet published, if any: run it again. */
  pending: boolean;
  /** Segments of the snapshot that were damaged or missing, and were rebuilt from the table. */
  rebuilt: string[];
  /**
   * Objects of the storage behind the snapshot's lines that are damaged or missing. The table can't
   * give them back: only a full extract can, and until then no mutations can be applied.
   */
  unusable: string[];
  /**
   * How many more lines the rebuilt snapshot has than its load counted; not 0 if the table had
   * changed.
   */
  unexplained: number;
};

/**
 * Makes the table equal to the snapshot in the storage: reads the whole table, and writes the
 * differences. While a load is pending its snapshot is used: then nothing is left to apply, and its
 * next run only checks and publishes.
 * @throws LockedError, UnknownSnapshotError if nothing was loaded yet
 */
export async function repairTable({
  scan,
  planOnly = false,
  ...options
}: RepairOptions): Promise<RepairReport> {
  return inSession(options, async (session) => {
    const manifest = await readManifest(session.storage);
    const target = manifest.pending ?? manifest.published;
    if (!target) {
      throw new LoadError(
        'UnknownSnapshotError',
        'Nothing was loaded yet, so there is no snapshot to repair the table to. Run "load run".',
      );
    }

    const { peildatum, load, addresses, snapshot } = target;
    const table = await readAll(session, scan, addresses + target.lists);
    const found = noChanges();
    const rebuilt: string[] = [];
    let lines = 0;
    for (const segment of [...new Set([...snapshot.segments, ...table.segments])].sort()) {
      const before = table.of(segment);
      const stored = await storedLines(session.storage, snapshot, segment);
      if (!stored) rebuilt.push(segment);
      const after =
        stored ??
        (await rebuild(session.storage, target, segment, before, {
          pending: manifest.pending !== null,
          planOnly,
        }));
      lines += after.length;
      const changes = [...diff(lineBytes(before), lineBytes(after))];
      // An address that differs in its objects alone differs from its snapshot as any other.
      for (const change of changes) {
        countKey(found, change, change.kind === 'objecten' ? 'changed' : change.kind);
      }
      if (!planOnly) await write(session, changes);
    }
    if (!planOnly) await settle(session, target, manifest);
    const unusable = await unusableObjects(session.storage, target.snapshot);
    const unexplained = rebuilt.length > 0 ? lines - addresses - target.lists : 0;
    const { changes, listsChanged, examples } = found;
    const outcome = planOnly ? 'planned' : 'repaired';
    return {
      outcome,
      peildatum,
      load,
      addresses,
      ...changes,
      listsChanged,
      examples,
      pending: manifest.pending !== null,
      rebuilt,
      unusable,
      unexplained,
    };
  });
}

async function readAll(
  { progress }: LoadSession,
  scan: RepairOptions['scan'],
  expected: number,
): Promise<LinesBySegment> {
  const table = new LinesBySegment();
  const shown = progress.begin('compare', { rows: expected });
  for await (const lines of scan()) {
    for (const line of lines) table.add(line);
    shown.advance({ rows: lines.length });
  }
  shown.end();
  return table;
}

/** The lines of a snapshot; `null` if they are damaged or missing. */
async function storedLines(
  storage: Storage,
  snapshot: Snapshot,
  segment: string,
): Promise<Line[] | null> {
  try {
    return await snapshotLines(storage, snapshot, segment);
  } catch (error) {
    if (error instanceof UnusableObjectError) return null;
    throw error;
  }
}

/**
 * Rebuilds a segment of the snapshot from the table and, while its load is pending, from the
 * changes of that load: each change replaces or removes a whole item, so it does not matter which
 * of them the table already holds.
 * @throws DamagedObjectError, MissingObjectError when the changes of a pending load are unusable
 * too
 */
async function rebuild(
  storage: Storage,
  { load, snapshot }: ManifestEntry,
  segment: string,
  table: readonly Line[],
  { pending, planOnly }: { pending: boolean; planOnly: boolean },
): Promise<Line[]> {
  const lines = new Map(table.map((line) => [keyOf(line), line]));
  const files = pending ? await getJson<ChangeFile[]>(storage, paths.changeFiles(load)) : [];
  for (const { changes } of files.filter((file) => file.changes.startsWith(`${segment}-`))) {
    for (const write of await getUnpacked(storage, paths.changes(load, changes), unpackWrites)) {
      if ('remove' in write) lines.delete(write.remove);
      else {
        lines.set(keyOf(write.put), write.put);
      }
    }
  }
  const after = [...lines.values()].sort();
  if (!planOnly) await putSnapshotLines(storage, snapshot.id, segment, after);
  return after;
}

const writesACheck = 1000;

async function write(session: LoadSession, changes: readonly Change[]): Promise<void> {
  const fence = await session.fence();
  for (let start = 0; start < changes.length; start += writesACheck) {
    await fence.confirm(0);
    await session.addresses.write(changes.slice(start, start + writesACheck).map(writeOf), fence);
  }
}

async function settle(
  { storage, addresses, fence }: LoadSession,
  { load, peildatum }: ManifestEntry,
  { pending }: Manifest,
): Promise<void> {
  const dataset = await addresses.dataset();
  if (dataset?.load !== load || dataset.peildatum !== peildatum) {
    await addresses.setDataset({ peildatum, load }, await fence());
  }
  if (pending) await putJson(storage, paths.changeFiles(load), []);
}

/** The removed work. Plain JSON. */
export type DiscardReport = { load: string; objects: number; bytes: number };

/**
 * The objects of a load that was not published: its work, and its snapshot.
 * @throws LoadError `PendingLoadError` if the load has begun to write, `UnknownLoadError`
 */
export async function workToDiscard(storage: Storage, load: string): Promise<string[]> {
  const { published, pending, history } = await readManifest(storage);
  // Undoing it compares with its snapshot, and finishing it needs its work.
  const isNeeded = [pending?.load, pending?.undoes].includes(load);
  if (pending && isNeeded) {
    throw new LoadError(
      'PendingLoadError',
      `${nameOfLoad(pending)} has begun to write, so the work of load ${load} is needed: ${waysToEnd(pending, published)}`,
    );
  }
  const isLoad = /^\d{4}-\d\d-\d\d-[0-9a-f]{10}$/.test(load);
  const isKept = history.some(({ snapshot }) => snapshot.id === load);
  const prefixes = [paths.workOf(load), ...(isKept ? [] : [paths.snapshotOf(load)])];
  const found = isLoad
    ? (await Promise.all(prefixes.map((prefix) => storage.list(prefix)))).flat()
    : [];
  if (found.length > 0) return found;
  throw new LoadError(
    'UnknownLoadError',
    `The storage has no work of load ${load}. Run "load status" to see which loads are refused.`,
  );
}

/**
 * Removes the work of a load that was not published, and its snapshot. The live dataset and the
 * work of other loads stay.
 * @throws what `workToDiscard` throws, LockedError
 */
export async function discardLoad({
  load,
  ...options
}: LoadOptions & { load: string }): Promise<DiscardReport> {
  return inSession(options, async ({ storage }) => {
    const found = await workToDiscard(storage, load);
    const sizes = await mapConcurrently(
      found,
      concurrentReads,
      async (key) => (await storage.open(key))?.size ?? 0,
    );
    await storage.delete(found);
    return { load, objects: found.length, bytes: sizes.reduce((sum, size) => sum + size, 0) };
  });
}
