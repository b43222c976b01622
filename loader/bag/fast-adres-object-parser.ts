/** Reads adresseerbare objecten whose bytes are exactly as Kadaster writes them, nearly all without a string. */

import { gebruiksdoelen, objectStatuses } from '../../core/adres-object.ts';
import { AdresObjectBytes } from './adres-object-bytes.ts';
import { type ByteCursor, date, digits, type Literal, literal } from './byte-cursor.ts';
import { endedVoorkomen, FastParser, type FastParserOptions, plainVoorkomen, skipToDocument } from './fast-parser.ts';
import { withdrawnStatuses } from './interpret-stand.ts';
import { isInGrid, type Locatie, locationOf } from './location.ts';
import { absent } from './num-bytes.ts';
import type { ObjectenKind } from './schema.ts';

const space = 0x20;
const noNevenadressen: readonly string[] = [];
/** The location of an occurrence that nobody asks for, as it has ended. */
const nowhere: Locatie = { x: 0, y: 0 };

const elements: Record<ObjectenKind, string> = { VBO: 'Verblijfsobject', LIG: 'Ligplaats', STA: 'Standplaats' };

const numRef = [
  '<Objecten-ref:NummeraanduidingRef domein="NL.IMBAG.Nummeraanduiding">',
  digits(16),
  '</Objecten-ref:NummeraanduidingRef>',
];
const nevenadressen = literal('<Objecten:heeftAlsNevenadres>');
const nevenadres = literal(...numRef);
const nevenadressenEnd = literal('</Objecten:heeftAlsNevenadres>');

const pointParts = [
  '<Objecten:geometrie><Objecten:punt><gml:Point srsName="urn:ogc:def:crs:EPSG::28992" srsDimension="3">\n  <gml:pos>',
];
const point = literal(...pointParts);
const pointEndText = '</gml:pos>\n</gml:Point></Objecten:punt></Objecten:geometrie>';
const pointEnd = literal(pointEndText);
const geometrie = literal('<Objecten:geometrie>');
const geometrieEnd = '</Objecten:geometrie>';
const ring = '<gml:LinearRing>\\s*<gml:posList(?: count="\\d+")?>[\\d. -]+</gml:posList>\\s*</gml:LinearRing>';
const polygon =
  '<gml:Polygon srsName="urn:ogc:def:crs:EPSG::28992" srsDimension="[23]">\\s*' +
  `<gml:exterior>\\s*${ring}\\s*</gml:exterior>\\s*(?:<gml:interior>\\s*${ring}\\s*</gml:interior>\\s*)*</gml:Polygon>`;
/** The areas that it reads; the schema has others. */
const area = { VBO: new RegExp(`^<Objecten:vlak>${polygon}</Objecten:vlak>$`), other: new RegExp(`^${polygon}$`) };

const doelOpen = literal('<Objecten:gebruiksdoel>');
const doelen = Object.entries(gebruiksdoelen)
  .map(([letter, doel]) => ({ letter, end: literal(`${doel}</Objecten:gebruiksdoel>`) }))
  .reverse(); // the most common one is the last
const oppervlakte = literal('<Objecten:oppervlakte>');
const oppervlakteEnd = literal('</Objecten:oppervlakte>');
const longestOppervlakte = 6;
/** The usual text between coordinates and oppervlakte: most objects are homes. */
const usualDoel = literal(
  `${pointEndText}<Objecten:gebruiksdoel>${gebruiksdoelen.w}</Objecten:gebruiksdoel><Objecten:oppervlakte>`,
);

const usualDocumentParts = [
  '<Objecten:geconstateerd>N</Objecten:geconstateerd><Objecten:documentdatum>',
  date,
  '</Objecten:documentdatum><Objecten:documentnummer>',
];
/** The usual text between status and document number, in nearly all objects. */
const usualDocument = literal(...usualDocumentParts);
/** The same from their oppervlakte. */
const usualStatus = literal(
  `</Objecten:oppervlakte><Objecten:status>${objectStatuses.g}</Objecten:status>`,
  ...usualDocumentParts,
);
const pandParts = ['<Objecten-ref:PandRef domein="NL.IMBAG.Pand">', digits(16), '</Objecten-ref:PandRef>'];
const firstPand = literal('</Objecten:documentnummer><Objecten:maaktDeelUitVan>', ...pandParts);
const nextPand = literal(...pandParts);
const documentnummerEnd = literal('</Objecten:documentnummer>');

const openOf = (name: string) => [
  `<sl:stand><sl-bag-extract:bagObject><Objecten:${name}><Objecten:heeftAlsHoofdadres>`,
  ...[...numRef, '</Objecten:heeftAlsHoofdadres>'],
];
const identificatieOf = (name: string) => [
  `<Objecten:identificatie domein="NL.IMBAG.${name}">`,
  ...[digits(16), '</Objecten:identificatie>'],
];

