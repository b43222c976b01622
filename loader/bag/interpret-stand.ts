import { type AdresObjectType, isObjectStatus } from '../../core/adres-object.ts';
import { ExtractError } from '../load-error.ts';
import { locationOf } from './location.ts';
import { isProblem, type Problem, type ReadCounts } from './problem-report.ts';
import type { ObjectenKind, StandKind } from './schema.ts';
import {
  type AdresseerbaarObject,
  type AdresseerbaarVoorkomen,
  dayOf,
  type Geldigheid,
  liveStatus,
  type Nummeraanduiding,
  noEind,
  type ObjectVoorkomen,
  type OpenbareRuimte,
  type Span,
  type Woonplaats,
  whyNotCurrent,
} from './voorkomen.ts';
import { collapse, xsdDate, xsdInteger } from './xsd-values.ts';

/**
 * Values by the local name of their element: `identificatie`, `beginGeldigheid`, `WoonplaatsRef`; of a reference to a
 * nummeraanduiding by the one around it, `heeftAlsHoofdadres`. Those of a repeated element have `betweenValues` between
 * them.
 */
export type Fields = Partial<Record<string, string>>;

/** Not a character of XML. */
const betweenValues = '\0';
const repeated = ['gebruiksdoel', 'heeftAlsNevenadres'];

/** Adds the text of an element, in its parent, to the fields of its object, or returns false if it is set. */
export function addField(fields: Fields, element: string, text: string, parent: string): boolean {
  const name = element === 'Objecten-ref:NummeraanduidingRef' ? parent : element;
  const field = name.slice(name.indexOf(':') + 1);
  const before = fields[field];
  if (before !== undefined && !repeated.includes(field)) return false;
  fields[field] = before === undefined ? text : `${before}${betweenValues}${text}`;
  return true;
}

/** The different values of a repeated element, sorted. */
function valuesOf(field: string | undefined): string[] {
  return field === undefined ? [] : [...new Set(field.split(betweenValues))].sort();
}

/** The values of one occurrence, which has all that the schema requires. */
export type Occurrence = Fields &
  Record<'identificatie' | 'status' | 'voorkomenidentificatie' | 'beginGeldigheid', string>;

const ofEveryKind = ['identificatie', 'status', 'voorkomenidentificatie', 'beginGeldigheid'];
const ofPlaats = [...ofEveryKind, 'heeftAlsHoofdadres', 'geometrie'];
const required: Record<StandKind, string[]> = {
  NUM: [...ofEveryKind, 'huisnummer', 'OpenbareRuimteRef'],
  OPR: [...ofEveryKind, 'naam', 'WoonplaatsRef'],
  WPL: [...ofEveryKind, 'naam'],
  VBO: [...ofPlaats, 'gebruiksdoel', 'oppervlakte'],
  LIG: ofPlaats,
  STA: ofPlaats,
};

/** The fields of an element as an occurrence. `refuse` makes the error for a missing value. */
export function occurrenceOf(kind: StandKind, fields: Fields, refuse: (problem: string) => ExtractError): Occurrence {
  const missing = required[kind].find((field) => fields[field] === undefined);
  if (missing) throw refuse(`an occurrence without ${missing}`);
  return fields as Occurrence;
}

/** The statuses of an object that does not exist, or no longer. */
export const withdrawnStatuses: Record<StandKind, string[]> = {
  NUM: ['Naamgeving ingetrokken'],
  OPR: ['Naamgeving ingetrokken'],
  WPL: ['Woonplaats ingetrokken'],
  VBO: ['Verblijfsobject ingetrokken', 'Niet gerealiseerd verblijfsobject', 'Verblijfsobject ten onrechte opgevoerd'],
  LIG: ['Plaats ingetrokken'],
  STA: ['Plaats ingetrokken'],
};

function isLiveStatus(kind: StandKind, status: string): boolean {
  if (kind !== 'VBO') return status === liveStatus[kind];
  return isObjectStatus(status) && status !== liveStatus.LIG;
}

/** Called with an occurrence that counts, or will. */
export type StandVisit<T> = (read: T, span: Span) => void;

/** How to read the occurrences of a file. */
export type ReadOptions<T> = {
  /** Leaves everything to the strict parser. */
  strictly?: boolean;
  /** Visits what will count on a later date. */
  later?: StandVisit<T> | undefined;
};

