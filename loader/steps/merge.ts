import { bareKey } from '../../core/addresses/address-key.ts';
import { forEachConcurrently } from '../../core/concurrency.ts';
import { addProblem, emptyReport, mergeReports, type ProblemReport, problemCounts } from '../bag/problem-report.ts';
import { isExplained } from '../dataset/audit.ts';
import { BlockedLines, type BlockFileWriter, withEdit } from '../dataset/block-file.ts';
import { ChangeWriter } from '../dataset/change-file.ts';
import { ObjectsOfAddresses } from '../dataset/derive-objects.ts';
import { deriveRows, lookupBefore, type Reference } from '../dataset/derive-rows.ts';
import { editPart, type HeldPart } from '../dataset/edit-part.ts';
import { RowJoiner } from '../dataset/join-rows.ts';
import { countsAfter, type LineCounts, LineSegmentReader, lineSegmentWriter } from '../dataset/line-segment.ts';
import { addressPart, type Change, type ChangeKind, changedPlaces, diff, keyOf, type Line } from '../dataset/lines.ts';
import { extractName, hasObjecten, type Load, type Snapshot, startOf } from '../dataset/load.ts';
import { acceptedBefore } from '../dataset/manifest.ts';
import { namedObjects } from '../dataset/named-objects.ts';
import {
  type AdresObjectResult,
  adresObjectLayer,
  type Edits,
  numLayer,
  objectSegmentWriter,
  type PartEdits,
  type PartResult,
} from '../dataset/object-segment.ts';
import { identificatieOf, type ObjectLine, referencesOf, withoutEnded, withoutPostcode } from '../dataset/objects.ts';
import { addSizes, type PlaceSize, type PlaceSizes } from '../dataset/place-sizes.ts';
import { type ReferenceMemory, referenceAt, referenceOn, unpackReference } from '../dataset/reference-file.ts';
import { bytesOf, linesOf, postcode3sOf } from '../dataset/stored-form.ts';
import {
  findJson,
  findUnpacked,
  getJson,
  getUnpacked,
  paths,
  putJson,
  putPacked,
  type Storage,
} from '../storage/storage.ts';
import { type ChangesCsv, ChangesCsvWriter } from '../verdict/changes-csv.ts';
import { countChange, countFirst, noChanges, type SegmentCounts } from '../verdict/load-counts.ts';
import { PlaceCounter, type PlaceTallies } from '../verdict/place-changes.ts';
import type { Collected, SegmentItem } from './collect.ts';
import { type ObjectSource, objectSource } from './extract.ts';
import { objectenSource } from './join.ts';
import { lambdaOfItems } from './lambda-step.ts';
import { readManifest } from './manifest.ts';
import type { Mutated } from './mutate.ts';
import type { StepOfItems } from './step.ts';

/** What `mergeSegment` stores; if it exists, the segment is finished. `files` names its change files. */
export type Merged = SegmentCounts & {
  segment: string;
  files: { name: string; writes: number }[];
  /** Whether the new snapshot has objects of this segment, and adresseerbare objecten. */
  hasObjects: boolean;
  hasObjecten?: boolean;
  /** The changes that nothing explains which was recorded since `auditSince`. */
  unexplained: SegmentCounts['changes'];
  nummeraanduidingen: number;
  problems: ProblemReport;
  /** What changes by woonplaats, and on the streets with the most changes; absent for a first load. */
  byPlace?: PlaceTallies;
  /** The sizes of the woonplaatsen before it. */
  places?: PlaceSizes;
  /** The files of its changes as CSV; absent as `byPlace` is. */
  csv?: ChangesCsv[];
};

/**
 * Few enough for one worker to write within minutes. A file of a first load has whole parts, of which the largest have
 * some 75,000 lines.
 */
const usualChangesPerFile = 20_000;

/** How many objects of a segment are stored at once: each is held twice. */
const concurrentWrites = 4;

