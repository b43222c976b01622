/** The elements of each kind of object, in the schema and as Kadaster writes them. */

import { gebruiksdoelen, objectStatuses } from '../../core/adres-object.ts';

/**
 * The allowed content of an element: `text`, anything (as `xml`, or `skipped`), or the named
 * elements.
 */
export type Content = 'text' | 'xml' | 'skipped' | { [element: string]: Content };

/** The kinds of object that are used for addresses. */
export type ObjectKind = 'NUM' | 'OPR' | 'WPL';

export const objectenKinds = ['VBO', 'LIG', 'STA'] as const;
export type ObjectenKind = (typeof objectenKinds)[number];

export const isObjectenKind = (kind: string): kind is ObjectenKind =>
  objectenKinds.includes(kind as ObjectenKind);

export type StandKind = ObjectKind | ObjectenKind;

/**
 * How Kadaster writes a value: with a character from `lowest` to `highest` at each position; as
 * `least` to `most` of `characters`, the first one of `first`, and from another one on up to the
 * next tag as `others`; or as a member of `values`.
 */
export type CanonicalValue =
  | { lowest: string; highest: string }
  | { first: RegExp; characters: RegExp; least: number; most: number; others?: RegExp }
  | { values: readonly string[] };

/**
 * A part of what Kadaster writes: markup, an element, a value that is no field, or a decimal
 * number.
 */
export type CanonicalPart = string | Element | CanonicalValue | typeof decimal;
/** A decimal number, and a space that follows it. */
export const decimal = { isDecimal: true } as const;

/** An element by its name, with Kadaster's prefix. */
export type Element = {
  name: string;
  content: 'text' | 'xml' | 'skipped' | readonly Element[];
  /** Its attribute `domein`, for a text that identifies an object. */
  domein?: string;
  isOptional?: boolean;
  /** May stand several times, one after the other. */
  isRepeated?: boolean;
  /** The rule of the register for its text. */
  rule?: RegExp;
  /**
   * What Kadaster writes between its tags, if that is not any text: a value, or markup, decimals
   * and elements.
   */
  canonical?: CanonicalValue | readonly CanonicalPart[];
  /** Few objects have it: the strict parser reads these. */
  isRare?: boolean;
};

const plaatsAangewezen = 'Plaats aangewezen';
/**
 * By kind, the statuses of an object that exists (`live`), and that does not exist, or no longer.
 */
export const statuses: Record<
  StandKind,
  { live: readonly string[]; withdrawn: readonly string[] }
> = {
  NUM: { live: ['Naamgeving uitgegeven'], withdrawn: ['Naamgeving ingetrokken'] },
  OPR: { live: ['Naamgeving uitgegeven'], withdrawn: ['Naamgeving ingetrokken'] },
  WPL: { live: ['Woonplaats aangewezen'], withdrawn: ['Woonplaats ingetrokken'] },
  VBO: {
    live: Object.values(objectStatuses).filter((status) => status !== plaatsAangewezen),
    withdrawn: [
      'Verblijfsobject ingetrokken',
      'Niet gerealiseerd verblijfsobject',
      'Verblijfsobject ten onrechte opgevoerd',
    ],
  },
  LIG: { live: [plaatsAangewezen], withdrawn: ['Plaats ingetrokken'] },
  STA: { live: [plaatsAangewezen], withdrawn: ['Plaats ingetrokken'] },
};

const isOptional = true;
const idRule = /^\d{16}$/;