/** Turns an occurrence of `K` into the visited value, on the date (`visit`) or a later date (`later`). */
type Visits<K extends StandKind, T> = Pick<ReadOptions<T>, 'later'> & {
  toObject(read: ObjectOf[K]): T;
  visit: StandVisit<T>;
};

/** Counts an occurrence by whether it is current on `day`, and returns whether it is, or will be on a later day. */
export function countVoorkomen(geldigheid: Geldigheid, day: number, counts: ReadCounts): 'current' | 'later' | null {
  counts.voorkomens++;
  const reason = whyNotCurrent(geldigheid, day);
  if (reason === null) return 'current';
  counts.notCurrent[reason]++;
  return reason === 'future' && whyNotCurrent(geldigheid, geldigheid.span.begin) === null ? 'later' : null;
}

/**
 * Adds an occurrence to `counts`, and visits it if it counts on `peildatum` or will later. @throws ExtractError for an
 * unknown status, date or number: without them nobody can tell whether the object exists
 */
export function visitStand<K extends StandKind, T>(
  kind: K,
  fields: Occurrence,
  file: string,
  peildatum: string,
  counts: ReadCounts,
  { toObject, visit, later }: Visits<K, T>,
): void {
  const geldigheid = geldigheidOf(kind, fields, file);
  const { span } = geldigheid;
  const day = dayOf(peildatum);
  const when = countVoorkomen(geldigheid, day, counts);
  const read = when && readObject(kind, fields, file);
  if (!read) return;
  if (when === 'later') {
    if (!isProblem(read)) later?.(toObject(read), span);
  } else if (isProblem(read)) {
    counts.problems.push(read);
  } else {
    counts.current++;
    visit(toObject(read), span);
  }
}

/** Which occurrence of its object an element describes, and when it holds. @throws ExtractError */
export function spanOf(fields: Occurrence, file: string): Span {
  const volgnummer = xsdInteger(fields.voorkomenidentificatie);
  if (volgnummer === null || volgnummer < 0 || volgnummer > 99_999) {
    const rule = 'a whole number of 0 to 99999';
    throw unreadable(file, fields.identificatie, 'voorkomenidentificatie', fields.voorkomenidentificatie, rule);
  }
  return {
    volgnummer,
    begin: dayIn(fields, 'beginGeldigheid', file),
    eind: fields.eindGeldigheid === undefined ? noEind : dayIn(fields, 'eindGeldigheid', file),
  };
}

/** The fields that decide whether an occurrence counts. @throws ExtractError */
export function geldigheidOf(kind: StandKind, fields: Occurrence, file: string): Geldigheid {
  const { identificatie, status, tijdstipInactief, tijdstipInactiefLV, tijdstipNietBagLV } = fields;
  const isLive = isLiveStatus(kind, status);
  if (!isLive && !withdrawnStatuses[kind].includes(status)) {
    throw unreadable(file, identificatie, 'status', status, `a status of ${kind} in the schema`);
  }
  return {
    span: spanOf(fields, file),
    isLive,
    isInactief: tijdstipInactief !== undefined || tijdstipInactiefLV !== undefined,
    isNietBag: tijdstipNietBagLV !== undefined,
  };
}

function dayIn(fields: Occurrence, field: string, file: string): number {
  const text = fields[field] as string;
  const date = xsdDate(text);
  if (date === null) throw unreadable(file, fields.identificatie, field, text, 'a date (xs:date)');
  return dayOf(date);
}

type Rule = [field: string, pattern: RegExp];

const objectId: Rule = ['identificatie', /^\d{16}$/];
const placeRef: Rule = ['WoonplaatsRef', /^\d{4}$/];
/** `\S.*` as in XML Schema, up to 80 characters: JavaScript's `\s` and `.` include other white space and line ends. */
const name: Rule = ['naam', /^[^ \t\r\n][^\r\n]{0,79}$/u];
const hoofdadres: Rule = ['heeftAlsHoofdadres', /^\d{16}$/];
const nevenadressen: Rule = ['heeftAlsNevenadres', /^\d{16}(?:\0\d{16})*$/];
const rules: Record<StandKind, Rule[]> = {
  NUM: [
    objectId,
    ['huisnummer', /^[ \t\r\n]*[1-9]\d{0,4}[ \t\r\n]*$/],
    ['huisletter', /^[A-Za-z]$/],
    ['huisnummertoevoeging', /^[0-9A-Za-z]{1,4}$/],
    ['postcode', /^[1-9]\d{3}[A-Z]{2}$/],
    ['OpenbareRuimteRef', /^\d{16}$/],
    placeRef,
  ],
  OPR: [objectId, name, placeRef],
  WPL: [['identificatie', /^\d{4}$/], name],
  VBO: [objectId, hoofdadres, nevenadressen, ['oppervlakte', /^[ \t\r\n]*[1-9]\d{0,5}[ \t\r\n]*$/]],
  LIG: [objectId, hoofdadres, nevenadressen],
  STA: [objectId, hoofdadres, nevenadressen],
};

