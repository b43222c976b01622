import type { ByteFile } from './byte-file.ts';
import { countStand, toOpenbareRuimte, toWoonplaats } from './interpret-stand.ts';
import { emptyCounts, keep, type ReadCounts } from './read-counts.ts';
import { readStands } from './read-stands.ts';
import type { Fields } from './stand-parser.ts';
import { OpenbareRuimteTaker } from './take-openbare-ruimte.ts';
import type { Begun, OpenbareRuimte, Woonplaats } from './voorkomen.ts';

/**
 * Visits each street in `xml` that counts on `peildatum`, and counts all the others by reason. Throws an `ExtractError`
 * that names `file` for anything but well-formed XML in the one known schema; visits may precede it.
 */
export function readOpenbareRuimten(
  xml: ByteFile,
  file: string,
  peildatum: string,
  visit: (openbareRuimte: Begun<OpenbareRuimte>) => void,
  options: { strictly?: boolean } = {},
): ReadCounts {
  const counts = emptyCounts();
  const onStand = (fields: Fields) => {
    if (!countStand('OPR', fields, file, peildatum, counts)) return;
    keep(toOpenbareRuimte(fields, file), counts, visit);
  };
  const taker = options.strictly ? undefined : new OpenbareRuimteTaker(peildatum, counts, visit);
  readStands(xml, file, 'OPR', onStand, taker);
  return counts;
}

/** As `readOpenbareRuimten`, for places. Their outlines make one file 100 MB and more; nobody holds all of it. */
export function readWoonplaatsen(
  xml: ByteFile,
  file: string,
  peildatum: string,
  visit: (woonplaats: Begun<Woonplaats>) => void,
): ReadCounts {
  const counts = emptyCounts();
  readStands(xml, file, 'WPL', (fields) => {
    if (!countStand('WPL', fields, file, peildatum, counts)) return;
    keep(toWoonplaats(fields, file), counts, visit);
  });
  return counts;
}