/** The start of nearly all verblijfsobjecten, up to their coordinates: without an end, and with an end. */
const [plainStart, endedStart] = [plainVoorkomen, endedVoorkomen].map((voorkomen) =>
  literal(...openOf(elements.VBO), ...voorkomen, ...identificatieOf(elements.VBO), ...pointParts),
) as [Literal, Literal];
/** The first value of both is the hoofdadres, the last is the identificatie. */
const [plainGaps, endedGaps] = [plainStart.gaps.slice(1), endedStart.gaps.slice(1)];
const identificatieFromEnd = plainStart.length - (plainStart.gaps.at(-1) as number);

/** The letter of a status; a status without a letter means that the object does not exist. */
type Status = { element: Literal; letter?: string };
type Form = { open: Literal; identificatie: Literal; statuses: Status[]; end: Literal };

function formOf(kind: ObjectenKind): Form {
  const name = elements[kind];
  const live = Object.entries(objectStatuses).filter(([, text]) => text.startsWith('Plaats') === (kind !== 'VBO'));
  const element = (status: string) => literal(`<Objecten:status>${status}</Objecten:status>`);
  return {
    open: literal(...openOf(name)),
    identificatie: literal(...identificatieOf(name)),
    statuses: [
      ...live.map(([letter, status]) => ({ element: element(status), letter })),
      ...withdrawnStatuses[kind].map((status) => ({ element: element(status) })),
    ],
    end: literal(
      kind === 'VBO' ? '</Objecten:maaktDeelUitVan>' : '',
      `</Objecten:${name}></sl-bag-extract:bagObject></sl:stand>`,
    ),
  };
}

/**
 * Reads verblijfsobjecten, ligplaatsen and standplaatsen: elements in Kadaster's order, with valid values. The strict
 * parser reads all others, also objects whose location can't be told.
 */
class FastAdresObjectParser extends FastParser<AdresObjectBytes> {
  readonly #kind: ObjectenKind;
  readonly #form: Form;
  readonly #object = new AdresObjectBytes();

  constructor(kind: ObjectenKind, form: Form, ...options: FastParserOptions<AdresObjectBytes>) {
    super(...options);
    this.#kind = kind;
    this.#form = form;
    this.#object.type = kind.charCodeAt(0);
  }

  parse(cursor: ByteCursor): boolean {
    const object = this.#object;
    object.bytes = cursor.bytes;
    object.view = cursor.view;
    object.nevenadressen = noNevenadressen;
    return this.#kind === 'VBO' ? this.#parseVerblijfsobject(cursor, object) : this.#parsePlaats(cursor, object);
  }

  #parseVerblijfsobject(cursor: ByteCursor, object: AdresObjectBytes): boolean {
    let locatie: Locatie | undefined;
    if (this.#parseUsualStart(cursor, object) || (this.#parseStart(cursor, object) && cursor.skip(point))) {
      if (!skipPoint(cursor, object)) return false;
    } else {
      locatie = object.identificatie === absent ? undefined : this.#areaIn(cursor, area.VBO);
      if (!locatie) return false;
    }
    if (!locatie && cursor.skip(usualDoel)) object.gebruiksdoelen = 'w';
    else if (!locatie && !cursor.skip(pointEnd)) return false;
    else if (!skipGebruiksdoelen(cursor, object) || !cursor.skip(oppervlakte)) return false;
    object.oppervlakte = cursor.position;
    if (cursor.readNumber(longestOppervlakte) === 0) return false;
    object.oppervlakteEnd = cursor.position;
    if (cursor.skip(usualStatus)) this.#setStatus(object, 'g');
    else if (!cursor.skip(oppervlakteEnd) || !this.#parseStatus(cursor, object) || !skipToDocumentnummer(cursor))
      return false;
    if (!cursor.skipEscapedText() || !cursor.skip(firstPand)) return false;
    while (cursor.skip(nextPand)) {}
    return this.#parseEnd(cursor, object, locatie);
  }

  #parsePlaats(cursor: ByteCursor, object: AdresObjectBytes): boolean {
    object.oppervlakte = absent;
    object.gebruiksdoelen = '';
    if (!this.#parseStart(cursor, object) || !this.#parseStatus(cursor, object)) return false;
    const locatie = this.#areaIn(cursor, area.other);
    return (
      locatie !== undefined &&
      skipToDocumentnummer(cursor) &&
      cursor.skipEscapedText() &&
      cursor.skip(documentnummerEnd) &&
      this.#parseEnd(cursor, object, locatie)
    );
  }

