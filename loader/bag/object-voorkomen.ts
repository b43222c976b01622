import { ExtractError } from '../extract-error.ts';
import { toNummeraanduiding, toOpenbareRuimte, toWoonplaats } from './interpret-stand.ts';
import { isProblem, type Problem } from './problem-report.ts';
import type { ObjectKind } from './schema.ts';
import type { Fields } from './stand-parser.ts';
import { liveStatus } from './voorkomen.ts';

/** What every occurrence has; dates are `2021-10-15`. */
type Voorkomen = {
  identificatie: string;
  /** Which occurrence of its object it is (voorkomenidentificatie), from 1. */
  volgnummer: number;
  begin: string;
  /** The first day on which it no longer holds, or `null`. */
  eind: string | null;
};

export type NumVoorkomen = Voorkomen & {
  kind: 'NUM';
  huisnummer: number;
  huisletter: string;
  huisnummertoevoeging: string;
  postcode: string | null;
  openbareRuimte: string;
  /** Its own place, where that differs from its street's. */
  woonplaats: string | null;
};
export type OprVoorkomen = Voorkomen & { kind: 'OPR'; naam: string; woonplaats: string };
export type WplVoorkomen = Voorkomen & { kind: 'WPL'; naam: string };

/** One occurrence of an object that addresses are made of. */
export type ObjectVoorkomen = NumVoorkomen | OprVoorkomen | WplVoorkomen;

const datePattern = /^\d{4}-\d{2}-\d{2}$/;
const blanks = /^[ \t\r\n]+|[ \t\r\n]+$/g;

/**
 * The occurrence that an element describes; `null` for one that can never count, on whatever date: withdrawn, inactive,
 * outside the BAG, or ended before it began. A value that the register's own rules forbid is a `Problem`. Throws
 * `ExtractError` where nobody could say whether it counts.
 */
export function toObjectVoorkomen(kind: ObjectKind, fields: Fields, file: string): ObjectVoorkomen | Problem | null {
  const begin = date(fields.beginGeldigheid, fields, file);
  const eind = fields.eindGeldigheid === undefined ? null : date(fields.eindGeldigheid, fields, file);
  const volgnummer = volgnummerOf(fields, file);
  if (fields.status !== liveStatus[kind]) return requireWithdrawn(kind, fields, file);
  if (fields.tijdstipInactief ?? fields.tijdstipInactiefLV ?? fields.tijdstipNietBagLV) return null;
  if (eind !== null && eind <= begin) return null;
  const occurrence = { volgnummer, begin, eind };
  switch (kind) {
    case 'NUM': {
      const num = toNummeraanduiding(fields, file);
      return isProblem(num) ? num : { kind, ...num, identificatie: num.identificatie(), ...occurrence };
    }
    case 'OPR': {
      const opr = toOpenbareRuimte(fields, file);
      return isProblem(opr) ? opr : { kind, ...opr, ...occurrence };
    }
    case 'WPL': {
      const wpl = toWoonplaats(fields, file);
      return isProblem(wpl) ? wpl : { kind, ...wpl, ...occurrence };
    }
  }
}

/** Which occurrence of its object an element describes. */
export function volgnummerOf(fields: Fields, file: string): number {
  const text = (fields.voorkomenidentificatie ?? '').replace(blanks, '');
  if (!/^\d{1,9}$/.test(text)) throw unreadable(fields, file, 'voorkomenidentificatie', text);
  return Number(text);
}

const withdrawn: Record<ObjectKind, string> = {
  NUM: 'Naamgeving ingetrokken',
  OPR: 'Naamgeving ingetrokken',
  WPL: 'Woonplaats ingetrokken',
};

function requireWithdrawn(kind: ObjectKind, fields: Fields, file: string): null {
  if (fields.status === withdrawn[kind]) return null;
  throw unreadable(fields, file, 'status', fields.status ?? '');
}

function date(text: string | undefined, fields: Fields, file: string): string {
  const found = (text ?? '').replace(blanks, '');
  if (!datePattern.test(found)) throw unreadable(fields, file, 'date', found);
  return found;
}

function unreadable({ identificatie }: Fields, file: string, what: string, value: string): ExtractError {
  const problem = `object ${identificatie} has an unknown ${what} '${value}'; get the file again, or update this program`;
  return new ExtractError('invalid_xml', file, problem);
}