const fixed = (lowest: string, highest: string) => ({ lowest, highest });
const digits = (count: number) => fixed('0'.repeat(count), '9'.repeat(count));
const run = (characters: RegExp, most: number, first = characters, least = 1) => ({
  first,
  characters,
  least,
  most,
});
/** Printable ASCII without the special characters of XML. */
const plain = /[ -%'-;=?-~]/;
/** The same, and all that is not ASCII below U+FFFD, as which bytes that are not UTF-8 are read. */
const letter = "[ -%'-;=?-~\\x80-\\ufffc\\u{10000}-\\u{10ffff}]";
/**
 * The same with the references that Kadaster writes for special characters and letters with
 * accents.
 */
const others = new RegExp(`^(?:${letter}|&(?:amp|lt|gt|#x[a-f][\\da-f]);)*$`, 'u');
export const anyText: CanonicalValue = { ...run(plain, 1e9, plain, 0), others };

const element = (name: string, content: Element['content'], more?: Partial<Element>): Element => ({
  name: name.includes(':') ? name : `Objecten:${name}`,
  content,
  ...more,
});
const text = (name: string, more?: Partial<Element>) => element(name, 'text', more);
const skipped = (name: string, more?: Partial<Element>) => element(name, 'skipped', more);
const identificatie = (domein: string) =>
  text('identificatie', { domein, rule: idRule, canonical: digits(16) });
const reference = (name: string, to: string, domein: string, more: Partial<Element> = {}) =>
  element(name, [
    text(`Objecten-ref:${to}Ref`, { domein, rule: idRule, canonical: digits(16), ...more }),
  ]);
const optional = (element: Element): Element => ({ ...element, isOptional });

const date = fixed('0000-00-00', '9999-99-99');
const voorkomen = element('voorkomen', [
  element('Historie:Voorkomen', [
    text('Historie:voorkomenidentificatie', { canonical: run(/\d/, 5, /[1-9]/) }),
    text('Historie:beginGeldigheid', { canonical: date }),
    text('Historie:eindGeldigheid', { canonical: date, isOptional }),
    skipped('Historie:tijdstipRegistratie'),
    skipped('Historie:eindRegistratie', { isOptional }),
    text('Historie:tijdstipInactief', { isOptional }),
    element('Historie:BeschikbaarLV', [
      skipped('Historie:tijdstipRegistratieLV'),
      skipped('Historie:tijdstipEindRegistratieLV', { isOptional }),
      text('Historie:tijdstipInactiefLV', { isOptional }),
      text('Historie:tijdstipNietBagLV', { isOptional }),
    ]),
  ]),
]);

const statusOf = (kind: StandKind) => {
  const { live, withdrawn } = statuses[kind];
  return text('status', { canonical: { values: [...live, ...withdrawn] } });
};
const document = ['geconstateerd', 'documentdatum', 'documentnummer'].map((name) => skipped(name));
const ligtIn = reference('ligtIn', 'Woonplaats', 'Woonplaats', {
  rule: /^\d{4}$/,
  canonical: digits(4),
});
const canonicalNaam = {
  ...run(plain, 80, /[!-%'-;=?-~]/),
  others: new RegExp(`^${letter}*$`, 'u'),
};
/**
 * `\S.*` as in XML Schema, up to 80 characters: JavaScript's `\s` and `.` include other white space
 * and line ends.
 */
const naam = text('naam', { rule: /^[^ \t\r\n][^\r\n]{0,79}$/u, canonical: canonicalNaam });
const number = (name: string, most: number) => {
  const rule = new RegExp(`^[ \\t\\r\\n]*[1-9]\\d{0,${most - 1}}[ \\t\\r\\n]*$`);
  return text(name, { rule, canonical: run(/\d/, most, /[1-9]/) });
};

const rd = 'srsName="urn:ogc:def:crs:EPSG::28992" srsDimension';
/** A point, as nearly all verblijfsobjecten have it. */
const point: Element['canonical'] = [
  `<Objecten:punt><gml:Point ${rd}="3">\n  <gml:pos>`,
  decimal,
  decimal,
  decimal,
  '</gml:pos>\n</gml:Point></Objecten:punt>',
];

/** A polygon without holes, as nearly all ligplaatsen and standplaatsen have it. */
const polygon: Element['canonical'] = [
  `<gml:Polygon ${rd}="2">\n  <gml:exterior>\n    <gml:LinearRing>\n      <gml:posList count="`,
  run(/\d/, 9),
  '">',
  run(/[-\d. ]/, 1e9),
  '</gml:posList>\n    </gml:LinearRing>\n  </gml:exterior>\n</gml:Polygon>',
];

const toNum = (name: string, isRepeated = false) =>
  reference(name, 'Nummeraanduiding', 'Nummeraanduiding', { isRepeated });
const beginOf = (name: string) => [
  toNum('heeftAlsHoofdadres'),
  voorkomen,
  optional(toNum('heeftAlsNevenadres', true)),
  identificatie(name),
];
const plaats = (kind: StandKind, name: string) =>
  element(name, [
    ...beginOf(name),
    statusOf(kind),
    element('geometrie', 'xml', { canonical: polygon }),
    ...document,
  ]);
const pand = skipped('Objecten-ref:PandRef', {
  domein: 'Pand',
  canonical: digits(16),
  isRepeated: true,
});

/** Each kind of object, its elements in Kadaster's order. */
export const objects: Record<StandKind, Element> = {
  NUM: element('Nummeraanduiding', [
    identificatie('Nummeraanduiding'),
    number('huisnummer', 5),
    text('huisletter', { isOptional, rule: /^[A-Za-z]$/, canonical: run(/[A-Za-z]/, 1) }),
    text('huisnummertoevoeging', {
      isOptional,
      rule: /^[0-9A-Za-z]{1,4}$/,
      canonical: run(/[0-9A-Za-z]/, 4),
    }),
    text('postcode', {
      isOptional,
      rule: /^[1-9]\d{3}[A-Z]{2}$/,
      canonical: fixed('1000AA', '9999ZZ'),
    }),
    skipped('typeAdresseerbaarObject'),
    statusOf('NUM'),
    ...document,
    optional(ligtIn),
    voorkomen,
    reference('ligtAan', 'OpenbareRuimte', 'Openbareruimte'),
  ]),
  OPR: element('OpenbareRuimte', [
    identificatie('Openbareruimte'),
    naam,
    skipped('type'),
    statusOf('OPR'),
    ...document,
    ligtIn,
    voorkomen,
    skipped('verkorteNaam', { isOptional, isRare: true }),
  ]),
  WPL: element('Woonplaats', [
    text('identificatie', { rule: /^\d{4}$/ }),
    naam,
    skipped('geometrie'),
    statusOf('WPL'),
    ...document,
    voorkomen,
  ]),
  VBO: element('Verblijfsobject', [
    ...beginOf('Verblijfsobject'),
    element('geometrie', 'xml', { canonical: point }),
    text('gebruiksdoel', {
      isRepeated: true,
      canonical: { values: Object.values(gebruiksdoelen).reverse() },
    }),
    number('oppervlakte', 6),
    statusOf('VBO'),
    ...document,
    skipped('maaktDeelUitVan', { canonical: [pand] }),
  ]),
  LIG: plaats('LIG', 'Ligplaats'),
  STA: plaats('STA', 'Standplaats'),
};

const standKinds = Object.keys(objects) as StandKind[];
const ofEachKind = <T>(of: (object: Element) => T) =>
  Object.fromEntries(standKinds.map((kind) => [kind, of(objects[kind])])) as Record<StandKind, T>;

const contentOf = ({ content }: Element): Content =>
  typeof content === 'string'
    ? content
    : Object.fromEntries(content.map((element) => [element.name, contentOf(element)]));

/**
 * The content and the name of the element of each kind of object, and the kind of each such name.
 */
export const contentOfKind = ofEachKind(contentOf);
export const elementOfKind = ofEachKind(({ name }) => name);
export const kindOfElement = Object.fromEntries(
  standKinds.map((kind) => [elementOfKind[kind], kind]),
);

/**
 * A value of an object. `name` is the local name of its element: `identificatie`,
 * `beginGeldigheid`, `WoonplaatsRef`; a reference to a nummeraanduiding has the name of the element
 * around it, `heeftAlsHoofdadres`. `between` is the markup between the values of a repeated
 * element.
 */
type Field = Pick<Element, 'rule' | 'isRepeated'> & {
  name: string;
  element: string;
  isRequired: boolean;
  between: string;
};

export function fieldName(element: string, parent: string): string {
  const name = element === 'Objecten-ref:NummeraanduidingRef' ? parent : element;
  return name.slice(name.indexOf(':') + 1);
}

function fieldsOf(element: Element, isRequired: boolean, parent: string): Field[] {
  const { name, content, rule, isRepeated } = element;
  const isHere = isRequired && !element.isOptional;
  if (typeof content !== 'string') return content.flatMap((child) => fieldsOf(child, isHere, name));
  if (content === 'skipped') return [];
  const [open, close] = tagsOf(element);
  const field = {
    name: fieldName(name, parent),
    element: name,
    isRequired: isHere,
    between: close + open,
  };
  return [{ ...field, ...(rule && { rule }), ...(isRepeated && { isRepeated }) }];
}

/** The tags around an element as Kadaster writes them. */
export const tagsOf = ({ name, domein }: Element) =>
  [domein ? `<${name} domein="NL.IMBAG.${domein}">` : `<${name}>`, `</${name}>`] as const;

/** The fields of each kind of object, in Kadaster's order. */
export const fieldsOfKind = ofEachKind((object) => fieldsOf(object, true, ''));

/** The fields that may have several values. */
export const repeatedFields = fieldsOfKind.VBO.filter((field) => field.isRepeated);
