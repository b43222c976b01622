import { geldigheidOf, spanOf, toNummeraanduiding, toOpenbareRuimte, toWoonplaats } from './interpret-stand.ts';
import { isProblem, type Problem } from './problem-report.ts';
import type { ObjectKind } from './schema.ts';
import type { Fields } from './stand-parser.ts';
import {
  liveStatus,
  type Nummeraanduiding,
  type OpenbareRuimte,
  type Span,
  type Woonplaats,
  whyNotCurrent,
} from './voorkomen.ts';

export type NumVoorkomen = Span &
  Omit<Nummeraanduiding, 'identificatie' | 'writeIdentificatie'> & { kind: 'NUM'; identificatie: string };
export type OprVoorkomen = Span & OpenbareRuimte & { kind: 'OPR' };
export type WplVoorkomen = Span & Woonplaats & { kind: 'WPL' };

/**
 * One occurrence (voorkomen) of a nummeraanduiding, openbare ruimte or woonplaats, which counts from its `begin` until
 * its `eind`.
 */
export type ObjectVoorkomen = NumVoorkomen | OprVoorkomen | WplVoorkomen;

/**
 * The occurrence that an element describes; `null` for one that never counts on any date: withdrawn, inactive, outside
 * the BAG, or ended on the day it began. A value that the register's rules forbid is a `Problem`. Throws `ExtractError`
 * where it is unclear whether it counts.
 */
export function toObjectVoorkomen(kind: ObjectKind, fields: Fields, file: string): ObjectVoorkomen | Problem | null {
  const geldigheid = geldigheidOf(kind, fields, file);
  const span = spanOf(fields, file);
  if (whyNotCurrent(geldigheid, liveStatus[kind], geldigheid.beginGeldigheid) !== null) return null;
  switch (kind) {
    case 'NUM': {
      const num = toNummeraanduiding(fields, file);
      if (isProblem(num)) return num;
      const { identificatie, writeIdentificatie: _, ...rest } = num;
      return { kind, ...rest, identificatie: identificatie(), ...span };
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
