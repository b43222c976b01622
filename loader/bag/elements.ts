/** The elements of each kind of object, in the schema and as Kadaster writes them. */

/** The allowed content of an element: `text`, anything (as `xml`, or `skipped`), or the named elements. */
export type Content = 'text' | 'xml' | 'skipped' | { [element: string]: Content };

/** The kinds of object that are used for addresses. */
export type ObjectKind = 'NUM' | 'OPR' | 'WPL';

/** The kinds of adresseerbaar object. */
export const objectenKinds = ['VBO', 'LIG', 'STA'] as const;
export type ObjectenKind = (typeof objectenKinds)[number];

export const isObjectenKind = (kind: string): kind is ObjectenKind => objectenKinds.includes(kind as ObjectenKind);

/** The kinds of object that are read. */
export type StandKind = ObjectKind | ObjectenKind;

/** An element by its name, with Kadaster's prefix. */
type Element = {
  name: string;
  content: 'text' | 'xml' | 'skipped' | readonly Element[];
  /** Its attribute `domein`, for a text that identifies an object. */
  domein?: string;
  isOptional?: boolean;
  /** May stand several times, one after the other. */
  isRepeated?: boolean;
  /** The rule of the register for its text. */
  rule?: RegExp;
  /** What Kadaster writes between its tags, if that is not plain text; `null` for an element that few objects have. */
  written?: string | null;
};

const isOptional = true;
const idRule = /^\d{16}$/;

const element = (name: string, content: Element['content'], more?: Partial<Element>): Element => ({
  name: name.includes(':') ? name : `Objecten:${name}`,
  content,
  ...more,
});
const text = (name: string, more?: Partial<Element>) => element(name, 'text', more);
const skipped = (name: string, more?: Partial<Element>) => element(name, 'skipped', more);
const identificatie = (domein: string, rule = idRule) => text('identificatie', { domein, rule });
const reference = (name: string, to: string, domein: string, rule = idRule, isRepeated = false) =>
  element(name, [text(`Objecten-ref:${to}Ref`, { domein, rule, isRepeated })]);
const optional = (one: Element): Element => ({ ...one, isOptional });

