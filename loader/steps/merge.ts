import { forEachConcurrently } from '../../core/concurrency.ts';
import { deriveLines } from '../addresses/derive.ts';
import { LineSegmentReader, LineSegmentWriter } from '../addresses/line-segment.ts';
import { type Change, diff, tooLarge, WritesFile, writeOf } from '../addresses/lines.ts';
import { addSizes, type PlaceSize } from '../addresses/place-sizes.ts';
import { rowsOfPart, sortedRows } from '../addresses/sort-rows.ts';
import { addProblem, emptyReport } from '../bag/problem-report.ts';
import {
  acceptedBefore,
  type ChangeFile,
  extractName,
  hasObjecten,
  type Load,
  type Snapshot,
} from '../dataset/load.ts';
import { ColumnCounter, type Compared } from '../guard/columns.ts';
import { ChangesCsvWriter, countKey, hasExamples, noChanges } from '../guard/load-counts.ts';
import { lineEnd } from '../register/layouts.ts';
import {
  type ReferenceMemory,
  referenceAt,
  referenceOn,
  unpackReference,
} from '../register/reference-file.ts';
import { nameOfNumber } from '../register/rows.ts';
import { packLineBytes, postcode3sOf } from '../register/stored-form.ts';
import { releaseMemory } from '../release-memory.ts';
import {
  getJson,
  getUnpacked,
  paths,
  putJson,
  putPacked,
  type Storage,
} from '../storage/storage.ts';
import { readManifest } from '../storage/stored-loads.ts';
import { gatherRows, rowsOf, type StoredRows } from '../storage/stored-register.ts';
import { joinedBuckets, type Merged, type SegmentItem } from '../storage/work.ts';
import { lambdaOfItems } from './lambda-step.ts';
import type { StepContext, StepInput, StepOfItems } from './step.ts';

/**
 * Few enough for one worker to write within minutes. A file of a first load has whole parts, of
 * which the largest have some 75,000 lines.
 */
const usualChangesPerFile = 20_000;

/** How many objects of a segment are stored at once: each is held twice. */
const concurrentWrites = 4;

/** The input for deriving segments, read once; a rollback derives nothing. */
type Derivation = {
  /** The streets and places: 18 MB that threads share. */
  memory: ReferenceMemory;
  rows: StoredRows[];
  records: number;
};

/** The input for merging segments, read once. */
type MergeInput = {
  load: Load;
  derivation?: Derivation;
  /**
   * The snapshot of the extract that was accepted before, if another is live: a load may restore
   * its data.
   */
  accepted: Snapshot | null;
};

async function mergeInput(storage: Storage, loadId: string): Promise<MergeInput> {
  const load = await getJson<Load>(storage, paths.load(loadId));
  const { peildatum, kind, base } = load;
  if (kind === 'rollback') return { load, accepted: null };
  const { streets, places } = await getUnpacked(storage, paths.snapshotReference(loadId), (bytes) =>
    referenceOn(unpackReference(bytes), peildatum),
  );
  const joined = await joinedBuckets(storage, loadId, 'nummeraanduidingen');
  const derivation: Derivation = {
    memory: { streets, places },
    rows: rowsOf(loadId, 'nummeraanduidingen', joined),
    records: joined.reduce((sum, { records }) => sum + records, 0),
  };
  const accepted = base ? acceptedBefore(await readManifest(storage))?.snapshot : undefined;
  return {
    load,
    derivation,
    accepted: accepted && accepted.id !== base?.snapshot.id ? accepted : null,
  };
}

/** The numbers of a segment before anything of it is merged. */
function newMerged(segment: string, { objecten }: Load): Merged {
  return {
    ...noChanges(),
    segment,
    files: [],
    nummeraanduidingen: 0,
    problems: emptyReport(),
    tooLarge: [],
    placesAfter: {},
    ...(objecten && { objecten: { live: 0, changed: 0 } }),
  };
}

/** The writes of a segment, packed in files of a size that one worker writes within minutes. */
class WritesOfSegment {
  readonly files: ChangeFile[] = [];
  readonly packed: Buffer[] = [];
  readonly #segment: string;
  readonly #most: number;
  #writes = new WritesFile();

