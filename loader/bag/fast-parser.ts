import { type ByteCursor, literal } from './byte-cursor.ts';
import { absent, NumBytes } from './num-bytes.ts';
import type { OpenbareRuimte } from './voorkomen.ts';
import { CountingParser, plainVoorkomen, type Validity } from './voorkomen-parser.ts';

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
  16,
  '</Objecten:identificatie><Objecten:huisnummer>',
);
const huisnummerEnd = literal('</Objecten:huisnummer>');
const huisletter = literal('<Objecten:huisletter>');
const huisletterEnd = literal('</Objecten:huisletter>');
const toevoeging = literal('<Objecten:huisnummertoevoeging>');
const toevoegingEnd = literal('</Objecten:huisnummertoevoeging>');
const postcode = literal('<Objecten:postcode>');
const postcodeEnd = literal('</Objecten:postcode>');
const numType = literal('<Objecten:typeAdresseerbaarObject>');
const numTypeEnd = literal('</Objecten:typeAdresseerbaarObject>');
const documentnummerEnd = literal('</Objecten:documentnummer>');
const numLigtIn = literal('<Objecten:ligtIn><Objecten-ref:WoonplaatsRef domein="NL.IMBAG.Woonplaats">');
const ligtAan = literal('<Objecten:ligtAan><Objecten-ref:OpenbareRuimteRef domein="NL.IMBAG.Openbareruimte">');
const numClose = literal(
  '</Objecten-ref:OpenbareRuimteRef></Objecten:ligtAan>',
  '</Objecten:Nummeraanduiding></sl-bag-extract:bagObject></sl:stand>',
);
/** What nearly every nummeraanduiding has from its postcode to the number of its document. */
const usual = literal(
  '<Objecten:postcode>',
  6,
  '</Objecten:postcode>',
  '<Objecten:typeAdresseerbaarObject>Verblijfsobject</Objecten:typeAdresseerbaarObject>',
  '<Objecten:status>Naamgeving uitgegeven</Objecten:status><Objecten:geconstateerd>N</Objecten:geconstateerd>',
  '<Objecten:documentdatum>',
  10,
  '</Objecten:documentdatum><Objecten:documentnummer>',
);
/** And from there to its end, where the occurrence has no end. */
const usualEnd = literal(
  '</Objecten:documentnummer>',
  ...plainVoorkomen,
  '<Objecten:ligtAan><Objecten-ref:OpenbareRuimteRef domein="NL.IMBAG.Openbareruimte">',
  16,
  '</Objecten-ref:OpenbareRuimteRef></Objecten:ligtAan>',
  '</Objecten:Nummeraanduiding></sl-bag-extract:bagObject></sl:stand>',
);
const [idGap] = numOpen.gaps as [number];
const [postcodeGap, documentdatumGap] = usual.gaps as [number, number];
const streetGap = usualEnd.gaps.at(-1) as number;

/**
 * Reads nummeraanduidingen whose bytes are exactly as Kadaster writes them: elements in the order of the schema,
 * without white space between them, with plain text and valid values. Makes no strings of them.
 */
export class FastNummeraanduidingParser extends CountingParser<NumBytes> {
  readonly #num = new NumBytes();

  parse(cursor: ByteCursor): boolean {
    const num = this.#num;
    num.identificatie = cursor.position + idGap;
    if (!cursor.skip(numOpen) || !cursor.hasDigits(num.identificatie, 16)) return false;
    num.huisnummer = cursor.readNumber();
    if (num.huisnummer === 0 || !cursor.skip(huisnummerEnd)) return false;
    num.huisletter = cursor.skip(huisletter) ? cursor.position : absent;
    if (num.huisletter !== absent && !(cursor.skipLetter() && cursor.skip(huisletterEnd))) return false;
    num.toevoeging = cursor.skip(toevoeging) ? cursor.position : absent;
    if (num.toevoeging !== absent && !cursor.skipLettersAndDigits(4)) return false;
    num.toevoegingEnd = cursor.position;
    if (num.toevoeging !== absent && !cursor.skip(toevoegingEnd)) return false;
    const isUsual = this.#parseUsual(cursor, num);
    const isIssued = isUsual || this.#parseStatus(cursor, num);
    if (isIssued === null || !cursor.skipEscapedText()) return false;
    const validity = this.#parseUsualEnd(cursor, num) ?? this.#parseEnd(cursor, num);
    if (validity === 'unknown_shape') return false;
    num.bytes = cursor.bytes;
    this.visitOf(isIssued, validity, cursor, num.identificatie)?.(num, this.span);
    return true;
  }

  /** From the postcode to the number of the document, or returns false and leaves it unread. */
  #parseUsual(cursor: ByteCursor, num: NumBytes): boolean {
    const start = cursor.position;
    num.postcode = start + postcodeGap;
    if (!cursor.skip(usual)) return false;
    if (cursor.hasPostcode(num.postcode) && cursor.hasDateText(start + documentdatumGap)) return true;
    cursor.position = start;
    return false;
  }

  /** The same in any known form: returns whether it is issued; `null` where the form is not known. */
  #parseStatus(cursor: ByteCursor, num: NumBytes): boolean | null {
    num.postcode = cursor.skip(postcode) ? cursor.position : absent;
    if (num.postcode !== absent && !(cursor.skipPostcode() && cursor.skip(postcodeEnd))) return null;
    if (!cursor.skip(numType) || !cursor.skipText() || !cursor.skip(numTypeEnd)) return null;
    const isIssued = cursor.skip(issued);
    if (!isIssued && !cursor.skip(withdrawn)) return null;
    if (!cursor.skip(geconstateerd) || !cursor.skipText()) return null;
    return cursor.skip(documentdatum) && cursor.skipText() && cursor.skip(documentnummer) ? isIssued : null;
  }

  /** From the number of the document to the end of an occurrence without one; or leaves it unread. */
  #parseUsualEnd(cursor: ByteCursor, num: NumBytes): Validity | undefined {
    const start = cursor.position;
    num.woonplaats = absent;
    num.openbareRuimte = start + streetGap;
    if (!cursor.skip(usualEnd)) return undefined;
    const validity = this.usualValidity(cursor, start, usualEnd.gaps);
    if (validity !== undefined && cursor.hasDigits(num.openbareRuimte, 16)) return validity;
    cursor.position = start;
    return undefined;
  }

  /** The same in any known form. */
  #parseEnd(cursor: ByteCursor, num: NumBytes): Validity {
    if (!cursor.skip(documentnummerEnd)) return 'unknown_shape';
    num.woonplaats = cursor.skip(numLigtIn) ? cursor.position : absent;
    if (num.woonplaats !== absent && !(cursor.skipDigits(4) && cursor.skip(ligtInEnd))) return 'unknown_shape';
    const validity = this.parseVoorkomen(cursor);
    if (validity === 'unknown_shape' || !cursor.skip(ligtAan)) return 'unknown_shape';
    num.openbareRuimte = cursor.position;
    return cursor.skipDigits(16) && cursor.skip(numClose) ? validity : 'unknown_shape';
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
