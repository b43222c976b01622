import { addProblem, emptyReport, type Problem, type ProblemReport } from '../bag/problem-report.ts';
import {
  dayOf,
  type GemeenteRelatie,
  type OpenbareRuimte,
  type OprVoorkomen,
  type Span,
  type Woonplaats,
  type WoonplaatsInGemeente,
  type WplVoorkomen,
} from '../bag/voorkomen.ts';
import { idLength } from './record.ts';
import {
  isCurrent,
  lineEnd,
  placeLine,
  placesOf,
  relatieLine,
  type StreetFilter,
  streetIn,
  streetLine,
  streetsOf,
  wantedRuns,
} from './reference-lines.ts';
import {
  checkedJson,
  GrowingBytes,
  packLineBytes,
  parseCheckedJson,
  requireForm,
  unpackLineBytes,
} from './stored-form.ts';

/** Finds an object by its identification; a `Map` does. */
type Lookup<T> = { get(identificatie: string): T | undefined };

/** The current streets and places, which the addresses on a date take their names from. */
export type Reference = { openbareRuimten: Lookup<OpenbareRuimte>; woonplaatsen: Lookup<WoonplaatsInGemeente> };

/** The memory of a `StreetTable`, which threads share: a message between them copies nothing. */
export type StreetMemory = { text: SharedArrayBuffer; slots: SharedArrayBuffer };

/** Memory for this many bytes in this many lines. */
export function streetMemory(bytes: number, lines: number): StreetMemory {
  const slots = 2 ** Math.ceil(Math.log2(2 * lines + 1));
  return { text: new SharedArrayBuffer(bytes), slots: new SharedArrayBuffer(slots * Uint32Array.BYTES_PER_ELEMENT) };
}

/**
 * Streets by identification, like a `Map`, but a street is kept as bytes until it is looked up. So the 260 thousand of
 * the country take 16 MB, once for all threads and outside the garbage collector's heap; as objects they take 100 MB
 * per thread, which the collector scans again and again (decision 0113).
 */
export class StreetTable {
  readonly #text: Buffer;
  /** A hash table with open addressing: the position of a line in the text plus one; 0 is a free slot. */
  readonly #slots: Uint32Array;
  #last: OpenbareRuimte | undefined;

  /** A table of what was added to `memory`, here or in another thread. */
  constructor({ text, slots }: StreetMemory) {
    this.#text = Buffer.from(text);
    this.#slots = new Uint32Array(slots);
  }

  /**
   * Adds lines, each with its line end. Of those of one street that are current on `day` the greatest line counts;
   * returns the identification of each other one. The same occurrence in two members of an extract is one.
   */
  add(lines: Buffer, day: number): string[] {
    const dropped: string[] = [];
    const text = this.#text;
    const end = lines.copy(text);
    for (let start = 0; start < end; start = text.indexOf(lineEnd, start) + 1) {
      if (!isCurrent(text, start, day)) continue;
      const slot = this.#slotOf(text, start);
      const held = this.#slots[slot] as number;
      const order = held === 0 ? 1 : this.#compare(start, held - 1);
      if (held > 0 && order !== 0) dropped.push(text.toString('latin1', start, start + idLength));
      if (order > 0) this.#slots[slot] = start + 1;
    }
    return dropped;
  }

