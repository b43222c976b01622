import { type ByteCursor, literal } from './byte-cursor.ts';
import {
  countOccurrence,
  documentdatum,
  documentnummer,
  geconstateerd,
  issued,
  ligtInEnd,
  parseVoorkomen,
  withdrawn,
} from './fast-voorkomen-parser.ts';
import { toOpenbareRuimte, type Visit } from './interpret-stand.ts';
import type { ReadCounts } from './problem-report.ts';
import { type FastParser, objectReader } from './read-stands.ts';
import { dayOf, type OpenbareRuimte, type Span } from './voorkomen.ts';

const open = literal(
  '<sl:stand><sl-bag-extract:bagObject><Objecten:OpenbareRuimte>',
  '<Objecten:identificatie domein="NL.IMBAG.Openbareruimte">',
);
const naam = literal('</Objecten:identificatie><Objecten:naam>');
const type = literal('</Objecten:naam><Objecten:type>');
const typeEnd = literal('</Objecten:type>');
const ligtIn = literal(
  '</Objecten:documentnummer>',
  '<Objecten:ligtIn><Objecten-ref:WoonplaatsRef domein="NL.IMBAG.Woonplaats">',
);
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

    const counted = countOccurrence(this.#counts, isIssued, validity);
    const visit = counted === 'current' ? this.#visit : counted === 'later' ? this.#later : undefined;
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

/** Reads the streets of an XML file. */
export const readOpenbareRuimten = objectReader('OPR', toOpenbareRuimte, FastOpenbareRuimteParser);
