/** The relations between woonplaatsen and gemeenten: the file GEM-WPL-RELATIE of every delivery. */

import { isKnownGemeente } from '../../core/gemeenten.ts';
import { ExtractError } from '../load-error.ts';
import type { Problem } from './problem-report.ts';
import { relatieDocument, SchemaParser } from './schema.ts';
import { dayOf, type GemeenteRelatie, noEind, type WoonplaatsInGemeente } from './voorkomen.ts';
import { xsdDate } from './xsd-values.ts';

/** The prefix of the names of its zip and its XML. */
export const relatieFile = 'GEM-WPL-RELATIE';

const relatie = 'gwr-product:GemeenteWoonplaatsRelatie';

/** The fields of a relation, by their elements; an identificatie by its parent element. */
const fields = {
  'bagtypes:begindatumTijdvakGeldigheid': 'begin',
  'bagtypes:einddatumTijdvakGeldigheid': 'eind',
  'gwr-product:gerelateerdeWoonplaats': 'woonplaats',
  'gwr-product:gerelateerdeGemeente': 'gemeente',
  'gwr-product:status': 'status',
} as const;
type Field = (typeof fields)[keyof typeof fields];
const required: Field[] = ['begin', 'woonplaats', 'gemeente', 'status'];

/**
 * Reads the relations with status `definitief`, whatever their dates. @throws ExtractError, also
 * for another date
 */
export function readGemeenteRelaties(
  xml: Buffer,
  file: string,
  peildatum: string,
): { relaties: GemeenteRelatie[]; problems: Problem[] } {
  const relaties: GemeenteRelatie[] = [];
  const problems: Problem[] = [];
  let read: Partial<Record<Field, string>> = {};
  let parent = '';
  let stand: string | undefined;
  const parser = new SchemaParser(relatieDocument, file, {
    onOpen(name) {
      if (name === relatie) read = {};
      if (name !== 'gwr-product:identificatie') parent = name;
    },
    onText(name, text) {
      if (name === 'selecties-extract:StandTechnischeDatum') {
        stand = xsdDate(text) ?? text.trim();
        return;
      }
      const field =
        fields[(name === 'gwr-product:identificatie' ? parent : name) as keyof typeof fields];
      if (read[field] !== undefined) throw parser.invalid(`a second ${field} in one relation`);
      read[field] = text.trim();
    },
    onClose(name) {
      if (name !== relatie) return;
      const missing = required.find((field) => read[field] === undefined);
      if (missing) throw parser.invalid(`a relation without ${missing}`);
      const { begin = '', eind, woonplaats = '', gemeente = '', status } = read;
      if (status !== 'definitief') return;
      const span = { begin: dayIn(begin), eind: eind === undefined ? noEind : dayIn(eind) };
      if (/^\d{4}$/.test(woonplaats) && /^\d{4}$/.test(gemeente)) {
        relaties.push({ woonplaats, gemeente, ...span });
      } else {
        problems.push({
          kind: 'invalid_value',
          file,
          identificatie: woonplaats,
          detail: `gemeente '${gemeente}'`,
        });
      }
    },
  });
  const dayIn = (text: string): number => {
    const date = xsdDate(text);
    if (date === null) throw parser.invalid(`'${text}' in a relation is not a date (xs:date)`);
    return dayOf(date);
  };
  parser.write(xml);
  parser.close();
  if (stand === peildatum) return { relaties, problems };
  const problem = `is of ${stand || 'no date'}, in a delivery of ${peildatum}; get it again`;
  throw new ExtractError('mixed_peildatums', file, problem);
}

/**
 * The woonplaatsen without a gemeente, and codes without a name; one problem if no woonplaats has
 * one.
 */
export function gemeenteProblems(places: readonly WoonplaatsInGemeente[], file: string): Problem[] {
  const missing = places
    .filter(({ gemeente }) => gemeente === undefined)
    .map(({ identificatie }) => identificatie);
  const unknown = new Set(
    places.flatMap(({ gemeente }) => gemeente ?? []).filter((code) => !isKnownGemeente(code)),
  );
  const isNone = missing.length > 0 && missing.length === places.length;
  return [
    ...(isNone ? [relatieFile] : missing).map((identificatie) =>
      problemOf('gemeente_missing', identificatie),
    ),
    ...[...unknown].map((identificatie) => problemOf('gemeente_unknown', identificatie)),
  ];

  function problemOf(kind: Problem['kind'], identificatie: string): Problem {
    return { kind, file, identificatie };
  }
}