  constructor(segment: string, most: number) {
    this.#segment = segment;
    this.#most = most;
  }

  add(change: Change): void {
    this.#writes.add(writeOf(change));
    this.#flushAt(this.#most);
  }

  /** Adds every line of a part, each with its line end. */
  addAll(lines: Buffer): void {
    const view = new DataView(lines.buffer, lines.byteOffset, lines.length);
    for (let start = 0, end = 0; start < lines.length; start = end + 1) {
      end = lines.indexOf(lineEnd, start);
      this.#writes.addLine(view, start, end);
      this.#flushAt(this.#most);
    }
  }

  end(): void {
    this.#flushAt(1);
  }

  #flushAt(count: number): void {
    if (this.#writes.count < count) return;
    const changes = `${this.#segment}-${String(this.files.length).padStart(3, '0')}`;
    this.files.push({ changes, writes: this.#writes.count });
    this.packed.push(this.#writes.pack());
    this.#writes = new WritesFile();
  }
}

/** The lines of a segment of a dataset, part by part, and the changes of a load in them. */
class Comparison {
  readonly before: LineSegmentReader;
  readonly #columns: ColumnCounter;

  constructor(before: LineSegmentReader, hasObjects: boolean) {
    this.before = before;
    this.#columns = new ColumnCounter(hasObjects);
  }

  add(change: Change): void {
    if (change.kind !== 'list') this.#columns.add(change);
  }

  endPart(before: Buffer, after: Buffer): void {
    this.#columns.endPart(before, after);
  }

  /** Compares a whole part. */
  addPart(part: string, after: Buffer): void {
    const before = this.before.bytes(part);
    if (before.equals(after)) return;
    for (const change of diff(before, after)) this.add(change);
    this.endPart(before, after);
  }

  end(): Compared {
    const { parts } = this.before;
    const sizes = parts.flatMap((part) => Object.entries(this.before.counts(part).places));
    return { tallies: this.#columns.end(), places: addSizes(sizes) };
  }
}

/** The comparison of a load with a snapshot; of objects only if both have them. */
async function comparisonWith(
  storage: Storage,
  snapshot: Snapshot,
  { objecten }: Load,
  segment: string,
): Promise<Comparison> {
  const hasObjects = objecten === true && hasObjecten(snapshot);
  return new Comparison(await snapshotOf(storage, snapshot, segment), hasObjects);
}

/**
 * Makes the lines of one segment of the new snapshot, and its changes from the live dataset. Skips
 * a merged segment. Holds the old and new segment as bytes, and only one postcode3 of it as lines.
 */
async function mergeSegment(
  { storage, options: { changesPerFile = usualChangesPerFile }, onDone }: StepContext,
  { load: loadId }: StepInput,
  { segment }: SegmentItem,
  shared: MergeInput,
): Promise<SegmentItem> {
  if (await storage.open(paths.merged(loadId, segment))) return { segment };
  const { load, accepted } = shared;
  const { base } = load;
  const merged = newMerged(segment, load);
  const live = base && (await comparisonWith(storage, base.snapshot, load, segment));
  const fromAccepted = accepted && (await comparisonWith(storage, accepted, load, segment));
  const before = live?.before ?? new LineSegmentReader(null);
  const linesOfPart = load.target
    ? ofSnapshot(await snapshotOf(storage, load.target.snapshot, segment))
    : await derived(storage, shared, segment, merged);

  const snapshot = new LineSegmentWriter();
  const writes = new WritesOfSegment(segment, changesPerFile);
  const csv = new ChangesCsvWriter(segment, (name, packed) =>
    putPacked(storage, paths.changesCsv(loadId, name), packed),
  );
  const placesAfter: [string, PlaceSize][] = [];
  // Then nearly every address has other objects, which an operator can't judge.
  const isSwitched = base !== null && hasObjecten(base.snapshot) !== (load.objecten ?? false);
  for (const part of postcode3sOf(segment)) {
    const old = before.bytes(part);
    const { lines, counts } = linesOfPart(part);
    merged.addresses += counts.lines - counts.lists;
    merged.lists += counts.lists;
    placesAfter.push(...Object.entries(counts.places));
    const isUnchanged = old.equals(lines);
    if (!isUnchanged) merged.tooLarge.push(...tooLarge(lines));
    // A first load only adds: once it has its examples, its lines are copied as bytes, for a tenth
    // of a load's CPU.
    if (!base && hasExamples(merged, 'added')) {
      merged.changes.added += counts.lines - counts.lists;
      merged.listsChanged += counts.lists;
      writes.addAll(lines);
    } else if (!isUnchanged) {
      for (const change of diff(old, lines)) {
        countKey(merged, change);
        live?.add(change);
        const isShown = change.kind !== 'list' && !(change.kind === 'objecten' && isSwitched);
        if (base && isShown) await csv.add(change);
        writes.add(change);
      }
      live?.endPart(old, lines);
    }
    fromAccepted?.addPart(part, lines);
    snapshot.add(
      (isUnchanged && before.stored(part)) || { part, counts, packed: packLineBytes(lines) },
    );
    releaseMemory(old);
    releaseMemory(lines);
  }
  writes.end();
  await csv.flush();
  merged.files = writes.files;
  merged.placesAfter = addSizes(placesAfter);
  if (live)
    Object.assign(merged, { csv: csv.files, compared: live.end() } satisfies Partial<Merged>);
  if (fromAccepted) merged.fromAccepted = fromAccepted.end();
  // Stored together at the end, as most of the time of each goes by until the disk or the bucket
  // has it.
  const made = writes.packed.map((packed, i): [key: string, packed: Buffer | Buffer[]] => {
    return [paths.changes(loadId, (writes.files[i] as ChangeFile).changes), packed];
  });
  if (!load.target && merged.addresses > 0) {
    made.push([paths.snapshot(load.id, segment), snapshot.pack()]);
  }
  await forEachConcurrently(made, concurrentWrites, ([key, packed]) =>
    putPacked(storage, key, packed),
  );
  await putJson(storage, paths.merged(loadId, segment), merged);
  onDone({ rows: merged.nummeraanduidingen });
  return { segment };
}

/** The new lines of a part, each with its line end. */
type PartLines = Pick<ReturnType<typeof deriveLines>, 'lines' | 'counts'>;

function ofSnapshot(target: LineSegmentReader): (part: string) => PartLines {
  return (part) => ({ lines: target.bytes(part), counts: target.counts(part) });
}

async function snapshotOf(
  storage: Storage,
  snapshot: Snapshot | null,
  segment: string,
): Promise<LineSegmentReader> {
  if (!snapshot?.segments.includes(segment)) return new LineSegmentReader(null);
  return getUnpacked(
    storage,
    paths.snapshot(snapshot.id, segment),
    (bytes) => new LineSegmentReader(bytes),
  );
}

/**
 * The lines of each part that follow from the rows of its addresses; adds what else does to
 * `merged`.
 */
async function derived(
  storage: Storage,
  { load, derivation }: MergeInput,
  segment: string,
  merged: Merged,
): Promise<(part: string) => PartLines> {
  if (!derivation) throw new Error('merging needs the streets and places of the load');
  const { memory, rows } = derivation;
  const by = {
    reference: referenceAt(memory),
    file: extractName(load),
    objecten: load.objecten ?? false,
  };
  const gathered = await gatherRows(storage, rows, nameOfNumber(Number(segment)));
  const sorted = sortedRows(gathered);
  releaseMemory(gathered);
  return (part) => {
    const ofPart = rowsOfPart(sorted, part);
    const { lines, counts, nummeraanduidingen, objecten } = deriveLines(ofPart, by, (problem) =>
      addProblem(merged.problems, problem),
    );
    merged.nummeraanduidingen += nummeraanduidingen;
    if (merged.objecten) merged.objecten.live += objecten;
    return { lines, counts };
  };
}

export const step: StepOfItems<SegmentItem, unknown, MergeInput> = {
  share: mergeInput,
  total: (_, { derivation }) => ({ rows: derivation?.records ?? 0 }),
  each: mergeSegment,
};

export const handler = /* @__PURE__ */ lambdaOfItems('merge', step);
