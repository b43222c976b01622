import { mapConcurrently } from '../../core/concurrency.ts';
import { mergeReports, type ProblemReport } from '../bag/problem-report.ts';
import { isObjectenKind, type StandKind } from '../bag/schema.ts';
import type { AdresseerbaarVoorkomen, NumVoorkomen } from '../bag/voorkomen.ts';
import { addressesOf, objectIdOf, parseAdresObjectLine } from '../dataset/adres-objects.ts';
import { extractDate, type Load, type Part } from '../dataset/load.ts';
import { type LoadCounts, mergeParts, type PartCounts } from '../dataset/load-counts.ts';
import { bucketOf } from '../dataset/object-rows.ts';
import { addEdit, addFound, type Edits, editsBySegment, type FoundObjects } from '../dataset/object-segment.ts';
import { grouped, type Objection } from '../dataset/objections.ts';
import { identificatieOf, type ObjectLine, objectLines, parseObjectLine, withoutPostcode } from '../dataset/objects.ts';
import { unpackReference } from '../dataset/reference-file.ts';
import { type ByteRanges, segmentOf } from '../dataset/stored-form.ts';
import { concurrentReads, getJson, getUnpacked, paths, putJson, putPacked, type Storage } from '../storage/storage.ts';
import { type Extracted, type ExtractedObjects, readRows, type StoredPart } from './extract.ts';
import type { Bucket, BucketItem } from './join.ts';
import { lambdaStep } from './lambda-step.ts';
import type { Step } from './step.ts';

/** The counts of all parts together, the number of object lines, and where the lines of each postcode3 are stored. */
export type Collected = Pick<LoadCounts, keyof PartCounts> & {
  /** Only for a rollback: counted when the snapshot was made. */
  nummeraanduidingen?: number;
  objects: number;
  parts: StoredPart[];
  /** The occurrences of adresseerbare objecten that were read; absent in a dataset without these. */
  objecten?: number;
  /** The nummeraanduidingen, streets and places that have changed since `auditSince`. */
  changed?: string[];
  /** What is odd about the files of an extract. */
  objections?: Objection[];
};

/** Kadaster writes as many occurrences into each file but the last. */
const occurrencesPerFile = 10_000;

/** One segment to merge. */
export type SegmentItem = { segment: string };

/**
 * Adds up the counts of all parts, and returns which segments to merge. @throws MissingObjectError for a missing part
 */
export async function collect(storage: Storage, loadId: string): Promise<{ segments: number }> {
  const load = await getJson<Load>(storage, paths.load(loadId));
  const parts = await getJson<Part[]>(storage, paths.parts(loadId));
  const isOfObjecten = ({ member }: Part) => isObjectenKind(load.members[member]?.kind as StandKind);
  const extracted = await extractedOf<Extracted>(
    storage,
    loadId,
    parts.filter((part) => !isOfObjecten(part)),
  );
  const objecten = load.objecten
    ? await extractedOf<ExtractedObjects>(storage, loadId, parts.filter(isOfObjecten))
    : [];
  const { packed, problems, changed } = await getUnpacked(storage, paths.reference(loadId), (packed) => ({
    packed,
    ...unpackReference(packed),
  }));
  const collected: Collected = {
    ...mergeParts([...extracted, { voorkomens: 0, problems }]),
    objects: extracted.reduce((sum, { objects }) => sum + objects, 0),
    parts: extracted.map(({ part, ranges }) => ({ part, ranges })),
    ...(load.auditSince !== undefined && {
      changed: [...changed, ...[...extracted, ...objecten].flatMap((part) => part.changed)],
    }),
  };
  if (load.objecten) {
    collected.problems = mergeReports([
      collected.problems as ProblemReport,
      ...objecten.map(({ problems }) => problems),
    ]);
    collected.objecten = objecten.reduce((sum, { voorkomens }) => sum + voorkomens, 0);
    await putBuckets(storage, load, extracted, objecten);
  }
  const { edits: ofDivided, repeated } = await editsOfDivided(storage, load, extracted);
  collected.objections = [
    ...lastFilesThatAreFull(load, parts, [...extracted, ...objecten]),
    ...objectionsToRepeats(load, repeated, collected.voorkomens),
  ];
  const edits = editsBySegment(ofDivided);
  for (const [segment, ofSegment] of edits) await putJson(storage, paths.edits(loadId, segment), ofSegment);
  // Of an extract with days, `mutate` stores what they make of it, and does so once.
  if (load.days.length === 0) await putPacked(storage, paths.snapshotReference(loadId), packed);
  await putJson(storage, paths.collected(loadId), collected);
  const segments = new Set([...(load.base?.snapshot.segments ?? []), ...edits.keys()]);
  for (const { ranges } of extracted) for (const part of Object.keys(ranges)) segments.add(segmentOf(part));
  // Of objects whose nummeraanduiding is not there.
  if (load.objecten) segments.add(segmentOf(withoutPostcode));
  return putSegments(storage, loadId, segments);
}