const voorkomen = element('voorkomen', [
  element('Historie:Voorkomen', [
    text('Historie:voorkomenidentificatie'),
    text('Historie:beginGeldigheid'),
    text('Historie:eindGeldigheid', { isOptional }),
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

const status = text('status');
const document = ['geconstateerd', 'documentdatum', 'documentnummer'].map((name) => skipped(name));
const ligtIn = reference('ligtIn', 'Woonplaats', 'Woonplaats', /^\d{4}$/);
/** `\S.*` as in XML Schema, up to 80 characters: JavaScript's `\s` and `.` include other white space and line ends. */
const naam = text('naam', { rule: /^[^ \t\r\n][^\r\n]{0,79}$/u, written: "[!-%'-;=?-~][ -%'-;=?-~]{0,79}" });
const number = (name: string, digits: number) =>
  text(name, { rule: new RegExp(`^[ \\t\\r\\n]*[1-9]\\d{0,${digits - 1}}[ \\t\\r\\n]*$`) });

const blank = '[ \\t\\r\\n]*';
const ofGrid = (name: string, dimensions: string) =>
  `<gml:${name} srsName="urn:ogc:def:crs:EPSG::28992" srsDimension="${dimensions}">${blank}`;
const ringOf = (side: string) =>
  `<gml:${side}>${blank}<gml:LinearRing>${blank}<gml:posList(?: count="\\d+")?>[-\\d. ]+</gml:posList>${blank}` +
  `</gml:LinearRing>${blank}</gml:${side}>${blank}`;
const polygon = `${ofGrid('Polygon', '[23]')}${ringOf('exterior')}(?:${ringOf('interior')})*</gml:Polygon>`;
const point = `${ofGrid('Point', '3')}<gml:pos>[-\\d. ]+</gml:pos>${blank}</gml:Point>`;
const geometrie = element('geometrie', 'xml', {
  written: `<Objecten:punt>${point}</Objecten:punt>|<Objecten:vlak>${polygon}</Objecten:vlak>|${polygon}`,
});

const toNum = (name: string, isRepeated = false) =>
  reference(name, 'Nummeraanduiding', 'Nummeraanduiding', idRule, isRepeated);
const beginOf = (name: string) => [
  toNum('heeftAlsHoofdadres'),
  voorkomen,
  optional(toNum('heeftAlsNevenadres', true)),
  identificatie(name),
];
const plaats = (name: string) => element(name, [...beginOf(name), status, geometrie, ...document]);
const pand = '<Objecten-ref:PandRef domein="NL\\.IMBAG\\.Pand">\\d{16}</Objecten-ref:PandRef>';

/** Each kind of object, its elements in Kadaster's order. */
const objects: Record<StandKind, Element> = {
  NUM: element('Nummeraanduiding', [
    identificatie('Nummeraanduiding'),
    number('huisnummer', 5),
    text('huisletter', { isOptional, rule: /^[A-Za-z]$/ }),
    text('huisnummertoevoeging', { isOptional, rule: /^[0-9A-Za-z]{1,4}$/ }),
    text('postcode', { isOptional, rule: /^[1-9]\d{3}[A-Z]{2}$/ }),
    skipped('typeAdresseerbaarObject'),
    ...[status, ...document, optional(ligtIn), voorkomen],
    reference('ligtAan', 'OpenbareRuimte', 'Openbareruimte'),
  ]),
  OPR: element('OpenbareRuimte', [
    ...[identificatie('Openbareruimte'), naam, skipped('type'), status, ...document, ligtIn, voorkomen],
    skipped('verkorteNaam', { isOptional, written: null }),
  ]),
  WPL: element('Woonplaats', [
    ...[identificatie('Woonplaats', /^\d{4}$/), naam, skipped('geometrie', { written: null })],
    ...[status, ...document, voorkomen],
  ]),
  VBO: element('Verblijfsobject', [
    ...[...beginOf('Verblijfsobject'), geometrie],
    text('gebruiksdoel', { isRepeated: true }),
    number('oppervlakte', 6),
    ...[status, ...document, skipped('maaktDeelUitVan', { written: `(?:${pand})+` })],
  ]),
  LIG: plaats('Ligplaats'),
  STA: plaats('Standplaats'),
};

const standKinds = Object.keys(objects) as StandKind[];
const ofEachKind = <T>(of: (object: Element) => T) =>
  Object.fromEntries(standKinds.map((kind) => [kind, of(objects[kind])])) as Record<StandKind, T>;

const contentOf = ({ content }: Element): Content =>
  typeof content === 'string' ? content : Object.fromEntries(content.map((one) => [one.name, contentOf(one)]));

/** The content and the name of the element of each kind of object, and the kind of each such name. */
export const contentOfKind = ofEachKind(contentOf);
export const elementOfKind = ofEachKind(({ name }) => name);
export const kindOfElement = Object.fromEntries(standKinds.map((kind) => [elementOfKind[kind], kind]));

/**
 * A value of an object. `name` is the local name of its element: `identificatie`, `beginGeldigheid`, `WoonplaatsRef`;
 * a reference to a nummeraanduiding has the name of the element around it, `heeftAlsHoofdadres`. `between` is the
 * markup between the values of a repeated element.
 */
type Field = Pick<Element, 'rule' | 'isRepeated'> & {
  name: string;
  element: string;
  isRequired: boolean;
  between: string;
};

/** The name of the field in an element. */
export function fieldName(element: string, parent: string): string {
  const name = element === 'Objecten-ref:NummeraanduidingRef' ? parent : element;
  return name.slice(name.indexOf(':') + 1);
}

function fieldsOf(one: Element, isRequired: boolean, parent: string): Field[] {
  const { name, content, rule, isRepeated } = one;
  const isHere = isRequired && !one.isOptional;
  if (typeof content !== 'string') return content.flatMap((child) => fieldsOf(child, isHere, name));
  if (content === 'skipped') return [];
  const [open, close] = tagsOf(one);
  const field = { name: fieldName(name, parent), element: name, isRequired: isHere, between: close + open };
  return [{ ...field, ...(rule && { rule }), ...(isRepeated && { isRepeated }) }];
}

const tagsOf = ({ name, domein }: Element) =>
  [domein ? `<${name} domein="NL.IMBAG.${domein}">` : `<${name}>`, `</${name}>`] as const;

/** The fields of each kind of object, in Kadaster's order. */
export const fieldsOfKind = ofEachKind((object) => fieldsOf(object, true, ''));

/** The fields that may have several values. */
export const repeatedFields = fieldsOfKind.VBO.filter((field) => field.isRepeated);

/** Printable ASCII without the special characters of XML. */
const plainText = "[ -%'-;=?-~]*";
/** The same with the references that Kadaster writes for special characters and letters with accents. */
const skippedText = `${plainText}(?:&(?:amp|lt|gt|#x[a-f][\\da-f]);${plainText})*`;

/** The regular expression of an element as Kadaster writes it, with a group for each of its fields. */
function writtenOf(one: Element): string {
  const { content, isRepeated, rule, written } = one;
  if (written === null) return '';
  const [open, close] = tagsOf(one).map((tag) => tag.replaceAll('.', '\\.'));
  const inside = () => {
    if (typeof content !== 'string') return content.map(writtenOf).join('');
    if (content === 'skipped') return written ?? skippedText;
    const value = written ?? rule?.source.slice(1, -1) ?? plainText;
    return isRepeated ? `(${value}(?:${close}${open}${value})*)` : `(${value})`;
  };
  const whole = open + inside() + close;
  return one.isOptional ? `(?:${whole})?` : whole;
}

/** Finds an occurrence as Kadaster writes it, right at `lastIndex`, in bytes as Latin-1; its groups are the fields. */
export const writtenStand = ofEachKind(
  (object) =>
    new RegExp(
      `${blank}<sl:stand><sl-bag-extract:bagObject>${writtenOf(object)}</sl-bag-extract:bagObject></sl:stand>`,
      'y',
    ),
);
