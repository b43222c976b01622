import { type ByteCursor, literal } from './byte-cursor.ts';
import { parseVoorkomen } from './fast-voorkomen-parser.ts';
import { toOpenbareRuimte, type Visit, visitStand } from './interpret-stand.ts';
import { emptyCounts, type ReadCounts } from './problem-report.ts';
import { type FastParser, readStands } from './read-stands.ts';
import type { Fields } from './stand-parser.ts';
import { dayOf, type OpenbareRuimte, type Span } from './voorkomen.ts';

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
 * Reads streets whose bytes are exactly as Kadaster writes them. The strict parser reads the others: those with a
 * `verkorteNaam`, and those whose name holds an entity or a letter outside ASCII.
 */
export class FastOpenbareRuimteParser implements FastParser {
  readonly #counts: ReadCounts;
  readonly #visit: Visit<OpenbareRuimte>;
  readonly #later: Visit<OpenbareRuimte> | undefined;
  readonly #day: number;
  readonly #span: Span = { volgnummer: 0, begin: 0, eind: 0 };

  constructor(peildatum: string, counts: ReadCounts, visit: Visit<OpenbareRuimte>, later?: Visit<OpenbareRuimte>) {
    this.#day = dayOf(peildatum);
    this.#counts = counts;
    this.#visit = visit;
    this.#later = later;
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
    const validity = parseVoorkomen(cursor, this.#day, this.#span);
    if (validity === 'unknown_shape' || !cursor.skip(close)) return false;

    const counts = this.#counts;
    counts.voorkomens++;
    if (!isIssued) {
      counts.notCurrent.withdrawn++;
      return true;
    }
    if (validity === 'current') counts.current++;
    else counts.notCurrent[validity === 'later' ? 'future' : validity]++;
    const visit = validity === 'current' ? this.#visit : validity === 'later' ? this.#later : undefined;
    visit?.(
      {
        identificatie: cursor.text(identificatie, 16),
        naam: cursor.text(name, length),
        woonplaats: cursor.text(place, 4),
      },
      this.#span,
    );
    return true;
  }
}

/**
 * Visits each street in `xml` that counts on `peildatum`, with `later` each that will
 * count on a later date, and counts all the others by reason. A `Span` is valid during the visit. Throws an `ExtractError`
 * that names `file` for anything but well-formed XML in the one known schema; visits may precede it.
 */
export function readOpenbareRuimten(
  xml: Buffer,
  file: string,
  peildatum: string,
  visit: Visit<OpenbareRuimte>,
  options: { strictly?: boolean; later?: Visit<OpenbareRuimte> } = {},
): ReadCounts {
  const { later } = options;
  const counts = emptyCounts();
  const onStand = (fields: Fields) =>
    visitStand('OPR', fields, file, peildatum, counts, { read: toOpenbareRuimte, visit, later });
  const fastParser = options.strictly ? undefined : new FastOpenbareRuimteParser(peildatum, counts, visit, later);
  readStands(xml, file, 'OPR', peildatum, onStand, fastParser);
  return counts;
}