/** The object in the fields of an occurrence, by kind. */
export type ObjectOf = { NUM: Nummeraanduiding; OPR: OpenbareRuimte; WPL: Woonplaats } & Record<
  ObjectenKind,
  AdresseerbaarObject
>;

const objectOf: { [K in StandKind]: (fields: Occurrence, file: string) => ObjectOf[K] | Problem } = {
  NUM: (fields) => ({
    identificatie: fields.identificatie,
    huisnummer: Number(fields.huisnummer),
    huisletter: fields.huisletter ?? '',
    huisnummertoevoeging: fields.huisnummertoevoeging ?? '',
    postcode: fields.postcode ?? null,
    openbareRuimte: fields.OpenbareRuimteRef as string,
    woonplaats: fields.WoonplaatsRef ?? null,
  }),
  OPR: ({ identificatie, naam, WoonplaatsRef }) => ({
    identificatie,
    naam: naam as string,
    woonplaats: WoonplaatsRef as string,
  }),
  WPL: ({ identificatie, naam }) => ({ identificatie, naam: naam as string }),
  VBO: (fields, file) => adresseerbaarObject('verblijfsobject', fields, file),
  LIG: (fields, file) => adresseerbaarObject('ligplaats', fields, file),
  STA: (fields, file) => adresseerbaarObject('standplaats', fields, file),
};

/** The object of an occurrence that counts, or which of its values the register's rules forbid. */
function readObject<K extends StandKind>(kind: K, fields: Occurrence, file: string): ObjectOf[K] | Problem {
  const broken = rules[kind].find(([field, pattern]) => fields[field] !== undefined && !pattern.test(fields[field]));
  if (!broken) return objectOf[kind](fields, file);
  const detail = `${broken[0]} '${fields[broken[0]]?.replaceAll(betweenValues, ' ')}'`;
  return { kind: 'invalid_value', file, identificatie: fields.identificatie, detail };
}

function adresseerbaarObject(type: AdresObjectType, fields: Occurrence, file: string): AdresseerbaarObject | Problem {
  const { identificatie, status, heeftAlsHoofdadres, heeftAlsNevenadres, oppervlakte } = fields;
  const gebruiksdoelen = valuesOf(fields.gebruiksdoel);
  const locatie = locationOf(fields.geometrie as string);
  if (typeof locatie === 'string') return { kind: 'location_unknown', file, identificatie, detail: locatie };
  return {
    ...{ identificatie, type, status },
    hoofdadres: heeftAlsHoofdadres as string,
    nevenadressen: valuesOf(heeftAlsNevenadres),
    locatie,
    ...(type === 'verblijfsobject' && { oppervlakte: Number(oppervlakte), gebruiksdoelen }),
  };
}

/**
 * The occurrence that an element describes; `null` for an occurrence that counts on no date: withdrawn, inactive,
 * outside the BAG, or ended on the day it began. A value that the register's rules forbid is a `Problem`.
 * @throws ExtractError if it is unclear whether it counts
 */
export function toObjectVoorkomen(
  kind: StandKind,
  fields: Occurrence,
  file: string,
): ObjectVoorkomen | AdresseerbaarVoorkomen | Problem | null {
  const geldigheid = geldigheidOf(kind, fields, file);
  const { span } = geldigheid;
  if (whyNotCurrent(geldigheid, span.begin) !== null) return null;
  const read = readObject(kind, fields, file);
  return isProblem(read) ? read : ({ kind, ...read, ...span } as ObjectVoorkomen | AdresseerbaarVoorkomen);
}

/** The error for a value that is not `rule`. */
function unreadable(file: string, identificatie: string, field: string, value: string, rule: string): ExtractError {
  const problem = `${field} '${collapse(value)}' of object ${identificatie} is not ${rule}`;
  return new ExtractError('invalid_xml', file, `${problem}; get the extract again, or update this program`);
}
