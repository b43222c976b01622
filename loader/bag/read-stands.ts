/**
 * Reads the occurrences in XML files of an extract: fast where they are written as usual, strictly
 * everywhere else.
 */

import { ExtractError } from '../load-error.ts';
import { type CanonicalKind, CanonicalStand } from './canonical-stand.ts';
import { isObjectenKind, repeatedFields, type StandKind } from './elements.ts';
import {
  addField,
  countVoorkomen,
  type Fields,
  geldigheidOf,
  type Occurrence,
  occurrenceOf,
  type Visits,
  type VoorkomenOf,
  visitStand,
} from './interpret-stand.ts';
import { emptyCounts, type ReadCounts } from './problem-report.ts';
import { documentOf, namespaces, SchemaParser } from './schema.ts';
import { dayOf, type WplVoorkomen } from './voorkomen.ts';
import { xsdDate } from './xsd-values.ts';

export type ReadOptions<T> = Pick<Visits<T>, 'later'> & {
  /** Leaves everything to the strict parser. */
  strictly?: boolean;
  /** Visits occurrences in bytes instead of `visit` and `later`, whenever they count. */
  visitCanonical?: (stand: CanonicalStand) => void;
};

/** Visits what counts on `peildatum`. @throws ExtractError, after some visits */
export type ReadObjects<T> = (
  xml: Buffer,
  file: string,
  peildatum: string,
  visit: (voorkomen: T) => void,
  options?: ReadOptions<T>,
) => ReadCounts;

function objectReader<K extends CanonicalKind>(kind: K): ReadObjects<VoorkomenOf[K]> {
  return (xml, file, peildatum, visit, { strictly = false, later, visitCanonical } = {}) => {
    const counts = emptyCounts();
    const day = dayOf(peildatum);
    const visits = { visit, later };
    const onStand = (fields: Occurrence) =>
      visitStand(kind, geldigheidOf(kind, fields, file), () => fields, file, day, counts, visits);
    const onWritten = (stand: CanonicalStand) => {
      if (!visitCanonical) {
        return visitStand(kind, stand.geldigheid, () => stand.fields(), file, day, counts, visits);
      }
      const when = countVoorkomen(stand.geldigheid, day, counts);
      if (when === 'current') counts.current++;
      if (when !== null) visitCanonical(stand);
    };
    readStands(xml, file, kind, peildatum, onStand, strictly ? undefined : onWritten);
    return counts;
  };
}

/**
 * Read an XML file, by the kind of its objects. An object whose location can't be told is a
 * problem.
 */
export const readXml = {
  NUM: objectReader('NUM'),
  OPR: objectReader('OPR'),
  VBO: objectReader('VBO'),
  LIG: objectReader('LIG'),
  STA: objectReader('STA'),
};

/**
 * Visits woonplaatsen without holding the whole file of 100 MB. @throws what `xml` throws, even if
 * the XML is wrong
 */
export async function readWoonplaatsen(
  xml: AsyncIterable<Uint8Array>,
  file: string,
  peildatum: string,
  visit: (voorkomen: WplVoorkomen) => void,
  { later }: Pick<Visits<WplVoorkomen>, 'later'> = {},
): Promise<ReadCounts> {
  const counts = emptyCounts();
  const day = dayOf(peildatum);
  const parser = new StandParser('WPL', file, peildatum, (fields) =>
    visitStand('WPL', geldigheidOf('WPL', fields, file), () => fields, file, day, counts, {
      visit,
      later,
    }),
  );
  let refusal: unknown;
  for await (const chunk of xml) {
    if (refusal !== undefined) continue; // damage to the file shows only at its end
    try {
      parser.write(chunk);
    } catch (error) {
      refusal = error;
    }
  }
  if (refusal !== undefined) throw refusal;
  parser.close();
  return counts;
}

const standEnd = '</sl:stand>';
const contentsEnd = '</sl:inhoud>';

/**
 * Passes every occurrence in a file of `kind`, of an extract of `peildatum`, to either `onWritten`
 * or `onStand`: occurrences whose bytes are exactly as Kadaster writes them are read as bytes, and
 * the strict parser reads the rest, so that nothing is skipped or interpreted in two ways (decision
 * 0110). Without `onWritten` the strict parser reads everything.
 * @throws ExtractError, the strict parser's own
 */
export function readStands(
  xml: Buffer,
  file: string,
  kind: CanonicalKind,
  peildatum: string,
  onStand: (fields: Occurrence) => void,
  onWritten?: (stand: CanonicalStand) => void,
): void {
  const strictParser = () => new StandParser(kind, file, peildatum, onStand);
  if (!onWritten) {
    readStrictly(xml, strictParser());
    return;
  }
  try {
    readFast(xml, new CanonicalStand(kind, xml), strictParser(), onWritten);
  } catch (error) {
    if (!(error instanceof ExtractError)) throw error;
    // The strict parser has not seen the whole file: let it read that, so its error is the first
    // one and names the right line.
    readStrictly(xml, strictParser());
    throw error;
  }
}

const chunkBytes = 128 * 1024;

function readStrictly(xml: Buffer, parser: StandParser): void {
  for (let start = 0; start < xml.length; start += chunkBytes) {
    parser.write(xml.subarray(start, start + chunkBytes));
  }
  parser.close();
}

