import type { NumVoorkomen } from '../bag/object-voorkomen.ts';
import type { Nummeraanduiding, Span } from '../bag/voorkomen.ts';
import { GrowingBytes, packLineBytes } from './lines.ts';
import { type ObjectLine, objectLines, partOf, singleLine } from './objects.ts';
import type { Segments } from './shard.ts';

/**
 * The occurrences of the first and of the last object that a worker read, and whether every object came after those with a
 * lower identificatie. From these `collect` finds the objects that were divided between workers.
 */
export type Edges = { edges: NumVoorkomen[][]; isSorted: boolean };

const lineEnd = '\n';

/**
 * The object lines that one worker reads, kept apart by part until they are stored. An extract lists the occurrences of an
 * object one after the other, and its objects by identificatie: so occurrences are grouped as they come.
 */
export class ObjectRows {
  readonly #peildatum: string;
  readonly #parts = new Map<string, GrowingBytes>();
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
    const { huisnummer, huisletter, huisnummertoevoeging, postcode, openbareRuimte, woonplaats } = num;
    const address = { huisnummer, huisletter, huisnummertoevoeging, postcode, openbareRuimte, woonplaats };
    this.#group.push({ kind: 'NUM', identificatie, ...address, volgnummer, begin, eind });
  }

  /** To be called after the last occurrence. */
  end(): Edges {
    const last = this.#group;
    if (last.length > 0) this.#endGroup();
    const first = this.#first ?? [];
    return { edges: first === last ? [last] : [first, last], isSorted: this.#isSorted };
  }

  /** All lines in one object, each part compressed by itself, and where each lies in it. */
  pack(): { bytes: Buffer; segments: Segments } {
    const segments: Segments = {};
    const packed: Buffer[] = [];
    let position = 0;
    for (const [part, lines] of [...this.#parts].sort(([a], [b]) => (a < b ? -1 : 1))) {
      const bytes = packLineBytes(lines.bytes);
      packed.push(bytes);
      segments[part] = [position, bytes.length];
      position += bytes.length;
    }
    return { bytes: Buffer.concat(packed), segments };
  }

  #endGroup(): void {
    const group = this.#group;
    this.#first ??= group;
    this.#group = [];
    const [only] = group;
    if (only && group.length === 1) this.#write(partOf(only), singleLine(only));
    else {
      for (const [part, lines] of objectLines(group, this.#peildatum))
        for (const line of lines) this.#write(part, line);
    }
  }

  #write(part: string, line: ObjectLine): void {
    this.count++;
    let lines = this.#parts.get(part);
    if (!lines) {
      lines = new GrowingBytes();
      this.#parts.set(part, lines);
    } else lines.write(lineEnd, 'latin1');
    lines.write(line, 'latin1');
  }
}
