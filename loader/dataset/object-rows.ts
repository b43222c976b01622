import type { NumVoorkomen } from '../bag/object-voorkomen.ts';
import type { Nummeraanduiding, Span } from '../bag/voorkomen.ts';
import { GrowingBytes, packLineBytes } from './lines.ts';
import { longestSingleLine, type ObjectLine, objectLines, partOf, writeSingleLine } from './objects.ts';
import type { Segments } from './shard.ts';

/**
 * The occurrences of the first and of the last object that a worker read, and whether every object came after those
 * with a lower identificatie. `collect` uses these to find objects that were divided between workers.
 */
export type Edges = { edges: NumVoorkomen[][]; isSorted: boolean };

const lineEnd = '\n';

/**
 * The object lines that one worker reads, grouped by part until they are stored. An extract lists the occurrences of an
 * object one after the other, and its objects by identificatie: so occurrences are grouped as they arrive.
 */
export class ObjectRows {
  readonly #peildatum: string;
  /** By the number of the part. */
  readonly #parts: (GrowingBytes | undefined)[] = Array.from({ length: 1_000 }, () => undefined);
  #group: NumVoorkomen[] = [];
  #first: NumVoorkomen[] | undefined;
  #isSorted = true;
  count = 0;

  constructor(peildatum: string) {
    this.#peildatum = peildatum;
  }

  /** Adds an occurrence that counts on the date or later. */
  add(num: Nummeraanduiding, { volgnummer, begin, eind }: Span): void {
    const identificatie = num.identificatie();
    const previous = this.#group[0]?.identificatie;
    if (previous !== undefined && previous !== identificatie) {
      if (previous > identificatie) this.#isSorted = false;
      this.#endGroup();
    }
    // Field by field: spreading an object takes as long as reading the occurrence.
    this.#group.push({
      kind: 'NUM',
      identificatie,
      volgnummer,
      begin,
      eind,
      postcode: num.postcode,
      huisnummer: num.huisnummer,
      huisletter: num.huisletter,
      huisnummertoevoeging: num.huisnummertoevoeging,
      openbareRuimte: num.openbareRuimte,
      woonplaats: num.woonplaats,
    });
  }

  /** To be called after the last occurrence. */
  end(): Edges {
    const last = this.#group;
    if (last.length > 0) this.#endGroup();
    const first = this.#first ?? [];
    return { edges: first === last ? [last] : [first, last], isSorted: this.#isSorted };
  }

  /** All lines in one object, each part compressed by itself, and the position of each part. */
  pack(): { bytes: Buffer; segments: Segments } {
    const segments: Segments = {};
    const packed: Buffer[] = [];
    let position = 0;
    this.#parts.forEach((lines, part) => {
      if (!lines) return;
      const bytes = packLineBytes(lines.bytes);
      packed.push(bytes);
      segments[String(part).padStart(3, '0')] = [position, bytes.length];
      position += bytes.length;
    });
    return { bytes: Buffer.concat(packed), segments };
  }

  #endGroup(): void {
    const group = this.#group;
    this.#first ??= group;
    this.#group = [];
    const [only] = group;
    if (only && group.length === 1) this.#writeSingle(only);
    else {
      for (const [part, lines] of objectLines(group, this.#peildatum))
        for (const line of lines) this.#write(part, line);
    }
  }

  /** Byte by byte, without making a string: nearly every object has a single line. */
  #writeSingle(num: NumVoorkomen): void {
    const lines = this.#linesOf(partOf(num));
    lines.reserve(longestSingleLine);
    lines.length = writeSingleLine(lines.memory, lines.length, num);
  }

  #write(part: string, line: ObjectLine): void {
    this.#linesOf(part).write(line, 'latin1');
  }

  /** The lines of a part, to which one is about to be added. */
  #linesOf(part: string): GrowingBytes {
    this.count++;
    const index = Number(part);
    const lines = this.#parts[index];
    if (lines) {
      lines.write(lineEnd, 'latin1');
      return lines;
    }
    const first = new GrowingBytes();
    this.#parts[index] = first;
    return first;
  }
}
