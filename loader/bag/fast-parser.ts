/** Reads occurrences whose bytes are exactly as Kadaster writes them, without making strings. */

import { type ByteCursor, date, digits, literal, postcode, type ValueRange } from './byte-cursor.ts';
import { countVoorkomen, type ReadOptions, type StandVisit } from './interpret-stand.ts';
import { absent, NumBytes } from './num-bytes.ts';
import type { ReadCounts } from './problem-report.ts';
import { dayOf, type Geldigheid, noEind, type OpenbareRuimte, type Span } from './voorkomen.ts';

const zero = 0x30;
/** A time such as `2021-10-15T13:06:12.318`; after its date, any of `-./:` and digits may stand. */
const time: ValueRange = ['0000-00-00T------------', '9999-99-99T::::::::::::'];
const element = (name: string, value: ValueRange) => [`<Historie:${name}>`, value, `</Historie:${name}>`];
const open = '<Objecten:voorkomen><Historie:Voorkomen><Historie:voorkomenidentificatie>';
const beginParts = ['</Historie:voorkomenidentificatie>', ...element('beginGeldigheid', date)];
const registratieParts = element('tijdstipRegistratie', time);
const registratieLVParts = ['<Historie:BeschikbaarLV>', ...element('tijdstipRegistratieLV', time)];
const close = '</Historie:BeschikbaarLV></Historie:Voorkomen></Objecten:voorkomen>';
const voorkomenOpen = literal(open);
const begin = literal(...beginParts);
const eind = literal(...element('eindGeldigheid', date));
const registratie = literal(...registratieParts);
const eindRegistratie = literal(...element('eindRegistratie', time));
const inactief = literal(...element('tijdstipInactief', time));
const registratieLV = literal(...registratieLVParts);
const eindRegistratieLV = literal(...element('tijdstipEindRegistratieLV', time));
const inactiefLV = literal(...element('tijdstipInactiefLV', time));
const nietBagLV = literal(...element('tijdstipNietBagLV', time));
const voorkomenClose = literal(close);

/** The parts of the most common one, as of a literal: its number has one digit, and it has no end. */
export const plainVoorkomen = [
  open,
  ['1', '9'] as const,
  ...beginParts,
  ...registratieParts,
  ...registratieLVParts,
  close,
];
/** The same of one with an end. */
export const endedVoorkomen = [
  ...[open, ['1', '9'] as const, ...beginParts, ...element('eindGeldigheid', date)],
  ...[...registratieParts, ...element('eindRegistratie', time)],
  ...[...registratieLVParts, ...element('tijdstipEindRegistratieLV', time), close],
];

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

/** The options of each parser. */
export type FastParserOptions<T> = ConstructorParameters<typeof FastParser<T>>;

/** Counts occurrences, and visits each occurrence that counts on the day (`visit`) or from a later day on (`later`). */
export abstract class FastParser<T> {
  readonly #day: number;
  readonly #counts: ReadCounts;
  readonly #visit: StandVisit<T>;
  readonly #later: StandVisit<T> | undefined;
  protected readonly span: Span = { volgnummer: 0, begin: 0, eind: 0 };
  protected readonly geldigheid: Geldigheid = { span: this.span, isLive: true, isInactief: false, isNietBag: false };

  constructor(peildatum: string, counts: ReadCounts, visit: StandVisit<T>, { later }: ReadOptions<T> = {}) {
    this.#day = dayOf(peildatum);
    this.#counts = counts;
    this.#visit = visit;
    this.#later = later;
  }

  /** Reads the `sl:stand` at the cursor and moves past it, or returns false and leaves it unread. */
  abstract parse(cursor: ByteCursor): boolean;

