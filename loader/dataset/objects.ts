import { addressKey, longestAddressKey, writeAddressKey } from '../../lambdas/shared/addresses/address-key.ts';
import type { NumVoorkomen, ObjectVoorkomen } from '../bag/object-voorkomen.ts';
import type { Problem } from '../bag/problem-report.ts';
import { type Reference, toPlace } from '../bag/reference.ts';
import { dateOf, dayOf, noEind } from '../bag/voorkomen.ts';
import { type Line, placeText } from './lines.ts';

/**
 * The object layer of a snapshot: every occurrence of a nummeraanduiding that counts on the snapshot date or may count
 * later. Its address rows are derived from it, from the streets and places, and from a date alone. So a mutation
 * changes a few occurrences, and a later date changes none.
 *
 * An occurrence is one line, stored with the addresses of the first three digits of its postcode. After the key and a
 * tab all fields have a fixed width:
 *
 *     1381AA#9#A<tab>0457200000201234 20100929 99999999 0457300000000035 3631 . 1
 *                    identificatie    begin    eind     openbare ruimte  wpl  s volgnummer     (without the spaces)
 *
 * `eind` is `99999999` for none, `wpl` four dots for none, and `s` is `*` for an object with several occurrences here,
 * else a dot. An object whose occurrences have different postcodes is stored whole with each of them: those that belong
 * elsewhere have a `~` before their key. So each part of the layer can decide alone which occurrence counts.
 */
export type ObjectLine = Line;

const elsewhere = '~';
const noPlace = '....';
const idAt = 1;
const beginAt = idAt + 16;
const eindAt = beginAt + 8;
const streetAt = eindAt + 8;
const placeAt = streetAt + 16;
const severalAt = placeAt + 4;
const volgnummerAt = severalAt + 1;

/** The part of the layer that an occurrence without postcode belongs to; all others are `100` to `999`. */
export const withoutPostcode = '000';

/** The part of the layer that an occurrence belongs to: the first three digits of its postcode. */
export function partOf({ postcode }: Pick<NumVoorkomen, 'postcode'>): string {
  return postcode?.slice(0, 3) ?? withoutPostcode;
}

/** An upper bound on the bytes of one line. */
export const longestSingleLine = longestAddressKey + volgnummerAt + 16;

/**
 * Writes the bytes of the line of an occurrence that is the only one of its object which counts now or later, at `start`, and
 * returns the position after them. `bytes` must have `longestSingleLine` bytes left.
 */
export function writeSingleLine(bytes: Uint8Array, start: number, num: NumVoorkomen): number {
  const { postcode, huisnummer, huisletter, huisnummertoevoeging } = num;
  let at = writeAddressKey(bytes, start, postcode ?? '', huisnummer, huisletter, huisnummertoevoeging);
  bytes[at++] = tab;
  at = writeAscii(bytes, at, num.identificatie);
  at = writeDay(bytes, at, num.begin);
  at = writeDay(bytes, at, num.eind);
  at = writeAscii(bytes, at, num.openbareRuimte);
  at = writeAscii(bytes, at, num.woonplaats ?? noPlace);
  bytes[at++] = dot;
  return writeAscii(bytes, at, String(num.volgnummer));
}

const tab = 0x09;
const dot = 0x2e;
const zero = 0x30;

function writeAscii(bytes: Uint8Array, start: number, text: string): number {
  for (let i = 0; i < text.length; i++) bytes[start + i] = text.charCodeAt(i);
  return start + text.length;
}

/** The same eight digits as `digits` gives. */
function writeDay(bytes: Uint8Array, start: number, day: number): number {
  let left = day;
  for (let i = 7; i >= 0; i--) {
    bytes[start + i] = zero + (left % 10);
    left = Math.floor(left / 10);
  }
  return start + 8;
}

/** The lines of one object by the part that each is stored with; occurrences that ended on or before `peildatum` are not. */
export function objectLines(occurrences: readonly NumVoorkomen[], peildatum: string): Map<string, ObjectLine[]> {
  const day = dayOf(peildatum);
  const kept = occurrences.filter(({ eind }) => eind > day);
  const flag = kept.length > 1 ? '*' : '.';
  const lines = new Map<string, ObjectLine[]>();
  for (const part of new Set(kept.map(partOf))) {
    lines.set(
      part,
      kept.map((occurrence) => `${partOf(occurrence) === part ? '' : elsewhere}${lineOf(occurrence, flag)}`),
    );
  }
  return lines;
}

/**
 * The lines of a part without the occurrences that ended on or before `peildatum`, which never count again: those of each
 * object are as `objectLines` gives them for that date.
 */
export function withoutEnded(part: string, lines: ObjectLine[], peildatum: string): ObjectLine[] {
  const day = digits(dayOf(peildatum));
  const ending = new Set<string>();
  for (const line of lines) {
    const at = line.indexOf('\t');
    if (line.slice(at + eindAt, at + streetAt) <= day) ending.add(identificatieOf(line));
  }
  if (ending.size === 0) return lines;
  const [objects, kept] = [new Map<string, NumVoorkomen[]>(), [] as ObjectLine[]];
  for (const line of lines) {
    const id = identificatieOf(line);
    if (ending.has(id)) objects.set(id, [...(objects.get(id) ?? []), parseObjectLine(line)]);
    else kept.push(line);
  }
  for (const occurrences of objects.values()) kept.push(...(objectLines(occurrences, peildatum).get(part) ?? []));
  return kept.sort();
}

