import { addProblem, emptyReport, type Problem, type ProblemReport } from '../bag/problem-report.ts';
import type { OpenbareRuimte, Reference, Woonplaats } from '../bag/voorkomen.ts';
import { GrowingBytes } from './growing-bytes.ts';
import { packLineBytes, unpackLineBytes } from './lines.ts';
import { StreetTable } from './street-table.ts';

/** How many streets there are, in how many bytes of text, and how long each of their groups is as it is packed. */
type Header = { streets: number; bytes: number; groups: number[]; problems: ProblemReport };

/**
 * Makes the file of current streets and places that every worker holds: a header, the streets in groups, the places. Who
 * writes it never has all streets in memory as text, and keeps bytes of each: a name may be a slice of all its file.
 */
export class ReferenceWriter {
  readonly #header: Header = { streets: 0, bytes: 0, groups: [], problems: emptyReport() };
  readonly #packed: Buffer[] = [];
  readonly #places = new GrowingBytes();
  readonly #group = new GrowingBytes();

  addStreet({ identificatie, naam, woonplaats }: OpenbareRuimte): void {
    this.#header.streets++;
    this.#group.write(line(identificatie, woonplaats, naam));
  }

  addPlace({ identificatie, naam }: Woonplaats): void {
    this.#places.write(line(identificatie, naam));
  }

  /** Packs the streets that were added since the last time; `problems` are those of the same objects. */
  endGroup(problems: readonly Problem[]): void {
    const packed = packLineBytes(this.#group.bytes);
    this.#packed.push(packed);
    this.#header.groups.push(packed.length);
    this.#header.bytes += this.#group.length;
    this.#group.length = 0;
    for (const problem of problems) addProblem(this.#header.problems, problem);
  }

  pack(): Buffer {
    const header = Buffer.from(JSON.stringify(this.#header));
    const length = Buffer.alloc(4);
    length.writeUInt32LE(header.length);
    return Buffer.concat([length, header, ...this.#packed, packLineBytes(this.#places.bytes)]);
  }
}

/** What a `ReferenceWriter` packed, without the problems. */
export function readReferenceFile(packed: Buffer): Reference {
  const { header, start } = headerOf(packed);
  const streets = Buffer.allocUnsafeSlow(header.bytes);
  let position = start;
  let filled = 0;
  for (const length of header.groups) {
    filled += unpackLineBytes(packed.subarray(position, position + length)).copy(streets, filled);
    position += length;
  }
  const places = unpackLineBytes(packed.subarray(position)).toString().split('\n').slice(0, -1);
  return {
    openbareRuimten: new StreetTable(streets, header.streets),
    woonplaatsen: new Map(places.map(placeOf).map((place) => [place.identificatie, place])),
  };
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
  const end = text.indexOf('\t');
  return { identificatie: text.slice(0, end), naam: text.slice(end + 1) };
}
