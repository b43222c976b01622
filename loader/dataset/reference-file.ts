import { addProblem, emptyReport, type Problem, type ProblemReport } from '../bag/problem-report.ts';
import type { OpenbareRuimte, Reference, Woonplaats } from '../bag/voorkomen.ts';
import { packLines, unpackLines } from './lines.ts';

/**
 * Makes the file of current streets and places that every worker holds. It is packed in groups, so that neither who
 * writes it nor who reads it ever has all of its text in memory: a group is a line a street (`o`) or place (`w`).
 */
export class ReferenceWriter {
  readonly #packed: Buffer[] = [];
  readonly #problems = emptyReport();
  #group: string[] = [];

  addStreet({ identificatie, naam, woonplaats }: OpenbareRuimte): void {
    this.#group.push(`o\t${identificatie}\t${woonplaats}\t${byteString(naam)}`);
  }

  addPlace({ identificatie, naam }: Woonplaats): void {
    this.#group.push(`w\t${identificatie}\t\t${byteString(naam)}`);
  }

  /** Packs what was added since the last time; `problems` are those of the same objects. */
  endGroup(problems: readonly Problem[]): void {
    this.#packed.push(packLines(this.#group));
    this.#group = [];
    for (const problem of problems) addProblem(this.#problems, problem);
  }

  pack(): Buffer {
    const header: Header = { groups: this.#packed.map(({ length }) => length), problems: this.#problems };
    const text = Buffer.from(JSON.stringify(header));
    const length = Buffer.alloc(4);
    length.writeUInt32LE(text.length);
    return Buffer.concat([length, text, ...this.#packed]);
  }
}

type Header = { groups: number[]; problems: ProblemReport };

/** What a `ReferenceWriter` packed, and the problems that it was told. */
export function readReferenceFile(packed: Buffer): { reference: Reference; problems: ProblemReport } {
  const { groups, problems, start } = headerOf(packed);
  const reference: Reference = { openbareRuimten: new Map(), woonplaatsen: new Map() };
  const places = new Map<string, string>();
  let position = start;
  for (const length of groups) {
    for (const line of unpackLines(packed.subarray(position, position + length))) {
      const [kind, identificatie = '', place = '', ...name] = line.split('\t');
      const naam = textOf(name.join('\t'));
      if (kind === 'w') reference.woonplaatsen.set(identificatie, { identificatie, naam });
      else reference.openbareRuimten.set(identificatie, { identificatie, naam, woonplaats: oneOf(places, place) });
    }
    position += length;
  }
  return { reference, problems };
}

/** Only the problems. */
export function referenceProblems(packed: Buffer): ProblemReport {
  return headerOf(packed).problems;
}

function headerOf(packed: Buffer): Header & { start: number } {
  const start = 4 + packed.readUInt32LE(0);
  return { ...(JSON.parse(packed.subarray(4, start).toString()) as Header), start };
}

/** The same string for the same text: 350 thousand streets lie in 2,500 places. */
function oneOf(strings: Map<string, string>, text: string): string {
  const known = strings.get(text);
  if (known !== undefined) return known;
  strings.set(text, text);
  return text;
}

/** A name holds no line end: the reader calls one that does a problem. */
function byteString(name: string): string {
  return Buffer.from(name).toString('latin1');
}

function textOf(bytes: string): string {
  return Buffer.from(bytes, 'latin1').toString();
}