/** Stores the items of the map that merges. */
export async function putSegments(
  storage: Storage,
  load: string,
  segments: Iterable<string>,
): Promise<{ segments: number }> {
  const items: SegmentItem[] = [...segments].sort().map((segment) => ({ segment }));
  await putJson(storage, paths.segments(load), items);
  return { segments: items.length };
}

async function extractedOf<One>(
  storage: Storage,
  load: string,
  parts: readonly Part[],
): Promise<(One & { part: string })[]> {
  return mapConcurrently(parts, concurrentReads, async ({ part }) => ({
    part,
    ...(await getJson<One>(storage, paths.extracted(load, part))),
  }));
}

/** What `join` needs of each bucket. */
async function putBuckets(
  storage: Storage,
  load: Load,
  extracted: readonly ExtractedPart[],
  objecten: readonly ExtractedObjectPart[],
): Promise<void> {
  const items = await getJson<BucketItem[]>(storage, paths.buckets(load.id));
  const divided = await dividedObjecten(storage, load, objecten);
  for (const [index, { bucket }] of items.entries()) {
    const storedRows = (key: (load: string, part: string) => string, part: string, ranges: ByteRanges = {}) => {
      const range = ranges[bucket];
      return range ? [{ key: key(load.id, part), ranges: { [bucket]: range } }] : [];
    };
    const isHere = (occurrences: AdresseerbaarVoorkomen[]) =>
      occurrences.some((one) => addressesOf(one).some((num) => bucketOf(num, items.length) === index));
    const contents: Bucket = {
      keys: extracted.flatMap(({ part, keys }) => storedRows(paths.keys, part, keys)),
      rows: objecten.flatMap(({ part, ranges }) => storedRows(paths.rows, part, ranges)),
      divided: divided.filter(isHere),
    };
    await putJson(storage, paths.bucket(load.id, bucket), contents);
  }
}

/** All occurrences of the adresseerbare objecten that were read separately, each once. */
async function dividedObjecten(
  storage: Storage,
  load: Load,
  extracted: readonly ExtractedObjectPart[],
): Promise<AdresseerbaarVoorkomen[][]> {
  const pieces: AdresseerbaarVoorkomen[] = [];
  for (const parts of Map.groupBy(extracted, ({ kind }) => kind).values()) {
    if (inOrder(parts)) for (const { edges } of parts) pieces.push(...edges.flat());
    else {
      for await (const [, line] of linesReadTwice(storage, load.id, parts, objectIdOf))
        pieces.push(parseAdresObjectLine(`\t${line}`));
    }
  }
  return Array.from(Map.groupBy(pieces, ({ identificatie }) => identificatie).values(), (occurrences) => [
    ...new Map(occurrences.map((one) => [one.volgnummer, one])).values(),
  ]);
}

type ExtractedPart = Extracted & StoredPart;
type ExtractedObjectPart = ExtractedObjects & StoredPart;

/**
 * The edits that complete objects whose occurrences were read separately: by several workers, or from an extract that
 * does not list its objects in order. In an ordered extract these are among the first and last objects of the parts.
 */
async function editsOfDivided(
  storage: Storage,
  load: Load,
  parts: readonly ExtractedPart[],
): Promise<{ edits: Edits; repeated: number }> {
  const divided = inOrder(parts)
    ? linesAtEdges(parts, extractDate(load))
    : linesReadTwice(storage, load.id, parts, identificatieOf);
  const found: FoundObjects = new Map();
  for await (const [part, line] of divided) addFound(found, part, line);
  const edits: Edits = {};
  let repeated = 0;
  for (const lines of found.values()) {
    for (const ofPart of lines.values()) repeated += ofPart.length - new Set(ofPart).size;
    const all = [...lines.values()].flat();
    const whole = objectLines(unique(all.map(parseObjectLine)), extractDate(load));
    if (isSame(lines, whole)) continue;
    addEdit(edits, 'remove', lines);
    addEdit(edits, 'add', whole);
  }
  return { edits, repeated };
}

