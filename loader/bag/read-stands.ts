import { ExtractError } from '../extract-error.ts';
import type { ByteFile } from '../zip/zip-entry.ts';
import { ByteCursor } from './byte-cursor.ts';
import type { ObjectKind } from './schema.ts';
import { type Fields, StandParser } from './stand-parser.ts';

/** So much stays next to the processor while it is inflated, summed and read; and its text is an ordinary string. */
const windowBytes = 128 * 1024;

/**
 * A file in pieces that each end with `end`, but for the last, so that none ends within a letter. All lie in one window
 * of memory, which only grows for what does not fit: a piece is valid until the next one is asked for.
 */
export function* piecesOf(file: ByteFile, end: string): Generator<Buffer> {
  const read = file();
  let memory = Buffer.allocUnsafeSlow(windowBytes);
  let filled = 0;
  for (let count = read(memory); count > 0; count = read(memory.subarray(filled))) {
    filled += count;
    const found = memory.subarray(0, filled).lastIndexOf(end, undefined, 'latin1');
    if (found >= 0) {
      const length = found + end.length;
      yield memory.subarray(0, length);
      memory.copyWithin(0, length, filled);
      filled -= length;
    } else if (filled === memory.length) {
      memory = Buffer.concat([memory], 2 * memory.length);
    }
  }
  yield memory.subarray(0, filled);
}

/** Reads a file to its end for what its reader says about it, such as that it is damaged. */
export function readThrough(file: ByteFile): void {
  for (const _ of piecesOf(file, ''));
}

/** Moves the cursor past one `sl:stand` of exactly the known shape and reads it, or says no. */
export interface StandTaker {
  take(cursor: ByteCursor): boolean;
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const tagEnd = '>';
const standEnd = '</sl:stand>';
const contentsEnd = '</sl:inhoud>';

/**
 * Gives every occurrence in a file of `kind` to either `taker` or `onStand`: the cursor takes out those whose bytes are
 * exactly as the Kadaster writes them, and the strict parser reads all that remains, so nothing is skipped and nothing
 * is read in two ways (decision 0111). Without `taker` the strict parser reads everything.
 * @throws ExtractError, the strict parser's own; a file that is damaged is refused as that, whatever its bytes look like
 */
export function readStands(
  xml: ByteFile,
  file: string,
  kind: ObjectKind,
  onStand: (fields: Fields) => void,
  taker?: StandTaker,
): void {
  if (!taker) {
    parseStrictly(xml, file, kind, onStand);
    return;
  }
  try {
    readWithCursor(xml, file, kind, onStand, taker);
  } catch (error) {
    if (!(error instanceof ExtractError)) throw error;
    readThrough(xml);
    // The parser did not see all of the file: let it, so that its error is the first one and names the right line.
    parseStrictly(xml, file, kind, onStand);
    throw error;
  }
}

function parseStrictly(xml: ByteFile, file: string, kind: ObjectKind, onStand: (fields: Fields) => void): void {
  const parser = new StandParser(kind, file, onStand);
  for (const piece of piecesOf(xml, tagEnd)) parser.write(decode(piece, file));
  parser.close();
}

function readWithCursor(
  xml: ByteFile,
  file: string,
  kind: ObjectKind,
  onStand: (fields: Fields) => void,
  taker: StandTaker,
): void {
  const parser = new StandParser(kind, file, onStand);
  let end = contentsEnd;
  for (const piece of piecesOf(xml, standEnd)) {
    const cursor = new ByteCursor(piece);
    let unread = 0;
    while (unread < piece.length) {
      if (parser.betweenStands && parser.hasUsualPrefixes) unread = takeAll(cursor, unread, taker);
      const parsed = endOf(piece, end, unread);
      parser.write(decode(piece.subarray(unread, parsed), file));
      unread = parsed;
      end = standEnd;
    }
  }
  parser.close();
}

/** Takes occurrences, and the blanks around them, for as long as they have the known shape. */
function takeAll(cursor: ByteCursor, start: number, taker: StandTaker): number {
  cursor.position = start;
  let taken = start;
  do {
    taken = cursor.position;
    cursor.skipBlank();
  } while (taker.take(cursor));
  return taken;
}

function endOf(xml: Buffer, tag: string, from: number): number {
  const found = xml.indexOf(tag, from, 'latin1');
  return found < 0 ? xml.length : found + tag.length;
}

function decode(bytes: Buffer, file: string): string {
  try {
    return utf8.decode(bytes);
  } catch (cause) {
    throw new ExtractError('invalid_xml', file, 'not UTF-8; get the extract again', { cause });
  }
}
