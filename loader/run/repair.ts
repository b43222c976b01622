import { type Change, type ChangeCounts, diff, type Write } from '../dataset/changes.ts';
import { keyOf, type Line, lineOf, packLines, parseLine, unpackLines } from '../dataset/lines.ts';
import { countChange, noChanges, type ShardCounts } from '../dataset/load.ts';
import type { Manifest, ManifestEntry, Snapshot } from '../dataset/manifest.ts';
import { readManifest } from '../steps/manifest.ts';
import { UnknownSnapshotError } from '../steps/rollback.ts';
import { paths } from '../storage/paths.ts';
import { getUnpacked, putJson, type Storage } from '../storage/storage.ts';
import { inSession, type LoadOptions, type Session } from './session.ts';

const usualLinesAPack = 10_000;

/** Lines that come in any order, compressed until the shard that they are of is wanted: the country takes 200 MB. */
export class LinesByShard {
  readonly #linesAPack: number;
  readonly #shards = new Map<string, { packed: Buffer[]; loose: Line[] }>();

  constructor(linesAPack = usualLinesAPack) {
    this.#linesAPack = linesAPack;
  }

  get shards(): string[] {
    return [...this.#shards.keys()];
  }

  add(line: Line): void {
    const name = line.slice(0, 2);
    let shard = this.#shards.get(name);
    if (!shard) {
      shard = { packed: [], loose: [] };
      this.#shards.set(name, shard);
    }
    shard.loose.push(line);
    if (shard.loose.length < this.#linesAPack) return;
    shard.packed.push(packLines(shard.loose));
    shard.loose = [];
  }

  /** All lines of a shard, in order. */
  of(name: string): Line[] {
    const { packed, loose } = this.#shards.get(name) ?? { packed: [], loose: [] };
    return [...packed.map(unpackLines), loose].flat().sort();
  }
}

export type RepairOptions = LoadOptions & {
  /** Every address in the table, as `scanAddresses` gives them. */
  scan: () => AsyncIterable<Line[]>;
  /** Only looks. */
  planOnly?: boolean;
};

/** How the table differed from the snapshot that it has to hold. Plain JSON. */
export type RepairReport = ChangeCounts & {
  /** Lists of toevoegingen that differed where the address did not. */
  listsChanged: number;
  /** `planned`: only looked at. */
  outcome: 'repaired' | 'planned';
  peildatum: string;
  load: string;
  /** Keys that the table has to hold. */
  keys: number;
  examples: ShardCounts['examples'];
  /** Whether this load has begun to be applied and is not published: run it again. */
  pending: boolean;
};

/**
 * Makes the table hold what the storage says that it does, whatever it holds, and say so: reads all of it, and writes what
 * differs. While a load is pending that is what it applies: then nothing of it is left to apply, and the next run of it
 * reads back and publishes.
 * @throws LockedError, UnknownSnapshotError where nothing was loaded yet
 */
export async function repairTable({ scan, planOnly = false, ...options }: RepairOptions): Promise<RepairReport> {
  return inSession(options, async (session) => {
    const manifest = await readManifest(session.storage);
    const target = manifest.pending ?? manifest.published;
    if (!target) throw new UnknownSnapshotError('Nothing was loaded yet, so there is no state to repair the table to.');

    const { peildatum, load, keys, snapshot } = target;
    const table = await readAll(session, scan, keys);
    const found = noChanges();
    for (const shard of [...new Set([...snapshot.shards, ...table.shards])].sort()) {
      const after = await servedLines(session.storage, snapshot, shard);
      const changes = [...diff(table.of(shard), after)];
      for (const change of changes) countChange(found, change);
      if (!planOnly) await write(session, changes);
    }
    if (!planOnly) await settle(session, target, manifest);
    const { changes, listsChanged, examples } = found;
    const outcome = planOnly ? 'planned' : 'repaired';
    return { outcome, peildatum, load, keys, ...changes, listsChanged, examples, pending: manifest.pending !== null };
  });
}

async function readAll({ progress }: Session, scan: RepairOptions['scan'], keys: number): Promise<LinesByShard> {
  const table = new LinesByShard();
  const shown = progress.begin('compare', { rows: keys });
  for await (const lines of scan()) {
    for (const line of lines) table.add(line);
    shown.advance({ rows: lines.length });
  }
  shown.end();
  return table;
}

/** The lines of a snapshot with their places in the order in which the table has them. */
async function servedLines(storage: Storage, { id, shards }: Snapshot, shard: string): Promise<Line[]> {
  if (!shards.includes(shard)) return [];
  const lines = await getUnpacked(storage, paths.snapshot(id, shard), unpackLines);
  return lines.map((line) => (line.split('\t', 4).length < 4 ? line : lineOf(parseLine(line))));
}

const writesACheck = 1000;

async function write({ addresses, fence }: Session, changes: readonly Change[]): Promise<void> {
  for (let start = 0; start < changes.length; start += writesACheck) {
    await fence.confirm(0);
    await addresses.write(changes.slice(start, start + writesACheck).map(toWrite), fence);
  }
}

function toWrite({ before, after }: Change): Write {
  return after === null ? { remove: keyOf(before as Line) } : { put: after };
}

async function settle(
  { storage, addresses, fence }: Session,
  { load, peildatum }: ManifestEntry,
  { pending }: Manifest,
): Promise<void> {
  const dataset = await addresses.dataset();
  if (dataset?.load !== load || dataset.peildatum !== peildatum) await addresses.setDataset({ peildatum, load }, fence);
  if (pending) await putJson(storage, paths.changeFiles(load), []);
}
