/** The objects of a shard as they are stored: how they are written, read, searched and edited. */

import { emptyReport, type ProblemCounts, problemCounts } from '../bag/problem-report.ts';
import { releaseMemory } from '../release-memory.ts';
import { fieldsAt, identificatieOf, type ObjectLine, referencesOf } from './objects.ts';
import {
  checkedJson,
  linesOf,
  packLineBytes,
  packLines,
  parseCheckedJson,
  shardOf,
  unpackLineBytes,
} from './stored-form.ts';

/**
 * What was derived from a part: its addresses, the problems by kind, and the first date after the snapshot's on which
 * one of its occurrences begins or ceases to be valid.
 */
export type PartResult = { addresses: number; problems: ProblemCounts; next: string | null };

/** Where the lines of one part lie, and what was derived from them. */
type ObjectPart = PartResult & { position: number; length: number };

/**
 * Makes the stored form of the object layer of one shard: each part, the first three digits of the postcodes, is
 * compressed by itself, so that a day of mutations reads and writes only the parts that it changes.
 */
export class ObjectShardWriter {
  readonly #parts: Record<string, ObjectPart> = {};
  readonly #packed: Buffer[] = [];
  #position = 0;
  /** How many lines were added. */
  count = 0;

  /** Adds a part; one without lines leaves no trace. */
  add(part: string, lines: readonly ObjectLine[], result: PartResult): void {
    if (lines.length === 0) return;
    this.count += lines.length;
    this.#append(part, packLines(lines), result);
  }

  /** As `add`, of the bytes of lines, which nobody else needs. */
  addBytes(part: string, lines: Buffer, result: PartResult): void {
    if (lines.length === 0) return;
    this.#append(part, packLineBytes(lines), result);
    releaseMemory(lines);
  }

  /** Adds a part as it is in another shard file. */
  copy(part: string, from: ObjectShardReader): void {
    const packed = from.packed(part);
    if (packed) this.#append(part, packed, from.result(part));
  }

  get isEmpty(): boolean {
    return this.#packed.length === 0;
  }