const noEdit: PartEdits = { remove: [], add: [] };

/** How many streets of one segment are kept: one in two segments may have fewer changes in each. */
const streetsKept = 50;

/** What segments are merged with, read once. */
export type MergeInput = {
  load: Load;
  /** The streets and places: 18 MB that threads share. Absent for a rollback, which derives nothing. */
  memory?: ReferenceMemory;
  mutated: Mutated | null;
  /** The snapshot of the extract that was accepted before, if another is live: a change may give back what it had. */
  accepted: string | null;
};

async function mergeInput(storage: Storage, loadId: string): Promise<MergeInput> {
  const load = await getJson<Load>(storage, paths.load(loadId));
  const { peildatum, kind, days, base } = load;
  if (kind === 'rollback') return { load, mutated: null, accepted: null };
  const mutated =
    kind === 'mutations' || days.length > 0 ? await getJson<Mutated>(storage, paths.mutated(loadId)) : null;
  const { streets, places } = await getUnpacked(storage, paths.snapshotReference(loadId), (bytes) =>
    referenceOn(unpackReference(bytes), peildatum),
  );
  const accepted = base ? acceptedBefore(await readManifest(storage))?.snapshot.id : undefined;
  const isOther = accepted !== base?.snapshot.id;
  return { load, memory: { streets, places }, mutated, accepted: (isOther && accepted) || null };
}

/**
 * Makes the new snapshot of one segment, objects and lines, and its changes from the live dataset. Skips one that is
 * already merged. Holds the old and new segment as bytes, and only one postcode3 of it as lines.
 */
export async function mergeSegment(
  storage: Storage,
  loadId: string,
  segment: string,
  shared: MergeInput,
  changesPerFile = usualChangesPerFile,
): Promise<{ objects: number }> {
  if (await storage.open(paths.merged(loadId, segment))) return { objects: 0 };
  const { load } = shared;
  const before = await snapshotOf(storage, load.base?.snapshot ?? null, segment);
  const merged: Merged = {
    ...{ segment, files: [], hasObjects: false, ...noChanges(), nummeraanduidingen: 0, problems: emptyReport() },
    unexplained: noChanges().changes,
  };
  const byPlace = new PlaceCounter();
  const isReturned = returnsOf(storage, shared, segment);
  const places: [string, PlaceSize][] = [];
  const objects = objectSegmentWriter(numLayer);
  const objecten = objectSegmentWriter(adresObjectLayer);
  const after: Lines = load.target
    ? ofSnapshot(await snapshotOf(storage, load.target.snapshot, segment))
    : await derived(storage, shared, segment, { objects, objecten }, merged);

  const snapshot = lineSegmentWriter();
  const changes = new ChangeWriter();
  const csv = new ChangesCsvWriter(segment, (name, packed) =>
    putPacked(storage, paths.changesCsv(loadId, name), packed),
  );
  /** Stored together at the end, as most of the time of each goes by until the disk or the bucket has it. */
  const made: [key: string, packed: Buffer[]][] = [];
  const flush = () => {
    if (changes.count === 0) return;
    const name = `${segment}-${String(merged.files.length).padStart(3, '0')}`;
    merged.files.push({ name, writes: changes.count });
    made.push([paths.changes(loadId, name), changes.pack()]);
  };
  // Then nearly every address has other objects.
  const isSwitched = load.base !== null && hasObjecten(load.base.snapshot) !== (load.objecten ?? false);
  for (const postcode3 of postcode3sOf(segment)) {
    const live = before.blocks(postcode3);
    const { lines, counts, groups } = await after.of(postcode3, live);
    merged.addresses += counts.lines - counts.lists;
    merged.lists += counts.lists;
    places.push(...Object.entries(live.counts.places));
    for (const change of load.base ? changesIn(groups()) : []) {
      const counted = countChange(merged, change);
      const { kind } = change;
      // The others have nothing that an operator could judge.
      if (kind !== 'list' && !(kind === 'objecten' && isSwitched)) {
        const changed = changedPlaces(change);
        byPlace.count(change, changed, { ...counted, isReturned: await isReturned(postcode3, change) });
        await csv.add(change, changed);
      }
      const audited = kind === 'objecten' && !isSwitched ? 'changed' : kind;
      if (audited in merged.unexplained && after.isError?.(change)) merged.unexplained[audited as ChangeKind]++;
      changes.add(change);
      if (changes.count === changesPerFile) flush();
    }
    byPlace.endPart();
    const stored = snapshot.add(postcode3, lines, counts);
    if (load.base) continue;
    // A first load puts every line, and has nothing to compare them with.
    const [first] = stored.texts();
    if (!first) continue;
    countFirst(merged, counts, linesOf(first));
    if (changes.count + counts.lines > changesPerFile) flush();
    changes.addPart(postcode3, stored, counts);
  }
  flush();
  if (!load.target && merged.addresses > 0) made.push([paths.snapshot(load.id, segment), snapshot.pack()]);
  if (load.base) {
    await csv.flush();
    merged.csv = csv.files;
    merged.byPlace = byPlace.end(streetsKept);
    merged.places = addSizes({}, places);
  }
  merged.hasObjects = !objects.isEmpty;
  if (merged.hasObjects) made.push([paths.snapshotObjects(load.id, segment), objects.pack()]);
  if (load.objecten) merged.hasObjecten = !objecten.isEmpty;
  if (merged.hasObjecten) made.push([paths.snapshotObjecten(load.id, segment), objecten.pack()]);
  await forEachConcurrently(made, concurrentWrites, ([key, packed]) => putPacked(storage, key, packed));
  await putJson(storage, paths.merged(loadId, segment), merged);
  return { objects: after.derived ?? 0 };
}

