import { type ByteCursor, digits, literal, postcode } from './byte-cursor.ts';
import { absent, NumBytes } from './num-bytes.ts';
import type { OpenbareRuimte } from './voorkomen.ts';
import { CountingParser, plainVoorkomen, type Validity } from './voorkomen-parser.ts';

/** The elements that both a nummeraanduiding and an openbare ruimte have. */
const issued = literal('<Objecten:status>Naamgeving uitgegeven</Objecten:status>');
const withdrawn = literal('<Objecten:status>Naamgeving ingetrokken</Objecten:status>');
const geconstateerd = literal('<Objecten:geconstateerd>');
const documentdatum = literal('</Objecten:geconstateerd><Objecten:documentdatum>');
const documentnummer = literal('</Objecten:documentdatum><Objecten:documentnummer>');
const ligtIn = [
  '<Objecten:ligtIn><Objecten-ref:WoonplaatsRef domein="NL.IMBAG.Woonplaats">',
  digits(4),
  '</Objecten-ref:WoonplaatsRef></Objecten:ligtIn>',
];

const numOpen = literal(
  '<sl:stand><sl-bag-extract:bagObject><Objecten:Nummeraanduiding>',
  '<Objecten:identificatie domein="NL.IMBAG.Nummeraanduiding">',
  digits(16),
  '</Objecten:identificatie><Objecten:huisnummer>',
);
const huisnummerEnd = literal('</Objecten:huisnummer>');
const huisletter = literal('<Objecten:huisletter>');
const huisletterEnd = literal('</Objecten:huisletter>');
const toevoeging = literal('<Objecten:huisnummertoevoeging>');
const toevoegingEnd = literal('</Objecten:huisnummertoevoeging>');
const postcodeParts = ['<Objecten:postcode>', postcode, '</Objecten:postcode>'];
const numPostcode = literal(...postcodeParts);
const numType = literal('<Objecten:typeAdresseerbaarObject>');
const numTypeEnd = literal('</Objecten:typeAdresseerbaarObject>');
const documentnummerEnd = literal('</Objecten:documentnummer>');
const numLigtIn = literal(...ligtIn);
const closeParts = [
  '<Objecten:ligtAan><Objecten-ref:OpenbareRuimteRef domein="NL.IMBAG.Openbareruimte">',
  digits(16),
  '</Objecten-ref:OpenbareRuimteRef></Objecten:ligtAan>',
  '</Objecten:Nummeraanduiding></sl-bag-extract:bagObject></sl:stand>',
];
const numClose = literal(...closeParts);
/** What nearly every nummeraanduiding has from its postcode to the number of its document. */
const usual = literal(
  ...postcodeParts,
  '<Objecten:typeAdresseerbaarObject>Verblijfsobject</Objecten:typeAdresseerbaarObject>',
  '<Objecten:status>Naamgeving uitgegeven</Objecten:status><Objecten:geconstateerd>N</Objecten:geconstateerd>',
  '<Objecten:documentdatum>',
  ['----------', '::::::::::'],
  '</Objecten:documentdatum><Objecten:documentnummer>',
);
/** And from there to its end, where the occurrence has no end. */
const usualEnd = literal('</Objecten:documentnummer>', ...plainVoorkomen, ...closeParts);
const streetGap = usualEnd.gaps.at(-1) as number;

/**
 * Reads nummeraanduidingen whose bytes are exactly as Kadaster writes them: elements in the order of the schema,
 * without white space between them, with plain text and valid values. Makes no strings of them.
 */
export class FastNummeraanduidingParser extends CountingParser<NumBytes> {
  readonly #num = new NumBytes();

