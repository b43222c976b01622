/**
 * The one definition of what an address consists of. The address in a response, the item of the addresses table and the
 * line of a snapshot follow from it (decision 0150).
 */

/** A value in DynamoDB's own format: text, or a set of numbers. */
type FieldAttribute = { S: string } | { NS: string[] };
type StoredAttribute = { S?: string | undefined; NS?: string[] | undefined };

/** How one field is written in a response, in an item and in a line. */
type PlaceField<Value> = {
  /** What it is in a response, under the name of the field. */
  kind: 'name' | 'ids';
  /** The attribute in an item. */
  attribute: string;
  toAttribute(value: Value): FieldAttribute;
  fromAttribute(attribute: StoredAttribute): Value;
  /** In a line: without tabs and line ends, and not empty, which stands for an absent field. */
  toText(value: Value): string;
  fromText(text: string): Value;
};

/** A name from the register. */
function nameField(attribute: string): PlaceField<string> {
  return {
    kind: 'name',
    attribute,
    toAttribute: (value) => ({ S: value }),
    fromAttribute: ({ S = '' }) => S,
    toText: escaped,
    fromText: unescaped,
  };
}

const idDigits = 16;

/** Identificaties, sorted. An item has them as a set of numbers: nine bytes each, without leading zeros. */
function idsField(attribute: string): PlaceField<string[]> {
  return {
    kind: 'ids',
    attribute,
    toAttribute: (value) => ({ NS: value.map((id) => id.replace(/^0+(?=.)/, '')) }),
    fromAttribute: ({ NS = [] }) => NS.map((id) => id.padStart(idDigits, '0')).sort(),
    toText: (value) => value.join(','),
    fromText: (text) => text.split(','),
  };
}

/** What tells two addresses with the same key apart; every response has these. */
export const always = { straat: nameField('straat'), woonplaats: nameField('woonplaats') };

/** What a response has if its `include` names it. */
export const onRequest = {
  /** The nummeraanduidingen that are this address: several if it is registered more than once. */
  nummeraanduidingen: idsField('ids'),
};

export type FieldTable = Record<string, Pick<PlaceField<unknown>, 'kind' | 'fromText'>>;
export type Values<Some extends FieldTable> = { [Name in keyof Some]: ReturnType<Some[Name]['fromText']> };

/** A street and its town, as the register writes them, with what else is stored of an address there. */
export type Place = Values<typeof always> & Partial<Values<typeof onRequest>>;

export type RequestedField = keyof typeof onRequest;
export const requestedFields = Object.keys(onRequest) as RequestedField[];

/** What `include` can name, each a member of the response that is absent by default. */
export const includeNames = ['toevoegingen', ...requestedFields] as const;

export type IncludeName = (typeof includeNames)[number];

/** The names of an `include`; `null` unless each is known, once, and there is one. */
export function readInclude(names: readonly string[]): IncludeName[] | null {
  const known = includeNames.filter((name) => names.includes(name));
  return known.length > 0 && known.length === names.length ? (names as IncludeName[]) : null;
}

/** The fields in the order of responses and lines. */
const fields = Object.entries({ ...always, ...onRequest }) as [keyof Place, PlaceField<unknown>][];

/** The names of the fields in a line, in their order. */
export const placeFieldNames = fields.map(([name]) => name);

/** A place as a response has it: the fields of every response, and those that were requested. */
export function placeWith(place: Place, requested: readonly RequestedField[]): Place {
  const shown: Record<string, unknown> = {};
  for (const [name] of fields) {
    if (name in always || requested.includes(name as RequestedField)) shown[name] = place[name];
  }
  return shown as Place;
}

/** The value of a place in the list of an item. */
export function placeAttribute(place: Place): { M: Record<string, FieldAttribute> } {
  const M: Record<string, FieldAttribute> = {};
  for (const [name, { attribute, toAttribute }] of fields) {
    const value = place[name];
    if (value !== undefined) M[attribute] = toAttribute(value);
  }
  return { M };
}

/** The place of what `placeAttribute` made. */
export function placeOfAttribute({ M = {} }: { M?: Record<string, StoredAttribute> | undefined }): Place {
  const place: Record<string, unknown> = {};
  for (const [name, { attribute, fromAttribute }] of fields) {
    const value = M[attribute];
    if (value !== undefined) place[name] = fromAttribute(value);
  }
  return place as Place;
}

/** The text of each field of a place in a line; empty where it has none. */
export function placeTexts(place: Place): string[] {
  return fields.map(([name, { toText }]) => (place[name] === undefined ? '' : toText(place[name])));
}

/** The place of such texts. */
export function placeOfTexts(texts: readonly string[]): Place {
  const place: Record<string, unknown> = {};
  fields.forEach(([name, { fromText }], i) => {
    const text = texts[i];
    if (text) place[name] = fromText(text);
  });
  return place as Place;
}

function escaped(name: string): string {
  return /[\\\t\n]/.test(name) ? name.replaceAll('\\', '\\\\').replaceAll('\t', '\\t').replaceAll('\n', '\\n') : name;
}

function unescaped(name: string): string {
  if (!name.includes('\\')) return name;
  return name.replace(/\\(.)/g, (_, letter) => (letter === 't' ? '\t' : letter === 'n' ? '\n' : letter));
}

/** Orders places by woonplaats, then straat, by code unit: the same on every machine and in every locale. */
export function comparePlaces(a: Place, b: Place): number {
  return compare(a.woonplaats, b.woonplaats) || compare(a.straat, b.straat);
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
