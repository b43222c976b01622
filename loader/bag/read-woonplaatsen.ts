import { countStand, toWoonplaats } from './interpret-stand.ts';
import { emptyCounts, keep, type ReadCounts } from './problem-report.ts';
import { readStandStream } from './read-stands.ts';
import type { WithBegin, Woonplaats } from './voorkomen.ts';

/**
 * Visits each woonplaats in `xml` that counts on `peildatum`, and counts all the others by reason. Never holds the whole
 * file: the outlines in it make it 100 MB and more.
 * @throws ExtractError that names `file` for anything but well-formed XML in the one known schema; visits may precede it
 */
export async function readWoonplaatsen(
  xml: AsyncIterable<Uint8Array>,
  file: string,
  peildatum: string,
  visit: (woonplaats: WithBegin<Woonplaats>) => void,
): Promise<ReadCounts> {
  const counts = emptyCounts();
  await readStandStream(xml, file, 'WPL', (fields) => {
    if (!countStand('WPL', fields, file, peildatum, counts)) return;
    keep(toWoonplaats(fields, file), counts, visit);
  });
  return counts;
}
