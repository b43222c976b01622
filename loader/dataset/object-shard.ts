import { emptyReport, type ProblemCounts, problemCounts } from '../bag/problem-report.ts';
import { releaseMemory } from '../release-memory.ts';
import { checkedJson, parseCheckedJson } from './checked-json.ts';
import { packLines, unpackLineBytes, unpackLines } from './lines.ts';
import { findNamed, type NamedObjects } from './named-objects.ts';
import type { ObjectLine } from './objects.ts';

/**
 * What was derived from a part: its addresses, the problems by kind, and the first date after the snapshot's on which one of
 * its occurrences begins or ceases to count.
 */
export type PartResult = { addresses: number; problems: ProblemCounts; next: string | null };

/** Where the lines of one part lie, and what was derived from them. */
type Part = PartResult & { position: number; length: number };

/**
 * Makes the stored form of the object layer of one shard: each part, the first three digits of the postcodes, is compressed
 * by itself, so that a day of mutations reads and writes only the parts that it changes.
 */
export class ObjectShardWriter {
  readonly #parts: Record<string, Part> = {};
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

  #append(part: string, packed: Buffer, about: Omit<Part, 'position' | 'length'>): void {
    this.#parts[part] = { position: this.#position, length: packed.length, ...about };
    this.#packed.push(packed);
    this.#position += packed.length;
  }
}

const nothing: PartResult = { addresses: 0, problems: problemCounts(emptyReport()), next: null };

/** What an `ObjectShardWriter` packed; `null` is a shard without objects. Damaged bytes are an error when they are read. */
export class ObjectShardReader {
  readonly #bytes: Buffer;
  readonly #start: number;
  readonly #parts: Record<string, Part>;

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
    const packed = this.packed(part);
    return packed ? unpackLines(packed) : [];
  }

  /** The lines of a part that are among `named`. */
  find(part: string, named: NamedObjects): ObjectLine[] {
    const packed = this.packed(part);
    if (!packed) return [];
    const bytes = unpackLineBytes(packed);
    const found = findNamed(bytes, named);
    releaseMemory(bytes);
    return found;
  }
}
