import { mapConcurrently } from '../../core/concurrency.ts';
import { fileLabel } from '../bag/extract-members.ts';
import type { StandVisit } from '../bag/interpret-stand.ts';
import type { NumBytes } from '../bag/num-bytes.ts';
import { addProblem, emptyReport } from '../bag/problem-report.ts';
import { type ReadObjects, readNummeraanduidingen } from '../bag/read-stands.ts';
import type { Span } from '../bag/voorkomen.ts';
import { BlockedLines, withEdit } from '../dataset/block-file.ts';
import { changedSince, extractDate, extractName, type Load, type Part, startOf } from '../dataset/load.ts';
import { findNamed, type NamedObjects } from '../dataset/named-objects.ts';
import { type Edges, ObjectRows } from '../dataset/object-rows.ts';
import {
  type Edits,
  numLayer,
  type ObjectLayer,
  ObjectSegmentReader,
  type PartResult,
} from '../dataset/object-segment.ts';
import type { ObjectLine } from '../dataset/objects.ts';
import { sortedLines } from '../dataset/sort-lines.ts';
import { type ByteRanges, bytesOf, linesOf, postcode3sOf, unpackLineBytes } from '../dataset/stored-form.ts';
import type { Amount } from '../progress.ts';
import { releaseMemory } from '../release-memory.ts';
import {
  concurrentReads,
  DamagedObjectError,
  findJson,
  findUnpacked,
  getJson,
  MissingObjectError,
  openObject,
  paths,
  putJson,
  putPacked,
  type Storage,
  unpacked,
} from '../storage/storage.ts';
import type { PartCounts } from '../verdict/load-counts.ts';
import { withEntry } from '../zip/zip.ts';
import { lambdaOfItems } from './lambda-step.ts';
import { readZipMember } from './stage.ts';
import type { StepOfItems } from './step.ts';

const lineEnd = Buffer.from('\n');

/** What is stored beside the lines of a part (`objects`: their number); if it exists, the part is finished. */
export type Extracted = ReadPart & Edges & { objects: number; ranges: ByteRanges };

/** `last`: of its files the one with the highest number, and how many occurrences that has. */
type ReadPart = PartCounts & { changed: string[]; last: { name: string; voorkomens: number } };

/** Where the lines of each postcode3 are stored among the lines of one part. */
export type StoredPart = { part: string; ranges: ByteRanges };

/**
 * Reads one part of the nummeraanduidingen, and stores the current and future occurrences. Skips a part that is already
 * stored. Holds the lines of the part: some MB.
 * @throws ExtractError
 */
export async function extractPart(
  storage: Storage,
  loadId: string,
  part: Part,
  onRead: (amount: Amount) => void = () => undefined,
): Promise<void> {
  if (await storage.open(paths.extracted(loadId, part.part))) return;
  const load = await getJson<Load>(storage, paths.load(loadId));
  const rows = new ObjectRows(extractDate(load));
  const add = (num: NumBytes, span: Span) => rows.add(num, span);
  const counts = await readPart(storage, load, part, readNummeraanduidingen, add, onRead);
  const edges = rows.end();
  if (load.objecten) await putPacked(storage, paths.nums(loadId, part.part), rows.packNums());
  await putExtracted(storage, loadId, part, rows, { ...counts, ...edges });
}

/** Reads the files of a part. */
export async function readPart<T>(
  storage: Storage,
  load: Load,
  { member: index, files }: Part,
  read: ReadObjects<T>,
  add: StandVisit<T>,
  onRead: (amount: Amount) => void,
): Promise<ReadPart> {
  const problems = emptyReport();
  const changed: string[] = [];
  let voorkomens = 0;
  let last = { name: '', voorkomens: 0 };
  await readZipMember(storage, load, index, async (zip, member) => {
    for (const file of files) {
      const label = fileLabel(extractName(load), member, file);
      const counts = await withEntry(zip, file, label, (xml) =>
        read(xml, label, extractDate(load), add, { later: add, since: changedSince(load) }),
      );
      for (const problem of counts.problems) addProblem(problems, problem);
      for (const identificatie of counts.changed) changed.push(identificatie);
      voorkomens += counts.voorkomens;
      if (file.name > last.name) last = { name: file.name, voorkomens: counts.voorkomens };
      onRead({ bytes: file.compressedSize, rows: counts.voorkomens });
    }
  });
  return { voorkomens, problems, changed, last };
}

/** Stores the lines of a part, and what was found. */
export async function putExtracted(
  storage: Storage,
  loadId: string,
  { part }: Part,
  rows: Pick<ObjectRows, 'pack' | 'count'>,
  found: ReadPart & Edges,
): Promise<void> {
  const { packed, ranges } = rows.pack();
  await putPacked(storage, paths.rows(loadId, part), packed);
  for (const piece of packed) releaseMemory(piece);
  const extracted: Extracted = { ...found, objects: rows.count, ranges };
  await putJson(storage, paths.extracted(loadId, part), extracted);
}

