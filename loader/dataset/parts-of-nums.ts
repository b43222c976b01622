import { absent } from '../bag/num-bytes.ts';
import type { GrowingBytes } from './stored-form.ts';

/**
 * The parts that each nummeraanduiding has lines in, in memory that threads share: six bytes each of the country's ten
 * million, so that a line of an object goes to where its address is as soon as it is read.
 */
export type PartsOfNums = {
  /** Where the entries of each slot begin; the last number is where they end. */
  starts: Int32Array;
  /** What its slot leaves of the identificatie of each entry, and the entry's part. */
  rests: Uint32Array;
  parts: Uint16Array;
};

/**
 * An identificatie is two numbers of eight digits, 27 bits each: 22 bits choose the slot and 32 are left, so an entry
 * is exact. The slot mixes both, as every gemeente numbers its objects from the start.
 */
const slotBits = 22;
const slots = 2 ** slotBits;
const halfDigits = 8;
const zero = 0x30;

const slotOf = (high: number, low: number) => (low ^ Math.imul(high, 0x9e3779b1)) & (slots - 1);
const restOf = (high: number, low: number) => high * 2 ** (27 - slotBits) + (low >>> slotBits);

/** The part of each nummeraanduiding in a file of `numsBytes`, and the two halves of its identificatie. */
const entryBytes = 12;

/** Adds the entry of the identificatie at `id`. */
export function writeNum(entries: GrowingBytes, part: number, bytes: Uint8Array, id: number): void {
  entries.reserve(entryBytes);
  const { view, length } = entries;
  view.setInt32(length, part);
  view.setInt32(length + 4, halfAt(bytes, id));
  view.setInt32(length + 8, halfAt(bytes, id + halfDigits));
  entries.length += entryBytes;
}

/** A table of the entries that `each` gives twice, piece by piece. */
export async function partsOfNums(each: (add: (entries: Buffer) => void) => Promise<void>): Promise<PartsOfNums> {
  const starts = new Int32Array(new SharedArrayBuffer(4 * (slots + 1)));
  await each((entries) => {
    eachEntry(entries, (high, low) => {
      const slot = slotOf(high, low);
      starts[slot] = (starts[slot] as number) + 1;
    });
  });
  let count = 0;
  for (let slot = 0; slot <= slots; slot++) {
    count += starts[slot] as number;
    starts[slot] = count;
  }
  const rests = new Uint32Array(new SharedArrayBuffer(4 * count));
  const parts = new Uint16Array(new SharedArrayBuffer(2 * count));
  // Filled from the end of each slot, so that afterwards each start is where its entries begin.
  await each((entries) => {
    eachEntry(entries, (high, low, part) => {
      const slot = slotOf(high, low);
      const at = (starts[slot] as number) - 1;
      starts[slot] = at;
      rests[at] = restOf(high, low);
      parts[at] = part;
    });
  });
  return { starts, rests, parts };
}

/** The first part after `after` that has lines of the nummeraanduiding at `id`, or `absent`. */
export function nextPartOf({ starts, rests, parts }: PartsOfNums, bytes: Uint8Array, id: number, after = absent) {
  const [high, low] = [halfAt(bytes, id), halfAt(bytes, id + halfDigits)];
  const [slot, rest] = [slotOf(high, low), restOf(high, low)];
  const end = starts[slot + 1] as number;
  let found = absent;
  for (let at = starts[slot] as number; at < end; at++) {
    const part = parts[at] as number;
    if (rests[at] === rest && part > after && (found === absent || part < found)) found = part;
  }
  return found;
}

function eachEntry(entries: Buffer, visit: (high: number, low: number, part: number) => void): void {
  const view = new DataView(entries.buffer, entries.byteOffset, entries.length);
  for (let at = 0; at < entries.length; at += entryBytes) {
    visit(view.getInt32(at + 4), view.getInt32(at + 8), view.getInt32(at));
  }
}

function halfAt(bytes: Uint8Array, start: number): number {
  let half = 0;
  for (let at = start; at < start + halfDigits; at++) half = 10 * half + (bytes[at] as number) - zero;
  return half;
}
