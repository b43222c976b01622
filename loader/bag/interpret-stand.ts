import type { AdresObjectType } from '../../core/adres-object.ts';
import { ExtractError } from '../load-error.ts';
import {
  fieldName,
  fieldsOfKind,
  type ObjectenKind,
  repeatedFields,
  type StandKind,
  statuses,
} from './elements.ts';
import { locationOf } from './location.ts';
import { isProblem, type Problem, type ReadCounts } from './problem-report.ts';
import {
  type AdresseerbaarVoorkomen,
  type AnyVoorkomen,
  dayOf,
  type Geldigheid,
  type NumVoorkomen,
  noEind,
  type OprVoorkomen,
  type Span,
  type WplVoorkomen,
  whyNotCurrent,
} from './voorkomen.ts';
import { xsdDate, xsdInteger } from './xsd-values.ts';

/**
 * The values of an object by `fieldName`. Those of a repeated element have `betweenValues` between
 * them.
 */
export type Fields = Partial<Record<string, string>>;

/** Not a character of XML. */
export const betweenValues = '\0';
const repeated = new Set(repeatedFields.map(({ name }) => name));

/**
 * Adds the text of an element, in its parent, to the fields of its object, or returns false if it
 * is set.
 */
export function addField(fields: Fields, element: string, text: string, parent: string): boolean {
  const field = fieldName(element, parent);
  const before = fields[field];
  if (before !== undefined && !repeated.has(field)) return false;
  fields[field] = before === undefined ? text : `${before}${betweenValues}${text}`;
  return true;
}

/** The different values of a repeated element, sorted. */
export function valuesOf(field: string | undefined): string[] {
  return field === undefined ? [] : [...new Set(field.split(betweenValues))].sort();
}

/** The values of one occurrence, which has all that the schema requires. */
export type Occurrence = Fields &
  Record<'identificatie' | 'status' | 'voorkomenidentificatie' | 'beginGeldigheid', string>;

/** The fields of an element as an occurrence. `refuse` makes the error for a missing value. */
export function occurrenceOf(
  kind: StandKind,
  fields: Fields,
  refuse: (problem: string) => ExtractError,
): Occurrence {
  const missing = fieldsOfKind[kind].find(
    ({ name, isRequired }) => isRequired && fields[name] === undefined,
  );
  if (missing) throw refuse(`an occurrence without ${missing.name}`);
  return fields as Occurrence;
}

export type VoorkomenOf = { NUM: NumVoorkomen; OPR: OprVoorkomen; WPL: WplVoorkomen } & Record<
  ObjectenKind,
  AdresseerbaarVoorkomen
>;

/** Visits the occurrences that count on the day (`visit`) or on a later one (`later`). */
export type Visits<T> = { visit(voorkomen: T): void; later?: ((voorkomen: T) => void) | undefined };

/**
 * Counts an occurrence by whether it is current on `day`, and returns whether it is, or will be on
 * a later day.
 */
export function countVoorkomen(
  geldigheid: Geldigheid,
  day: number,
  counts: ReadCounts,
): 'current' | 'later' | null {
  counts.voorkomens++;
  const reason = whyNotCurrent(geldigheid, day);
  if (reason === null) return 'current';
  counts.notCurrent[reason]++;
  return reason === 'future' && whyNotCurrent(geldigheid, geldigheid.span.begin) === null
    ? 'later'
    : null;
}

/**
 * Adds an occurrence to `counts`, and visits it if it counts on `day` or will later. `fields` is
 * called only then.
 */
export function visitStand<K extends StandKind>(
  kind: K,
  geldigheid: Geldigheid,
  fields: () => Occurrence,
  file: string,
  day: number,
  counts: ReadCounts,
  { visit, later }: Visits<VoorkomenOf[K]>,
): void {
  const when = countVoorkomen(geldigheid, day, counts);
  const read = when && readObject(kind, fields(), geldigheid.span, file);
  if (!read) return;
  if (when === 'current' && isProblem(read)) counts.problems.push(read);
  else if (when === 'current') counts.current++;
  if (!isProblem(read)) (when === 'current' ? visit : later)?.(read);
}

