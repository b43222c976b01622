import { etrs89OfRd } from './rd-to-etrs89.ts';

/** An object as a response has it, but without `lat` and `lon`, which follow from its location. */
export type AdresObject = {
  identificatie: string;
  type: AdresObjectType;
  /** The status in the words of the register. */
  status: string;
  /** Whether a nummeraanduiding of the address is its hoofdadres. */
  hoofdadres: boolean;
  /** Metres in EPSG:28992. */
  locatie: { x: number; y: number };
  /** Square metres; only of a verblijfsobject. */
  oppervlakte?: number;
  /** Sorted; only of a verblijfsobject. */
  gebruiksdoelen?: string[];
};

export const adresObjectTypes = ['verblijfsobject', 'ligplaats', 'standplaats'] as const;
export type AdresObjectType = (typeof adresObjectTypes)[number];

/** The letter of each value in a text. A letter is for ever: stored snapshots have it. */
const types: Record<string, AdresObjectType> = {
  V: 'verblijfsobject',
  L: 'ligplaats',
  S: 'standplaats',
};

/**
 * The statuses of an object that exists, by `StatusVerblijfsobject` and `StatusPlaats` of the XSDs.
 */
export const objectStatuses: Record<string, string> = {
  v: 'Verblijfsobject gevormd',
  n: 'Verblijfsobject in gebruik (niet ingemeten)',
  g: 'Verblijfsobject in gebruik',
  b: 'Verblijfsobject buiten gebruik',
  w: 'Verbouwing verblijfsobject',
  a: 'Plaats aangewezen',
};

/** The values of `GebruiksdoelType` in the XSDs by their letters, in the order of their names. */
export const gebruiksdoelen: Record<string, string> = {
  b: 'bijeenkomstfunctie',
  c: 'celfunctie',
  g: 'gezondheidszorgfunctie',
  i: 'industriefunctie',
  k: 'kantoorfunctie',
  l: 'logiesfunctie',
  n: 'onderwijsfunctie',
  v: 'overige gebruiksfunctie',
  s: 'sportfunctie',
  p: 'winkelfunctie',
  w: 'woonfunctie',
};

/** The digits of the identificatie of all objects but a woonplaats, which has four. */
export const idDigits = 16;

/** The position of each field of fixed width in the text of an object. */
export const objectTextAt = {
  identificatie: 0,
  type: idDigits,
  status: idDigits + 1,
  hoofdadres: idDigits + 2,
  rest: idDigits + 3,
};

/**
 * `0457010000012345Vg1,131234.5,480123.4,85,w`: identificatie, letters of type and status, `1` for
 * a hoofdadres, x, y, and of a verblijfsobject its oppervlakte and the letters of its
 * gebruiksdoelen: of any other one, which the XSDs allow, its own text in parentheses.
 */
export function adresObjectText(object: AdresObject): string {
  const [status, rest] = adresObjectTexts(object);
  return `${object.identificatie}${letterOf(typeLetters, object.type)}${status}${object.hoofdadres ? 1 : 0}${rest}`;
}

/** The letter of the status, and all that comes after the role in `adresObjectText`. */
export function adresObjectTexts(
  object: Omit<AdresObject, 'hoofdadres'>,
): [status: string, rest: string] {
  const { type, status, locatie, oppervlakte = '', gebruiksdoelen = [] } = object;
  const letter = statusLetter(status);
  const place = `,${locatie.x},${locatie.y}`;
  if (type !== 'verblijfsobject') return [letter, place];
  return [letter, `${place},${oppervlakte},${gebruiksdoelen.map(gebruiksdoelText).join('')}`];
}

const lettersOf = (values: Record<string, string>) =>
  new Map(Object.entries(values).map(([letter, value]) => [value, letter]));
const typeLetters = lettersOf(types);
const statusLetters = lettersOf(objectStatuses);
const doelLetters = lettersOf(gebruiksdoelen);

/** The text of one gebruiksdoel: its letter, or its own text in parentheses. */
export function gebruiksdoelText(doel: string): string {
  const letter = doelLetters.get(doel);
  if (letter !== undefined) return letter;
  return `(${encodeURIComponent(doel).replace(/[()]/g, (character) => (character === '(' ? '%28' : '%29'))})`;
}

/** The letter of a status of an object that exists. */
export const statusLetter = (status: string) => letterOf(statusLetters, status);

function gebruiksdoelenOf(text: string): string[] {
  const found = text.matchAll(/\(([^)]*)\)|./g);
  return Array.from(
    found,
    ([letter, other]) => gebruiksdoelen[letter] ?? decodeURIComponent(other as string),
  ).sort();
}

/** The object of what `adresObjectText` made. */
export function adresObjectOfText(text: string): AdresObject {
  const [head = '', x, y, oppervlakte, doelen] = text.split(',');
  const type = types[head.charAt(objectTextAt.type)] as AdresObjectType;
  return {
    identificatie: head.slice(objectTextAt.identificatie, objectTextAt.type),
    type,
    status: objectStatuses[head.charAt(objectTextAt.status)] as string,
    ...(type === 'verblijfsobject' && {
      gebruiksdoelen: gebruiksdoelenOf(doelen ?? ''),
      oppervlakte: Number(oppervlakte),
    }),
    hoofdadres: head.charAt(objectTextAt.hoofdadres) === '1',
    locatie: { x: Number(x), y: Number(y) },
  };
}

/** An object as a response has it. */
export type AnsweredObject = AdresObject & {
  locatie: { x: number; y: number; lat: number; lon: number };
};

/** The object with the location on earth that follows from its place on the map. */
export function answeredObject(object: AdresObject): AnsweredObject {
  return { ...object, locatie: { ...object.locatie, ...etrs89OfRd(object.locatie) } };
}

/** Separates the texts of objects. */
export const betweenObjects = ';';

/** @throws Error for a value that no text has a letter for: the reader has refused it before */
function letterOf(letters: Map<string, string>, value: string): string {
  const found = letters.get(value);
  if (found === undefined) {
    throw new Error(`an adresseerbaar object can't have the value "${value}"`);
  }
  return found;
}
