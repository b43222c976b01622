import { mapConcurrently } from '../../core/concurrency.ts';
import { fileLabel } from '../bag/extract-members.ts';
import type { NumBytes } from '../bag/num-bytes.ts';
import { addProblem, emptyReport } from '../bag/problem-report.ts';
import { readNummeraanduidingen } from '../bag/read-stands.ts';
import type { Span } from '../bag/voorkomen.ts';
import { BlockedLines, withEdit } from '../dataset/block-file.ts';
import { changedSince, extractDate, extractName, type Load, type Part, startOf } from '../dataset/load.ts';
import type { PartCounts } from '../dataset/load-counts.ts';
import { findNamed, type NamedObjects } from '../dataset/named-objects.ts';
import { type Edges, ObjectRows } from '../dataset/object-rows.ts';
import { type Edits, ObjectSegmentReader } from '../dataset/object-segment.ts';
import type { ObjectLine } from '../dataset/objects.ts';
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
import { withEntry } from '../zip/zip.ts';
import { lambdaOfItems } from './lambda-step.ts';
import { readZipMember } from './stage.ts';
import type { StepOfItems } from './step.ts';

const lineEnd = Buffer.from('\n');

/** What `extractPart` stores beside object lines (`objects`: their number); if it exists, the part is finished. */
export type Extracted = PartCounts & Edges & { objects: number; ranges: ByteRanges; changed: string[] };

/** Where the lines of each postcode3 are stored among the lines of one part. */
export type StoredPart = { part: string; ranges: ByteRanges };

/**
 * Reads one part of the nummeraanduidingen and stores the current and future occurrences. Skips a part that is
 * already stored. Holds the lines of the part: some MB.
 * @throws ExtractError
 */
export async function extractPart(
  storage: Storage,
  loadId: string,
  { part, member: index, files }: Part,
  onRead: (amount: Amount) => void = () => undefined,
): Promise<void> {
  if (await storage.open(paths.extracted(loadId, part))) return;
  const load = await getJson<Load>(storage, paths.load(loadId));
  const peildatum = extractDate(load);
  const rows = new ObjectRows(peildatum);
  const problems = emptyReport();
  const changed: string[] = [];
  let voorkomens = 0;
  const add = (num: NumBytes, span: Span) => rows.add(num, span);
  await readZipMember(storage, load, index, async (zip, member) => {
    for (const file of files) {
      const label = fileLabel(extractName(load), member, file);
      const counts = await withEntry(zip, file, label, (xml) =>
        readNummeraanduidingen(xml, label, peildatum, add, { later: add, since: changedSince(load) }),
      );
      for (const problem of counts.problems) addProblem(problems, problem);
      for (const identificatie of counts.changed) changed.push(identificatie);
      voorkomens += counts.voorkomens;
      onRead({ bytes: file.compressedSize, rows: counts.voorkomens });
    }
  });
  const edges = rows.end();
  const { packed, ranges } = rows.pack();
  await putPacked(storage, paths.rows(loadId, part), packed);
  for (const piece of packed) releaseMemory(piece);
  const extracted: Extracted = { voorkomens, problems, ...edges, objects: rows.count, ranges, changed };
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
export type ObjectSource = {
  /** The lines of one part, such as `138`, as bytes. */
  text(part: string): Promise<Buffer>;
  /** The same in the blocks that they are stored in. */
  blocks(part: string): Promise<BlockedLines>;
  /** Those of them that are among `named`. */
  find(part: string, named: NamedObjects): Promise<ObjectLine[]>;
  /** The stored segment that they come from; `null` where they were read from an extract. */
  stored: ObjectSegmentReader | null;
};

/** The objects of a segment before any mutation of the load is applied. */
export async function objectSource(storage: Storage, load: Load, segment: string): Promise<ObjectSource> {
  if (load.kind !== 'extract') {
    const { id = '', objects = [] } = startOf(load)?.snapshot ?? {};
    const key = paths.snapshotObjects(id, segment);
    const found = await findUnpacked(storage, key, (bytes) => new ObjectSegmentReader(bytes));
    if (!found && objects.includes(segment)) throw new MissingObjectError(key);
    const stored = found ?? new ObjectSegmentReader(null);
    return {
      stored,
      text: (part) => unpacked(key, () => bytesOf(stored.lines(part))),
      blocks: (part) => unpacked(key, () => stored.blocks(part)),
      find: (part, named) => unpacked(key, () => stored.find(part, named)),
    };
  }
  const { parts } = await getJson<{ parts: StoredPart[] }>(storage, paths.collected(load.id));
  const edits = (await findJson<Edits>(storage, paths.edits(load.id, segment))) ?? {};
  const wanted = postcode3sOf(segment);
  const held = await mapConcurrently(parts, concurrentReads, ({ part, ranges }) =>
    readRows(storage, paths.rows(load.id, part), ranges, wanted),
  );
  const packed = Map.groupBy(held.flat(), (one) => one.postcode3);
  const text = async (postcode3: string) => {
    const pieces = await Promise.all((packed.get(postcode3) ?? []).map(({ lines }) => lines()));
    // Strings that are slices of one sort faster than those of several.
    const all = Buffer.concat(pieces.flatMap((lines) => [lines, lineEnd]));
    pieces.forEach(releaseMemory);
    const lines = linesOf(all.subarray(0, -1));
    releaseMemory(all);
    const edit = edits[postcode3];
    return bytesOf(edit ? withEdit(lines, edit) : lines.sort());
  };
  const find = async (part: string, named: NamedObjects) => findNamed([await text(part)], named).lines;
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