/** The lines of a part: in blocks, as most of the country stays as it is stored on a usual day, and their number. */
type StoredLines = { lines: BlockedLines; counts: LineCounts };

/** The new lines of a part; `groups` has those that may differ from the live ones. */
type PartLines = StoredLines & { groups: () => Group[] };
type Group = { before: Line[]; after: Line[] };

/** Returns the lines of a segment, one postcode3 at a time, in order; `live` are those of the live dataset. */
type Lines = {
  of(postcode3: string, live: StoredLines): PartLines | Promise<PartLines>;
  /** How many lines of objects were derived. */
  derived?: number;
  /** Whether a change of the last part that was returned is one that the live dataset should have had. */
  isError?: (change: Change) => boolean;
};

/** Whether a change gives back what an extract had that was accepted before, where there is such an extract. */
function returnsOf(storage: Storage, { accepted }: MergeInput, segment: string) {
  let reader: Promise<LineSegmentReader> | undefined;
  let held: { part: string; lines: BlockedLines } | undefined;
  const read = async (id: string) =>
    (await findUnpacked(storage, paths.snapshot(id, segment), (bytes) => new LineSegmentReader(bytes))) ??
    new LineSegmentReader(null);
  return async (part: string, { after }: Change) => {
    if (accepted === null || after === null) return false;
    reader ??= read(accepted);
    if (held?.part !== part) held = { part, lines: (await reader).blocks(part).lines };
    const key = keyOf(after);
    const line = held.lines.linesOf(bareKey(key)).find((one) => keyOf(one) === key);
    return line !== undefined && addressPart(line) === addressPart(after);
  };
}

function* changesIn(groups: readonly Group[]): Generator<Change> {
  for (const { before, after } of groups) yield* diff(before, after);
}

function compared(live: StoredLines, { lines, counts }: StoredLines): PartLines {
  return { lines, counts, groups: () => [{ before: live.lines.lines(), after: lines.lines() }] };
}

function ofSnapshot(target: LineSegmentReader): Lines {
  return { of: (part, live) => compared(live, target.blocks(part)) };
}

