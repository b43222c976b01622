import { type ByteCursor, literal, RepeatingText } from './byte-cursor.ts';
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
import { toNummeraanduiding, type Visit } from './interpret-stand.ts';
import type { ReadCounts } from './problem-report.ts';
import { type FastParser, objectReader } from './read-stands.ts';
import { dayOf, type Nummeraanduiding, type Span } from './voorkomen.ts';

const open = literal(
  '<sl:stand><sl-bag-extract:bagObject><Objecten:Nummeraanduiding>',
  '<Objecten:identificatie domein="NL.IMBAG.Nummeraanduiding">',
);
const huisnummer = literal('</Objecten:identificatie><Objecten:huisnummer>');
const huisnummerEnd = literal('</Objecten:huisnummer>');
const huisletter = literal('<Objecten:huisletter>');
const huisletterEnd = literal('</Objecten:huisletter>');
const toevoeging = literal('<Objecten:huisnummertoevoeging>');
const toevoegingEnd = literal('</Objecten:huisnummertoevoeging>');
const postcode = literal('<Objecten:postcode>');
const postcodeEnd = literal('</Objecten:postcode>');
const type = literal('<Objecten:typeAdresseerbaarObject>');
const typeEnd = literal('</Objecten:typeAdresseerbaarObject>');
/** The elements that nearly every current nummeraanduiding has between its postcode and the date of its document. */
const usual = literal(
  '<Objecten:typeAdresseerbaarObject>Verblijfsobject</Objecten:typeAdresseerbaarObject>',
  '<Objecten:status>Naamgeving uitgegeven</Objecten:status><Objecten:geconstateerd>N',
);
const documentnummerEnd = literal('</Objecten:documentnummer>');
const ligtIn = literal('<Objecten:ligtIn><Objecten-ref:WoonplaatsRef domein="NL.IMBAG.Woonplaats">');
const ligtAan = literal('<Objecten:ligtAan><Objecten-ref:OpenbareRuimteRef domein="NL.IMBAG.Openbareruimte">');
const close = literal(
  '</Objecten-ref:OpenbareRuimteRef></Objecten:ligtAan>',
  '</Objecten:Nummeraanduiding></sl-bag-extract:bagObject></sl:stand>',
);

/** The position of an optional value that is not there. */
const absent = -1;

/**
 * Reads nummeraanduidingen whose bytes are exactly as Kadaster writes them: elements in the order of the schema,
 * without white space between them, with plain text and valid values. Makes strings only of current ones.
 */
export class FastNummeraanduidingParser implements FastParser {
  readonly #counts: ReadCounts;
  readonly #visit: Visit<Nummeraanduiding>;
  readonly #later: Visit<Nummeraanduiding> | undefined;
  readonly #day: number;
  readonly #span: Span = { volgnummer: 0, begin: 0, eind: 0 };
  readonly #streets = new RepeatingText(16);

  constructor(peildatum: string, counts: ReadCounts, visit: Visit<Nummeraanduiding>, later?: Visit<Nummeraanduiding>) {
    this.#day = dayOf(peildatum);
    this.#counts = counts;
    this.#visit = visit;
    this.#later = later;
  }

  parse(cursor: ByteCursor): boolean {
    if (!cursor.skip(open)) return false;
    const identificatie = cursor.position;
    if (!cursor.skipDigits(16) || !cursor.skip(huisnummer)) return false;
    const number = cursor.readNumber();
    if (number === 0 || !cursor.skip(huisnummerEnd)) return false;
    const letter = cursor.skip(huisletter) ? cursor.position : absent;
    if (letter !== absent && !(cursor.skipLetter() && cursor.skip(huisletterEnd))) return false;
    const addition = cursor.skip(toevoeging) ? cursor.position : absent;
    if (addition !== absent && !cursor.skipLettersAndDigits(4)) return false;
    const additionEnd = cursor.position;
    if (addition !== absent && !cursor.skip(toevoegingEnd)) return false;
    const code = cursor.skip(postcode) ? cursor.position : absent;
    if (code !== absent && !(cursor.skipPostcode() && cursor.skip(postcodeEnd))) return false;
    const isUsual = cursor.skip(usual);
    if (!isUsual && (!cursor.skip(type) || !cursor.skipText() || !cursor.skip(typeEnd))) return false;
    const isIssued = isUsual || cursor.skip(issued);
    if (!isIssued && !cursor.skip(withdrawn)) return false;
    if (!isUsual && (!cursor.skip(geconstateerd) || !cursor.skipText())) return false;
    if (!cursor.skip(documentdatum) || !cursor.skipText()) return false;
    if (!cursor.skip(documentnummer) || !cursor.skipEscapedText() || !cursor.skip(documentnummerEnd)) return false;
    const place = cursor.skip(ligtIn) ? cursor.position : absent;
    if (place !== absent && !(cursor.skipDigits(4) && cursor.skip(ligtInEnd))) return false;
    const validity = parseVoorkomen(cursor, this.#day, this.#span);
    if (validity === 'unknown_shape' || !cursor.skip(ligtAan)) return false;
    const street = cursor.position;
    if (!cursor.skipDigits(16) || !cursor.skip(close)) return false;

    const counted = countOccurrence(this.#counts, isIssued, validity);
    const visit = counted === 'current' ? this.#visit : counted === 'later' ? this.#later : undefined;
    visit?.(
      {
        identificatie: () => cursor.text(identificatie, 16),
        writeIdentificatie: (target) => cursor.copy(identificatie, 16, target),
        huisnummer: number,
        huisletter: letter === absent ? '' : cursor.letter(letter),
        huisnummertoevoeging: addition === absent ? '' : cursor.text(addition, additionEnd - addition),
        postcode: code === absent ? null : cursor.postcode(code),
        openbareRuimte: this.#streets.text(cursor, street),
        woonplaats: place === absent ? null : cursor.text(place, 4),
      },
      this.#span,
    );
    return true;
  }
}

/** Reads the nummeraanduidings of an XML file. */
export const readNummeraanduidingen = objectReader('NUM', toNummeraanduiding, FastNummeraanduidingParser);