  /** The street, or `undefined`; the same object when it is looked up twice in a row. */
  get(identificatie: string): OpenbareRuimte | undefined {
    if (this.#last?.identificatie === identificatie) return this.#last;
    const start = (this.#slots[this.#slotOf(Buffer.from(identificatie, 'latin1'), 0)] as number) - 1;
    if (start < 0) return undefined;
    this.#last = { identificatie, ...streetIn(this.#text, start) };
    return this.#last;
  }

  /** The slot of the identificatie in these bytes, or the free one that it would get. */
  #slotOf(bytes: Buffer, at: number): number {
    const mask = this.#slots.length - 1;
    let slot = hashOf(bytes, at) & mask;
    for (; ; slot = (slot + 1) & mask) {
      const held = (this.#slots[slot] as number) - 1;
      const end = Math.min(at + idLength, bytes.length);
      if (held < 0 || this.#text.compare(bytes, at, end, held, held + idLength) === 0) return slot;
    }
  }

  #compare(start: number, other: number): number {
    const text = this.#text;
    return text.compare(text, other, text.indexOf(lineEnd, other), start, text.indexOf(lineEnd, start));
  }
}

/** FNV-1a. */
function hashOf(bytes: Buffer, start: number): number {
  let hash = 0x811c9dc5;
  for (let i = start; i < start + idLength; i++) hash = Math.imul(hash ^ (bytes[i] as number), 0x01000193);
  return hash;
}

/** The lines of the file. */
export type ReferenceFile = Record<(typeof sections)[number], Buffer> & {
  /** How many streets there are. */
  count: number;
  problems: ProblemReport;
};
const sections = ['streets', 'places', 'relaties'] as const;

/** `sections` are packed lengths. */
type Header = Pick<ReferenceFile, 'count' | 'problems'> & { form: string; sections: number[] };

/** The stored form of this file. A file in another form can't be read. */
const form = 'reference 1';

/** Writes the streets, places and relations. Copies each to bytes: a name may be a slice of the string of its file. */
export class ReferenceWriter {
  readonly #header = { count: 0, problems: emptyReport() };
  readonly #streets = new GrowingBytes();
  readonly #places = new GrowingBytes();
  readonly #relaties = new GrowingBytes();

  addStreet(street: OpenbareRuimte, span: Span): void {
    this.#header.count++;
    this.#streets.write(streetLine(street, span));
  }

  addPlace(place: Woonplaats, span: Span): void {
    this.#places.write(placeLine(place, span));
  }

  addRelatie(relatie: GemeenteRelatie): void {
    this.#relaties.write(relatieLine(relatie));
  }

  addProblems(problems: Iterable<Problem>): void {
    for (const problem of problems) addProblem(this.#header.problems, problem);
  }

  copyStreets({ streets: lines }: ReferenceFile, isWanted: StreetFilter): void {
    for (const { start, end, count } of wantedRuns(lines, isWanted)) {
      this.#header.count += count;
      this.#streets.copy(new DataView(lines.buffer, lines.byteOffset), start, end - start);
    }
  }

  /** What was written; more is written into the same memory. */
  get file(): ReferenceFile {
    const { bytes: streets } = this.#streets;
    return { ...this.#header, streets, places: this.#places.bytes, relaties: this.#relaties.bytes };
  }

  pack(): Buffer {
    const packed = sections.map((section) => packLineBytes(this.file[section]));
    const lengths = packed.map(({ length }) => length);
    const header = checkedJson({ form, ...this.#header, sections: lengths } satisfies Header);
    const length = Buffer.alloc(4);
    length.writeUInt32LE(header.length);
    return Buffer.concat([length, header, ...packed]);
  }
}

/** Reads what a `ReferenceWriter` packed. @throws UnknownFormError, Error when it is damaged */
export function unpackReference(packed: Buffer): ReferenceFile {
  let end = 4 + packed.readUInt32LE(0);
  const header = parseCheckedJson<Header>(packed.subarray(4, end));
  requireForm(header.form, form);
  const [streets, places, relaties] = header.sections.map((length) => {
    end += length;
    return unpackLineBytes(packed.subarray(end - length, end));
  }) as [Buffer, Buffer, Buffer];
  const { count, problems } = header;
  return { count, problems, streets, places, relaties };
}

/** The current streets and places, in memory that threads can share. */
export type ReferenceMemory = { streets: StreetMemory; places: WoonplaatsInGemeente[] };

/**
 * Also the identification of each occurrence that another current one replaces; of a relation its woonplaats, if that
 * is one of the places: every delivery has the relations of the whole country.
 */
export type ReadReference = ReferenceMemory & { severalCurrent: Record<'OPR' | 'WPL' | 'GEM-WPL-RELATIE', string[]> };

/**
 * The streets and places as they are on `peildatum`. Of several current occurrences of one object the last to begin
 * counts, in whatever order they were added.
 */
export function referenceOn(file: ReferenceFile, peildatum: string): ReadReference {
  const day = dayOf(peildatum);
  const streets = streetMemory(file.streets.length, file.count);
  const replaced = new StreetTable(streets).add(file.streets, day);
  const places = currentIn(file.places, day);
  const relaties = currentIn(file.relaties, day);
  const doubled = relaties.replaced.filter((woonplaats) => places.current.has(woonplaats));
  const inGemeente = (place: Woonplaats): WoonplaatsInGemeente => {
    const gemeente = relaties.current.get(place.identificatie)?.naam;
    return gemeente === undefined ? place : { ...place, gemeente };
  };
  return {
    streets,
    places: [...places.current.values()].map(inGemeente),
    severalCurrent: { OPR: replaced, WPL: places.replaced, 'GEM-WPL-RELATIE': doubled },
  };
}

/** The occurrence of each place or relation that counts on `day`, and the ids of the other current ones. */
function currentIn(lines: Buffer, day: number): { current: Map<string, Woonplaats>; replaced: string[] } {
  const [current, replaced] = [new Map<string, Woonplaats>(), [] as string[]];
  for (const { span, ...place } of placesOf(lines)) {
    if (span.begin > day || span.eind <= day) continue;
    if (current.has(place.identificatie)) replaced.push(place.identificatie);
    current.set(place.identificatie, place);
  }
  return { current, replaced };
}

/** Every occurrence in the file, streets first. */
export function occurrencesIn({ streets, places }: ReferenceFile): (OprVoorkomen | WplVoorkomen)[] {
  return [...streetsOf(streets), ...placesIn(places)];
}

/** Every occurrence of a place in these lines. */
export function placesIn(lines: Buffer): WplVoorkomen[] {
  return placesOf(lines).map(({ span, ...place }) => ({ kind: 'WPL', ...place, ...span }));
}

/** Every relation in the file. */
export function relatiesIn({ relaties }: ReferenceFile): GemeenteRelatie[] {
  return placesOf(relaties).map(({ identificatie, naam, span: { begin, eind } }) => ({
    woonplaats: identificatie,
    gemeente: naam,
    begin,
    eind,
  }));
}

/** The streets and places, for lookups. */
export function referenceAt({ streets, places }: ReferenceMemory): Reference {
  const woonplaatsen = new Map(places.map((place) => [place.identificatie, place]));
  return { openbareRuimten: new StreetTable(streets), woonplaatsen };
}
