import type { NumVoorkomen } from '../bag/object-voorkomen.ts';
import type { Nummeraanduiding, Span } from '../bag/voorkomen.ts';
import { GrowingBytes, packLineBytes } from './lines.ts';
import { longestObjectLine, objectLines, writeObjectLine } from './objects.ts';
import type { Segments } from './shard.ts';

/**
 * The occurrences of the first and of the last object that a worker read, and whether every object came after those with a
 * lower identificatie. From these `collect` finds the objects that were divided between workers.
 */
export type Edges = { edges: NumVoorkomen[][]; isSorted: boolean };

type Written = { num: Nummeraanduiding; identificatie: string; span: Span; part: GrowingBytes; start: number };

const lineEnd = 0x0a;
const partCount = 1_000;

/**
 * The object lines that one worker reads, kept apart by part until they are stored. An extract lists the occurrences of an
 * object one after the other, and its objects by identificatie. So the line of an occurrence is written as if it were the
 * only one of its object, as nearly all are, and is taken back when the next occurrence is of the same object.
 */
export class ObjectRows {
  readonly #peildatum: string;
  readonly #parts: (GrowingBytes | undefined)[] = Array.from({ length: partCount }, () => undefined);
  /** The last occurrence, where its object has no other one so far. */
  #last: Written | undefined;
  /** The occurrences of the last object, where it has several. */
  #group: NumVoorkomen[] = [];
  #first: NumVoorkomen[] | undefined;
  #identificatie = '';
  #isSorted = true;
  count = 0;

  constructor(peildatum: string) {
    this.#peildatum = peildatum;
  }

  /** Adds an occurrence that counts on the date or later. */
  add(num: Nummeraanduiding, { volgnummer, begin, eind }: Span): void {
    const identificatie = num.identificatie();
    const span = { volgnummer, begin, eind };
    if (identificatie === this.#identificatie) {
      if (this.#group.length === 0) this.#group = this.#takeBack();
      this.#group.push(voorkomen(num, identificatie, span));
      return;
    }
    if (identificatie < this.#identificatie) this.#isSorted = false;
    this.#endObject();
    this.#identificatie = identificatie;
    const part = this.#part(num.postcode === null ? 0 : indexOf(num.postcode));
    const start = part.length;
    part.reserve(longestObjectLine + 1);
    const { memory } = part;
    if (start > 0) memory[start] = lineEnd;
    part.length = writeObjectLine(memory, start > 0 ? start + 1 : 0, num, identificatie, span);
    this.#last = { num, identificatie, span, part, start };
    this.count++;
  }

  /** To be called after the last occurrence. */
  end(): Edges {
    const last = this.#occurrences();
    const first = this.#first ?? last;
    this.#endObject();
    return { edges: first === last ? [last] : [first, last], isSorted: this.#isSorted };
  }

  /** All lines in one object, each part compressed by itself, and where each lies in it. */
  pack(): { bytes: Buffer; segments: Segments } {
    const segments: Segments = {};
    const packed: Buffer[] = [];
    let position = 0;
    this.#parts.forEach((lines, index) => {
      if (!lines || lines.length === 0) return;
      const bytes = packLineBytes(lines.bytes);
      packed.push(bytes);
      segments[String(index).padStart(3, '0')] = [position, bytes.length];
      position += bytes.length;
    });
    return { bytes: Buffer.concat(packed), segments };
  }

  /** The occurrences of the last object. */
  #occurrences(): NumVoorkomen[] {
    const last = this.#last;
    return last ? [voorkomen(last.num, last.identificatie, last.span)] : this.#group;
  }

  #takeBack(): NumVoorkomen[] {
    const occurrences = this.#occurrences();
    if (this.#last) this.#last.part.length = this.#last.start;
    this.#last = undefined;
    this.count--;
    return occurrences;
  }

  #endObject(): void {
    if (this.#identificatie !== '') this.#first ??= this.#occurrences();
    this.#last = undefined;
    const group = this.#group;
    if (group.length === 0) return;
    this.#group = [];
    for (const [name, lines] of objectLines(group, this.#peildatum)) {
      const part = this.#part(Number(name));
      for (const line of lines) {
        part.write(part.length > 0 ? `\n${line}` : line, 'latin1');
        this.count++;
      }
    }
  }

  #part(index: number): GrowingBytes {
    let part = this.#parts[index];
    if (!part) {
      part = new GrowingBytes();
      this.#parts[index] = part;
    }
    return part;
  }
}

/** The part that a postcode belongs to: its first three digits. */
function indexOf(postcode: string): number {
  const digit = (index: number) => postcode.charCodeAt(index) - 0x30;
  return 100 * digit(0) + 10 * digit(1) + digit(2);
}

function voorkomen(num: Nummeraanduiding, identificatie: string, span: Span): NumVoorkomen {
  return { kind: 'NUM', ...num, identificatie, ...span };
}
