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
const types: Record<string, AdresObjectType> = { V: 'verblijfsobject', L: 'ligplaats', S: 'standplaats' };

/** The statuses of an object that exists, by `StatusVerblijfsobject` and `StatusPlaats` of the XSDs. */
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

const idDigits = 16;

/**
 * `0457010000012345Vg1,131234.5,480123.4,85,w`: identificatie, letters of type and status, `1` for a hoofdadres, x, y,
 * and of a verblijfsobject its oppervlakte and the letters of its gebruiksdoelen: of any other one, which the XSDs
 * allow, its own text in parentheses.
 */
export function adresObjectText({ identificatie, type, status, hoofdadres, locatie, ...more }: AdresObject): string {
  const head = `${identificatie}${letterOf(types, type)}${letterOf(objectStatuses, status)}${hoofdadres ? 1 : 0}`;
  const text = `${head},${locatie.x},${locatie.y}`;
  if (type !== 'verblijfsobject') return text;
  const doelen = (more.gebruiksdoelen ?? []).map(gebruiksdoelText).join('');
  return `${text},${more.oppervlakte ?? ''},${doelen}`;
}

function gebruiksdoelText(doel: string): string {
  if (isGebruiksdoel(doel)) return letterOf(gebruiksdoelen, doel);
  return `(${encodeURIComponent(doel).replace(/[()]/g, (character) => (character === '(' ? '%28' : '%29'))})`;
}

function gebruiksdoelenOf(text: string): string[] {
  const found = text.matchAll(/\(([^)]*)\)|./g);
  return Array.from(found, ([letter, other]) => gebruiksdoelen[letter] ?? decodeURIComponent(other as string)).sort();
}

/** The object of what `adresObjectText` made. */
export function adresObjectOfText(text: string): AdresObject {
  const [head = '', x, y, oppervlakte, doelen] = text.split(',');
  const type = types[head.charAt(idDigits)] as AdresObjectType;
  return {
    identificatie: head.slice(0, idDigits),
    type,
    status: objectStatuses[head.charAt(idDigits + 1)] as string,
    ...(type === 'verblijfsobject' && {
      gebruiksdoelen: gebruiksdoelenOf(doelen ?? ''),
      oppervlakte: Number(oppervlakte),
    }),
    hoofdadres: head.charAt(idDigits + 2) === '1',
    locatie: { x: Number(x), y: Number(y) },
  };
}

/** An object as a response has it. */
export type AnsweredObject = AdresObject & { locatie: { x: number; y: number; lat: number; lon: number } };

/** The object with the location on earth that follows from its place on the map. */
export function answeredObject(object: AdresObject): AnsweredObject {
  return { ...object, locatie: { ...object.locatie, ...etrs89OfRd(object.locatie) } };
}

/** Separates the texts of objects. */
export const betweenObjects = ';';

/** Whether the register may give an object that exists this status. */
export const isObjectStatus = (status: string) => Object.values(objectStatuses).includes(status);
const isGebruiksdoel = (doel: string) => Object.values(gebruiksdoelen).includes(doel);

/** @throws Error for a value that no text has a letter for: the reader has refused it before */
function letterOf(letters: Record<string, string>, value: string): string {
  let found: string | undefined;
  for (const letter in letters) {
    if (letters[letter] === value) found = letter;
  }
  if (found === undefined) throw new Error(`an adresseerbaar object can't have the value "${value}"`);
  return found;
}
