import { type ByteCursor, literal, RepeatingText } from './byte-cursor.ts';
import type { StandVisit } from './interpret-stand.ts';
import type { ReadCounts } from './problem-report.ts';
import {
  dayOf,
  type NotCurrentReason,
  type Nummeraanduiding,
  noEind,
  type OpenbareRuimte,
  type Span,
} from './voorkomen.ts';

/** Reads occurrences whose bytes are exactly as Kadaster writes them. */
export type FastParser = {
  /** Reads the `sl:stand` at the cursor and moves past it, or returns false and leaves it unread. */
  parse(cursor: ByteCursor): boolean;
};

/** Counts occurrences, and visits those that count on the day (`visit`) or from a later day on (`later`). */
abstract class CountingParser<T> implements FastParser {
  protected readonly day: number;
  protected readonly span: Span = { volgnummer: 0, begin: 0, eind: 0 };
  readonly #counts: ReadCounts;
  readonly #visit: StandVisit<T>;
  readonly #later: StandVisit<T> | undefined;

  constructor(peildatum: string, counts: ReadCounts, visit: StandVisit<T>, later?: StandVisit<T>) {
    this.day = dayOf(peildatum);
    this.#counts = counts;
    this.#visit = visit;
    this.#later = later;
  }

  abstract parse(cursor: ByteCursor): boolean;

  /** Counts an occurrence, and returns the visit that it gets, if any. */
  protected visitOf(isIssued: boolean, validity: Exclude<Validity, 'unknown_shape'>): StandVisit<T> | undefined {
    const counts = this.#counts;
    counts.voorkomens++;
    if (!isIssued) {
      counts.notCurrent.withdrawn++;
      return undefined;
    }
    if (validity === 'current') {
      counts.current++;
      return this.#visit;
    }
    counts.notCurrent[validity === 'later' ? 'future' : validity]++;
    return validity === 'later' ? this.#later : undefined;
  }
}

/** The elements that both a nummeraanduiding and an openbare ruimte have. */
const issued = literal('<Objecten:status>Naamgeving uitgegeven</Objecten:status>');
const withdrawn = literal('<Objecten:status>Naamgeving ingetrokken</Objecten:status>');
const geconstateerd = literal('<Objecten:geconstateerd>');
const documentdatum = literal('</Objecten:geconstateerd><Objecten:documentdatum>');
const documentnummer = literal('</Objecten:documentdatum><Objecten:documentnummer>');
const ligtInEnd = literal('</Objecten-ref:WoonplaatsRef></Objecten:ligtIn>');

const voorkomenOpen = literal('<Objecten:voorkomen><Historie:Voorkomen><Historie:voorkomenidentificatie>');
const begin = literal('</Historie:voorkomenidentificatie><Historie:beginGeldigheid>');
const beginEnd = literal('</Historie:beginGeldigheid>');
const eind = literal('<Historie:eindGeldigheid>');
const eindEnd = literal('</Historie:eindGeldigheid>');
const registratie = literal('<Historie:tijdstipRegistratie>');
const registratieEnd = literal('</Historie:tijdstipRegistratie>');
const eindRegistratie = literal('<Historie:eindRegistratie>');
const eindRegistratieEnd = literal('</Historie:eindRegistratie>');
const inactief = literal('<Historie:tijdstipInactief>');
const inactiefEnd = literal('</Historie:tijdstipInactief>');
const registratieLV = literal('<Historie:BeschikbaarLV><Historie:tijdstipRegistratieLV>');
const registratieLVEnd = literal('</Historie:tijdstipRegistratieLV>');
const eindRegistratieLV = literal('<Historie:tijdstipEindRegistratieLV>');
const eindRegistratieLVEnd = literal('</Historie:tijdstipEindRegistratieLV>');
const inactiefLV = literal('<Historie:tijdstipInactiefLV>');
const inactiefLVEnd = literal('</Historie:tijdstipInactiefLV>');
const nietBagLV = literal('<Historie:tijdstipNietBagLV>');
const nietBagLVEnd = literal('</Historie:tijdstipNietBagLV>');
const voorkomenClose = literal('</Historie:BeschikbaarLV></Historie:Voorkomen></Objecten:voorkomen>');

