/** Reads the occurrences in XML files of an extract: fast where they are written as usual, strictly everywhere else. */

import { ExtractError } from '../load-error.ts';
import { AdresObjectBytes } from './adres-object-bytes.ts';
import { ByteCursor } from './byte-cursor.ts';
import { fastAdresObjectParser } from './fast-adres-object-parser.ts';
import {
  FastNummeraanduidingParser,
  FastOpenbareRuimteParser,
  type FastParser,
  type FastParserOptions,
} from './fast-parser.ts';
import {
  addField,
  type Fields,
  type ObjectOf,
  type Occurrence,
  occurrenceOf,
  type ReadOptions,
  type StandVisit,
  visitStand,
} from './interpret-stand.ts';
import { NumBytes } from './num-bytes.ts';
import { emptyCounts, type ReadCounts } from './problem-report.ts';
import { documentOf, namespaces, type ObjectenKind, objectenKinds, SchemaParser, type StandKind } from './schema.ts';
import type { Woonplaats } from './voorkomen.ts';
import { xsdDate } from './xsd-values.ts';

/** Visits what counts on `peildatum`, each `Span` valid meanwhile. @throws ExtractError, after some visits */
export type ReadObjects<T> = (
  xml: Buffer,
  file: string,
  peildatum: string,
  visit: StandVisit<T>,
  options?: ReadOptions<T>,
) => ReadCounts;

/** Reads the nummeraanduidingen of an XML file. */
export const readNummeraanduidingen = objectReader('NUM', NumBytes.of, FastNummeraanduidingParser);

/** Reads the streets of an XML file. */
export const readOpenbareRuimten = objectReader('OPR', (street) => street, FastOpenbareRuimteParser);

const adresObjectReader = (kind: ObjectenKind) => objectReader(kind, AdresObjectBytes.of, fastAdresObjectParser(kind));

/** Read the adresseerbare objecten of an XML file, by kind. One whose location can't be told is a problem. */
export const readAdresseerbareObjecten: Record<ObjectenKind, ReadObjects<AdresObjectBytes>> = {
  VBO: adresObjectReader('VBO'),
  LIG: adresObjectReader('LIG'),
  STA: adresObjectReader('STA'),
};

/** The reader of files of `kind`, whose objects `toObject` makes. */
function objectReader<K extends StandKind, T>(
  kind: K,
  toObject: (read: ObjectOf[K]) => T,
  Parser: new (...options: FastParserOptions<T>) => FastParser<T>,
): ReadObjects<T> {
  return (xml, file, peildatum, visit, options = {}) => {
    const counts = emptyCounts();
    const onStand = (fields: Occurrence) =>
      visitStand(kind, fields, file, peildatum, counts, { toObject, visit, ...options });
    const fastParser = options.strictly ? undefined : new Parser(peildatum, counts, visit, options);
    readStands(xml, file, kind, peildatum, onStand, fastParser);
    return counts;
  };
}

