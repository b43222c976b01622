import { absent, type NumBytes } from '../bag/num-bytes.ts';
import type { NumVoorkomen, Span } from '../bag/voorkomen.ts';
import {
  fieldsAt,
  longestSingleLine,
  type ObjectLine,
  objectLines,
  parseObjectLine,
  withoutPostcode,
  writeSingleLine,
} from './objects.ts';
import { type ByteRanges, GrowingBytes, packLineBytes } from './stored-form.ts';

/**
 * The occurrences of the first and of the last object that a worker read, and whether every object came after those
 * with a lower identificatie. `collect` uses these to find objects that were divided between workers.
 */
export type Edges = { edges: NumVoorkomen[][]; isSorted: boolean };

const lineEnd = 0x0a;
const tab = 0x09;
const tilde = 0x7e;
const idLength = 16;

/**
 * The object lines that one worker reads, kept apart by part until they are stored. An extract lists the occurrences of
 * an object one after the other, and its objects by identificatie: so occurrences are grouped as they come. Nearly
 * every object has one, so each is written at once, as bytes and without a string, and taken back where another one of
 * its object follows.
 */
export class ObjectRows {
  readonly #peildatum: string;
  readonly #parts = new LinesByNumber();
  /** The halves of the identificatie of the object that is being read, as doubles, which sort as their digits do. */
  #high = 0;
  #low = 0;
  /** Where the line of that object is, while it has only one occurrence. */
  #single: { lines: GrowingBytes; start: number } | undefined;
  /** The occurrences of that object where it has several. */
  #several: NumVoorkomen[] = [];
  #first: NumVoorkomen[] | undefined;
  #isSorted = true;
  count = 0;

  constructor(peildatum: string) {
    this.#peildatum = peildatum;
  }

  /** Adds an occurrence that counts on the date or later. */
  add(num: NumBytes, span: Span): void {
    const { view, identificatie } = num;
    const [high, low] = [view.getFloat64(identificatie), view.getFloat64(identificatie + 8)];
    if (high === this.#high && low === this.#low) {
      if (this.#single) this.#takeBack(this.#single);
      this.#several.push({ kind: 'NUM', ...num.values(), ...span });
      return;
    }
    if (high < this.#high || (high === this.#high && low < this.#low)) this.#isSorted = false;
    [this.#high, this.#low] = [high, low];
    this.#endObject();
    const lines = this.#parts.of(partNumber(num));
    const start = lines.length;
    lines.reserve(1 + longestSingleLine);
    if (start > 0) lines.memory[lines.length++] = lineEnd;
    writeSingleLine(lines, num, span);
    this.#single = { lines, start };
    this.count++;
  }

  /** To be called after the last occurrence. */
  end(): Edges {
    const last = this.#single ? [occurrenceIn(this.#single)] : this.#several;
    const isOnly = this.#first === undefined;
    this.#endObject();
    return { edges: isOnly ? [last] : [this.#first ?? [], last], isSorted: this.#isSorted };
  }

  /** All lines in the pieces of one object, each part compressed by itself, and where each lies. To be called last. */
  pack(): { packed: Buffer[]; ranges: ByteRanges } {
    return this.#parts.pack();
  }

  /**
   * The identificatie of the nummeraanduiding of each line and the key that it has there, by bucket of the
   * identificatie.
   */
  keys(buckets: number): LinesByNumber {
    const keys = new LinesByNumber();
    for (const { memory, length } of this.#parts.all) {
      for (let start = 0, end = 0; start < length; start = end + 1) {
        const at = memory.indexOf(tab, start);
        end = memory.indexOf(lineEnd, at + fieldsAt.volgnummer);
        if (end < 0 || end > length) end = length;
        if (memory[start] === tilde) continue; // it has this key in another part
        const id = at + fieldsAt.identificatie;
        const lines = keys.of(bucketAt(memory, id, buckets));
        lines.reserve(idLength + at - start + 1);
        if (lines.length > 0) lines.memory[lines.length++] = lineEnd;
        memory.copy(lines.memory, lines.length, id, id + idLength);
        memory.copy(lines.memory, lines.length + idLength, start, at);
        lines.length += idLength + at - start;
      }
    }
    return keys;
  }

  #takeBack(single: { lines: GrowingBytes; start: number }): void {
    this.#several = [occurrenceIn(single)];
    single.lines.length = single.start;
    this.#single = undefined;
    this.count--;
  }

  #endObject(): void {
    const [single, several] = [this.#single, this.#several];
    if (single) this.#first ??= [occurrenceIn(single)];
    if (several.length === 0) return;
    this.#first ??= several;
    for (const [part, lines] of objectLines(several, this.#peildatum)) {
      for (const line of lines) this.#write(part, line);
    }
    this.#several = [];
  }

  #write(part: string, line: ObjectLine): void {
    this.#parts.write(Number(part), line);
    this.count++;
  }
}

/** Lines, kept apart by a number below 1,000 until they are stored: that of their part, or of a bucket. */
export class LinesByNumber {
  readonly #lines: (GrowingBytes | undefined)[] = Array.from({ length: 1_000 }, () => undefined);

  of(number: number): GrowingBytes {
    this.#lines[number] ??= new GrowingBytes();
    return this.#lines[number];
  }

  write(number: number, line: string): void {
    const lines = this.of(number);
    lines.reserve(line.length + 1);
    if (lines.length > 0) lines.memory[lines.length++] = lineEnd;
    lines.length += lines.memory.write(line, lines.length, 'latin1');
  }

  get all(): GrowingBytes[] {
    return this.#lines.filter((lines) => lines !== undefined);
  }

  /** All lines, those of each number compressed by themselves, and where these lie. Frees them. */
  pack(): { packed: Buffer[]; ranges: ByteRanges } {
    const ranges: ByteRanges = {};
    const packed: Buffer[] = [];
    let position = 0;
    this.#lines.forEach((lines, number) => {
      if (!lines || lines.length === 0) return;
      const bytes = packLineBytes(lines.bytes);
      lines.release();
      packed.push(bytes);
      ranges[nameOfNumber(number)] = [position, bytes.length];
      position += bytes.length;
    });
    return { packed, ranges };
  }
}

/** What the ranges of `LinesByNumber` call a number: `007`. */
export const nameOfNumber = (number: number) => String(number).padStart(3, '0');

/** The bucket of an identificatie, by its last two digits. */
export function bucketOf(identificatie: string, buckets: number): number {
  return Number(identificatie.slice(-2)) % buckets;
}

function bucketAt(bytes: Buffer, id: number, buckets: number): number {
  const digit = (at: number) => (bytes[id + at] as number) - 0x30;
  return (10 * digit(idLength - 2) + digit(idLength - 1)) % buckets;
}

/** `partOf` as a number, without a string. */
function partNumber({ bytes, postcode }: NumBytes): number {
  if (postcode === absent) return Number(withoutPostcode);
  const digit = (at: number) => (bytes[postcode + at] as number) - 0x30;
  return 100 * digit(0) + 10 * digit(1) + digit(2);
}

/** The occurrence of the last line. */
function occurrenceIn({ lines, start }: { lines: GrowingBytes; start: number }): NumVoorkomen {
  return parseObjectLine(lines.bytes.toString('latin1', start > 0 ? start + 1 : 0));
}