/**
 * What a worker packed of some postcode3s, by default of all, in their order: they lie side by side, and are read at
 * once. `lines` unpacks. @throws MissingObjectError, DamagedObjectError
 */
export async function readRows(
  storage: Storage,
  key: string,
  ranges: ByteRanges,
  postcode3s: readonly string[] = Object.keys(ranges).sort(),
): Promise<{ postcode3: string; lines: () => Promise<Buffer> }[]> {
  const wanted = postcode3s.filter((postcode3) => ranges[postcode3]);
  const [first, last] = [wanted[0], wanted.at(-1)].map((postcode3) => ranges[postcode3 ?? '']);
  if (!first || !last) return [];
  const packed = await openObject(storage, key);
  const [start, end] = [first[0], last[0] + last[1]];
  if (end > packed.size) throw new DamagedObjectError(key);
  const bytes = await packed.read(start, end - start);
  return wanted.map((postcode3) => {
    const [position, length] = ranges[postcode3] as [number, number];
    const own = bytes.subarray(position - start, position - start + length);
    return { postcode3, lines: () => unpacked(key, () => unpackLineBytes(own)) };
  });
}

/** The object lines that a load starts with, a segment at a time: those of its extract, or of the live snapshot. */
export type ObjectSource<Result = PartResult> = {
  /** The lines of one part, such as `138`, as bytes. */
  text(part: string): Promise<Buffer>;
  /** The same in the blocks that they are stored in. */
  blocks(part: string): Promise<BlockedLines>;
  /** Those of them that are among `named`, or among those that `also` names. */
  find(part: string, named: NamedObjects, also?: NamedObjects): Promise<ObjectLine[]>;
  /** The stored segment that they come from; `null` where they were read from an extract. */
  stored: ObjectSegmentReader<Result> | null;
};

/** The objects of a segment before any mutation of the load is applied. */
export async function objectSource(storage: Storage, load: Load, segment: string): Promise<ObjectSource> {
  if (load.kind !== 'extract') {
    const { id = '', objects } = startOf(load)?.snapshot ?? {};
    return storedSource(storage, paths.snapshotObjects(id, segment), numLayer, objects?.includes(segment) ?? false);
  }
  const { parts } = await getJson<{ parts: StoredPart[] }>(storage, paths.collected(load.id));
  const edits = (await findJson<Edits>(storage, paths.edits(load.id, segment))) ?? {};
  const rows = await rowsOf(storage, load.id, parts, segment);
  return extractedSource(async (part) => {
    const all = await rows(part);
    const edit = edits[part];
    const sorted = edit ? bytesOf(withEdit(linesOf(all), edit)) : sortedLines(all, part);
    releaseMemory(all);
    return sorted;
  });
}

/** What a snapshot has of a segment. */
export async function storedSource<Result>(
  storage: Storage,
  key: string,
  layer: ObjectLayer<Result>,
  isThere: boolean,
): Promise<ObjectSource<Result>> {
  const found = await findUnpacked(storage, key, (bytes) => new ObjectSegmentReader(bytes, layer));
  if (!found && isThere) throw new MissingObjectError(key);
  const stored = found ?? new ObjectSegmentReader(null, layer);
  return {
    stored,
    text: (part) => unpacked(key, () => bytesOf(stored.lines(part))),
    blocks: (part) => unpacked(key, () => stored.blocks(part)),
    find: (part, named, also) => unpacked(key, () => stored.find(part, named, also)),
  };
}

/** Reads what workers packed of each part of a segment: its lines in any order, in memory of their own. */
export async function rowsOf(
  storage: Storage,
  loadId: string,
  parts: readonly StoredPart[],
  segment: string,
): Promise<(part: string) => Promise<Buffer>> {
  const wanted = postcode3sOf(segment);
  const held = await mapConcurrently(parts, concurrentReads, ({ part, ranges }) =>
    readRows(storage, paths.rows(loadId, part), ranges, wanted),
  );
  const packed = Map.groupBy(held.flat(), (one) => one.postcode3);
  return async (part) => {
    const pieces = await Promise.all((packed.get(part) ?? []).map(({ lines }) => lines()));
    const all = Buffer.concat(pieces.flatMap((lines) => [lines, lineEnd]));
    pieces.forEach(releaseMemory);
    return all.subarray(0, -1);
  };
}

/** The objects of a segment of which `text` gives the lines of each part, sorted. */
export function extractedSource(text: (part: string) => Promise<Buffer>): ObjectSource<never> {
  const find = async (part: string, named: NamedObjects, also = named) =>
    findNamed([await text(part)], named, { also }).lines;
  const blocks = async (part: string) => BlockedLines.of(await text(part));
  return { stored: null, text, blocks, find };
}

/** Reads the parts. */
export const step: StepOfItems<Part> = {
  share: async () => undefined,
  async each({ storage, onDone }, { load }, part) {
    await extractPart(storage, load, part, onDone);
    return { part: part.part };
  },
};

export const handler = /* @__PURE__ */ lambdaOfItems('extract', step);
