import { forEachConcurrently } from '../../core/concurrency.ts';
import { deriveLines } from '../addresses/derive.ts';
import { LineSegmentReader, LineSegmentWriter } from '../addresses/line-segment.ts';
import {
  addressPart,
  type Change,
  diff,
  keyOf,
  type Line,
  tooLarge,
  WritesFile,
  writeOf,
} from '../addresses/lines.ts';
import { addSizes, type PlaceSize } from '../addresses/place-sizes.ts';
import { rowsOfPart, sortedRows } from '../addresses/sort-rows.ts';
import { addProblem, emptyReport } from '../bag/problem-report.ts';
import {
  acceptedBefore,
  extractName,
  hasObjecten,
  type Load,
  type Snapshot,
} from '../dataset/load.ts';
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
import { ChangesCsvWriter, countChange, hasExamples, noChanges } from '../verdict/load-counts.ts';
import { PlaceCounter } from '../verdict/place-changes.ts';
import { lambdaOfItems } from './lambda-step.ts';
import type { StepContext, StepInput, StepOfItems } from './step.ts';

/** Few enough for one worker to write within minutes. */
const usualChangesPerFile = 20_000;

/** How many objects of a segment are stored at once: each is held twice. */
const concurrentWrites = 4;

/** How many streets of one segment are kept: one in two segments may have fewer changes in each. */
const streetsKept = 50;

const lineEnd = 0x0a;

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
   * The snapshot of the extract that was accepted before, if another is live: a change may restore
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
  const { load } = shared;
  const before = await snapshotOf(storage, load.base?.snapshot ?? null, segment);
  const found = { nummeraanduidingen: 0, problems: emptyReport(), tooLarge: [], placesAfter: {} };
  const merged: Merged = { segment, files: [], ...noChanges(), ...found };
  if (load.objecten) merged.objecten = { live: 0, changed: 0, lost: 0, moved: 0 };
  const byPlace = new PlaceCounter();
  const isReturned = returnsOf(storage, shared, segment);
  const placesAfter: [string, PlaceSize][] = [];
  const linesOfPart = load.target
    ? ofSnapshot(await snapshotOf(storage, load.target.snapshot, segment))
    : await derived(storage, shared, segment, merged);

  const snapshot = new LineSegmentWriter();
  let writes = new WritesFile();
  const csv = new ChangesCsvWriter(segment, (name, packed) =>
    putPacked(storage, paths.changesCsv(loadId, name), packed),
  );
  /**
   * Stored together at the end, as most of the time of each goes by until the disk or the bucket
   * has it.
   */
  const made: [key: string, packed: Buffer | Buffer[]][] = [];
  const flush = () => {
    if (writes.count === 0) return;
    const name = `${segment}-${String(merged.files.length).padStart(3, '0')}`;
    merged.files.push({ changes: name, writes: writes.count });
    made.push([paths.changes(loadId, name), writes.pack()]);
    writes = new WritesFile();
  };
  const addAll = (lines: Buffer) => {
    const view = new DataView(lines.buffer, lines.byteOffset, lines.length);
    for (let start = 0, end = 0; start < lines.length; start = end + 1) {
      end = lines.indexOf(lineEnd, start);
      writes.addLine(view, start, end);
      if (writes.count === changesPerFile) flush();
    }
  };
  // Then nearly every address has other objects.
  const isSwitched =
    load.base !== null && hasObjecten(load.base.snapshot) !== (load.objecten ?? false);
  for (const part of postcode3sOf(segment)) {
    const live = before.bytes(part);
    const { lines, counts } = linesOfPart(part);
    merged.addresses += counts.lines - counts.lists;
    merged.lists += counts.lists;
    placesAfter.push(...Object.entries(counts.places));
    const isUnchanged = live.equals(lines);
    if (!isUnchanged) merged.tooLarge.push(...tooLarge(lines));
    // A first load only adds: once it has its examples, its lines are copied as bytes, for a tenth
    // of a load's CPU.
    const isCopied = !load.base && hasExamples(merged, 'added');
    if (isCopied) {
      merged.changes.added += counts.lines - counts.lists;
      merged.listsChanged += counts.lists;
      addAll(lines);
    }
    for (const change of isCopied || isUnchanged ? [] : diff(live, lines)) {
      const counted = countChange(merged, change);
      const { kind } = change;
      // The others have nothing that an operator could judge.
      if (load.base && kind !== 'list' && !(kind === 'objecten' && isSwitched)) {
        byPlace.count(change, { ...counted, isReturned: await isReturned(part, change) });
        await csv.add(change);
      }
      writes.add(writeOf(change));
      if (writes.count === changesPerFile) flush();
    }
    byPlace.endPart();
    snapshot.add(
      (isUnchanged && before.stored(part)) || { part, counts, packed: packLineBytes(lines) },
    );
    releaseMemory(live);
    releaseMemory(lines);
  }
  flush();
  if (!load.target && merged.addresses > 0) {
    made.push([paths.snapshot(load.id, segment), snapshot.pack()]);
  }
  merged.placesAfter = addSizes(placesAfter);
  if (load.base) {
    await csv.flush();
    merged.csv = csv.files;
    merged.byPlace = byPlace.end(streetsKept);
    merged.places = addSizes(
      before.parts.flatMap((part) => Object.entries(before.counts(part).places)),
    );
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

/**
 * Whether a change restores the data of a previously accepted extract, if such an extract exists.
 */
function returnsOf(storage: Storage, { accepted }: MergeInput, segment: string) {
  let reader: Promise<LineSegmentReader> | undefined;
  let held: { part: string; lines: Map<string, Line> } | undefined;
  return async (part: string, { key, after }: Change) => {
    if (accepted === null || after === null) return false;
    reader ??= snapshotOf(storage, accepted, segment);
    if (held?.part !== part) {
      const lines = (await reader).lines(part);
      held = { part, lines: new Map(lines.map((line) => [keyOf(line), line])) };
    }
    const line = held.lines.get(key);
    return line !== undefined && addressPart(line) === addressPart(after);
  };
}

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