  parse(cursor: ByteCursor): boolean {
    const num = this.#num;
    num.identificatie = cursor.skipTo(numOpen);
    if (num.identificatie === absent) return false;
    num.huisnummer = cursor.readNumber();
    if (num.huisnummer === 0 || !cursor.skip(huisnummerEnd)) return false;
    num.huisletter = cursor.skip(huisletter) ? cursor.position : absent;
    if (num.huisletter !== absent && !(cursor.skipLetter() && cursor.skip(huisletterEnd))) return false;
    num.toevoeging = cursor.skip(toevoeging) ? cursor.position : absent;
    if (num.toevoeging !== absent && !cursor.skipLettersAndDigits(4)) return false;
    num.toevoegingEnd = cursor.position;
    if (num.toevoeging !== absent && !cursor.skip(toevoegingEnd)) return false;
    num.postcode = cursor.skipTo(usual);
    const isIssued = num.postcode !== absent || this.#parseStatus(cursor, num);
    if (isIssued === null || !cursor.skipEscapedText()) return false;
    const validity = this.#parseUsualEnd(cursor, num) ?? this.#parseEnd(cursor, num);
    if (validity === 'unknown_shape') return false;
    num.bytes = cursor.bytes;
    num.view = cursor.view;
    this.visitOf(isIssued, validity, cursor, num.identificatie)?.(num, this.span);
    return true;
  }

  /**
   * From the postcode to the number of the document, in any known form: returns whether it is issued; `null` where the
   * form is not known.
   */
  #parseStatus(cursor: ByteCursor, num: NumBytes): boolean | null {
    num.postcode = cursor.skipTo(numPostcode);
    if (!cursor.skip(numType) || !cursor.skipText() || !cursor.skip(numTypeEnd)) return null;
    const isIssued = cursor.skip(issued);
    if (!isIssued && !cursor.skip(withdrawn)) return null;
    if (!cursor.skip(geconstateerd) || !cursor.skipText()) return null;
    return cursor.skip(documentdatum) && cursor.skipText() && cursor.skip(documentnummer) ? isIssued : null;
  }

  /** From the number of the document to the end of an occurrence without one; or leaves it unread. */
  #parseUsualEnd(cursor: ByteCursor, num: NumBytes): Validity | undefined {
    const start = cursor.position;
    if (!cursor.skip(usualEnd)) return undefined;
    num.woonplaats = absent;
    num.openbareRuimte = start + streetGap;
    return this.usualValidity(cursor, start, usualEnd.gaps);
  }

  /** The same in any known form. */
  #parseEnd(cursor: ByteCursor, num: NumBytes): Validity {
    if (!cursor.skip(documentnummerEnd)) return 'unknown_shape';
    num.woonplaats = cursor.skipTo(numLigtIn);
    const validity = this.parseVoorkomen(cursor);
    num.openbareRuimte = cursor.skipTo(numClose);
    return num.openbareRuimte === absent ? 'unknown_shape' : validity;
  }
}

const oprOpen = literal(
  '<sl:stand><sl-bag-extract:bagObject><Objecten:OpenbareRuimte>',
  '<Objecten:identificatie domein="NL.IMBAG.Openbareruimte">',
  digits(16),
  '</Objecten:identificatie><Objecten:naam>',
);
const oprType = literal('</Objecten:naam><Objecten:type>');
const oprTypeEnd = literal('</Objecten:type>');
const oprLigtIn = literal('</Objecten:documentnummer>', ...ligtIn);
const oprClose = literal('</Objecten:OpenbareRuimte></sl-bag-extract:bagObject></sl:stand>');

const longestName = 80;

/**
 * Reads streets whose bytes are exactly as Kadaster writes them. The strict parser reads the others: those with a
 * `verkorteNaam`, and those whose name holds an entity or a letter outside Latin-1.
 */
export class FastOpenbareRuimteParser extends CountingParser<OpenbareRuimte> {
  parse(cursor: ByteCursor): boolean {
    const identificatie = cursor.skipTo(oprOpen);
    if (identificatie === absent) return false;
    const name = cursor.position;
    if (!cursor.skipText()) return false;
    const length = cursor.position - name;
    if (length === 0 || length > longestName || cursor.bytes[name] === 0x20) return false;
    if (!cursor.skip(oprType) || !cursor.skipText() || !cursor.skip(oprTypeEnd)) return false;
    const isIssued = cursor.skip(issued);
    if (!isIssued && !cursor.skip(withdrawn)) return false;
    if (!cursor.skip(geconstateerd) || !cursor.skipText()) return false;
    if (!cursor.skip(documentdatum) || !cursor.skipText()) return false;
    if (!cursor.skip(documentnummer) || !cursor.skipEscapedText()) return false;
    const place = cursor.skipTo(oprLigtIn);
    if (place === absent) return false;
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
        naam: cursor.bytes.toString('utf8', name, name + length),
        woonplaats: cursor.text(place, 4),
      },
      this.span,
    );
    return true;
  }
}
