import {
  addProblem,
  emptyReport,
  type Problem,
  type ProblemReport,
} from '../bag/problem-report.ts';
import {
  dayOf,
  type GemeenteRelatie,
  type OpenbareRuimte,
  type OprVoorkomen,
  type WoonplaatsInGemeente,
  type WplVoorkomen,
} from '../bag/voorkomen.ts';
import { idWidth, placeIdWidth } from './layouts.ts';
import {
  holdsOn,
  placeLine,
  placesOf,
  relatieLine,
  type StreetFilter,
  streetAt,
  streetIn,
  streetLine,
  streetsOf,
  wantedRuns,
} from './reference-lines.ts';
import {
  checkedJson,
  firstLineFrom,
  GrowingBytes,
  lineBytes,
  linesOf,
  packLineBytes,
  parseCheckedJson,
  requireForm,
  unpackLineBytes,
} from './stored-form.ts';

/** Finds an object by its identification; a `Map` does. */
type Lookup<T> = { get(identificatie: string): T | undefined };

/** The current streets and places, which the addresses on a date take their names from. */
export type Reference = {
  openbareRuimten: Lookup<OpenbareRuimte>;
  woonplaatsen: Lookup<WoonplaatsInGemeente>;
};

/**
 * Streets by identificatie. A street is kept as bytes until it is looked up: in sorted lines, in
 * memory that threads share, as a message between them copies nothing. The 260 thousand of the
 * country take 16 MB; as objects they take 100 MB in each thread, which the garbage collector scans
 * again and again (decision 0113).
 */
function streetsIn(memory: SharedArrayBuffer): Lookup<OpenbareRuimte> {
  const lines = Buffer.from(memory);
  return {
    get(identificatie) {
      const start = firstLineFrom(lines, identificatie);
      if (start === lines.length || streetAt.identificatie(lines, start) !== identificatie) {
        return undefined;
      }
      return { identificatie, ...streetIn(lines, start) };
    },
  };
}

/**
 * The lines that hold on `day`, of each object the last to begin, and the ids of other current
 * ones.
 */
function currentIn(
  lines: Buffer,
  day: number,
  idWidth = placeIdWidth,
): { kept: Buffer; replaced: string[] } {
  const runs = wantedRuns(lines, (_, start) => holdsOn(lines, start + idWidth, day));
  const texts = Array.from(runs, ({ start, end }) => linesOf(lines.subarray(start, end - 1)));
  const sorted = [...new Set(texts.flat())].sort();
  const idOf = (text = '') => text.slice(0, idWidth);
  const isReplaced = (text: string, index: number) => idOf(text) === idOf(sorted[index + 1]);
  const kept = lineBytes(sorted.filter((text, index) => !isReplaced(text, index)));
  return { kept, replaced: sorted.filter(isReplaced).map(idOf) };
}

export type ReferenceFile = Record<(typeof sections)[number], Buffer> & { problems: ProblemReport };
const sections = ['streets', 'places', 'relaties'] as const;

/** `sections` are packed lengths. */
type Header = Pick<ReferenceFile, 'problems'> & { form: string; sections: number[] };

/** The stored form of this file. A file in another form can't be read. */
const form = 'reference 1';

/**
 * Writes the streets, places and relations. Copies each to bytes: a name may be a slice of the
 * string of its file.
 */
export class ReferenceWriter {
  readonly #header = { problems: emptyReport() };
  readonly #streets = new GrowingBytes();
  readonly #places = new GrowingBytes();
  readonly #relaties = new GrowingBytes();

  add(voorkomen: OprVoorkomen | WplVoorkomen): void {
    if (voorkomen.kind === 'OPR') this.#streets.write(streetLine(voorkomen));
    else {
      this.#places.write(placeLine(voorkomen));
    }
  }

  addRelatie(relatie: GemeenteRelatie): void {
    this.#relaties.write(relatieLine(relatie));
  }

  addProblems(problems: Iterable<Problem>): void {
    for (const problem of problems) addProblem(this.#header.problems, problem);
  }

  copyStreets({ streets: lines }: ReferenceFile, isWanted: StreetFilter): void {
    this.#streets.reserve(lines.length + 1);
    for (const { start, end } of wantedRuns(lines, isWanted)) {
      this.#streets.copy(new DataView(lines.buffer, lines.byteOffset), start, end - start);
    }
  }

  /** The written file; more is written into the same memory. */
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

/**
 * Reads a file that a `ReferenceWriter` packed. @throws UnknownFormError, Error when it is damaged
 */
export function unpackReference(packed: Buffer): ReferenceFile {
  let end = 4 + packed.readUInt32LE(0);
  const header = parseCheckedJson<Header>(packed.subarray(4, end));
  requireForm(header.form, form);
  const [streets, places, relaties] = header.sections.map((length) => {
    end += length;
    return unpackLineBytes(packed.subarray(end - length, end));
  }) as [Buffer, Buffer, Buffer];
  return { problems: header.problems, streets, places, relaties };
}

/** The current streets and places, in memory that threads can share. */
export type ReferenceMemory = { streets: SharedArrayBuffer; places: WoonplaatsInGemeente[] };

/**
 * Also the identification of each occurrence that another current one replaces; of a relation its
 * woonplaats, if that is one of the places: every delivery has the relations of the whole country.
 */
export type ReadReference = ReferenceMemory & {
  severalCurrent: Record<'OPR' | 'WPL' | 'GEM-WPL-RELATIE', string[]>;
};

/**
 * The streets and places as they are on `peildatum`. If an object has more than one current
 * occurrence, the last to begin counts, in whatever order they were added.
 */
export function referenceOn(file: ReferenceFile, peildatum: string): ReadReference {
  const day = dayOf(peildatum);
  const streets = currentIn(file.streets, day, idWidth);
  const places = currentIn(file.places, day);
  const relaties = currentIn(file.relaties, day);
  const memory = new SharedArrayBuffer(streets.kept.length);
  streets.kept.copy(Buffer.from(memory));
  const gemeenten = new Map(
    placesOf(relaties.kept).map(({ identificatie, naam }) => [identificatie, naam]),
  );
  const current = placesOf(places.kept).map(({ identificatie, naam }): WoonplaatsInGemeente => {
    const gemeente = gemeenten.get(identificatie);
    return { identificatie, naam, ...(gemeente !== undefined && { gemeente }) };
  });
  const ids = new Set(current.map(({ identificatie }) => identificatie));
  const doubled = relaties.replaced.filter((woonplaats) => ids.has(woonplaats));
  return {
    streets: memory,
    places: current,
    severalCurrent: { OPR: streets.replaced, WPL: places.replaced, 'GEM-WPL-RELATIE': doubled },
  };
}

/** Every occurrence in the file, streets first. */
export function occurrencesIn({ streets, places }: ReferenceFile): (OprVoorkomen | WplVoorkomen)[] {
  return [...streetsOf(streets), ...placesOf(places)];
}

export function relatiesIn({ relaties }: ReferenceFile): GemeenteRelatie[] {
  return placesOf(relaties).map(({ identificatie: woonplaats, naam: gemeente, begin, eind }) => {
    return { woonplaats, gemeente, begin, eind };
  });
}

/** The streets and places, for lookups. */
export function referenceAt({ streets, places }: ReferenceMemory): Reference {
  const woonplaatsen = new Map(places.map((place) => [place.identificatie, place]));
  return { openbareRuimten: streetsIn(streets), woonplaatsen };
}