  pack(): Buffer {
    const header = checkedJson(this.#parts);
    const length = Buffer.alloc(4);
    length.writeUInt32LE(header.length);
    return Buffer.concat([length, header, ...this.#packed]);
  }

  #append(part: string, packed: Buffer, about: Omit<ObjectPart, 'position' | 'length'>): void {
    this.#parts[part] = { position: this.#position, length: packed.length, ...about };
    this.#packed.push(packed);
    this.#position += packed.length;
  }
}

const nothing: PartResult = { addresses: 0, problems: problemCounts(emptyReport()), next: null };

/** What an `ObjectShardWriter` packed; `null` is a shard without objects. Damaged bytes are an error when read. */
export class ObjectShardReader {
  readonly #bytes: Buffer;
  readonly #start: number;
  readonly #parts: Record<string, ObjectPart>;
  /** The last part that was read: it is often searched first, and then changed. */
  #last: { part: string; bytes: Buffer } | undefined;

  constructor(bytes: Buffer | null) {
    this.#bytes = bytes ?? Buffer.alloc(0);
    this.#start = bytes ? 4 + bytes.readUInt32LE(0) : 0;
    this.#parts = bytes ? parseCheckedJson(bytes.subarray(4, this.#start)) : {};
  }

  /** The parts that have lines, in their order. */
  get parts(): string[] {
    return Object.keys(this.#parts).sort();
  }

  /** What was derived from the part when it was written. */
  result(part: string): PartResult {
    const { addresses, problems, next } = this.#parts[part] ?? nothing;
    return { addresses, problems, next };
  }

  packed(part: string): Buffer | null {
    const found = this.#parts[part];
    if (!found) return null;
    return this.#bytes.subarray(this.#start + found.position, this.#start + found.position + found.length);
  }

  lines(part: string): ObjectLine[] {
    return linesOf(this.bytes(part));
  }

  /** The lines of a part as bytes, until another part is read. */
  bytes(part: string): Buffer {
    if (this.#last?.part === part) return this.#last.bytes;
    if (this.#last) releaseMemory(this.#last.bytes);
    this.#last = undefined;
    const packed = this.packed(part);
    const bytes = packed ? unpackLineBytes(packed) : Buffer.alloc(0);
    this.#last = { part, bytes };
    return bytes;
  }

  /** The lines of a part that are among `named`. */
  find(part: string, named: NamedObjects): ObjectLine[] {
    return findNamed(this.bytes(part), named);
  }
}

/** Which lines of the object layer to find: those of some nummeraanduidingen, or those on some streets. */
export type NamedObjects = { field: 'identificatie' | 'street'; ids: ReadonlySet<string>; lastDigits: Uint8Array };

const idLength = 16;
const filteredDigits = 6;
const tab = 0x09;
const lineEnd = 0x0a;
const zero = 0x30;

/** The lines whose nummeraanduiding, or whose street, is one of `ids`. */
export function namedObjects(field: NamedObjects['field'], ids: ReadonlySet<string>): NamedObjects {
  const lastDigits = new Uint8Array(10 ** filteredDigits);
  for (const id of ids) lastDigits[Number(id.slice(-filteredDigits))] = 1;
  return { field, ids, lastDigits };
}

/**
 * The named lines among all lines of a part, as bytes. A day of mutations looks at every object of the country for the
 * few that it names: so only lines whose last digits fit become strings.
 */
export function findNamed(lines: Buffer, named: NamedObjects): ObjectLine[] {
  const found: ObjectLine[] = [];
  const { field, lastDigits } = named;
  const toEnd = fieldsAt[field] + idLength;
  for (let start = 0; start < lines.length; ) {
    let at = start;
    while (at < lines.length && lines[at] !== tab) at++;
    let digits = 0;
    for (let i = at + toEnd - filteredDigits; i < at + toEnd; i++) digits = digits * 10 + (lines[i] as number) - zero;
    let end = at + fieldsAt.volgnummer;
    while (end < lines.length && lines[end] !== lineEnd) end++;
    if (lastDigits[digits] === 1) {
      const line = lines.toString('latin1', start, end);
      if (isNamed(line, named)) found.push(line);
    }
    start = end + 1;
  }
  return found;
}

/** Whether a line is one of those. */
export function isNamed(line: ObjectLine, { field, ids }: NamedObjects): boolean {
  return ids.has(field === 'identificatie' ? identificatieOf(line) : referencesOf(line).street);
}

/** The lines of some objects by identificatie, then by the part that they are stored with. */
export type FoundObjects = Map<string, Map<string, ObjectLine[]>>;

/** What to change in one part of the object layer. */
export type PartEdits = { remove: ObjectLine[]; add: ObjectLine[] };

/** By part; plain JSON. */
export type Edits = Record<string, PartEdits>;

/** Adds lines to remove or to add, by part. */
export function addEdit(
  edits: Edits,
  what: keyof PartEdits,
  lines: Iterable<[part: string, lines: ObjectLine[]]>,
): void {
  for (const [part, ofPart] of lines) {
    edits[part] ??= { remove: [], add: [] };
    edits[part][what].push(...ofPart);
  }
}

/** The same by the shard that each part is in. */
export function editsByShard(edits: Edits): Map<string, Edits> {
  const shards = new Map<string, Edits>();
  for (const [part, edit] of Object.entries(edits)) {
    shards.set(shardOf(part), { ...shards.get(shardOf(part)), [part]: edit });
  }
  return shards;
}

/** The lines of a part after an edit, sorted. Removes every copy of a line. Changes `lines`. */
export function edited(lines: ObjectLine[], edit: PartEdits | undefined): ObjectLine[] {
  if (!edit) return lines.sort();
  const gone = new Set(edit.remove);
  return [...lines.filter((line) => !gone.has(line)), ...edit.add].sort();
}
