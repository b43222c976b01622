import { ExtractError } from './extract-error.ts';
import { countStand, toOpenbareRuimte, toWoonplaats } from './interpret-stand.ts';
import { emptyCounts, keep, type ReadCounts } from './read-counts.ts';
import { readStands } from './read-stands.ts';
import { type Fields, StandParser } from './stand-parser.ts';
import { openbareRuimteTaker } from './take-openbare-ruimte.ts';
import type { OpenbareRuimte, Woonplaats } from './voorkomen.ts';

/**
 * Visits each street in `xml` that counts on `peildatum`, and counts all the others by reason. Throws an `ExtractError`
 * that names `file` for anything but well-formed XML in the one known schema; visits may precede it.
 */
export function readOpenbareRuimten(
  xml: Buffer,
  file: string,
  peildatum: string,
  visit: (openbareRuimte: OpenbareRuimte) => void,
  options: { strictly?: boolean } = {},
): ReadCounts {
  const counts = emptyCounts();
  const onStand = (fields: Fields) => {
    if (!countStand('OPR', fields, file, peildatum, counts)) return;
    keep(toOpenbareRuimte(fields, file), counts, visit);
  };
  const taker = options.strictly ? undefined : openbareRuimteTaker(peildatum, counts, visit);
  readStands(xml, file, 'OPR', onStand, taker);
  return counts;
}

/**
 * As `readOpenbareRuimten`, for places. Their outlines make one file 100 MB and more, so it comes in pieces: memory
 * does not grow with it.
 */
export async function readWoonplaatsen(
  xml: AsyncIterable<Buffer>,
  file: string,
  peildatum: string,
  visit: (woonplaats: Woonplaats) => void,
): Promise<ReadCounts> {
  const counts = emptyCounts();
  const parser = new StandParser('WPL', file, (fields) => {
    if (!countStand('WPL', fields, file, peildatum, counts)) return;
    keep(toWoonplaats(fields, file), counts, visit);
  });
  for await (const text of decoded(xml, file)) parser.write(text);
  parser.close();
  return counts;
}

async function* decoded(xml: AsyncIterable<Buffer>, file: string): AsyncGenerator<string> {
  const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  for await (const chunk of xml) yield decode(() => utf8.decode(chunk, { stream: true }), file);
  yield decode(() => utf8.decode(), file);
}

function decode(next: () => string, file: string): string {
  try {
    return next();
  } catch (cause) {
    throw new ExtractError('invalid_xml', file, 'not UTF-8; get the extract again', { cause });
  }
}
