import { setImmediate } from 'node:timers/promises';
import { addProblem, emptyReport, type Problem, type ProblemReport } from '../bag/problem-report.ts';
import type { Begun, OpenbareRuimte, Reference, Woonplaats } from '../bag/voorkomen.ts';
import { GrowingBytes } from './growing-bytes.ts';
import { packLineBytes, release, unpackLineBytes } from './lines.ts';
import { type StreetMemory, StreetTable, streetMemory } from './street-table.ts';

/** How many streets there are, in how many bytes of text, and how long each of their groups is as it is packed. */
type Header = { streets: number; bytes: number; groups: number[]; problems: ProblemReport };

/**
 * Makes the file of current streets and places that every worker uses: a header, the streets in groups, the places. Who
 * writes it never has all streets in memory as text, and keeps bytes of each: a name may be a slice of all its file.
 */
export class ReferenceWriter {
  readonly #header: Header = { streets: 0, bytes: 0, groups: [], problems: emptyReport() };
  readonly #packed: Buffer[] = [];
  readonly #places = new GrowingBytes();
  readonly #group = new GrowingBytes();

  addStreet({ identificatie, begin, woonplaats, naam }: Begun<OpenbareRuimte>): void {
    this.#header.streets++;
    this.#group.write(line(identificatie, begin, woonplaats, naam));
  }

  addPlace({ identificatie, begin, naam }: Begun<Woonplaats>): void {
    this.#places.write(line(identificatie, begin, naam));
  }

  addProblems(problems: Iterable<Problem>): void {
    for (const problem of problems) addProblem(this.#header.problems, problem);
  }

  /** Packs the streets that were added since the last time. */
  endGroup(): void {
    const packed = packLineBytes(this.#group.bytes);
    this.#packed.push(packed);
    this.#header.groups.push(packed.length);
    this.#header.bytes += this.#group.length;
    this.#group.length = 0;
  }

  pack(): Buffer {
    const header = Buffer.from(JSON.stringify(this.#header));
    const length = Buffer.alloc(4);
    length.writeUInt32LE(header.length);
    return Buffer.concat([length, header, ...this.#packed, packLineBytes(this.#places.bytes)]);
  }
}

/** The current streets and places in a form that can be sent to other threads, which then use the same streets. */
export type ReferenceMemory = { streets: StreetMemory; places: Woonplaats[] };

/** What `readReferenceFile` finds: beside the streets and places those with several occurrences, by identification. */
export type ReadReference = ReferenceMemory & { severalCurrent: { OPR: string[]; WPL: string[] } };

/**
 * What a `ReferenceWriter` packed, without the problems. Of several occurrences of one object the last to begin is taken, in
 * whatever order they came; each of the others is in `severalCurrent`. Lets others work meanwhile: it takes 0.1 s for the
 * country.
 */
export async function readReferenceFile(packed: Buffer): Promise<ReadReference> {
  const { header, start } = headerOf(packed);
  const streets = streetMemory(header.bytes, header.streets);
  const table = new StreetTable(streets);
  const severalCurrent: ReadReference['severalCurrent'] = { OPR: [], WPL: [] };
  let position = start;
  let filled = 0;
  for (const length of header.groups) {
    const lines = unpackLineBytes(packed.subarray(position, position + length));
    severalCurrent.OPR.push(...table.add(lines, filled));
    filled += lines.length;
    release(lines);
    position += length;
    await setImmediate();
  }
  const places = new Map<string, Woonplaats>();
  for (const text of unpackLineBytes(packed.subarray(position)).toString().split('\n').slice(0, -1).sort()) {
    const place = placeOf(text);
    if (places.has(place.identificatie)) severalCurrent.WPL.push(place.identificatie);
    places.set(place.identificatie, place);
  }
  return { streets, places: [...places.values()], severalCurrent };
}

/** The streets and places, to be looked up. */
export function referenceAt({ streets, places }: ReferenceMemory): Reference {
  const woonplaatsen = new Map(places.map((place) => [place.identificatie, place]));
  return { openbareRuimten: new StreetTable(streets), woonplaatsen };
}

/** Only the problems. */
export function referenceProblems(packed: Buffer): ProblemReport {
  return headerOf(packed).header.problems;
}

function headerOf(packed: Buffer): { header: Header; start: number } {
  const start = 4 + packed.readUInt32LE(0);
  return { header: JSON.parse(packed.subarray(4, start).toString()) as Header, start };
}

/** No name holds a line end: the reader calls one that does a problem. */
function line(...values: string[]): string {
  return `${values.join('\t')}\n`;
}

function placeOf(text: string): Woonplaats {
  const [identificatie = '', begin = ''] = text.split('\t', 2);
  return { identificatie, naam: text.slice(identificatie.length + begin.length + 2) };
}
