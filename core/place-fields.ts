import {
  type AdresObject,
  type AnsweredObject,
  adresObjectOfText,
  adresObjectText,
  answeredObject,
  betweenObjects,
  idDigits,
} from './adres-object.ts';
import { type Environment, environment } from './environment.ts';
import { type Gemeente, gemeenteOf } from './gemeenten.ts';

/**
 * The one definition of an address: responses, items and lines of snapshots follow from it
 * (decision 0150).
 */

/** A value in DynamoDB's own format: text, or a set of numbers. */
type FieldAttribute = { S: string } | { NS: string[] };
type StoredAttribute = { S?: string | undefined; NS?: string[] | undefined };

/** How one field is written in a response, in an item and in a line. */
type PlaceField<Value, Answered = Value> = {
  /** Its value in a response, under the name of the field. */
  kind: 'name' | 'gemeente' | 'ids' | 'objects';
  attribute: string;
  /** Nothing for a value that an absent attribute stands for. */
  toAttribute(value: Value): FieldAttribute | undefined;
  fromAttribute(attribute: StoredAttribute): Value;
  /** In a line: without tabs and line ends, and not empty, which stands for an absent field. */
  toText(value: Value): string;
  fromText(text: string): Value;
  /** Its form in a response, if that has more than the stored value, or exists without one. */
  toAnswer?(value: Value | undefined): Answered;
  /** The value of two places with the same names; absent where those must not differ. */
  combined?(first: Value | undefined, other: Value | undefined): Value | undefined;
};

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

/** The fields that tell two addresses with the same key apart; every response has these. */
export const baseFields = { straat: nameField('straat'), woonplaats: nameField('woonplaats') };

/** The code of a gemeente; a response has its names too. */
const gemeente = {
  kind: 'gemeente',
  attribute: 'g',
  toAttribute: (value) => ({ S: value }),
  fromAttribute: ({ S = '' }) => S,
  toText: (value) => value,
  fromText: (text) => text,
  toAnswer: (value) => (value === undefined ? null : gemeenteOf(value)),
  combined: (first, other) => (first === other ? first : undefined),
} as const satisfies PlaceField<string, Gemeente | null>;

const objectsText = (value: AdresObject[]) =>
  value.map(adresObjectText).sort().join(betweenObjects);
const objectsOf = (text: string) => text.split(betweenObjects).map(adresObjectOfText);

/**
 * The adresseerbare objecten of the address, if the operator has them loaded, in order of
 * identificatie: one text, absent without objects.
 */
const objecten = {
  kind: 'objects',
  attribute: 'obj',
  toAttribute: (value) => (value.length > 0 ? { S: objectsText(value) } : undefined),
  fromAttribute: ({ S = '' }) => objectsOf(S),
  toText: objectsText,
  fromText: objectsOf,
  toAnswer: (value = []) => value.map(answeredObject),
  combined: (first = [], other = []) => {
    const sorted = [...first, ...other].sort(
      (a, b) =>
        compareTexts(a.identificatie, b.identificatie) ||
        Number(b.hoofdadres) - Number(a.hoofdadres),
    );
    return sorted.filter(({ identificatie }, i) => identificatie !== sorted[i - 1]?.identificatie);
  },
} as const satisfies PlaceField<AdresObject[], AnsweredObject[]>;

/**
 * The nummeraanduidingen that are this address: several if it is registered more than once. Sorted.
 * An item has them as a set of numbers: nine bytes each, without leading zeros.
 */
const nummeraanduidingen: PlaceField<string[]> = {
  kind: 'ids',
  attribute: 'ids',
  toAttribute: (value) => ({ NS: value.map((id) => id.replace(/^0+(?=.)/, '')) }),
  fromAttribute: ({ NS = [] }) => NS.map((id) => id.padStart(idDigits, '0')).sort(),
  toText: (value) => value.join(','),
  fromText: (text) => text.split(','),
  combined: (first = [], other = []) => [...first, ...other].sort(),
};

/**
 * The fields of a response by `include`, in the order of a line. The fields before the objects are
 * the same for every address of a street, so the loader writes them once.
 */
export const optionalFields = { gemeente, objecten, nummeraanduidingen };

export type FieldTable = Record<string, Pick<PlaceField<unknown>, 'kind' | 'fromText'>>;
type Values<Some extends FieldTable> = { [Name in keyof Some]: ReturnType<Some[Name]['fromText']> };

/** The fields as a response has them. */
export type AnsweredValues<Some extends FieldTable> = {
  [Name in keyof Some]: Some[Name] extends { toAnswer(value: never): infer Answered }
    ? Answered
    : ReturnType<Some[Name]['fromText']>;
};

/**
 * A street and its town, as the register writes them, with what else is stored of an address there.
 */