  /** Counts the occurrence, and returns its visit, if any. */
  protected visitOf(): StandVisit<T> | undefined {
    const counts = this.#counts;
    const when = countVoorkomen(this.geldigheid, this.#day, counts);
    if (when !== 'current') return when === null ? undefined : this.#later;
    counts.current++;
    return this.#visit;
  }

  /** Whether the occurrence is never visited, as its end is known. */
  protected get hasEnded(): boolean {
    return this.span.eind <= this.#day;
  }

  /** Moves past the status, and returns whether it is one of the two that there are. */
  protected parseStatus(cursor: ByteCursor): boolean {
    this.geldigheid.isLive = cursor.skip(issued);
    return this.geldigheid.isLive || cursor.skip(withdrawn);
  }

  /** Moves past `Objecten:voorkomen`, and returns whether it has the known form. */
  protected parseVoorkomen(cursor: ByteCursor): boolean {
    const { span, geldigheid } = this;
    if (!cursor.skip(voorkomenOpen)) return false;
    span.volgnummer = cursor.readNumber();
    const beginAt = cursor.skipTo(begin);
    if (span.volgnummer === 0 || beginAt === absent) return false;
    const eindAt = cursor.skipTo(eind);
    span.begin = cursor.dateAt(beginAt);
    span.eind = eindAt === absent ? noEind : cursor.dateAt(eindAt);
    if (!cursor.skip(registratie)) return false;
    cursor.skip(eindRegistratie);
    const isInactief = cursor.skip(inactief);
    if (!cursor.skip(registratieLV)) return false;
    cursor.skip(eindRegistratieLV);
    geldigheid.isInactief = cursor.skip(inactiefLV) || isInactief;
    geldigheid.isNietBag = cursor.skip(nietBagLV);
    return cursor.skip(voorkomenClose);
  }

  /** Reads the `plainVoorkomen` that a skipped literal at `start` begins its values with. */
  protected readPlainVoorkomen(cursor: ByteCursor, start: number, gaps: readonly number[]): void {
    const { span, geldigheid } = this;
    const at = (index: number) => start + (gaps[index] as number);
    span.volgnummer = (cursor.bytes[at(0)] as number) - zero;
    span.begin = cursor.dateAt(at(1));
    span.eind = noEind;
    geldigheid.isInactief = false;
    geldigheid.isNietBag = false;
  }

  /** The same of the `endedVoorkomen`. */
  protected readEndedVoorkomen(cursor: ByteCursor, start: number, gaps: readonly number[]): void {
    this.readPlainVoorkomen(cursor, start, gaps);
    this.span.eind = cursor.dateAt(start + (gaps[2] as number));
  }
}

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
/** The usual text from postcode to document number, in nearly every nummeraanduiding. */
const usual = literal(
  ...postcodeParts,
  '<Objecten:typeAdresseerbaarObject>Verblijfsobject</Objecten:typeAdresseerbaarObject>',
  '<Objecten:status>Naamgeving uitgegeven</Objecten:status><Objecten:geconstateerd>N</Objecten:geconstateerd>',
  '<Objecten:documentdatum>',
  ['----------', '::::::::::'],
  '</Objecten:documentdatum><Objecten:documentnummer>',
);
/** The usual text from there to the end of an occurrence without an end date. */
const usualEnd = literal('</Objecten:documentnummer>', ...plainVoorkomen, ...closeParts);
const streetGap = usualEnd.gaps.at(-1) as number;

/** Reads nummeraanduidingen in the order of the schema, without white space between elements, with valid values. */
export class FastNummeraanduidingParser extends FastParser<NumBytes> {
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
    if (!this.#parseUsual(cursor, num) && !this.#parseToDocument(cursor, num)) return false;
    if (!cursor.skipEscapedText()) return false;
    if (!this.#parseUsualEnd(cursor, num) && !this.#parseEnd(cursor, num)) return false;
    num.bytes = cursor.bytes;
    num.view = cursor.view;
    this.visitOf()?.(num, this.span);
    return true;
  }

  /** Reads from the postcode to the number of the document in the form that most have, or leaves it unread. */
  #parseUsual(cursor: ByteCursor, num: NumBytes): boolean {
    num.postcode = cursor.skipTo(usual);
    this.geldigheid.isLive = true;
    return num.postcode !== absent;
  }

  /** Reads the same in any known form. */
  #parseToDocument(cursor: ByteCursor, num: NumBytes): boolean {
    num.postcode = cursor.skipTo(numPostcode);
    if (!cursor.skip(numType) || !cursor.skipText() || !cursor.skip(numTypeEnd)) return false;
    return this.parseStatus(cursor) && skipToDocument(cursor);
  }

  /** Reads from the number of the document to the end of an occurrence that has no end date, or leaves it unread. */
  #parseUsualEnd(cursor: ByteCursor, num: NumBytes): boolean {
    const start = cursor.position;
    if (!cursor.skip(usualEnd)) return false;
    num.woonplaats = absent;
    num.openbareRuimte = start + streetGap;
    this.readPlainVoorkomen(cursor, start, usualEnd.gaps);
    return true;
  }

  /** Reads the same in any known form. */
  #parseEnd(cursor: ByteCursor, num: NumBytes): boolean {
    if (!cursor.skip(documentnummerEnd)) return false;
    num.woonplaats = cursor.skipTo(numLigtIn);
    if (!this.parseVoorkomen(cursor)) return false;
    num.openbareRuimte = cursor.skipTo(numClose);
    return num.openbareRuimte !== absent;
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

/** Reads streets, but those with a `verkorteNaam`, an entity or a letter outside Latin-1. */
export class FastOpenbareRuimteParser extends FastParser<OpenbareRuimte> {
  parse(cursor: ByteCursor): boolean {
    const identificatie = cursor.skipTo(oprOpen);
    if (identificatie === absent) return false;
    const name = cursor.position;
    if (!cursor.skipText()) return false;
    const length = cursor.position - name;
    if (length === 0 || length > longestName || cursor.bytes[name] === 0x20) return false;
    if (!cursor.skip(oprType) || !cursor.skipText() || !cursor.skip(oprTypeEnd)) return false;
    if (!this.parseStatus(cursor) || !skipToDocument(cursor) || !cursor.skipEscapedText()) return false;
    const place = cursor.skipTo(oprLigtIn);
    if (place === absent || !this.parseVoorkomen(cursor) || !cursor.skip(oprClose)) return false;
    this.visitOf()?.(
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

/** Past the elements between the status and the number of the document. */
export function skipToDocument(cursor: ByteCursor): boolean {
  if (!cursor.skip(geconstateerd) || !cursor.skipText()) return false;
  return cursor.skip(documentdatum) && cursor.skipText() && cursor.skip(documentnummer);
}
