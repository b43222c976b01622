import { toWoonplaats, type Visit, visitStand } from './interpret-stand.ts';
import { emptyCounts, type ReadCounts } from './problem-report.ts';
import { readStandStream } from './read-stands.ts';
import type { Woonplaats } from './voorkomen.ts';

/**
 * Visits each woonplaats in `xml` that counts on `peildatum`, with `later` each that will count on a
 * later date, and counts all the others by reason. Never holds the whole
 * file: the outlines in it make it 100 MB and more.
 * @throws ExtractError that names `file` for anything but well-formed XML in the one known schema; visits may precede it
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