/** Which occurrence of its object an element describes, and when it holds. @throws ExtractError */
export function spanOf(fields: Occurrence, file: string): Span {
  const volgnummer = xsdInteger(fields.voorkomenidentificatie);
  if (volgnummer === null || volgnummer < 0 || volgnummer > 99_999) {
    const rule = 'a whole number of 0 to 99999';
    throw unreadable(
      file,
      fields.identificatie,
      'voorkomenidentificatie',
      fields.voorkomenidentificatie,
      rule,
    );
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
  const { live, withdrawn } = statuses[kind];
  const isLive = live.includes(status);
  if (!isLive && !withdrawn.includes(status)) {
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

const voorkomenOf: {
  [K in StandKind]: (fields: Occurrence, span: Span, file: string) => VoorkomenOf[K] | Problem;
} = {
  NUM: (fields, span) => ({
    kind: 'NUM',
    ...span,
    identificatie: fields.identificatie,
    huisnummer: Number(fields.huisnummer),
    huisletter: fields.huisletter ?? '',
    huisnummertoevoeging: fields.huisnummertoevoeging ?? '',
    postcode: fields.postcode ?? null,
    openbareRuimte: fields.OpenbareRuimteRef as string,
    woonplaats: fields.WoonplaatsRef ?? null,
  }),
  OPR: ({ identificatie, naam = '', WoonplaatsRef = '' }, span) => ({
    kind: 'OPR',
    ...span,
    identificatie,
    naam,
    woonplaats: WoonplaatsRef,
  }),
  WPL: ({ identificatie, naam = '' }, span) => ({ kind: 'WPL', ...span, identificatie, naam }),
  VBO: (fields, span, file) => adresseerbaarObject('VBO', 'verblijfsobject', fields, span, file),
  LIG: (fields, span, file) => adresseerbaarObject('LIG', 'ligplaats', fields, span, file),
  STA: (fields, span, file) => adresseerbaarObject('STA', 'standplaats', fields, span, file),
};

/** The values of an occurrence that counts, or the value that the register's rules forbid. */
function readObject<K extends StandKind>(
  kind: K,
  fields: Occurrence,
  span: Span,
  file: string,
): VoorkomenOf[K] | Problem {
  for (const { name, rule, isRepeated } of fieldsOfKind[kind]) {
    const value = fields[name];
    if (rule === undefined || value === undefined) continue;
    if (isRepeated ? valuesOf(value).every((item) => rule.test(item)) : rule.test(value)) continue;
    const detail = `${name} '${value.replaceAll(betweenValues, ' ')}'`;
    return { kind: 'invalid_value', file, identificatie: fields.identificatie, detail };
  }
  return voorkomenOf[kind](fields, span, file);
}

function adresseerbaarObject(
  kind: ObjectenKind,
  type: AdresObjectType,
  fields: Occurrence,
  span: Span,
  file: string,
): AdresseerbaarVoorkomen | Problem {
  const {
    identificatie,
    status,
    heeftAlsHoofdadres = '',
    heeftAlsNevenadres,
    geometrie = '',
    oppervlakte,
  } = fields;
  const locatie = locationOf(geometrie);
  if (typeof locatie === 'string') {
    return { kind: 'location_unknown', file, identificatie, detail: locatie };
  }
  return {
    kind,
    ...span,
    identificatie,
    type,
    status,
    hoofdadres: heeftAlsHoofdadres,
    nevenadressen: valuesOf(heeftAlsNevenadres),
    locatie,
    ...(kind === 'VBO' && {
      oppervlakte: Number(oppervlakte),
      gebruiksdoelen: valuesOf(fields.gebruiksdoel),
    }),
  };
}

/**
 * The occurrence that an element describes; `null` for an occurrence that counts on no date:
 * withdrawn, inactive, outside the BAG, or ended on the day it began. A value that the register's
 * rules forbid is a `Problem`.
 * @throws ExtractError if it is unclear whether it counts
 */
export function toVoorkomen(
  kind: StandKind,
  fields: Occurrence,
  file: string,
): AnyVoorkomen | Problem | null {
  const geldigheid = geldigheidOf(kind, fields, file);
  const { span } = geldigheid;
  return whyNotCurrent(geldigheid, span.begin) === null
    ? readObject(kind, fields, span, file)
    : null;
}

function unreadable(
  file: string,
  identificatie: string,
  field: string,
  value: string,
  rule: string,
): ExtractError {
  const problem = `${field} '${value.trim()}' of object ${identificatie} is not ${rule}`;
  return new ExtractError(
    'invalid_xml',
    file,
    `${problem}; get the extract again, or update this program`,
  );
}
