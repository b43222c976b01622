import { type ByteCursor, literal } from './byte-cursor.ts';
import { beginOf, parseVoorkomen } from './fast-voorkomen-parser.ts';
import { countStand, toOpenbareRuimte, toWoonplaats } from './interpret-stand.ts';
import { emptyCounts, keep, type ReadCounts } from './problem-report.ts';
import { type FastParser, readStandStream, readStands } from './read-stands.ts';
import type { Fields } from './stand-parser.ts';
import type { OpenbareRuimte, WithBegin, Woonplaats } from './voorkomen.ts';

const open = literal(
  '<sl:stand><sl-bag-extract:bagObject><Objecten:OpenbareRuimte>',
  '<Objecten:identificatie domein="NL.IMBAG.Openbareruimte">',
);
const naam = literal('</Objecten:identificatie><Objecten:naam>');
const type = literal('</Objecten:naam><Objecten:type>');
const typeEnd = literal('</Objecten:type>');
const issued = literal('<Objecten:status>Naamgeving uitgegeven</Objecten:status>');
const withdrawn = literal('<Objecten:status>Naamgeving ingetrokken</Objecten:status>');
const geconstateerd = literal('<Objecten:geconstateerd>');
const documentdatum = literal('</Objecten:geconstateerd><Objecten:documentdatum>');
const documentnummer = literal('</Objecten:documentdatum><Objecten:documentnummer>');
const ligtIn = literal(
  '</Objecten:documentnummer>',
  '<Objecten:ligtIn><Objecten-ref:WoonplaatsRef domein="NL.IMBAG.Woonplaats">',
);
const ligtInEnd = literal('</Objecten-ref:WoonplaatsRef></Objecten:ligtIn>');
const close = literal('</Objecten:OpenbareRuimte></sl-bag-extract:bagObject></sl:stand>');

const longestName = 80;

/**
 * Reads streets whose bytes are exactly as the Kadaster writes them. The strict parser reads the others: those with a
 * `verkorteNaam`, and those whose name holds an entity or a letter outside ASCII.
 */
export class FastOpenbareRuimteParser implements FastParser {
  readonly #counts: ReadCounts;
  readonly #visit: (openbareRuimte: WithBegin<OpenbareRuimte>) => void;
  readonly #day: number;

  constructor(peildatum: string, counts: ReadCounts, visit: (openbareRuimte: WithBegin<OpenbareRuimte>) => void) {
    this.#day = Number(peildatum.replaceAll('-', ''));
    this.#counts = counts;
    this.#visit = visit;
  }

  parse(cursor: ByteCursor): boolean {
    if (!cursor.skip(open)) return false;
    const identificatie = cursor.position;
    if (!cursor.skipDigits(16) || !cursor.skip(naam)) return false;
    const name = cursor.position;
    if (!cursor.skipText()) return false;
    const length = cursor.position - name;
    if (length === 0 || length > longestName || cursor.bytes[name] === 0x20) return false;
    if (!cursor.skip(type) || !cursor.skipText() || !cursor.skip(typeEnd)) return false;
    const isIssued = cursor.skip(issued);
    if (!isIssued && !cursor.skip(withdrawn)) return false;
    if (!cursor.skip(geconstateerd) || !cursor.skipText()) return false;
    if (!cursor.skip(documentdatum) || !cursor.skipText()) return false;
    if (!cursor.skip(documentnummer) || !cursor.skipEscapedText() || !cursor.skip(ligtIn)) return false;
    const place = cursor.position;
    if (!cursor.skipDigits(4) || !cursor.skip(ligtInEnd)) return false;
    const voorkomen = cursor.position;
    const validity = parseVoorkomen(cursor, this.#day);
    if (validity === 'unknown_shape' || !cursor.skip(close)) return false;

    const counts = this.#counts;
    counts.voorkomens++;
    if (!isIssued) {
      counts.notCurrent.withdrawn++;
    } else if (validity !== 'current') {
      counts.notCurrent[validity]++;
    } else {
      counts.current++;
      this.#visit({
        identificatie: cursor.text(identificatie, 16),
        naam: cursor.text(name, length),
        woonplaats: cursor.text(place, 4),
        begin: beginOf(cursor, voorkomen),
      });
    }
    return true;
  }
}

/**
 * Visits each street in `xml` that counts on `peildatum`, and counts all the others by reason. Throws an `ExtractError`
 * that names `file` for anything but well-formed XML in the one known schema; visits may precede it.
 */
export function readOpenbareRuimten(
  xml: Buffer,
  file: string,
  peildatum: string,
  visit: (openbareRuimte: WithBegin<OpenbareRuimte>) => void,
  options: { strictly?: boolean } = {},
): ReadCounts {
  const counts = emptyCounts();
  const onStand = (fields: Fields) => {
    if (!countStand('OPR', fields, file, peildatum, counts)) return;
    keep(toOpenbareRuimte(fields, file), counts, visit);
  };
  const fastParser = options.strictly ? undefined : new FastOpenbareRuimteParser(peildatum, counts, visit);
  readStands(xml, file, 'OPR', onStand, fastParser);
  return counts;
}

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
