import { ByteCursor } from './byte-cursor.ts';
import { ExtractError } from './extract-error.ts';
import type { ObjectKind } from './schema.ts';
import { type Fields, StandParser } from './stand-parser.ts';

/** Moves the cursor past one `sl:stand` of exactly the known shape and reads it, or says no. */
export type TakeStand = (cursor: ByteCursor) => boolean;

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const standEnd = '</sl:stand>';
const contentsEnd = '</sl:inhoud>';

/**
 * Gives every occurrence in a file of `kind` to either `take` or `onStand`: the cursor takes out those whose bytes are
 * exactly as the Kadaster writes them, and the strict parser reads all that remains, so nothing is skipped and nothing
 * is read in two ways (decision 0021). Without `take` the strict parser reads everything.
 */
export function readStands(
  xml: Buffer,
  file: string,
  kind: ObjectKind,
  onStand: (fields: Fields) => void,
  take?: TakeStand,
): void {
  if (!take) {
    parseStrictly(decode(xml, file), file, kind, onStand);
    return;
  }
  let failedInStand = false;
  const onLeftStand = (fields: Fields) => {
    failedInStand = true;
    onStand(fields);
    failedInStand = false;
  };
  try {
    readWithCursor(xml, file, kind, onLeftStand, take);
  } catch (error) {
    if (!(error instanceof ExtractError)) throw error;
    // The parser did not see all of the file: let it, so that its error names the right line and column.
    const text = decode(xml, file);
    if (!failedInStand) parseStrictly(text, file, kind, () => {});
    throw error;
  }
}

function parseStrictly(text: string, file: string, kind: ObjectKind, onStand: (fields: Fields) => void): void {
  const parser = new StandParser(kind, file, onStand);
  parser.write(text);
  parser.close();
}

function readWithCursor(
  xml: Buffer,
  file: string,
  kind: ObjectKind,
  onStand: (fields: Fields) => void,
  take: TakeStand,
): void {
  const parser = new StandParser(kind, file, onStand);
  const cursor = new ByteCursor(xml);
  let unread = endOf(xml, contentsEnd, 0);
  parser.write(decode(xml.subarray(0, unread), file));
  while (unread < xml.length) {
    if (parser.betweenStands && parser.hasUsualPrefixes) unread = takeAll(cursor, unread, take);
    const end = endOf(xml, standEnd, unread);
    parser.write(decode(xml.subarray(unread, end), file));
    unread = end;
  }
  parser.close();
}

/** Takes occurrences, and the blanks around them, for as long as they have the known shape. */
function takeAll(cursor: ByteCursor, start: number, take: TakeStand): number {
  cursor.position = start;
  let taken = start;
  do {
    taken = cursor.position;
    cursor.skipBlank();
  } while (take(cursor));
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
