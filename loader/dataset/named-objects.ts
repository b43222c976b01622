/** Finding the few objects that a day of mutations names among all of the country (decision 0113). */

import { dayText, noEind } from '../bag/voorkomen.ts';
import { dayIn } from './fields.ts';
import type { Line } from './lines.ts';
import { objectLayout } from './objects.ts';
import { hasSameBytes } from './stored-form.ts';

const tab = 0x09;
const lineEnd = 0x0a;
const asterisk = 0x2a;
const zero = 0x30;
const nine = 0x39;
/** The position at which the month of a date begins. */
const monthAt = 4;
const idLength = 16;
/** The digits of the gemeente, and where those of the object begin: without the kind between, a number is exact. */
const gemeenteLength = 4;
const sequenceAt = 6;
/** A filter has at most this many places, and otherwise some for each number: a power of two. */
const mostInFilter = 2 ** 20;
const placesPerNumber = 64;

/** Where fields are, counted from the tab of a line, which has at least the position `least`. */
export type LineLayout = Record<'identificatie' | 'reference' | 'begin' | 'eind' | 'several' | 'least', number>;

/** Which lines to find: those of some objects, or those that refer to some. */
export type NamedObjects = {
  layout: LineLayout;
  field: 'identificatie' | 'reference';
  ids: ReadonlySet<string>;
  numbers: ReadonlySet<number>;
  /** One at each index that the last bits of one of the numbers give: a zero rules a number out. */
  filter: Uint8Array;
};

/** The lines whose object, by default the nummeraanduiding, or whose reference, the street, is one of `ids`. */
export function namedObjects(
  field: NamedObjects['field'],
  ids: ReadonlySet<string>,
  layout: LineLayout = objectLayout,
): NamedObjects {
  const numbers = new Set(Array.from(ids, (id) => numberAt(Buffer.from(id, 'latin1'), 0)));
  const filter = new Uint8Array(Math.min(mostInFilter, 2 ** Math.ceil(Math.log2(placesPerNumber * numbers.size + 1))));
  for (const number of numbers) filter[number & (filter.length - 1)] = 1;
  return { layout, field, ids, numbers, filter };
}

/** Whether a line is one of those. */
export function isNamed(line: Line, { layout, field, ids }: NamedObjects): boolean {
  return ids.has(idIn(line, layout[field]));
}

/** The identificatie at an offset from the tab of a line. */
function idIn(line: Line, offset: number): string {
  const at = line.indexOf('\t') + offset;
  return line.slice(at, at + idLength);
}

/** Whether the identificatie in these bytes is one of those; no string is made of most others. */
export function isNamedAt(bytes: Buffer, start: number, { ids, filter }: NamedObjects): boolean {
  if (filter[numberAt(bytes, start) & (filter.length - 1)] !== 1) return false;
  return ids.has(bytes.toString('latin1', start, start + idLength));
}

/**
 * The named lines, and all lines of objects of which an occurrence begins or ends after `from`, until `to`; by default,
 * of none. `next` is when one does next. @param also names more lines of the same layout
 */
export function findNamed(
  texts: Iterable<Buffer>,
  named: NamedObjects,
  { from = noEind, to = 0, also = named }: { from?: number; to?: number; also?: NamedObjects } = {},
) {
  const [found, turning] = [[] as Line[], new Set<string>()];
  const { layout } = named;
  const [namedAt, alsoAt] = [layout[named.field], layout[also.field]];
  let next = noEind;
  for (const lines of texts) {
    for (let start = 0; start < lines.length; ) {
      let at = start;
      while (lines[at] !== tab) at++;
      let end = at + layout.least;
      while (end < lines.length && lines[end] !== lineEnd) end++;
      const begin = dayIn(lines, at + layout.begin);
      // No month begins with a nine.
      const eind = lines[at + layout.eind + monthAt] === nine ? noEind : dayIn(lines, at + layout.eind);
      if (begin > to && begin < next) next = begin;
      if (eind > to && eind < next) next = eind;
      const turns = (begin > from && begin <= to) || (eind > from && eind <= to);
      const isFound = turns || lines[at + layout.several] === asterisk || isNamedAt(lines, at + namedAt, named);
      if (isFound || (also !== named && isNamedAt(lines, at + alsoAt, also))) {
        const line = lines.toString('latin1', start, end);
        found.push(line);
        if (turns) turning.add(idIn(line, layout.identificatie));
      }
      start = end + 1;
    }
  }
  const lines = found.filter(
    (line) => turning.has(idIn(line, layout.identificatie)) || isNamed(line, named) || isNamed(line, also),
  );
  return { lines, next: next === noEind ? null : dayText(next) };
}

