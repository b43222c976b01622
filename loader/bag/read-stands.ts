import { ExtractError } from '../extract-error.ts';
import { ByteCursor } from './byte-cursor.ts';
import { type Fields, type ReadRule, toWoonplaats, type Visit, visitStand } from './interpret-stand.ts';
import { emptyCounts, type ReadCounts } from './problem-report.ts';
import type { ObjectKind } from './schema.ts';
import { StandParser } from './stand-parser.ts';
import type { Woonplaats } from './voorkomen.ts';

/** Reads occurrences whose bytes are exactly as Kadaster writes them. */
export interface FastParser {
  /** Reads the `sl:stand` at the cursor and moves past it, or returns false and leaves it unread. */
  parse(cursor: ByteCursor): boolean;
}

const standEnd = '</sl:stand>';
const contentsEnd = '</sl:inhoud>';

/** The class of a fast parser; `later` as in `ReadObjects`. */
type FastParserClass<T> = new (peildatum: string, counts: ReadCounts, visit: Visit<T>, later?: Visit<T>) => FastParser;

/**
 * Visits each object in `xml` that counts on `peildatum`, and with `later` each that will count on a later date; counts all
 * others by reason. A `Span` is valid during the visit. Throws an `ExtractError` that names `file` for anything but
 * well-formed XML in the known schema; visits may precede it. `strictly` leaves everything to the strict parser.
 */
export type ReadObjects<T> = (
  xml: Buffer,
  file: string,
  peildatum: string,
  visit: Visit<T>,
  options?: { strictly?: boolean; later?: Visit<T> },
) => ReadCounts;

/** The reader of files of `kind`, whose objects `read` makes from the fields of an occurrence. */
export function objectReader<T extends object>(
  kind: ObjectKind,
  read: ReadRule<T>,
  Parser: FastParserClass<T>,
): ReadObjects<T> {
  return (xml, file, peildatum, visit, { strictly = false, later } = {}) => {
    const counts = emptyCounts();
    const onStand = (fields: Fields) => visitStand(kind, fields, file, peildatum, counts, { read, visit, later });
    const fastParser = strictly ? undefined : new Parser(peildatum, counts, visit, later);
    readStands(xml, file, kind, peildatum, onStand, fastParser);
    return counts;
  };
}

/**
 * Visits woonplaatsen as a `ReadObjects` does, but never holds the whole file: the outlines in it make it 100 MB and more.
 */
export async function readWoonplaatsen(
  xml: AsyncIterable<Uint8Array>,
  file: string,
  peildatum: string,
  visit: Visit<Woonplaats>,
  later?: Visit<Woonplaats>,
): Promise<ReadCounts> {
  const counts = emptyCounts();
  await readStandStream(xml, file, 'WPL', peildatum, (fields) =>
    visitStand('WPL', fields, file, peildatum, counts, { read: toWoonplaats, visit, later }),
  );
  return counts;
}

/**
 * Passes every occurrence in a file of `kind`, of an extract of `peildatum`, to either `fastParser` or `onStand`: the
 * fast parser reads those whose bytes are exactly as Kadaster writes them, and the strict parser reads the rest, so
 * nothing is skipped and nothing is interpreted in two ways (decision 0111). Without `fastParser` the strict parser
 * reads everything.
 * @throws ExtractError, the strict parser's own
 */
export function readStands(
  xml: Buffer,
  file: string,
  kind: ObjectKind,
  peildatum: string,
  onStand: (fields: Fields) => void,
  fastParser?: FastParser,
): void {
  if (!fastParser) {
    readStrictly(xml, file, kind, peildatum, onStand);
    return;
  }
  try {
    readFast(xml, file, kind, peildatum, onStand, fastParser);
  } catch (error) {
    if (!(error instanceof ExtractError)) throw error;
    // The strict parser has not seen the whole file: let it read that, so its error is the first one and names the right line.
    readStrictly(xml, file, kind, peildatum, onStand);
    throw error;
  }
}

/**
 * As `readStands`, strictly and of any size, chunk by chunk. @throws what `chunks` throws, even if the XML is also
 * wrong
 */
export async function readStandStream(
  chunks: AsyncIterable<Uint8Array>,
  file: string,
  kind: ObjectKind,
  peildatum: string,
  onStand: (fields: Fields) => void,
): Promise<void> {
  const parser = new StandParser(kind, file, peildatum, onStand);
  const decode = utf8Decoder(file);
  let refusal: unknown;
  for await (const chunk of chunks) {
    if (refusal !== undefined) continue; // damage to the file shows only at its end
    try {
      parser.write(decode(chunk));
    } catch (error) {
      refusal = error;
    }
  }
  if (refusal !== undefined) throw refusal;
  parser.write(decode());
  parser.close();
}

const chunkBytes = 128 * 1024;

function readStrictly(
  xml: Buffer,
  file: string,
  kind: ObjectKind,
  peildatum: string,
  onStand: (fields: Fields) => void,
): void {
  const parser = new StandParser(kind, file, peildatum, onStand);
  const decode = utf8Decoder(file);
  for (let start = 0; start < xml.length; start += chunkBytes) {
    parser.write(decode(xml.subarray(start, start + chunkBytes)));
  }
  parser.write(decode());
  parser.close();
}

function readFast(
  xml: Buffer,
  file: string,
  kind: ObjectKind,
  peildatum: string,
  onStand: (fields: Fields) => void,
  fastParser: FastParser,
): void {
  const parser = new StandParser(kind, file, peildatum, onStand);
  const decode = utf8Decoder(file);
  const cursor = new ByteCursor(xml);
  let unread = 0;
  let end = contentsEnd;
  while (unread < xml.length) {
    if (parser.betweenStands && parser.hasUsualPrefixes) unread = parseAll(cursor, unread, fastParser);
    const strictEnd = endOf(xml, end, unread);
    parser.write(decode(xml.subarray(unread, strictEnd)));
    unread = strictEnd;
    end = standEnd;
  }
  parser.write(decode());
  parser.close();
}

/** Reads occurrences, and the white space around them, for as long as they have the known form. */
function parseAll(cursor: ByteCursor, start: number, fastParser: FastParser): number {
  cursor.position = start;
  let parsed = start;
  do {
    parsed = cursor.position;
    cursor.skipBlank();
  } while (fastParser.parse(cursor));
  return parsed;
}

function endOf(xml: Buffer, tag: string, from: number): number {
  const found = xml.indexOf(tag, from, 'latin1');
  return found < 0 ? xml.length : found + tag.length;
}

/** Decodes the pieces of a file, which may end within a character; called without a piece at the end of the file. */
export function utf8Decoder(file: string): (piece?: Uint8Array) => string {
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  return (piece) => {
    try {
      return piece ? decoder.decode(piece, { stream: true }) : decoder.decode();
    } catch (cause) {
      throw new ExtractError('invalid_xml', file, 'not UTF-8; get the extract again', { cause });
    }
  };
}
