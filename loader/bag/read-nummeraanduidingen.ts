import type { ByteFile } from './byte-file.ts';
import { countStand, toNummeraanduiding } from './interpret-stand.ts';
import { emptyCounts, keep, type ReadCounts } from './read-counts.ts';
import { readStands } from './read-stands.ts';
import type { Fields } from './stand-parser.ts';
import { NummeraanduidingTaker } from './take-nummeraanduiding.ts';
import type { Nummeraanduiding } from './voorkomen.ts';

/**
 * Visits each nummeraanduiding in `xml` that counts on `peildatum`, and counts all the others by reason. Throws an
 * `ExtractError` that names `file` for anything but well-formed XML in the one known schema; visits may precede it.
 */
export function readNummeraanduidingen(
  xml: ByteFile,
  file: string,
  peildatum: string,
  visit: (nummeraanduiding: Nummeraanduiding) => void,
  options: { strictly?: boolean } = {},
): ReadCounts {
  const counts = emptyCounts();
  const onStand = (fields: Fields) => {
    if (!countStand('NUM', fields, file, peildatum, counts)) return;
    keep(toNummeraanduiding(fields, file), counts, visit);
  };
  const taker = options.strictly ? undefined : new NummeraanduidingTaker(peildatum, counts, visit);
  readStands(xml, file, 'NUM', onStand, taker);
  return counts;
}
