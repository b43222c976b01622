/** Joins the occurrences of each object with the changes of days. */

import { betweenObjects } from '../../core/adres-object.ts';
import type { Problem } from '../bag/problem-report.ts';
import { dayOf } from '../bag/voorkomen.ts';
import {
  addressRowLayout,
  copyId,
  idWidth,
  lineEnd,
  nameLayout,
  numLayout,
  objectRowLayout,
  occurrenceLayout,
  tab,
} from './layouts.ts';
import {
  distinctObjects,
  type FoundOccurrence,
  idIn,
  occurrence,
  type RecordBytes,
  recordBytes,
} from './record.ts';
import { type GrowingBytes, hasSameBytes, lineBytes, linesOf } from './stored-form.ts';

const nameLength = nameLayout.length;
/** A tab, and an occurrence. */
const leastAfterName = 1 + occurrence.least;

/**
 * Visits each record: its counting occurrence, future occurrences, and others that hold at the same
 * time.
 */
export type RecordVisit = {
  current(records: RecordBytes, found: FoundOccurrence): void;
  /** An occurrence of the record at `start` that will count. */
  later?(records: RecordBytes, start: number, at: number): void;
  several(identificatie: string): void;
};

/** The records of a bucket on a date, their number, and the number of repeated occurrences. */
export type JoinedRecords = { records: Buffer; count: number; repeated: number };

/**
 * The records of a bucket on `peildatum`, in order, without occurrences that ended by then. If
 * occurrences of an object hold at the same time, the last to begin counts, then the highest
 * number.
 * @param lines records, or occurrences in lines of their own: fast where they are in order, as in
 * an extract
 * @param changed whole records, in order, each replacing another or new; a record without
 * occurrences is removed
 */
export function joinRecords(
  lines: Buffer,
  changed: Buffer,
  peildatum: string,
  visit: RecordVisit,
): JoinedRecords {
  const rows = recordBytes(lines);
  const joiner = new RecordJoiner(rows, dayOf(peildatum), visit);
  const changes = recordBytes(changed);
  let change = 0;
  const addChanges = (start: number) => {
    let isReplaced = false;
    for (; change < changed.length; change = endOfLine(changed, change) + 1) {
      const order =
        start < rows.bytes.length
          ? changed.compare(rows.bytes, start, start + nameLength, change, change + nameLength)
          : -1;
      if (order > 0) break; // the record comes before the change
      joiner.add(changes, change, endOfLine(changed, change), start);
      if (order === 0) isReplaced = true;
    }
    return isReplaced;
  };
  for (let start = 0, next = 0; start < rows.bytes.length; start = next) {
    const end = endOfLine(rows.bytes, start + leastAfterName);
    next = end + 1;
    while (next < rows.bytes.length && hasSameBytes(rows.view, start, next, nameLength)) {
      next = endOfLine(rows.bytes, next + leastAfterName) + 1;
    }
    if (addChanges(start)) joiner.skip(start, next);
    else if (next === end + 1) joiner.keep(start, end);
    else {
      joiner.merge(start, next);
    }
  }
  addChanges(rows.bytes.length);
  return joiner.end();
}

/** The end of a line; none is shorter than the name of its record. */
export function endOfLine(bytes: Buffer, start: number): number {
  let end = start + nameLength;
  while (bytes[end] !== lineEnd) end++;
  return end;
}

/**
 * Records, or occurrences in lines of their own, in the order of their names: as they are where
 * they have it.
 */
export function inOrder(lines: Buffer): Buffer {
  for (
    let start = 0, last = 0;
    start < lines.length;
    last = start, start = endOfLine(lines, start + leastAfterName) + 1
  ) {
    let i = 0;
    while (i < nameLength && lines[start + i] === lines[last + i]) i++;
    if (i < nameLength && (lines[start + i] as number) < (lines[last + i] as number)) {
      return lineBytes(linesOf(lines.subarray(0, -1)).sort());
    }
  }
  return lines;
}

class RecordJoiner {
  readonly #rows: RecordBytes;
  readonly #day: number;
  readonly #visit: RecordVisit;
  /** The records: most as they were read, from `#kept` on. */
  readonly #pieces: Buffer[] = [];
  #kept = 0;
  #count = 0;
  #repeated = 0;
  readonly #found: FoundOccurrence = { start: 0, at: 0, end: 0 };

  constructor(rows: RecordBytes, day: number, visit: RecordVisit) {
    this.#rows = rows;
    this.#day = day;
    this.#visit = visit;
  }