/** Members whose last file is as full as all before it usually are: one after it may be missing. */
function lastFilesThatAreFull(
  { members }: Load,
  parts: readonly Part[],
  extracted: readonly Pick<ExtractedPart, 'part' | 'last'>[],
): Objection[] {
  const memberOf = new Map(parts.map(({ part, member }) => [part, member]));
  return members.flatMap(({ name: member }, index) => {
    const files = extracted.filter(({ part }) => memberOf.get(part) === index).map(({ last }) => last);
    const last = files.reduce((one, other) => (other.name > one.name ? other : one), { name: '', voorkomens: 0 });
    if (last.voorkomens !== occurrencesPerFile) return [];
    const message = `the last file of ${member}, ${last.name}, is full, so one after it may be missing: get the extract again`;
    return [{ code: 'last_file_full' as const, message }];
  });
}

/** An object may be in two members, those of two municipalities; in one member a file repeats another. */
function objectionsToRepeats({ members }: Load, repeated: number, voorkomens: number): Objection[] {
  const isOneMember = members.filter(({ kind }) => kind === 'NUM').length === 1;
  if (!isOneMember || repeated <= Math.min(1000, voorkomens / 100)) return [];
  const message = `${grouped(repeated)} nummeraanduidingen are there twice: one file repeats another: get the extract again`;
  return [{ code: 'repeated_occurrences', message }];
}

function inOrder(parts: readonly { edges: { identificatie: string }[][]; isSorted: boolean }[]): boolean {
  let last = '';
  for (const { edges, isSorted } of parts) {
    for (const identificatie of edges.flatMap(([first]) => first?.identificatie ?? [])) {
      if (!isSorted || identificatie < last) return false;
      last = identificatie;
    }
  }
  return true;
}

/** The lines of every object that is at the edge of two parts. */
function* linesAtEdges(parts: readonly Extracted[], peildatum: string): Generator<[part: string, line: ObjectLine]> {
  const pieces = parts.flatMap(({ edges }) => edges);
  for (const [id, ofObject] of Map.groupBy(pieces, ([first]) => first?.identificatie)) {
    if (id === undefined || ofObject.length < 2) continue;
    for (const [part, lines] of ofObject.flatMap((piece) => [...objectLines(piece, peildatum)]))
      for (const line of lines) yield [part, line];
  }
}

/** The lines of every object with several lines. Reads all lines twice, and holds a number for each. */
async function* linesReadTwice(
  storage: Storage,
  load: string,
  parts: readonly (StoredPart & { objects: number })[],
  idOf: (line: string) => string,
): AsyncGenerator<[part: string, line: string]> {
  let count = 0;
  const numbers = new Float64Array(parts.reduce((sum, { objects }) => sum + objects, 0));
  for await (const [, line] of linesOf(storage, load, parts)) numbers[count++] = Number(idOf(line));
  numbers.sort();
  const several = new Set(numbers.filter((number, i) => number === numbers[i - 1] || number === numbers[i + 1]));
  for await (const read of linesOf(storage, load, parts)) if (several.has(Number(idOf(read[1])))) yield read;
}

async function* linesOf(
  storage: Storage,
  load: string,
  parts: readonly StoredPart[],
): AsyncGenerator<[part: string, line: ObjectLine]> {
  for (const { part, ranges } of parts) {
    for (const { postcode3, lines } of await readRows(storage, paths.rows(load, part), ranges)) {
      for (const line of (await lines()).toString('latin1').split('\n')) yield [postcode3, line];
    }
  }
}

/** One of each number: an object may be in two members of an extract, and is stored with several parts. */
function unique(occurrences: readonly NumVoorkomen[]): NumVoorkomen[] {
  return [...new Map(occurrences.map((one) => [one.volgnummer, one])).values()];
}

function isSame(a: ReadonlyMap<string, ObjectLine[]>, b: ReadonlyMap<string, ObjectLine[]>): boolean {
  const text = (lines: ReadonlyMap<string, ObjectLine[]>) =>
    [...lines]
      .map(([part, ofPart]) => [part, ...ofPart.toSorted()].join(' '))
      .sort()
      .join();
  return text(a) === text(b);
}

/** Adds up the parts. */
export const step: Step = {
  async run({ storage }, { load }) {
    return { load, ...(await collect(storage, load)) };
  },
};

export const handler = /* @__PURE__ */ lambdaStep('collect', step);
