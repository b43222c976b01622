import { type ByteCursor, literal, RepeatingText } from './byte-cursor.ts';
import type { Nummeraanduiding, OpenbareRuimte } from './voorkomen.ts';
import { CountingParser } from './voorkomen-parser.ts';

/** The elements that both a nummeraanduiding and an openbare ruimte have. */
const issued = literal('<Objecten:status>Naamgeving uitgegeven</Objecten:status>');
const withdrawn = literal('<Objecten:status>Naamgeving ingetrokken</Objecten:status>');
const geconstateerd = literal('<Objecten:geconstateerd>');
const documentdatum = literal('</Objecten:geconstateerd><Objecten:documentdatum>');
const documentnummer = literal('</Objecten:documentdatum><Objecten:documentnummer>');
const ligtInEnd = literal('</Objecten-ref:WoonplaatsRef></Objecten:ligtIn>');

const numOpen = literal(
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
const numType = literal('<Objecten:typeAdresseerbaarObject>');
const numTypeEnd = literal('</Objecten:typeAdresseerbaarObject>');
/** The elements that nearly every current nummeraanduiding has between its postcode and the date of its document. */
const usual = literal(
  '<Objecten:typeAdresseerbaarObject>Verblijfsobject</Objecten:typeAdresseerbaarObject>',
  '<Objecten:status>Naamgeving uitgegeven</Objecten:status><Objecten:geconstateerd>N',
);
const documentnummerEnd = literal('</Objecten:documentnummer>');
const numLigtIn = literal('<Objecten:ligtIn><Objecten-ref:WoonplaatsRef domein="NL.IMBAG.Woonplaats">');
const ligtAan = literal('<Objecten:ligtAan><Objecten-ref:OpenbareRuimteRef domein="NL.IMBAG.Openbareruimte">');
const numClose = literal(
  '</Objecten-ref:OpenbareRuimteRef></Objecten:ligtAan>',
  '</Objecten:Nummeraanduiding></sl-bag-extract:bagObject></sl:stand>',
);

/** The position of an optional value that is not there. */
const absent = -1;

/**
 * Reads nummeraanduidingen whose bytes are exactly as Kadaster writes them: elements in the order of the schema,
 * without white space between them, with plain text and valid values. Makes strings only of current ones.
 */
export class FastNummeraanduidingParser extends CountingParser<Nummeraanduiding> {
  readonly #streets = new RepeatingText(16);

  parse(cursor: ByteCursor): boolean {
    if (!cursor.skip(numOpen)) return false;
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
    if (!isUsual && (!cursor.skip(numType) || !cursor.skipText() || !cursor.skip(numTypeEnd))) return false;
    const isIssued = isUsual || cursor.skip(issued);
    if (!isIssued && !cursor.skip(withdrawn)) return false;
    if (!isUsual && (!cursor.skip(geconstateerd) || !cursor.skipText())) return false;
    if (!cursor.skip(documentdatum) || !cursor.skipText()) return false;
    if (!cursor.skip(documentnummer) || !cursor.skipEscapedText() || !cursor.skip(documentnummerEnd)) return false;
    const place = cursor.skip(numLigtIn) ? cursor.position : absent;
    if (place !== absent && !(cursor.skipDigits(4) && cursor.skip(ligtInEnd))) return false;
    const validity = this.parseVoorkomen(cursor);
    if (validity === 'unknown_shape' || !cursor.skip(ligtAan)) return false;
    const street = cursor.position;
    if (!cursor.skipDigits(16) || !cursor.skip(numClose)) return false;

    this.visitOf(
      isIssued,
      validity,
      cursor,
      identificatie,
    )?.(
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
      this.span,
    );
    return true;
  }
}

const oprOpen = literal(
  '<sl:stand><sl-bag-extract:bagObject><Objecten:OpenbareRuimte>',
  '<Objecten:identificatie domein="NL.IMBAG.Openbareruimte">',
);
const oprNaam = literal('</Objecten:identificatie><Objecten:naam>');
const oprType = literal('</Objecten:naam><Objecten:type>');
const oprTypeEnd = literal('</Objecten:type>');
const oprLigtIn = literal(
  '</Objecten:documentnummer>',
  '<Objecten:ligtIn><Objecten-ref:WoonplaatsRef domein="NL.IMBAG.Woonplaats">',
);
const oprClose = literal('</Objecten:OpenbareRuimte></sl-bag-extract:bagObject></sl:stand>');

const longestName = 80;

/**
 * Reads streets whose bytes are exactly as Kadaster writes them. The strict parser reads the others: those with a
 * `verkorteNaam`, and those whose name holds an entity or a letter outside ASCII.
 */
export class FastOpenbareRuimteParser extends CountingParser<OpenbareRuimte> {
  parse(cursor: ByteCursor): boolean {
    if (!cursor.skip(oprOpen)) return false;
    const identificatie = cursor.position;
    if (!cursor.skipDigits(16) || !cursor.skip(oprNaam)) return false;
    const name = cursor.position;
    if (!cursor.skipText()) return false;
    const length = cursor.position - name;
    if (length === 0 || length > longestName || cursor.bytes[name] === 0x20) return false;
    if (!cursor.skip(oprType) || !cursor.skipText() || !cursor.skip(oprTypeEnd)) return false;
    const isIssued = cursor.skip(issued);
    if (!isIssued && !cursor.skip(withdrawn)) return false;
    if (!cursor.skip(geconstateerd) || !cursor.skipText()) return false;
    if (!cursor.skip(documentdatum) || !cursor.skipText()) return false;
    if (!cursor.skip(documentnummer) || !cursor.skipEscapedText() || !cursor.skip(oprLigtIn)) return false;
    const place = cursor.position;
    if (!cursor.skipDigits(4) || !cursor.skip(ligtInEnd)) return false;
    const validity = this.parseVoorkomen(cursor);
    if (validity === 'unknown_shape' || !cursor.skip(oprClose)) return false;

    this.visitOf(
      isIssued,
      validity,
      cursor,
      identificatie,
    )?.(
      {
        identificatie: cursor.text(identificatie, 16),
        naam: cursor.text(name, length),
        woonplaats: cursor.text(place, 4),
      },
      this.span,
    );
    return true;
  }
}
