import type { Place } from '../../core/place-fields.ts';
import type { Problem } from '../bag/problem-report.ts';
import {
  dayOf,
  dayText,
  type Nummeraanduiding,
  noEind,
  type OpenbareRuimte,
  type WoonplaatsInGemeente,
} from '../bag/voorkomen.ts';
import { dayIn } from './fields.ts';
import { placeBytes } from './join-rows.ts';
import { placeText } from './lines.ts';
import { elsewhere, fieldsAt, identificatieOf, noPlace, type ObjectLine, parseObjectLine } from './objects.ts';
import { hasSameBytes } from './stored-form.ts';

/** Finds an object by its identification; a `Map` does. */
type Lookup<T> = { get(identificatie: string): T | undefined };

/** The current streets and places, which the addresses on a date take their names from. */
export type Reference = { openbareRuimten: Lookup<OpenbareRuimte>; woonplaatsen: Lookup<WoonplaatsInGemeente> };

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
const tab = 0x09;
const lineEnd = 0x0a;
/** What the line of an object without a postcode begins with. */
const separator = 0x23;

/** What the addresses of a part follow from, beside its objects; `file` is for problems. */
export type DerivedBy = { reference: Reference; peildatum: string; file: string };

/** What follows from the objects of a part on a date, beside its rows. */
type Derived = {
  count: number;
  /** The first later date on which an occurrence begins or ceases to be valid, or `null` where none does. */
  next: string | null;
};

/**
 * Adds to `rows` the addresses of one part on `peildatum`, from its lines in order, as bytes: where the line of
 * each begins, and the bytes of its `placeText`. Of several occurrences of an object that are
 * current at once the last to begin counts, then the one with the highest number; the others, and those without a
 * postcode, a street or a place, are problems.
 */
export function deriveRows(
  lines: Buffer,
  { reference, peildatum, file }: DerivedBy,
  rows: { add(start: number, place: DataView): void },
  onProblem: (problem: Problem) => void,
): Derived {
  const day = dayOf(peildatum);
  let [count, next] = [0, noEind];
  let chosen: Set<ObjectLine> | undefined;
  const placeOf = placesBy(reference, lines);
  for (let start = 0, end = 0; start < lines.length; start = end + 1) {
    let at = start;
    while (lines[at] !== tab) at++;
    end = endOfLine(lines, at);
    count++;
    const begin = dayIn(lines, at + fieldsAt.begin);
    const eind = dayIn(lines, at + fieldsAt.eind);
    if (begin > day && begin < next) next = begin;
    if (eind > day && eind < next) next = eind;
    if (begin > day || eind <= day) continue;
    if (lines[at + fieldsAt.several] === asterisk) {
      chosen ??= chosenOf(lines, day, file, onProblem);
      if (!chosen.delete(lines.toString('latin1', start, end))) continue;
    }
    const found = lines[start] === separator ? noPostcode : placeOf(at + fieldsAt.street);
    if ('kind' in found) {
      onProblem({ ...found, file, identificatie: identificatieOf(lines.toString('latin1', start, end)) });
      continue;
    }
    rows.add(start, found);
  }
  return { count, next: next === noEind ? null : dayText(next) };
}

const noPostcode = { kind: 'no_postcode' } as const;

/** The end of an object line, of which the tab is at `at`. */
function endOfLine(lines: Buffer, at: number): number {
  let end = at + fieldsAt.volgnummer;
  while (end < lines.length && lines[end] !== lineEnd) end++;
  return end;
}

/** For each object with several occurrences, the line that counts on `day`, if it belongs to this part. */
function chosenOf(lines: Buffer, day: number, file: string, onProblem: (problem: Problem) => void): Set<ObjectLine> {
  const several = new Map<string, ObjectLine[]>();
  for (let start = 0, end = 0; start < lines.length; start = end + 1) {
    const at = lines.indexOf(tab, start);
    end = endOfLine(lines, at);
    if (lines[at + fieldsAt.several] !== asterisk) continue;
    if (dayIn(lines, at + fieldsAt.begin) > day || dayIn(lines, at + fieldsAt.eind) <= day) continue;
    const line = lines.toString('latin1', start, end);
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
 * The places part of a row by the street and the own place of a line, which stand in `lines` at `start`: worked out
 * once for all addresses of a street. Or the problem, where one of them is not there.
 */
function placesBy(reference: Reference, lines: Buffer): (start: number) => Found {
  const [view, known] = [new DataView(lines.buffer, lines.byteOffset, lines.length), new Map<string, Found>()];
  let last = -1;
  let lastFound: Found = noPostcode;
  return (start) => {
    // Usually the same as on the line before.
    if (last >= 0 && hasSameBytes(view, last, start, referencesLength)) return lastFound;
    const text = lines.toString('latin1', start, start + referencesLength);
    let found = known.get(text);
    if (found === undefined) {
      const place = text.slice(16);
      const placed = toPlace(
        { openbareRuimte: text.slice(0, 16), woonplaats: place === noPlace ? null : place },
        reference,
      );
      found = 'kind' in placed ? placed : placeBytes(placeText(placed));
      known.set(text, found);
    }
    last = start;
    lastFound = found;
    return found;
  };
}

/** The bytes of a `placeText`, or why there is none. */
type Found = DataView | Pick<Problem, 'kind' | 'detail'>;

/** The street, place and gemeente of a current nummeraanduiding, or the problem: one is not current. Never guesses. */
export function toPlace(
  { openbareRuimte, woonplaats }: Pick<Nummeraanduiding, 'openbareRuimte' | 'woonplaats'>,
  reference: Reference,
): Place | Pick<Problem, 'kind' | 'detail'> {
  const street = reference.openbareRuimten.get(openbareRuimte);
  if (!street) return { kind: 'street_missing', detail: openbareRuimte };
  const identificatie = woonplaats ?? street.woonplaats;
  const place = reference.woonplaatsen.get(identificatie);
  if (!place) return { kind: 'place_missing', detail: identificatie };
  const { naam: woonplaatsnaam, gemeente } = place;
  return { straat: street.naam, woonplaats: woonplaatsnaam, ...(gemeente && { gemeente }) };
}
