import { ExtractError } from '../extract-error.ts';
import { isProblem, keep, type Problem, type ReadCounts } from './problem-report.ts';
import type { ObjectKind } from './schema.ts';
import {
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

/** Values by the local name of their element: `identificatie`, `beginGeldigheid`, `WoonplaatsRef`. */
export type Fields = Partial<Record<string, string>>;

/** The values of one occurrence, which has all that the schema requires. */
export type Occurrence = Fields &
  Record<'identificatie' | 'status' | 'voorkomenidentificatie' | 'beginGeldigheid', string>;

const ofEveryKind = ['identificatie', 'status', 'voorkomenidentificatie', 'beginGeldigheid'];
const required: Record<ObjectKind, string[]> = {
  NUM: [...ofEveryKind, 'huisnummer', 'OpenbareRuimteRef'],
  OPR: [...ofEveryKind, 'naam', 'WoonplaatsRef'],
  WPL: [...ofEveryKind, 'naam'],
};

/**
 * The fields of one element as an occurrence. `refuse` makes the error for one without a value that the schema
 * requires.
 */
export function occurrenceOf(kind: ObjectKind, fields: Fields, refuse: (problem: string) => ExtractError): Occurrence {
  const missing = required[kind].find((field) => fields[field] === undefined);
  if (missing) throw refuse(`an occurrence without ${missing}`);
  return fields as Occurrence;
}

const knownStatuses: Record<ObjectKind, string[]> = {
  NUM: [liveStatus.NUM, 'Naamgeving ingetrokken'],
  OPR: [liveStatus.OPR, 'Naamgeving ingetrokken'],
  WPL: [liveStatus.WPL, 'Woonplaats ingetrokken'],
};

const datePattern = /^\d{4}-\d{2}-\d{2}$/;

/** Called with an occurrence that counts, or will. */
export type StandVisit<T> = (read: T, span: Span) => void;

/** Makes an object from the fields of a current occurrence, or says what is wrong with one of its values. */
export type ReadRule<T> = (fields: Occurrence, file: string) => T | Problem;

/**
 * How to read an occurrence, and the callbacks for one that counts on the date (`visit`) or will on a later one
 * (`later`).
 */
type Visits<T> = Pick<ReadOptions<T>, 'later' | 'since'> & { read: ReadRule<T>; visit: StandVisit<T> };

/** How to read the occurrences of a file. */
export type ReadOptions<T> = {
  /** Leaves everything to the strict parser. */
  strictly?: boolean;
  /** Visits what will count on a later date. */
  later?: StandVisit<T> | undefined;
  /**
   * Counts as `changed` every object of which something was recorded on this day or later, or that began or ended after
   * it.
   */
  since?: number | undefined;
};

/**
 * Whether an occurrence is of an object that counts as changed `since` a day; `recorded` is when the register last
 * recorded something of it.
 */
export function hasChanged({ begin, eind }: Span, recorded: number, since: number, day: number): boolean {
  return recorded >= since || (begin > since && begin <= day) || (eind > since && eind <= day);
}

/**
 * Adds an occurrence to `counts`, and visits it if it counts on `peildatum` or will later.
 * @throws ExtractError for an unknown status, date or number: without them nobody can tell whether the object exists
 */
export function visitStand<T extends object>(
  kind: ObjectKind,
  fields: Occurrence,
  file: string,
  peildatum: string,
  counts: ReadCounts,
  { read, visit, later, since }: Visits<T>,
): void {
  const geldigheid = geldigheidOf(kind, fields, file);
  const span = spanOf(fields, file);
  counts.voorkomens++;
  if (since !== undefined && hasChanged(span, recordedOn(fields), since, dayOf(peildatum))) {
    counts.changed.push(fields.identificatie);
  }
  const reason = whyNotCurrent(geldigheid, liveStatus[kind], peildatum);
  if (reason === null) {
    keep(read(fields, file), counts, (found) => visit(found, span));
    return;
  }
  counts.notCurrent[reason]++;
  if (reason !== 'future' || !later || whyNotCurrent(geldigheid, liveStatus[kind], geldigheid.beginGeldigheid)) return;
  const found = read(fields, file);
  if (!isProblem(found)) later(found, span);
}

/** Which occurrence of its object an element describes, and when it holds. @throws ExtractError */
export function spanOf(fields: Occurrence, file: string): Span {
  const volgnummer = trim(fields.voorkomenidentificatie);
  if (!/^[1-9]\d{0,4}$/.test(volgnummer)) {
    throw unreadable(file, fields.identificatie, 'voorkomenidentificatie', volgnummer);
  }
  const { eindGeldigheid } = fields;
  return {
    volgnummer: Number(volgnummer),
    begin: dayOf(dateIn(fields, fields.beginGeldigheid, file)),
    eind: eindGeldigheid === undefined ? noEind : dayOf(dateIn(fields, eindGeldigheid, file)),
  };
}

/** What decides whether an occurrence counts. @throws ExtractError */
export function geldigheidOf(kind: ObjectKind, fields: Occurrence, file: string): Geldigheid {
  const { identificatie, status, eindGeldigheid, tijdstipInactief, tijdstipInactiefLV, tijdstipNietBagLV } = fields;
  if (!knownStatuses[kind].includes(status)) throw unreadable(file, identificatie, 'status', status);
  return {
    status,
    beginGeldigheid: dateIn(fields, fields.beginGeldigheid, file),
    eindGeldigheid: eindGeldigheid === undefined ? undefined : dateIn(fields, eindGeldigheid, file),
    tijdstipInactief,
    tijdstipInactiefLV,
    tijdstipNietBagLV,
  };
}

/** The last day on which the register recorded something of an occurrence; `noEind` where that can't be told. */
function recordedOn(fields: Occurrence): number {
  const { tijdstipRegistratieLV, tijdstipEindRegistratieLV, tijdstipInactiefLV, tijdstipNietBagLV } = fields;
  const times = [tijdstipRegistratieLV, tijdstipEindRegistratieLV, tijdstipInactiefLV, tijdstipNietBagLV];
  return Math.max(
    ...times.map((time) => (time === undefined ? 0 : dayOf(/^\s*(\d{4}-\d\d-\d\d)/.exec(time)?.[1] ?? '9999-99-99'))),
  );
}

function dateIn({ identificatie }: Occurrence, text: string, file: string): string {
  const date = trim(text);
  if (!datePattern.test(date)) throw unreadable(file, identificatie, 'date', date);
  return date;
}

type Rule = [field: string, pattern: RegExp];

const numRules: Rule[] = [
  ['identificatie', /^\d{16}$/],
  ['huisnummer', /^[ \t\r\n]*[1-9]\d{0,4}[ \t\r\n]*$/],
  ['huisletter', /^[A-Za-z]$/],
  ['huisnummertoevoeging', /^[0-9A-Za-z]{1,4}$/],
  ['postcode', /^[1-9]\d{3}[A-Z]{2}$/],
  ['OpenbareRuimteRef', /^\d{16}$/],
  ['WoonplaatsRef', /^\d{4}$/],
];
/** `\S.*` as in XML Schema, up to 80 characters: JavaScript's `\s` and `.` include other white space and line ends. */
const naam = /^[^ \t\r\n][^\r\n]{0,79}$/u;
const oprRules: Rule[] = [
  ['identificatie', /^\d{16}$/],
  ['naam', naam],
  ['WoonplaatsRef', /^\d{4}$/],
];
const wplRules: Rule[] = [
  ['identificatie', /^\d{4}$/],
  ['naam', naam],
];

/** The nummeraanduiding of a current occurrence, or what is wrong with one of its values. */
export function toNummeraanduiding(fields: Occurrence, file: string): Nummeraanduiding | Problem {
  return (
    invalidValue(fields, numRules, file) ?? {
      identificatie: fields.identificatie,
      huisnummer: Number(fields.huisnummer),
      huisletter: fields.huisletter ?? '',
      huisnummertoevoeging: fields.huisnummertoevoeging ?? '',
      postcode: fields.postcode ?? null,
      openbareRuimte: fields.OpenbareRuimteRef as string,
      woonplaats: fields.WoonplaatsRef ?? null,
    }
  );
}

/** The street of a current occurrence, or what is wrong with one of its values. */
export function toOpenbareRuimte(fields: Occurrence, file: string): OpenbareRuimte | Problem {
  return (
    invalidValue(fields, oprRules, file) ?? {
      identificatie: fields.identificatie,
      naam: fields.naam as string,
      woonplaats: fields.WoonplaatsRef as string,
    }
  );
}

/** The place of a current occurrence, or what is wrong with one of its values. */
export function toWoonplaats(fields: Occurrence, file: string): Woonplaats | Problem {
  return (
    invalidValue(fields, wplRules, file) ?? {
      identificatie: fields.identificatie,
      naam: fields.naam as string,
    }
  );
}

/**
 * The occurrence that an element describes; `null` for one that never counts on any date: withdrawn, inactive, outside
 * the BAG, or ended on the day it began. A value that the register's rules forbid is a `Problem`.
 * @throws ExtractError where it is unclear whether it counts
 */
export function toObjectVoorkomen(
  kind: ObjectKind,
  fields: Occurrence,
  file: string,
): ObjectVoorkomen | Problem | null {
  const geldigheid = geldigheidOf(kind, fields, file);
  const span = spanOf(fields, file);
  if (whyNotCurrent(geldigheid, liveStatus[kind], geldigheid.beginGeldigheid) !== null) return null;
  switch (kind) {
    case 'NUM': {
      const num = toNummeraanduiding(fields, file);
      return isProblem(num) ? num : { kind, ...num, ...span };
    }
    case 'OPR': {
      const opr = toOpenbareRuimte(fields, file);
      return isProblem(opr) ? opr : { kind, ...opr, ...span };
    }
    case 'WPL': {
      const wpl = toWoonplaats(fields, file);
      return isProblem(wpl) ? wpl : { kind, ...wpl, ...span };
    }
  }
}

function invalidValue(fields: Occurrence, rules: Rule[], file: string): Problem | null {
  const broken = rules.find(([field, pattern]) => fields[field] !== undefined && !pattern.test(fields[field]));
  if (!broken) return null;
  const detail = `${broken[0]} '${fields[broken[0]]}'`;
  return { kind: 'invalid_value', file, identificatie: fields.identificatie, detail };
}

function unreadable(file: string, identificatie: string, what: string, value: string): ExtractError {
  const problem = `object ${identificatie} has an unknown ${what} '${value}'; get the extract again, or update this program`;
  return new ExtractError('invalid_xml', file, problem);
}

/** XML Schema ignores blanks around dates and numbers. */
function trim(value: string): string {
  return value.replace(/^[ \t\r\n]+|[ \t\r\n]+$/g, '');
}
