import { adresObjectLayout, keyOfMissing, numOf } from './adres-objects.ts';
import { fieldsAt } from './objects.ts';
import { bytesOf, GrowingBytes, hasSameBytes, linesOf } from './stored-form.ts';

const tab = 0x09;
const lineEnd = 0x0a;
const tilde = 0x7e;
const idLength = 16;
const leastLength = adresObjectLayout.least;

/**
 * The lines of the adresseerbare objecten of a part, in their order: `keyless` ones in any order, under the keys that
 * their nummeraanduidingen have in `nums`, the lines of these in their order. So only the lines of one nummeraanduiding
 * are ever sorted, and few are strings. Lines whose nummeraanduiding is not there are left out, or with `isOfMissing`
 * get the key that says so.
 */
export function joinObjecten(nums: Buffer, keyless: Buffer, isOfMissing: boolean): Buffer {
  const found = new LinesOfNums(keyless);
  const view = new DataView(nums.buffer, nums.byteOffset, nums.length);
  const joined = new GrowingBytes();
  joined.reserve(2 * keyless.length);
  for (let start = 0, end = 0, last = -1; start < nums.length; start = end + 1) {
    let at = start;
    while (nums[at] !== tab) at++;
    end = at + fieldsAt.volgnummer;
    while (end < nums.length && nums[end] !== lineEnd) end++;
    if (nums[start] === tilde) break; // they are in another part, and the last here
    // An occurrence with the same key and identificatie as the one before.
    if (last >= 0 && hasSameBytes(view, last, start, at + 1 + idLength - start)) continue;
    last = start;
    found.write(joined, view, start, at);
  }
  const bytes = joined.bytes.subarray(0, Math.max(0, joined.length - 1));
  const missing = isOfMissing ? found.unused() : [];
  if (missing.length === 0) return bytes;
  return bytesOf([...linesOf(bytes), ...missing.map((line) => `${keyOfMissing(numOf(line))}\t${line}`)].sort());
}

/** Keyless lines by nummeraanduiding: a hash table with open addressing, of the last line of each. */
class LinesOfNums {
  readonly #view: DataView;
  readonly #bytes: Buffer;
  /** Where each line begins, and after the last one where the next would; numbered from 1. */
  readonly #starts: Int32Array;
  /** The number of the previous line of the same nummeraanduiding, for each line; 0 is none. */
  readonly #before: Int32Array;
  readonly #slots: Int32Array;
  readonly #isUsed: Uint8Array;
  #count = 0;

  constructor(bytes: Buffer) {
    const most = Math.ceil(bytes.length / leastLength);
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    this.#starts = new Int32Array(most + 2);
    this.#before = new Int32Array(most + 1);
    this.#isUsed = new Uint8Array(most + 1);
    this.#slots = new Int32Array(2 ** Math.ceil(Math.log2(2 * most + 1)));
    for (let start = 0; start < bytes.length; ) {
      this.#starts[++this.#count] = start;
      const slot = this.#slotOf(this.#view, start);
      this.#before[this.#count] = this.#slots[slot] as number;
      this.#slots[slot] = this.#count;
      start += leastLength;
      while (start < bytes.length && bytes[start] !== lineEnd) start++;
      start++;
    }
    this.#starts[this.#count + 1] = bytes.length + 1;
  }

  /** Writes the lines of the nummeraanduiding after the tab, under the key before it. */
  write(target: GrowingBytes, nums: DataView, key: number, at: number): void {
    const line = this.#slots[this.#slotOf(nums, at + 1)] as number;
    if (line === 0) return;
    this.#isUsed[line] = 1;
    if (this.#before[line] === 0) {
      target.copy(nums, key, at + 1 - key);
      const start = this.#starts[line] as number;
      target.copy(this.#view, start, (this.#starts[line + 1] as number) - start - 1);
      target.memory[target.length++] = lineEnd;
      return;
    }
    const lines: string[] = [];
    for (let one = line; one > 0; one = this.#before[one] as number) {
      this.#isUsed[one] = 1;
      lines.push(this.#textOf(one));
    }
    for (const text of lines.sort()) {
      target.copy(nums, key, at + 1 - key);
      target.write(`${text}\n`, 'latin1');
    }
  }

  unused(): string[] {
    const lines: string[] = [];
    for (let line = 1; line <= this.#count; line++) if (this.#isUsed[line] === 0) lines.push(this.#textOf(line));
    return lines;
  }

  #textOf(line: number): string {
    return this.#bytes.toString('latin1', this.#starts[line], (this.#starts[line + 1] as number) - 1);
  }

  /** The slot of an identificatie, or the free one where it would be. */
  #slotOf(view: DataView, id: number): number {
    const last = this.#slots.length - 1;
    let hash = 0;
    for (let i = 0; i < idLength; i += 4) hash = Math.imul(hash ^ view.getInt32(id + i), 0x9e3779b1);
    let slot = (hash ^ (hash >>> 15)) & last;
    for (;;) {
      const line = this.#slots[slot] as number;
      if (line === 0) return slot;
      const start = this.#starts[line] as number;
      let i = 0;
      while (i < idLength && view.getInt32(id + i) === this.#view.getInt32(start + i)) i += 4;
      if (i >= idLength) return slot;
      slot = (slot + 1) & last;
    }
  }
}