async function snapshotOf(storage: Storage, snapshot: Snapshot | null, segment: string): Promise<LineSegmentReader> {
  if (!snapshot?.segments.includes(segment)) return new LineSegmentReader(null);
  return getUnpacked(storage, paths.snapshot(snapshot.id, segment), (bytes) => new LineSegmentReader(bytes));
}

/**
 * The lines of all addresses derived from the objects; adds the objects to `objects`, and the counts to `merged`. Of a
 * snapshot, only the parts that mutations change are derived again.
 */
async function derived(
  storage: Storage,
  { load, memory, mutated }: MergeInput,
  segment: string,
  { objects, objecten }: { objects: BlockFileWriter<PartResult>; objecten: BlockFileWriter<AdresObjectResult> },
  merged: Merged,
): Promise<Lines> {
  if (!memory) throw new Error('merging needs the streets and places of the load');
  const { peildatum, start } = load;
  // The lines of a part that is the same as at the start: those of the live snapshot, unless the days are applied again
  // to another.
  const unchanged = start ? await snapshotOf(storage, start.snapshot, segment) : null;
  const reference = referenceAt(memory);
  const source = await objectSource(storage, load, segment);
  const sourceOfObjecten = load.objecten && (await objectenSource(storage, load, segment, { text: async () => nums }));
  const editsIn = async (key: string) => (mutated && (await findJson<Edits>(storage, key))) ?? {};
  const edits = await editsIn(paths.dayEdits(load.id, segment));
  const editsOfObjecten = load.objecten ? await editsIn(paths.dayObjectenEdits(load.id, segment)) : {};
  if (load.objecten) merged.objecten = { live: 0, changed: 0, lost: 0, moved: 0 };
  const addObjecten = (part: string, lines: BlockedLines, result: AdresObjectResult, problems: ProblemReport) => {
    objecten.add(part, lines, result);
    if (merged.objecten) merged.objecten.live += result.objecten;
    merged.problems = mergeReports([merged.problems, problems]);
  };
  const now = { reference, peildatum, file: extractName(load) };
  const then = { ...now, reference: referenceBefore(reference, mutated), peildatum: startOf(load)?.peildatum ?? '' };
  const changedIn = mutated && linesOn(source, mutated);
  let last: ObjectLine[] = [];
  /** The nummeraanduidingen of the part that is derived whole, at the start. */
  let nums: Buffer = Buffer.alloc(0);
  const of = async (part: string, live: StoredLines): Promise<PartLines> => {
    const { stored } = source;
    if (stored && changedIn) {
      const edit = edits[part] ?? noEdit;
      const { lines } = unchanged?.blocks(part) ?? live;
      const held: HeldPart = { objects: await source.blocks(part), lines, result: stored.result(part) };
      if (sourceOfObjecten?.stored) {
        const edit = editsOfObjecten[part] ?? noEdit;
        held.objecten = {
          objects: await sourceOfObjecten.blocks(part),
          result: sourceOfObjecten.stored.result(part),
          edit,
        };
      }
      const done = editPart(held, withLines(edit, await changedIn(part)), then, now);
      objects.add(part, done.objects, done.result);
      if (done.objecten) addObjecten(part, done.objecten.objects, done.objecten.result, done.objecten.problems);
      merged.nummeraanduidingen += done.result.nummeraanduidingen;
      merged.problems = mergeReports([merged.problems, done.problems]);
      const changed = (side: keyof Group) => done.groups.flatMap((group) => group[side]);
      const counts = countsAfter(unchanged?.blocks(part).counts ?? live.counts, changed('before'), changed('after'));
      if (unchanged) return compared(live, { lines: done.lines, counts });
      return { lines: done.lines, counts, groups: () => done.groups };
    }
    nums = await source.text(part);
    const here = sourceOfObjecten && (await objectenOf(sourceOfObjecten, part, editsOfObjecten[part]));
    let text = nums;
    if (mutated) text = bytesOf(withoutEnded(part, withEdit(linesOf(text), edits[part] ?? noEdit), peildatum));
    if (load.auditSince !== undefined) last = linesOf(text);
    const problems = emptyReport();
    const joiner = new RowJoiner(text, here?.objects);
    const { next, count } = deriveRows(text, now, joiner, (problem) => addProblem(problems, problem));
    const lines = BlockedLines.of(joiner.end());
    const nummeraanduidingen = joiner.rows;
    result.derived = (result.derived ?? 0) + count;
    objects.add(part, BlockedLines.of(text), { nummeraanduidingen, problems: problemCounts(problems), next });
    merged.nummeraanduidingen += nummeraanduidingen;
    merged.problems = mergeReports([merged.problems, problems]);
    if (here) {
      const { count, next } = here.objects;
      const about = { objecten: count, problems: problemCounts(here.problems), next };
      addObjecten(part, BlockedLines.of(here.text), about, here.problems);
    }
    return compared(live, { lines, counts: joiner.counts });
  };
  /** The adresseerbare objecten of a part that is derived whole. */
  const objectenOf = async (from: ObjectSource<AdresObjectResult>, part: string, edit = noEdit) => {
    const stored = await from.text(part);
    // The edit has the lines of all objects of which an occurrence ends.
    const text = mutated ? bytesOf(withEdit(linesOf(stored), edit)) : stored;
    const problems = emptyReport();
    return { text, problems, objects: new ObjectsOfAddresses(text, now, (one) => addProblem(problems, one)) };
  };
  const result: Lines = { of };
  if (load.auditSince === undefined) return result;
  const changed = new Set((await getJson<Collected>(storage, paths.collected(load.id))).changed);
  result.isError = (change) => !isExplained(change, last, changed, reference);
  return result;
}

