import { mapConcurrently } from '../../core/concurrency.ts';
import { mergeReports, type ProblemReport } from '../bag/problem-report.ts';
import { keylessLines, numOf, objectIdOf, parseAdresObjectLine } from '../dataset/adres-objects.ts';
import { extractDate, type Load, type Part } from '../dataset/load.ts';
import type { LinesInPart } from '../dataset/object-rows.ts';
import { addEdit, addFound, type Edits, editsBySegment, type FoundObjects } from '../dataset/object-segment.ts';
import { identificatieOf, type ObjectLine, objectLines, parseObjectLine, withoutPostcode } from '../dataset/objects.ts';
import { unpackReference } from '../dataset/reference-file.ts';
import { segmentOf } from '../dataset/stored-form.ts';
import { concurrentReads, getJson, getUnpacked, paths, putJson, putPacked, type Storage } from '../storage/storage.ts';
import { type LoadCounts, mergeParts, type PartCounts } from '../verdict/load-counts.ts';
import { grouped, type Objection } from '../verdict/objections.ts';
import { type Extracted, readRows, type StoredPart } from './extract.ts';
import { lambdaStep } from './lambda-step.ts';
import type { Step } from './step.ts';

/** The counts of all parts together, the number of object lines, and where the lines of each postcode3 are stored. */
export type Collected = Pick<LoadCounts, keyof PartCounts> & {
  /** Only for a rollback: counted when the snapshot was made. */
  nummeraanduidingen?: number;
  objects: number;
  parts: StoredPart[];
  /** The occurrences of adresseerbare objecten that were read, and where their lines are; only with these. */
  objecten?: number;
  objectParts?: StoredPart[];
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
  const objectParts = load.objecten ? await getJson<Part[]>(storage, paths.objectParts(loadId)) : [];
  const [extracted, objecten] = [
    await extractedOf(storage, loadId, parts),
    await extractedOf(storage, loadId, objectParts),
  ];
  const { packed, problems, changed } = await getUnpacked(storage, paths.reference(loadId), (packed) => ({
    packed,
    ...unpackReference(packed),
  }));
  const collected: Collected = {
    ...mergeParts([...extracted, { voorkomens: 0, problems }]),
    objects: extracted.reduce((sum, { objects }) => sum + objects, 0),
    parts: extracted.map(storedPart),
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
    collected.objectParts = objecten.map(storedPart);
  }
  const { edits: ofDivided, repeated } = await editsOfDivided(storage, load, extracted, nummeraanduidingen);
  const { edits: ofObjecten } = await editsOfDivided(storage, load, objecten, adresObjecten);
  collected.objections = [
    ...lastFilesThatAreFull(load, [...extracted, ...objecten]),
    ...objectionsToRepeats(load, repeated, collected.voorkomens),
  ];
  const edits = editsBySegment(ofDivided);
  for (const [segment, ofSegment] of edits) await putJson(storage, paths.edits(loadId, segment), ofSegment);
  for (const [segment, ofSegment] of editsBySegment(ofObjecten))
    await putJson(storage, paths.objectenEdits(loadId, segment), ofSegment);
  // `mutate` stores it, once, if days of mutations follow the extract.
  if (load.days.length === 0) await putPacked(storage, paths.snapshotReference(loadId), packed);
  await putJson(storage, paths.collected(loadId), collected);
  const segments = new Set([...(load.base?.snapshot.segments ?? []), ...edits.keys()]);
  for (const { ranges } of extracted) for (const part of Object.keys(ranges)) segments.add(segmentOf(part));
  // The segment of objects whose nummeraanduiding is missing.
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

type ExtractedPart = Extracted & Part;

async function extractedOf(storage: Storage, load: string, parts: readonly Part[]): Promise<ExtractedPart[]> {
  return mapConcurrently(parts, concurrentReads, async (part) => ({
    ...part,
    ...(await getJson<Extracted>(storage, paths.extracted(load, part.part))),
  }));
}

const storedPart = ({ part, ranges }: ExtractedPart): StoredPart => ({ part, ranges });

/** What is known of the lines that workers store: whose they are, and those of a whole object by part. */
type ReadLines = {
  idOf(line: string): string;
  whole(lines: ReadonlyMap<string, readonly string[]>, peildatum: string): Map<string, string[]>;
};

const nummeraanduidingen: ReadLines = {
  idOf: identificatieOf,
  whole: (lines, peildatum) => objectLines(occurrencesIn(lines, parseObjectLine), peildatum),
};

const adresObjecten: ReadLines = {
  idOf: objectIdOf,
  whole(lines, peildatum) {
    const whole = new Map<string, string[]>();
    const occurrences = occurrencesIn(lines, (line) => parseAdresObjectLine(`\t${line}`));
    for (const [num, ofNum] of keylessLines(occurrences, peildatum)) {
      for (const [part, ofPart] of lines) {
        if (ofPart.some((line) => numOf(line) === num)) whole.set(part, [...(whole.get(part) ?? []), ...ofNum]);
      }
    }
    return whole;
  },
};

/** Each occurrence once: an object may be in two members of an extract, and is stored with several parts. */
function occurrencesIn<One extends { volgnummer: number }>(
  lines: ReadonlyMap<string, readonly string[]>,
  parse: (line: string) => One,
): One[] {
  const all = [...lines.values()].flat().map(parse);
  return [...new Map(all.map((one) => [one.volgnummer, one])).values()];
}

/**
 * The edits that complete objects whose occurrences were read separately: by several workers, or from an extract that
 * does not list its objects in order. In an ordered extract these are among the first and last objects of the parts.
 */
async function editsOfDivided(
  storage: Storage,
  load: Load,
  parts: readonly ExtractedPart[],
  { idOf, whole }: ReadLines,
): Promise<{ edits: Edits; repeated: number }> {
  const edits: Edits = {};
  let repeated = 0;
  const kindOf = ({ member }: ExtractedPart) => load.members[member]?.kind;
  for (const ofKind of Map.groupBy(parts, kindOf).values()) {
    const divided = inOrder(ofKind, idOf) ? linesAtEdges(ofKind, idOf) : linesReadTwice(storage, load.id, ofKind, idOf);
    const found: FoundObjects = new Map();
    for await (const [part, line] of divided) addFound(found, part, line, idOf(line));
    for (const lines of found.values()) {
      for (const ofPart of lines.values()) repeated += ofPart.length - new Set(ofPart).size;
      const all = whole(lines, extractDate(load));
      if (isSame(lines, all)) continue;
      addEdit(edits, 'remove', lines);
      addEdit(edits, 'add', all);
    }
  }
  return { edits, repeated };
}

/** Members whose last file is as full as all before it usually are: one after it may be missing. */
function lastFilesThatAreFull({ members }: Load, extracted: readonly ExtractedPart[]): Objection[] {
  return members.flatMap(({ name }, index) => {
    const files = extracted.filter(({ member }) => member === index).map(({ last }) => last);
    const last = files.reduce((one, other) => (other.name > one.name ? other : one), { name: '', voorkomens: 0 });
    if (last.voorkomens !== occurrencesPerFile) return [];
    const message = `the last file of ${name}, ${last.name}, is full, so one after it may be missing: get the extract again`;
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

function inOrder(parts: readonly Extracted[], idOf: ReadLines['idOf']): boolean {
  let last = '';
  for (const { edges, isSorted } of parts) {
    for (const first of edges.flatMap((object) => firstOf(object) ?? [])) {
      if (!isSorted || idOf(first) < last) return false;
      last = idOf(first);
    }
  }
  return true;
}

const firstOf = (object: readonly LinesInPart[]) => object[0]?.[1][0];

/** The lines of every object that is at the edge of two parts. */
function* linesAtEdges(parts: readonly Extracted[], idOf: ReadLines['idOf']): Generator<[part: string, line: string]> {
  const objects = parts.flatMap(({ edges }) => edges);
  for (const pieces of Map.groupBy(objects, (object) => idOf(firstOf(object) ?? '')).values()) {
    if (pieces.length < 2) continue;
    for (const [part, lines] of pieces.flat()) for (const line of lines) yield [part, line];
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
