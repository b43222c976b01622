import type { AdresObjectBytes } from '../bag/adres-object-bytes.ts';
import { absent, type NumBytes } from '../bag/num-bytes.ts';
import type { ObjectenKind } from '../bag/schema.ts';
import type { AdresseerbaarVoorkomen, NumVoorkomen, Span } from '../bag/voorkomen.ts';
import {
  type KeylessLine,
  keylessLines,
  longestKeylessLine,
  parseAdresObjectLine,
  writeKeylessLine,
} from './adres-objects.ts';
import {
  fieldsAt,
  longestSingleLine,
  type ObjectLine,
  objectLines,
  parseObjectLine,
  withoutPostcode,
  writeSingleLine,
} from './objects.ts';
import { nextPartOf, type PartsOfNums, writeNum } from './parts-of-nums.ts';
import { type ByteRanges, GrowingBytes, packLineBytes } from './stored-form.ts';

/**
 * The lines of the first and of the last object that a worker read, by the part that each is in, and whether every
 * object came after those with a lower identificatie. `collect` uses these to find objects that were divided between
 * workers.
 */
export type Edges = { edges: LinesInPart[][]; isSorted: boolean };
export type LinesInPart = [part: string, lines: readonly string[]];

const lineEnd = 0x0a;
const tab = 0x09;
const tilde = 0x7e;

/** An object as it is read: `identificatie` is where `view` has it. */
type ReadObject = { view: DataView; identificatie: number };

/**
 * The lines of the objects that one worker reads, kept apart by part until they are stored. An extract lists the
 * occurrences of an object one after the other, and its objects by identificatie: so occurrences are grouped as they
 * come. Nearly every object has one, so each is written at once, as bytes and without a string, and taken back where
 * another one of its object follows.
 */
abstract class RowsAsRead<Read extends ReadObject, One> {
  protected readonly numbered = new LinesByNumber();
  /** The halves of the identificatie of the object that is being read, as doubles, which sort as their digits do. */
  #high = 0;
  #low = 0;
  /** Where the line of that object is, while it has only one occurrence. */
  #single: { lines: GrowingBytes; start: number } | undefined;
  /** The occurrences of that object where it has several, or several lines. */
  #several: One[] = [];
  #first: One[] | undefined;
  #isSorted = true;
  count = 0;

  /** An upper bound on the bytes of a single line. */
  protected abstract readonly longest: number;
  /** The number that the line of an object goes to, or `null` for an object with several lines. */
  protected abstract numberOf(read: Read): number | null;
  protected abstract writeSingle(lines: GrowingBytes, read: Read, span: Span): void;
  /** The occurrence of a single line. */
  protected abstract parse(line: string): One;
  protected abstract toVoorkomen(read: Read, span: Span): One;
  protected abstract linesOf(occurrences: readonly One[]): Iterable<[number: number, lines: readonly string[]]>;