export type Place = Values<typeof baseFields> & Partial<Values<typeof optionalFields>>;

type AnsweredPlace = AnsweredValues<typeof baseFields> &
  Partial<AnsweredValues<typeof optionalFields>>;

export const optionalFieldNames = Object.keys(optionalFields) as (keyof typeof optionalFields)[];

/** What `include` can name, each a member of the response that is absent by default. */
export const includeNames = ['toevoegingen', ...optionalFieldNames] as const;

export type IncludeName = (typeof includeNames)[number];

/**
 * Names that only a deployment has whose operator turned them on (`dataset` of the configuration).
 */
const configuredIncludes: readonly IncludeName[] = ['objecten'];

/** The names of `include` in one deployment. */
export type AvailableIncludes = readonly IncludeName[];

/** What `include` can name in a deployment with objects, or in one without. */
export function availableIncludes(hasObjects: boolean): AvailableIncludes {
  return hasObjects
    ? includeNames
    : includeNames.filter((name) => !configuredIncludes.includes(name));
}

/** What `include` can name in a deployment; its pages and its document offer the same. */
export function availableIncludesIn(variables: Environment): AvailableIncludes {
  return availableIncludes(variables[environment.objecten] === 'on');
}

/**
 * The names of an `include`; `null` if it is empty, repeats a name or has a name that is not
 * available.
 */
export function readInclude(
  names: readonly string[],
  available: AvailableIncludes,
): IncludeName[] | null {
  const known = available.filter((name) => names.includes(name));
  return known.length > 0 && known.length === names.length ? (names as IncludeName[]) : null;
}

const fields = Object.entries({ ...baseFields, ...optionalFields }) as [
  keyof Place,
  PlaceField<unknown>,
][];

/** The names of the fields in a line, in their order. */
export const placeFieldNames = fields.map(([name]) => name);

/** A place in a response: the fields of every response, and the included fields. */
export function placeWith(place: Place, include: readonly IncludeName[]): AnsweredPlace {
  const shown: Record<string, unknown> = {};
  for (const [name, { toAnswer }] of fields) {
    if (!(name in baseFields || include.includes(name as IncludeName))) continue;
    shown[name] = toAnswer ? toAnswer(place[name]) : place[name];
  }
  return shown as AnsweredPlace;
}

/**
 * Places in the order of `comparePlaces`; equal names are one place, without fields that can't be
 * combined.
 */
export function distinctPlaces(places: readonly Place[]): Place[] {
  const distinct: Place[] = [];
  for (const place of places) {
    const last = distinct.at(-1);
    if (last && compareNames(last, place) === 0) {
      distinct[distinct.length - 1] = combinedPlace(last, place);
    } else {
      distinct.push(place);
    }
  }
  return distinct;
}

function combinedPlace(first: Place, other: Place): Place {
  const place: Record<string, unknown> = { ...first };
  for (const [name, { combined }] of fields) {
    if (combined) place[name] = combined(first[name], other[name]);
  }
  return place as Place;
}

/** The value of a place in the list of an item. */
export function placeAttribute(place: Place): { M: Record<string, FieldAttribute> } {
  const M: Record<string, FieldAttribute> = {};
  for (const [name, { attribute, toAttribute }] of fields) {
    const value = place[name];
    const stored = value === undefined ? undefined : toAttribute(value);
    if (stored) M[attribute] = stored;
  }
  return { M };
}

/** The place of what `placeAttribute` made. */
export function placeOfAttribute({
  M = {},
}: {
  M?: Record<string, StoredAttribute> | undefined;
}): Place {
  const place: Record<string, unknown> = {};
  for (const [name, { attribute, fromAttribute }] of fields) {
    const value = M[attribute];
    if (value !== undefined) place[name] = fromAttribute(value);
  }
  return place as Place;
}

/** The text of each field of a place in a line; empty if absent. */
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
  return /[\\\t\n]/.test(name)
    ? name.replaceAll('\\', '\\\\').replaceAll('\t', '\\t').replaceAll('\n', '\\n')
    : name;
}

function unescaped(name: string): string {
  if (!name.includes('\\')) return name;
  return name.replace(/\\(.)/g, (_, letter) =>
    letter === 't' ? '\t' : letter === 'n' ? '\n' : letter,
  );
}

/** Orders places by their names, then by gemeente. */
export function comparePlaces(a: Place, b: Place): number {
  return compareNames(a, b) || compareTexts(a.gemeente ?? '', b.gemeente ?? '');
}

type Names = Values<typeof baseFields>;

/** Orders by woonplaats, then straat. */
export function compareNames(a: Names, b: Names): number {
  return compareTexts(a.woonplaats, b.woonplaats) || compareTexts(a.straat, b.straat);
}

/** Orders by code unit: the same on every machine and in every locale. */
export function compareTexts(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