/** The index of a block: the ids of its objects and of what they refer to, as differences of a byte or two. */
export function indexOfLines(text: Buffer, layout: LineLayout = objectLayout): Buffer {
  const most = Math.ceil(text.length / layout.least) * longestNumber;
  const [ids, streets] = [Buffer.allocUnsafe(most), Buffer.allocUnsafe(most)];
  const view = new DataView(text.buffer, text.byteOffset, text.length);
  let [idsEnd, streetsEnd, lastId, lastStreet] = [0, 0, 0, 0];
  for (let start = 0, last = -1; start < text.length; start++) {
    while (text[start] !== tab) start++;
    const id = numberAt(text, start + layout.identificatie);
    idsEnd = writeDifference(ids, idsEnd, id - lastId);
    lastId = id;
    const street = start + layout.reference;
    if (last < 0 || !hasSameBytes(view, last, street, idLength)) {
      const number = numberAt(text, street);
      streetsEnd = writeDifference(streets, streetsEnd, number - lastStreet);
      lastStreet = number;
    }
    last = street;
    start += layout.least;
    while (start < text.length && text[start] !== lineEnd) start++;
  }
  const length = Buffer.alloc(streetsAt);
  length.writeUInt32LE(idsEnd);
  return Buffer.concat([length, ids.subarray(0, idsEnd), streets.subarray(0, streetsEnd)]);
}

/** The bytes of a difference. */
const longestNumber = 8;

const streetsAt = 4;

/** Whether lines with this index may be among the named ones; where not, they certainly are not. */
export function mayHave(index: Buffer, { field, numbers, filter }: NamedObjects): boolean {
  const idsEnd = streetsAt + index.readUInt32LE(0);
  const [start, end] = field === 'identificatie' ? [streetsAt, idsEnd] : [idsEnd, index.length];
  const mask = filter.length - 1;
  let number = 0;
  for (let at = start; at < end; ) {
    let byte = index[at++] as number;
    let coded = byte & 0x7f;
    for (let scale = 0x80; byte > 0x7f; scale *= 0x80) {
      byte = index[at++] as number;
      coded += (byte & 0x7f) * scale;
    }
    number += coded & 1 ? -(coded + 1) / 2 : coded / 2;
    if (filter[number & mask] === 1 && numbers.has(number)) return true;
  }
  return false;
}

/** The identificatie as a number, in two halves: each is a small integer, which takes a quarter of the time. */
function numberAt(text: Uint8Array, start: number): number {
  let [high, low] = [0, 0];
  for (let at = start; at < start + gemeenteLength; at++) high = 10 * high + (text[at] as number) - zero;
  high = 10 * high + (text[start + sequenceAt] as number) - zero;
  for (let at = start + sequenceAt + 1; at < start + idLength; at++) low = 10 * low + (text[at] as number) - zero;
  return 1e9 * high + low;
}

/** Seven bits a byte, the lowest first; a difference below zero is an odd number. Returns the position after it. */
function writeDifference(bytes: Buffer, start: number, difference: number): number {
  let at = start;
  let coded = difference < 0 ? -2 * difference - 1 : 2 * difference;
  for (; coded > 0x7f; coded = Math.floor(coded / 0x80)) bytes[at++] = (coded % 0x80) + 0x80;
  bytes[at++] = coded;
  return at;
}