  /** Reads up to the coordinates in the form that most have, or leaves it unread. */
  #parseUsualStart(cursor: ByteCursor, object: AdresObjectBytes): boolean {
    const { position: start } = cursor;
    if (cursor.skip(plainStart)) this.readPlainVoorkomen(cursor, start, plainGaps);
    else if (cursor.skip(endedStart)) this.readEndedVoorkomen(cursor, start, endedGaps);
    else return false;
    object.hoofdadres = start + (plainStart.gaps[0] as number);
    object.identificatie = cursor.position - identificatieFromEnd;
    return true;
  }

  /** Reads up to the identificatie in any known form. */
  #parseStart(cursor: ByteCursor, object: AdresObjectBytes): boolean {
    object.identificatie = absent;
    object.hoofdadres = cursor.skipTo(this.#form.open);
    if (object.hoofdadres === absent || !this.parseVoorkomen(cursor)) return false;
    if (cursor.skip(nevenadressen)) {
      const ids = new Set<string>();
      for (let at = cursor.skipTo(nevenadres); at !== absent; at = cursor.skipTo(nevenadres))
        ids.add(cursor.text(at, 16));
      if (ids.size === 0 || !cursor.skip(nevenadressenEnd)) return false;
      object.nevenadressen = [...ids].sort();
    }
    object.identificatie = cursor.skipTo(this.#form.identificatie);
    return object.identificatie !== absent;
  }

  #parseStatus(cursor: ByteCursor, object: AdresObjectBytes): boolean {
    for (const { element, letter } of this.#form.statuses) {
      if (!cursor.skip(element)) continue;
      this.#setStatus(object, letter);
      return true;
    }
    return false;
  }

  #setStatus(object: AdresObjectBytes, letter: string | undefined): void {
    this.geldigheid.isLive = letter !== undefined;
    object.status = letter?.charCodeAt(0) ?? 0;
  }

  /** Past the geometry of an area; returns its location, or `undefined` if its form is not `known`. */
  #areaIn(cursor: ByteCursor, known: RegExp): Locatie | undefined {
    const text = cursor.skip(geometrie) ? cursor.textBefore(geometrieEnd) : null;
    if (text === null || !known.test(text)) return undefined;
    const found = this.hasEnded ? nowhere : locationOf(text);
    return typeof found === 'string' ? undefined : found;
  }

  #parseEnd(cursor: ByteCursor, object: AdresObjectBytes, locatie: Locatie | undefined): boolean {
    if (!cursor.skip(this.#form.end)) return false;
    this.visitOf()?.(locatie ? AdresObjectBytes.of({ ...object.values(), locatie }) : object, this.span);
    return true;
  }
}

/** The class that reads objects of `kind`. */
export function fastAdresObjectParser(
  kind: ObjectenKind,
): new (
  ...options: FastParserOptions<AdresObjectBytes>
) => FastParser<AdresObjectBytes> {
  const form = formOf(kind);
  return class extends FastAdresObjectParser {
    constructor(...options: FastParserOptions<AdresObjectBytes>) {
      super(kind, form, ...options);
    }
  };
}

/** Past the coordinates of a point in the Dutch grid, up to its end; the third one says nothing. */
function skipPoint(cursor: ByteCursor, object: AdresObjectBytes): boolean {
  object.x = cursor.position;
  object.xEnd = cursor.skipDecimal();
  if (object.xEnd === absent || !skipSpace(cursor)) return false;
  object.y = cursor.position;
  object.yEnd = cursor.skipDecimal();
  if (object.yEnd === absent || !skipSpace(cursor) || cursor.skipDecimal() === absent) return false;
  const [x, y] = [cursor.wholeAt(object.x), cursor.wholeAt(object.y)];
  // A metre within its bounds: what lies nearer has decimals to compare.
  return isInGrid({ x: x + 1, y: y + 1 }) && isInGrid({ x, y });
}

function skipSpace(cursor: ByteCursor): boolean {
  return cursor.bytes[cursor.position++] === space;
}

/** Skips the gebruiksdoelen; each counts once, in the order of their names. */
function skipGebruiksdoelen(cursor: ByteCursor, object: AdresObjectBytes): boolean {
  object.gebruiksdoelen = '';
  let isSingle = true;
  while (cursor.skip(doelOpen)) {
    const doel = doelen.find(({ end }) => cursor.skip(end));
    if (!doel) return false;
    isSingle = object.gebruiksdoelen === '';
    object.gebruiksdoelen += doel.letter;
  }
  if (!isSingle)
    object.gebruiksdoelen = Object.keys(gebruiksdoelen)
      .filter((letter) => object.gebruiksdoelen.includes(letter))
      .join('');
  return object.gebruiksdoelen !== '';
}

function skipToDocumentnummer(cursor: ByteCursor): boolean {
  return cursor.skip(usualDocument) || skipToDocument(cursor);
}