  /** Adds an occurrence that counts on the date or later. */
  add(read: Read, span: Span): void {
    const { view, identificatie } = read;
    const [high, low] = [view.getFloat64(identificatie), view.getFloat64(identificatie + 8)];
    if (high === this.#high && low === this.#low) {
      if (this.#single) this.#takeBack(this.#single);
      this.#several.push(this.toVoorkomen(read, span));
      return;
    }
    if (high < this.#high || (high === this.#high && low < this.#low)) this.#isSorted = false;
    [this.#high, this.#low] = [high, low];
    this.#endObject();
    const number = this.numberOf(read);
    if (number === null) {
      this.#single = undefined;
      this.#several.push(this.toVoorkomen(read, span));
      return;
    }
    const lines = this.numbered.of(number);
    const start = lines.length;
    lines.reserve(1 + this.longest);
    if (start > 0) lines.memory[lines.length++] = lineEnd;
    this.writeSingle(lines, read, span);
    this.#single = { lines, start };
    this.count++;
  }

  /** To be called after the last occurrence. */
  end(): Edges {
    const last = this.#single ? [this.#occurrenceIn(this.#single)] : this.#several;
    const edges = this.#first === undefined ? [last] : [this.#first, last];
    this.#endObject();
    const inParts = (one: One[]) =>
      Array.from(this.linesOf(one), ([part, lines]): LinesInPart => [nameOfNumber(part), lines]);
    return { edges: edges.map(inParts), isSorted: this.#isSorted };
  }

  /** All lines, those of each number compressed by themselves, and where each lies. To be called last. */
  pack(): { packed: Buffer[]; ranges: ByteRanges } {
    return this.numbered.pack();
  }

  #takeBack(single: { lines: GrowingBytes; start: number }): void {
    this.#several = [this.#occurrenceIn(single)];
    single.lines.length = single.start;
    this.#single = undefined;
    this.count--;
  }

  #endObject(): void {
    const [single, several] = [this.#single, this.#several];
    if (single) this.#first ??= [this.#occurrenceIn(single)];
    if (several.length === 0) return;
    this.#first ??= several;
    for (const [number, lines] of this.linesOf(several)) {
      for (const line of lines) {
        this.numbered.write(number, line);
        this.count++;
      }
    }
    this.#several = [];
  }

  #occurrenceIn({ lines, start }: { lines: GrowingBytes; start: number }): One {
    return this.parse(lines.bytes.toString('latin1', start > 0 ? start + 1 : 0));
  }
}

/** The lines of nummeraanduidingen, by part. */
export class ObjectRows extends RowsAsRead<NumBytes, NumVoorkomen> {
  readonly #peildatum: string;
  protected readonly longest = longestSingleLine;
  protected readonly numberOf = partNumber;
  protected readonly writeSingle = writeSingleLine;
  protected readonly parse = parseObjectLine;

  constructor(peildatum: string) {
    super();
    this.#peildatum = peildatum;
  }

  protected toVoorkomen(num: NumBytes, span: Span): NumVoorkomen {
    return { kind: 'NUM', ...num.values(), ...span };
  }

  protected linesOf(occurrences: readonly NumVoorkomen[]): [number, ObjectLine[]][] {
    return Array.from(objectLines(occurrences, this.#peildatum), ([part, lines]) => [Number(part), lines]);
  }

  /** The part of each line, for `partsOfNums`, packed. */
  packNums(): Buffer {
    const entries = new GrowingBytes();
    for (const [part, { memory, length }] of this.numbered.all) {
      for (let start = 0, end = 0; start < length; start = end + 1) {
        let at = start;
        while (memory[at] !== tab) at++;
        end = at + fieldsAt.volgnummer;
        while (end < length && memory[end] !== lineEnd) end++;
        if (memory[start] !== tilde) writeNum(entries, part, memory, at + fieldsAt.identificatie);
      }
    }
    const packed = packLineBytes(entries.bytes);
    entries.release();
    return packed;
  }
}

/** Lines of adresseerbare objecten, by the parts of the nummeraanduidingen that they name. */
export class AdresObjectRows extends RowsAsRead<AdresObjectBytes, AdresseerbaarVoorkomen> {
  readonly #peildatum: string;
  readonly #kind: ObjectenKind;
  readonly #nums: PartsOfNums;
  protected readonly longest = longestKeylessLine;
  protected readonly writeSingle = writeKeylessLine;

  constructor(peildatum: string, kind: ObjectenKind, nums: PartsOfNums) {
    super();
    this.#peildatum = peildatum;
    this.#kind = kind;
    this.#nums = nums;
  }

  protected numberOf({ bytes, hoofdadres, nevenadressen }: AdresObjectBytes): number | null {
    if (nevenadressen.length > 0) return null;
    const part = nextPartOf(this.#nums, bytes, hoofdadres);
    if (part === absent) return Number(withoutPostcode);
    return nextPartOf(this.#nums, bytes, hoofdadres, part) === absent ? part : null;
  }

  protected parse(line: KeylessLine): AdresseerbaarVoorkomen {
    return parseAdresObjectLine(`\t${line}`);
  }

  protected toVoorkomen(object: AdresObjectBytes, span: Span): AdresseerbaarVoorkomen {
    return { kind: this.#kind, ...object.values(), ...span };
  }

  protected *linesOf(occurrences: readonly AdresseerbaarVoorkomen[]): Generator<[number, KeylessLine[]]> {
    for (const [num, lines] of keylessLines(occurrences, this.#peildatum)) {
      const bytes = Buffer.from(num, 'latin1');
      let part = nextPartOf(this.#nums, bytes, 0);
      if (part === absent) yield [Number(withoutPostcode), lines];
      for (; part !== absent; part = nextPartOf(this.#nums, bytes, 0, part)) yield [part, lines];
    }
  }
}

/** Lines, kept apart by the number of their part, below 1,000, until they are stored. */
export class LinesByNumber {
  readonly #lines: (GrowingBytes | undefined)[] = Array.from({ length: 1_000 }, () => undefined);

  of(number: number): GrowingBytes {
    this.#lines[number] ??= new GrowingBytes();
    return this.#lines[number];
  }

  /** Where the next line of a number goes. */
  next(number: number): GrowingBytes {
    const lines = this.of(number);
    lines.reserve(1);
    if (lines.length > 0) lines.memory[lines.length++] = lineEnd;
    return lines;
  }

  write(number: number, line: string): void {
    const lines = this.next(number);
    lines.reserve(line.length);
    lines.length += lines.memory.write(line, lines.length, 'latin1');
  }

  get all(): [number: number, lines: GrowingBytes][] {
    return [...this.#lines.entries()].flatMap(([number, lines]) => (lines ? [[number, lines]] : []));
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
const nameOfNumber = (number: number) => String(number).padStart(3, '0');

/** `partOf` as a number, without a string. */
function partNumber({ bytes, postcode }: NumBytes): number {
  if (postcode === absent) return Number(withoutPostcode);
  const digit = (at: number) => (bytes[postcode + at] as number) - 0x30;
  return 100 * digit(0) + 10 * digit(1) + digit(2);
}