function readFast(
  xml: Buffer,
  stand: CanonicalStand,
  parser: StandParser,
  onWritten: (stand: CanonicalStand) => void,
): void {
  let unread = 0;
  let end = contentsEnd;
  while (unread < xml.length) {
    if (parser.betweenStands && parser.hasUsualPrefixes) {
      unread = readWritten(stand, unread, onWritten);
    }
    const strictEnd = endOf(xml, end, unread);
    parser.write(xml.subarray(unread, strictEnd));
    unread = strictEnd;
    end = standEnd;
  }
  parser.close();
}

/**
 * Reads occurrences for as long as they are written as usual; returns the start of the first other
 * one.
 */
function readWritten(
  stand: CanonicalStand,
  start: number,
  onWritten: (stand: CanonicalStand) => void,
): number {
  for (let unread = start; ; ) {
    const end = stand.read(unread);
    if (end < 0) return unread;
    onWritten(stand);
    unread = end;
  }
}

function endOf(xml: Buffer, tag: string, from: number): number {
  const found = xml.indexOf(tag, from, 'latin1');
  return found < 0 ? xml.length : found + tag.length;
}

const stand = 'sl:stand';
const objectType = 'sl:objectType';
const standTechnischeDatum = 'selecties-extract:StandTechnischeDatum';
const repeatable = new Set([stand, objectType, ...repeatedFields.map(({ element }) => element)]);
const prefixes = Object.keys(namespaces);

/**
 * The strict parser of a file of `kind` in an extract of `peildatum`, which defines what such a
 * file means. Prefixes, order, comments, CDATA and entities make no difference. It refuses an
 * element that the schema does not have, a value that occurs twice, and a file whose header has
 * another date. The file may come in pieces of any size; `onStand` is called with each `sl:stand`
 * when it closes.
 */
class StandParser {
  readonly #kind: StandKind;
  readonly #file: string;
  readonly #peildatum: string;
  readonly #onStand: (fields: Occurrence) => void;
  readonly #parser: SchemaParser;
  readonly #seen = new Set<string>();
  readonly #seenInStand = new Set<string>();
  readonly #objectTypes: string[] = [];
  #fields: Fields = {};
  #inStand = false;

  constructor(
    kind: StandKind,
    file: string,
    peildatum: string,
    onStand: (fields: Occurrence) => void,
  ) {
    this.#kind = kind;
    this.#file = file;
    this.#peildatum = peildatum;
    this.#onStand = onStand;
    this.#parser = new SchemaParser(documentOf(kind), file, {
      onOpen: (name) => this.#onOpen(name),
      onText: (name, text, parent) => this.#onText(name, text, parent),
      onClose: (name) => {
        if (name === stand) this.#closeStand();
      },
    });
  }

  write(piece: Uint8Array): void {
    this.#parser.write(piece);
  }

  close(): void {
    this.#parser.close();
    if (!this.#seen.has('sl:standBestand')) throw this.#parser.invalid('has no standBestand');
    if (!this.#seen.has(standTechnischeDatum)) {
      throw this.#parser.invalid('has no StandTechnischeDatum');
    }
    this.#checkObjectType();
  }

  /**
   * Whether an occurrence may begin right after the text so far: after `inhoud`, or after another
   * occurrence.
   */
  get betweenStands(): boolean {
    const closed = this.#parser.justClosed;
    return closed === stand || closed === 'sl:inhoud';
  }

  /** Whether Kadaster's own prefixes have their usual namespaces from here on. */
  get hasUsualPrefixes(): boolean {
    return this.#parser.hasUsualPrefixes(
      isObjectenKind(this.#kind) ? [...prefixes, 'gml'] : prefixes,
    );
  }

  #onOpen(name: string): void {
    if (name === stand) {
      this.#checkObjectType();
      this.#inStand = true;
      this.#seenInStand.clear();
      this.#fields = {};
    }
    const seen = this.#inStand ? this.#seenInStand : this.#seen;
    if (seen.has(name) && !repeatable.has(name)) throw this.#parser.invalid(`a second ${name}`);
    seen.add(name);
  }

  #onText(name: string, text: string, parent: string): void {
    if (this.#inStand) {
      if (!addField(this.#fields, name, text, parent)) {
        throw this.#parser.invalid(`a second ${name}`);
      }
    } else if (name === standTechnischeDatum) this.#checkPeildatum(xsdDate(text) ?? text.trim());
    else {
      this.#objectTypes.push(text);
    }
  }

  #closeStand(): void {
    this.#inStand = false;
    if (this.#seenInStand.has('sl-bag-extract:kenmerkInOnderzoek')) return;
    this.#onStand(
      occurrenceOf(this.#kind, this.#fields, (problem) => this.#parser.invalid(problem)),
    );
  }

  #checkPeildatum(date: string): void {
    if (date === this.#peildatum) return;
    const problem = `is of ${date || 'no date'}, in an extract of ${this.#peildatum}; get the extract again`;
    throw new ExtractError('mixed_peildatums', this.#file, problem);
  }

  #checkObjectType(): void {
    if (this.#objectTypes.includes(this.#kind)) return;
    throw this.#parser.invalid(
      `holds objects of type ${this.#objectTypes.join(', ') || 'unknown'}, not ${this.#kind}`,
    );
  }
}