/** Visits woonplaatsen without holding the whole file of 100 MB. @throws what `xml` throws, even if the XML is wrong */
export async function readWoonplaatsen(
  xml: AsyncIterable<Uint8Array>,
  file: string,
  peildatum: string,
  visit: StandVisit<Woonplaats>,
  options: Omit<ReadOptions<Woonplaats>, 'strictly'> = {},
): Promise<ReadCounts> {
  const counts = emptyCounts();
  const parser = new StandParser('WPL', file, peildatum, (fields) =>
    visitStand('WPL', fields, file, peildatum, counts, { toObject: (place) => place, visit, ...options }),
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
 * Passes every occurrence in a file of `kind`, of an extract of `peildatum`, to either `fastParser` or `onStand`: the
 * fast parser reads occurrences whose bytes are exactly as Kadaster writes them, and the strict parser reads the rest,
 * so that nothing is skipped or interpreted in two ways (decision 0110). Without `fastParser` the strict parser reads
 * everything.
 * @throws ExtractError, the strict parser's own
 */
export function readStands(
  xml: Buffer,
  file: string,
  kind: StandKind,
  peildatum: string,
  onStand: (fields: Occurrence) => void,
  fastParser?: Pick<FastParser<never>, 'parse'>,
): void {
  const strictParser = () => new StandParser(kind, file, peildatum, onStand);
  if (!fastParser) {
    readStrictly(xml, strictParser());
    return;
  }
  try {
    readFast(new ByteCursor(xml), xml, strictParser(), fastParser);
  } catch (error) {
    if (!(error instanceof ExtractError)) throw error;
    // The strict parser has not seen the whole file: let it read that, so its error is the first one and names the
    // right line.
    readStrictly(xml, strictParser());
    throw error;
  }
}

const chunkBytes = 128 * 1024;

function readStrictly(xml: Buffer, parser: StandParser): void {
  for (let start = 0; start < xml.length; start += chunkBytes) parser.write(xml.subarray(start, start + chunkBytes));
  parser.close();
}

function readFast(
  cursor: ByteCursor,
  xml: Buffer,
  parser: StandParser,
  fastParser: Pick<FastParser<never>, 'parse'>,
): void {
  let unread = 0;
  let end = contentsEnd;
  while (unread < xml.length) {
    if (parser.betweenStands && parser.hasUsualPrefixes) unread = parseAll(cursor, unread, fastParser);
    const strictEnd = endOf(xml, end, unread);
    parser.write(xml.subarray(unread, strictEnd));
    unread = strictEnd;
    end = standEnd;
  }
  parser.close();
}

/** Reads occurrences, and the white space around them, for as long as they have the known form. */
function parseAll(cursor: ByteCursor, start: number, fastParser: Pick<FastParser<never>, 'parse'>): number {
  for (let parsed = start; ; parsed = cursor.filePosition) {
    cursor.seek(parsed);
    cursor.skipBlank();
    if (!fastParser.parse(cursor)) return parsed;
  }
}

function endOf(xml: Buffer, tag: string, from: number): number {
  const found = xml.indexOf(tag, from, 'latin1');
  return found < 0 ? xml.length : found + tag.length;
}

const stand = 'sl:stand';
const objectType = 'sl:objectType';
const standTechnischeDatum = 'selecties-extract:StandTechnischeDatum';
const repeatable = new Set([stand, objectType, 'Objecten:gebruiksdoel', 'Objecten-ref:NummeraanduidingRef']);
const prefixes = Object.keys(namespaces);
const hasGeometry = (kind: StandKind) => objectenKinds.includes(kind as ObjectenKind);

/**
 * The strict parser of a file of `kind` in an extract of `peildatum`, which defines what such a file means. Prefixes,
 * order, comments, CDATA and entities make no difference. It refuses an element that the schema does not have, a value
 * that occurs twice, and a file whose header has another date. The file may come in pieces of any size; `onStand` is
 * called with each `sl:stand` when it closes.
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

  constructor(kind: StandKind, file: string, peildatum: string, onStand: (fields: Occurrence) => void) {
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
    if (!this.#seen.has(standTechnischeDatum)) throw this.#parser.invalid('has no StandTechnischeDatum');
    this.#checkObjectType();
  }

  /** Whether an occurrence may begin right after the text so far: after `inhoud`, or after another occurrence. */
  get betweenStands(): boolean {
    const closed = this.#parser.justClosed;
    return closed === stand || closed === 'sl:inhoud';
  }

  /** Whether Kadaster's own prefixes have their usual namespaces from here on. */
  get hasUsualPrefixes(): boolean {
    return this.#parser.hasUsualPrefixes(hasGeometry(this.#kind) ? [...prefixes, 'gml'] : prefixes);
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
      if (!addField(this.#fields, name, text, parent)) throw this.#parser.invalid(`a second ${name}`);
    } else if (name === standTechnischeDatum) this.#checkPeildatum(xsdDate(text) ?? text.trim());
    else this.#objectTypes.push(text);
  }

  #closeStand(): void {
    this.#inStand = false;
    if (this.#seenInStand.has('sl-bag-extract:kenmerkInOnderzoek')) return;
    this.#onStand(occurrenceOf(this.#kind, this.#fields, (problem) => this.#parser.invalid(problem)));
  }

  #checkPeildatum(date: string): void {
    if (date === this.#peildatum) return;
    const problem = `is of ${date || 'no date'}, in an extract of ${this.#peildatum}; get the extract again`;
    throw new ExtractError('mixed_peildatums', this.#file, problem);
  }

  #checkObjectType(): void {
    if (this.#objectTypes.includes(this.#kind)) return;
    throw this.#parser.invalid(`holds objects of type ${this.#objectTypes.join(', ') || 'unknown'}, not ${this.#kind}`);
  }
}