const plain = {
  registratie: literal('</Historie:beginGeldigheid><Historie:tijdstipRegistratie>'),
  registratieLV: literal('</Historie:tijdstipRegistratie>', '<Historie:BeschikbaarLV><Historie:tijdstipRegistratieLV>'),
  close: literal(
    '</Historie:tijdstipRegistratieLV>',
    '</Historie:BeschikbaarLV></Historie:Voorkomen></Objecten:voorkomen>',
  ),
};

/**
 * Whether an occurrence counts, or that its bytes are not in the known form. `later` is a `future` one that will count
 * unless the register changes.
 */
type Validity = 'current' | 'later' | NotCurrentReason | 'unknown_shape';

/**
 * Moves past `Objecten:voorkomen`, and returns whether an occurrence with the live status counts on `day` (20211015),
 * by the rules and in the order of `whyNotCurrent`. Sets `span` for one that counts or will.
 */
function parseVoorkomen(cursor: ByteCursor, day: number, span: Span): Validity {
  if (!cursor.skip(voorkomenOpen)) return 'unknown_shape';
  const volgnummer = cursor.readNumber();
  if (volgnummer === 0 || !cursor.skip(begin)) return 'unknown_shape';
  const beginGeldigheid = cursor.readDate();
  if (beginGeldigheid < 0) return 'unknown_shape';
  span.volgnummer = volgnummer;
  span.begin = beginGeldigheid;
  span.eind = noEind;
  const start = cursor.position;
  if (skipPlainRest(cursor)) return beginGeldigheid > day ? 'later' : 'current';
  cursor.position = start;
  if (!cursor.skip(beginEnd)) return 'unknown_shape';
  const hasEind = cursor.skip(eind);
  const eindGeldigheid = hasEind ? cursor.readDate() : noEind;
  if (hasEind && (eindGeldigheid < 0 || !cursor.skip(eindEnd))) return 'unknown_shape';
  if (!cursor.skip(registratie) || !cursor.skipText() || !cursor.skip(registratieEnd)) return 'unknown_shape';
  if (cursor.skip(eindRegistratie) && !(cursor.skipText() && cursor.skip(eindRegistratieEnd))) return 'unknown_shape';
  const isInactief = cursor.skip(inactief);
  if (isInactief && !(cursor.skipText() && cursor.skip(inactiefEnd))) return 'unknown_shape';
  if (!cursor.skip(registratieLV) || !cursor.skipText() || !cursor.skip(registratieLVEnd)) return 'unknown_shape';
  if (cursor.skip(eindRegistratieLV) && !(cursor.skipText() && cursor.skip(eindRegistratieLVEnd))) {
    return 'unknown_shape';
  }
  const isInactiefLV = cursor.skip(inactiefLV);
  if (isInactiefLV && !(cursor.skipText() && cursor.skip(inactiefLVEnd))) return 'unknown_shape';
  const isNietBagLV = cursor.skip(nietBagLV);
  if (isNietBagLV && !(cursor.skipText() && cursor.skip(nietBagLVEnd))) return 'unknown_shape';
  if (!cursor.skip(voorkomenClose)) return 'unknown_shape';

  span.eind = eindGeldigheid;
  const isOut = isInactief || isInactiefLV || isNietBagLV;
  if (beginGeldigheid > day) return isOut || eindGeldigheid <= beginGeldigheid ? 'future' : 'later';
  if (eindGeldigheid <= day) return 'ended';
  if (isInactief || isInactiefLV) return 'inactive';
  return isNietBagLV ? 'not_bag' : 'current';
}

/** The rest of the most common occurrence, which has begun and has no end: the same tags in four comparisons instead of ten. */
function skipPlainRest(cursor: ByteCursor): boolean {
  return (
    cursor.skip(plain.registratie) &&
    cursor.skipText() &&
    cursor.skip(plain.registratieLV) &&
    cursor.skipText() &&
    cursor.skip(plain.close)
  );
}

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
    const validity = parseVoorkomen(cursor, this.day, this.span);
    if (validity === 'unknown_shape' || !cursor.skip(ligtAan)) return false;
    const street = cursor.position;
    if (!cursor.skipDigits(16) || !cursor.skip(numClose)) return false;

    this.visitOf(isIssued, validity)?.(
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
    const validity = parseVoorkomen(cursor, this.day, this.span);
    if (validity === 'unknown_shape' || !cursor.skip(oprClose)) return false;

    this.visitOf(isIssued, validity)?.(
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