/** The streets and places at the start of the load. */
function referenceBefore(now: Reference, mutated: Mutated | null): Reference {
  const { changedStreets = [], changedPlaces = [], were = { streets: [], places: [] } } = mutated ?? {};
  return {
    openbareRuimten: lookupBefore(now.openbareRuimten, changedStreets, were.streets),
    woonplaatsen: lookupBefore(now.woonplaatsen, changedPlaces, were.places),
  };
}

/** All lines of the objects of a part that have one on a changed street, or in a changed place of its own. */
function linesOn(source: ObjectSource, { changedStreets, changedPlaces }: Mutated) {
  const streets = namedObjects('reference', new Set(changedStreets));
  const places = new Set(changedPlaces);
  return async (part: string): Promise<ObjectLine[]> => {
    if (part === withoutPostcode) return []; // of which there are no addresses
    const lines = streets.ids.size > 0 ? await source.find(part, streets) : [];
    if (places.size > 0) {
      for (const line of linesOf(await source.text(part))) if (places.has(referencesOf(line).place)) lines.push(line);
    }
    return lines.length > 0
      ? source.find(part, namedObjects('identificatie', new Set(lines.map(identificatieOf))))
      : [];
  };
}

/** An edit that also has these lines, before and after, where it does not have their objects. */
function withLines({ remove, add, ...edit }: PartEdits, lines: readonly ObjectLine[]): PartEdits {
  const ids = new Set([...remove, ...add].map(identificatieOf));
  const more = lines.filter((line) => !ids.has(identificatieOf(line)));
  return { ...edit, remove: [...remove, ...more], add: [...add, ...more] };
}

/** Merges the segments. */
export const step: StepOfItems<SegmentItem, unknown, MergeInput> = {
  share: mergeInput,
  async each({ storage, options, onDone }, { load }, { segment }, shared) {
    const { objects } = await mergeSegment(storage, load, segment, shared, options.changesPerFile);
    onDone({ rows: objects });
    return { segment };
  },
};

export const handler = /* @__PURE__ */ lambdaOfItems('merge', step);