function lineOf(num: Omit<NumVoorkomen, 'kind'>, flag: string): ObjectLine {
  const { postcode, huisnummer, huisletter, huisnummertoevoeging } = num;
  const key = addressKey({ postcode: postcode ?? '', huisnummer, toevoeging: huisletter + huisnummertoevoeging });
  const place = num.woonplaats ?? noPlace;
  return `${key}\t${num.identificatie}${digits(num.begin)}${digits(num.eind)}${num.openbareRuimte}${place}${flag}${num.volgnummer}`;
}

/** The eight digits of a date: `0000-00-00` occurs. */
function digits(day: number): string {
  return String(day).padStart(8, '0');
}

/** The occurrence of a line. The toevoeging is in upper case, and no longer divided into its two parts. */
export function parseObjectLine(line: ObjectLine): NumVoorkomen {
  const start = line.startsWith(elsewhere) ? 1 : 0;
  const at = line.indexOf('\t');
  const [postcode = '', huisnummer, huisnummertoevoeging = ''] = line.slice(start, at).split('#');
  const place = line.slice(at + placeAt, at + severalAt);
  return {
    kind: 'NUM',
    identificatie: line.slice(at + idAt, at + beginAt),
    volgnummer: Number(line.slice(at + volgnummerAt)),
    begin: Number(line.slice(at + beginAt, at + eindAt)),
    eind: Number(line.slice(at + eindAt, at + streetAt)),
    postcode: postcode || null,
    huisnummer: Number(huisnummer),
    huisletter: '',
    huisnummertoevoeging,
    openbareRuimte: line.slice(at + streetAt, at + placeAt),
    woonplaats: place === noPlace ? null : place,
  };
}

/** The identification of the nummeraanduiding of a line. */
export function identificatieOf(line: ObjectLine): string {
  const at = line.indexOf('\t') + idAt;
  return line.slice(at, at + 16);
}

/** The street that the nummeraanduiding of a line lies on, and its own place (`....` for none). */
export function referencesOf(line: ObjectLine): { street: string; place: string } {
  const at = line.indexOf('\t');
  return { street: line.slice(at + streetAt, at + placeAt), place: line.slice(at + placeAt, at + severalAt) };
}

/**
 * The address rows of one part on `peildatum`, in any order, as `joinRows` takes them. Of several occurrences of an object
 * that are current at once the last to begin counts, then the one with the highest number; the others, and those without a
 * postcode, a street or a place, are problems. `file` is for these.
 */
export function deriveRows(
  lines: readonly ObjectLine[],
  reference: Reference,
  peildatum: string,
  file: string,
  onProblem: (problem: Problem) => void,
): Line[] {
  const day = digits(dayOf(peildatum));
  const rows: Line[] = [];
  const several = new Map<string, ObjectLine[]>();
  const placeOf = placesBy(reference);
  const add = (line: ObjectLine) => {
    const at = line.indexOf('\t');
    const found = placeOf(line.slice(at + streetAt, at + severalAt));
    if (line.startsWith('#')) onProblem({ kind: 'no_postcode', file, identificatie: identificatieOf(line) });
    else if (typeof found === 'string') rows.push(line.slice(0, at + 1) + found);
    else onProblem({ ...found, file, identificatie: identificatieOf(line) });
  };
  for (const line of lines) {
    const at = line.indexOf('\t');
    if (line.slice(at + beginAt, at + eindAt) > day || line.slice(at + eindAt, at + streetAt) <= day) continue;
    if (line[at + severalAt] !== '*') add(line);
    else {
      const id = identificatieOf(line);
      several.set(id, [...(several.get(id) ?? []), line]);
    }
  }
  for (const [identificatie, occurrences] of several) {
    const [winner, ...others] = occurrences.sort(lastToBegin);
    if (winner && !winner.startsWith(elsewhere)) add(winner);
    for (const other of others) {
      // Counted once, in the part that it belongs to.
      if (!other.startsWith(elsewhere)) onProblem({ kind: 'several_current', file, identificatie });
    }
  }
  return rows;
}

function lastToBegin(a: ObjectLine, b: ObjectLine): number {
  const [first, second] = [parseObjectLine(a), parseObjectLine(b)];
  return second.begin - first.begin || second.volgnummer - first.volgnummer;
}

/**
 * The places part of a row by the street and the own place of a line, as they stand in it: computed once for all
 * addresses of a street. Or the problem, if one of them does not exist.
 */
function placesBy(reference: Reference): (text: string) => string | Pick<Problem, 'kind' | 'detail'> {
  const known = new Map<string, string | Pick<Problem, 'kind' | 'detail'>>();
  return (text) => {
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
    return found;
  };
}

/** The first date after `peildatum` on which an occurrence begins or ceases to count, or `null`. */
export function nextChange(lines: readonly ObjectLine[], peildatum: string): string | null {
  const day = digits(dayOf(peildatum));
  const never = String(noEind);
  let next = never;
  for (const line of lines) {
    const at = line.indexOf('\t');
    const begin = line.slice(at + beginAt, at + eindAt);
    const eind = line.slice(at + eindAt, at + streetAt);
    if (begin > day && begin < next) next = begin;
    if (eind > day && eind < next) next = eind;
  }
  return next === never ? null : dateOf(Number(next));
}

/** Whether two occurrences are the same as far as addresses are concerned. */
export function isSameVoorkomen(a: ObjectVoorkomen, b: ObjectVoorkomen): boolean {
  if (a.kind === 'NUM' && b.kind === 'NUM') return lineOf(a, '.') === lineOf(b, '.');
  return JSON.stringify(ordered(a)) === JSON.stringify(ordered(b));
}

function ordered(voorkomen: ObjectVoorkomen): [string, unknown][] {
  return Object.entries(voorkomen).sort(([a], [b]) => (a < b ? -1 : 1));
}