  /** A record as it was read. */
  keep(start: number, end: number): void {
    const records = this.#rows;
    if (this.#visitCounting(records, start, end)) return;
    this.skip(start, end + 1);
    this.#write(records.bytes.toString('latin1', start, end));
  }

  /** The occurrences of one record that are lines of their own. */
  merge(start: number, next: number): void {
    const lines = linesOf(this.#rows.bytes.subarray(start, next - 1));
    const texts = new Set(lines.map((line) => line.slice(nameLength + 1)));
    this.#repeated += lines.length - texts.size;
    this.skip(start, next);
    const name = lines[0]?.slice(0, nameLength) ?? '';
    const record = recordBytes(lineBytes([[name, ...[...texts].sort()].join('\t')]));
    this.add(record, 0, record.bytes.length - 1, next);
  }

  /** Adds a record from elsewhere, before a position in the read bytes. */
  add(records: RecordBytes, start: number, end: number, before: number): void {
    this.skip(before, before);
    const isWhole = this.#visitCounting(records, start, end);
    if (isWhole) this.#pieces.push(records.bytes.subarray(start, end + 1));
    else {
      this.#write(records.bytes.toString('latin1', start, end));
    }
  }

  /** Leaves out the read bytes between two positions. */
  skip(start: number, next: number): void {
    if (start > this.#kept) this.#pieces.push(this.#rows.bytes.subarray(this.#kept, start));
    this.#kept = Math.max(this.#kept, next);
  }

  end(): JoinedRecords {
    const { bytes } = this.#rows;
    const isSame = this.#pieces.length === 0 && this.#kept === 0;
    this.skip(bytes.length, bytes.length);
    return {
      records: isSame ? bytes : Buffer.concat(this.#pieces),
      count: this.#count,
      repeated: this.#repeated,
    };
  }

  /** Visits what counts of a record. Returns whether none of its occurrences has ended. */
  #visitCounting(records: RecordBytes, start: number, end: number): boolean {
    const { bytes } = records;
    const day = this.#day;
    const found = this.#found;
    let held = 0;
    let ended = 0;
    let holding = 0;
    for (let at = start + nameLength + 1; at < end; ) {
      const until = occurrence.end(bytes, at, end);
      if (occurrence.eind(bytes, at) <= day) ended++;
      else {
        held++;
        if (occurrence.begin(bytes, at) > day) this.#visit.later?.(records, start, at);
        else if (holding++ === 0 || isBetter(bytes, { start, at, end: until }, found)) {
          found.at = at;
          found.end = until;
        }
      }
      at = until + 1;
    }
    if (held === 0) return false;
    this.#count++;
    if (holding > 0) {
      found.start = start;
      this.#visit.current(records, found);
      for (let other = 1; other < holding; other++) {
        this.#visit.several(idIn(bytes, start));
      }
    }
    return ended === 0;
  }

  /** Writes a record without its ended occurrences; nothing if all have ended. */
  #write(record: string): void {
    const [name, ...texts] = record.split('\t');
    const kept = texts.filter(
      (text) => Number(text.slice(occurrenceLayout.at.eind, occurrenceLayout.length)) > this.#day,
    );
    if (kept.length > 0) this.#pieces.push(lineBytes([[name, ...kept].join('\t')]));
  }
}

function isBetter(bytes: Buffer, candidate: FoundOccurrence, other: FoundOccurrence): boolean {
  const order =
    occurrence.begin(bytes, candidate.at) - occurrence.begin(bytes, other.at) ||
    occurrence.volgnummer(bytes, candidate.at) - occurrence.volgnummer(bytes, other.at) ||
    bytes.compare(bytes, other.at, other.end, candidate.at, candidate.end);
  return order > 0;
}

/** The objects of nummeraanduidingen, from rows of `writeObjectRows` in any order. */
export class ObjectsOfNums {
  readonly #rows: Buffer;
  /** The positions of the rows of each nummeraanduiding that has not been taken yet. */
  readonly #starts = new Map<string, number | number[]>();

  constructor(rows: Buffer) {
    this.#rows = rows;
    for (let start = 0; start < rows.length; start = rows.indexOf(lineEnd, start) + 1) {
      const num = rows.toString('latin1', start, start + idWidth);
      this.#starts.set(
        num,
        this.#starts.has(num) ? [this.#starts.get(num) ?? [], start].flat() : start,
      );
    }
  }

  /** The objects of a nummeraanduiding's address, in the form of a line's place. */
  take(num: string): string {
    const starts = this.#starts.get(num);
    this.#starts.delete(num);
    if (typeof starts === 'number') return this.#textAt(starts);
    return distinctObjects((starts ?? []).map((start) => this.#textAt(start))).join(betweenObjects);
  }

  /** That objects name nummeraanduidingen which were never asked for. */
  missing(file: string): Problem[] {
    return [...this.#starts].flatMap(([detail, starts]) =>
      [starts].flat().map((start) => {
        const identificatie = this.#textAt(start).slice(0, idWidth);
        return { kind: 'address_missing' as const, file, identificatie, detail };
      }),
    );
  }

  #textAt(start: number): string {
    return this.#rows.toString(
      'latin1',
      start + objectRowLayout.length,
      this.#rows.indexOf(lineEnd, start),
    );
  }
}

/**
 * Appends the row of a nummeraanduiding, which is sent to where its postcode is: its key, and after
 * a tab the nummeraanduiding, the openbare ruimte, its own woonplaats and its objects, each as in
 * its record:
 *
 *     1381AA#9#A<tab>0457200000201234 0457300000000035 3631
 *     0457010000012345Vg1,131234.5,480123.4,85,w
 *
 * (without the spaces).
 */
export function writeAddressRow(
  lines: GrowingBytes,
  { bytes, view }: RecordBytes,
  { start, at, end }: FoundOccurrence,
  objects: string,
): void {
  const valuesAt = occurrence.valuesAt(bytes, at);
  const key = valuesAt + numLayout.length;
  lines.reserve(end - key + addressRowLayout.length + objects.length + 4);
  lines.copy(view, key, end - key);
  lines.memory[lines.length++] = tab;
  const { nummeraanduiding, openbareRuimte, woonplaats } = addressRowLayout.at;
  copyId(view, start + nameLayout.at.identificatie, lines.view, lines.length + nummeraanduiding);
  copyId(view, valuesAt + numLayout.at.openbareRuimte, lines.view, lines.length + openbareRuimte);
  lines.view.setInt32(lines.length + woonplaats, view.getInt32(valuesAt + numLayout.at.woonplaats));
  lines.length += addressRowLayout.length;
  if (objects !== '') lines.length += lines.memory.write(objects, lines.length, 'latin1');
  lines.memory[lines.length++] = lineEnd;
}
