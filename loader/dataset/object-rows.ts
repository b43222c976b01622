import { absent, type NumBytes } from '../bag/num-bytes.ts';
import type { NumVoorkomen, Span } from '../bag/voorkomen.ts';
import {
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

/**
 * The object lines that one worker reads, kept apart by part until they are stored. An extract lists the occurrences of
 * an object one after the other, and its objects by identificatie: so occurrences are grouped as they come. Nearly
 * every object has one, so each is written at once, as bytes and without a string, and taken back where another one of
 * its object follows.
 */
export class ObjectRows {
  readonly #peildatum: string;
  /** The lines of each part, at the index that its number is. */
  readonly #parts: (GrowingBytes | undefined)[] = Array.from({ length: 1_000 }, () => undefined);
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
    const lines = this.#linesOf(partNumber(num));
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
    const ranges: ByteRanges = {};
    const packed: Buffer[] = [];
    let position = 0;
    this.#parts.forEach((lines, part) => {
      if (!lines || lines.length === 0) return;
      const bytes = packLineBytes(lines.bytes);
      lines.release();
      packed.push(bytes);
      ranges[String(part).padStart(3, '0')] = [position, bytes.length];
      position += bytes.length;
    });
    return { packed, ranges };
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
    const lines = this.#linesOf(Number(part));
    lines.write(lines.length > 0 ? `\n${line}` : line, 'latin1');
    this.count++;
  }

  #linesOf(part: number): GrowingBytes {
    this.#parts[part] ??= new GrowingBytes();
    return this.#parts[part];
  }
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
