import { hasPostcode } from '../../core/addresses/address-key.ts';
import type { Place } from '../../core/place-fields.ts';
import type { Problem } from '../bag/problem-report.ts';
import {
  dayOf,
  dayText,
  type Nummeraanduiding,
  noEind,
  type OpenbareRuimte,
  type Woonplaats,
} from '../bag/voorkomen.ts';
import { dayAt } from './fields.ts';
import { placeText, type Rows } from './lines.ts';
import { elsewhere, fieldsAt, identificatieOf, noPlace, type ObjectLine, parseObjectLine } from './objects.ts';

/** Finds an object by its identification; a `Map` does. */
type Lookup<T> = { get(identificatie: string): T | undefined };

/** The current streets and places, which the addresses on a date take their names from. */
export type Reference = { openbareRuimten: Lookup<OpenbareRuimte>; woonplaatsen: Lookup<Woonplaats> };

/** The streets or places before some of them changed: of these only the ones that there were. */
export function lookupBefore<T extends { identificatie: string }>(
  now: Lookup<T>,
  changed: Iterable<string>,
  were: readonly T[],
): Lookup<T> {
  const [ids, then] = [new Set(changed), new Map(were.map((one) => [one.identificatie, one]))];
  return { get: (identificatie) => (ids.has(identificatie) ? then : now).get(identificatie) };
}

const asterisk = 0x2a;

/** What follows from the objects of a part on a date. */
export type Derived = Rows & {
  /** The first later date on which an occurrence begins or ceases to be valid, or `null` where none does. */
  next: string | null;
};

/**
 * The address rows of one part on `peildatum`, from its lines in order. Of several occurrences of an object that are
 * current at once the last to begin counts, then the one with the highest number; the others, and those without a
 * postcode, a street or a place, are problems. `file` is for these.
 */
export function deriveRows(
  lines: readonly ObjectLine[],
  reference: Reference,
  peildatum: string,
  file: string,
  onProblem: (problem: Problem) => void,
): Derived {
  const day = dayOf(peildatum);
  const keys: string[] = [];
  const places: string[] = [];
  const ids: string[] = [];
  let next = noEind;
  let chosen: Set<ObjectLine> | undefined;
  const placeOf = placesBy(reference);
  for (const line of lines) {
    const at = line.indexOf('\t');
    const begin = dayAt(line, at + fieldsAt.begin);
    const eind = dayAt(line, at + fieldsAt.eind);
    if (begin > day && begin < next) next = begin;
    if (eind > day && eind < next) next = eind;
    if (begin > day || eind <= day) continue;
    if (line.charCodeAt(at + fieldsAt.several) === asterisk) {
      chosen ??= chosenOf(lines, day, file, onProblem);
      if (!chosen.delete(line)) continue;
    }
    if (!hasPostcode(line)) {
      onProblem({ kind: 'no_postcode', file, identificatie: identificatieOf(line) });
      continue;
    }
    const found = placeOf(line, at + fieldsAt.street);
    if (typeof found === 'string') {
      keys.push(line.slice(0, at));
      places.push(found);
      ids.push(line.slice(at + fieldsAt.identificatie, at + fieldsAt.begin));
    } else onProblem({ ...found, file, identificatie: identificatieOf(line) });
  }
  return { keys, places, ids, next: next === noEind ? null : dayText(next) };
}

/** Of the objects with several occurrences the lines that count on `day` and belong to this part. */
function chosenOf(
  lines: readonly ObjectLine[],
  day: number,
  file: string,
  onProblem: (problem: Problem) => void,
): Set<ObjectLine> {
  const several = new Map<string, ObjectLine[]>();
  for (const line of lines) {
    const at = line.indexOf('\t');
    const isSeveral = line.charCodeAt(at + fieldsAt.several) === asterisk;
    if (!isSeveral || dayAt(line, at + fieldsAt.begin) > day || dayAt(line, at + fieldsAt.eind) <= day) continue;
    const id = identificatieOf(line);
    several.set(id, [...(several.get(id) ?? []), line]);
  }
  const chosen = new Set<ObjectLine>();
  for (const [identificatie, occurrences] of several) {
    const [first, ...others] = occurrences.sort(lastToBegin);
    if (first && !first.startsWith(elsewhere)) chosen.add(first);
    for (const other of others) {
      // Counted once, in the part that it belongs to.
      if (!other.startsWith(elsewhere)) onProblem({ kind: 'several_current', file, identificatie });
    }
  }
  return chosen;
}

function lastToBegin(a: ObjectLine, b: ObjectLine): number {
  const [first, second] = [parseObjectLine(a), parseObjectLine(b)];
  return second.begin - first.begin || second.volgnummer - first.volgnummer || compareUnmarked(a, b);
}

/** The greatest first, whichever part the lines are in: each part must choose the same one. */
function compareUnmarked(a: ObjectLine, b: ObjectLine): number {
  const [first, second] = [a, b].map((line) => (line.startsWith(elsewhere) ? line.slice(1) : line)) as [string, string];
  return first < second ? 1 : first > second ? -1 : 0;
}

const referencesLength = fieldsAt.several - fieldsAt.street;

/**
 * The places part of a row by the street and the own place of a line, which stand in it at `start`: worked out once for
 * all addresses of a street. Or the problem, where one of them is not there.
 */
function placesBy(
  reference: Reference,
): (line: ObjectLine, start: number) => string | Pick<Problem, 'kind' | 'detail'> {
  const known = new Map<string, string | Pick<Problem, 'kind' | 'detail'>>();
  let last = '';
  let lastFound: string | Pick<Problem, 'kind' | 'detail'> = '';
  return (line, start) => {
    // Usually the same as on the line before.
    if (last !== '' && line.startsWith(last, start)) return lastFound;
    const text = line.slice(start, start + referencesLength);
    let found = known.get(text);
    if (found === undefined) {
      const place = text.slice(16);
      const placed = toPlace(
        { openbareRuimte: text.slice(0, 16), woonplaats: place === noPlace ? null : place },
        reference,
      );
      found = 'kind' in placed ? placed : placeText(placed);
      known.set(text, found);
    }
    last = text;
    lastFound = found;
    return found;
  };
}

/**
 * The street and place of a current nummeraanduiding, or the problem that prevents an address: its street or place is
 * not current. Never guesses.
 */
export function toPlace(
  { openbareRuimte, woonplaats }: Pick<Nummeraanduiding, 'openbareRuimte' | 'woonplaats'>,
  reference: Reference,
): Place | Pick<Problem, 'kind' | 'detail'> {
  const street = reference.openbareRuimten.get(openbareRuimte);
  if (!street) return { kind: 'street_missing', detail: openbareRuimte };
  const identificatie = woonplaats ?? street.woonplaats;
  const place = reference.woonplaatsen.get(identificatie);
  if (!place) return { kind: 'place_missing', detail: identificatie };
  return { straat: street.naam, woonplaats: place.naam };
}
