import type { AddressRow } from '../bag/address-row.ts';
import { type Line, LineBytes, packLineBytes, placeText, unpackLineBytes } from './lines.ts';

/**
 * A shard is a part of the country: all postcodes with the same first two digits, `10` to `99`. Within it, a `postcode3`
 * is the first three digits, `130`. Segments: by postcode3, where its rows lie in what a worker packed.
 */
export type Segments = Record<string, [position: number, length: number]>;

const firstPostcode3 = 100;
const postcode3Count = 900;

/** Each postcode3 of a shard, in order: of `13`, `130` to `139`. */
export function postcode3sOf(shard: string): string[] {
  return Array.from({ length: 10 }, (_, digit) => `${shard}${digit}`);
}

/** The shard of a postcode3. */
export function shardOf(postcode3: string): string {
  return postcode3.slice(0, 2);
}

/** The rows of one worker, grouped by postcode3. */
export class ShardedRows {
  readonly #byPostcode3: (LineBytes | undefined)[] = Array.from({ length: postcode3Count }, () => undefined);
  readonly #places = new Map<string, Map<string, Buffer>>();
  #last: { straat: string; woonplaats: string; bytes: Buffer } | null = null;

  add({ postcode, huisnummer, huisletter, huisnummertoevoeging, straat, woonplaats }: AddressRow): void {
    const index = digit(postcode, 0) * 100 + digit(postcode, 1) * 10 + digit(postcode, 2) - firstPostcode3;
    if (!(index >= 0 && index < postcode3Count)) throw new Error(`${postcode} is not a postcode`);
    this.#byPostcode3[index] ??= new LineBytes();
    this.#byPostcode3[index].add(
      postcode,
      huisnummer,
      huisletter,
      huisnummertoevoeging,
      this.#place(straat, woonplaats),
    );
  }

  /** All rows in one object, the rows of each postcode3 compressed by themselves, and where they lie in it. */
  pack(): { bytes: Buffer; segments: Segments } {
    const segments: Segments = {};
    const packed: Buffer[] = [];
    let position = 0;
    this.#byPostcode3.forEach((rows, index) => {
      if (!rows) return;
      const bytes = packLineBytes(rows.bytes);
      packed.push(bytes);
      segments[index + firstPostcode3] = [position, bytes.length];
      position += bytes.length;
    });
    return { bytes: Buffer.concat(packed), segments };
  }

  /** Encodes the place of each street once; usually it is the street of the row before. */
  #place(straat: string, woonplaats: string): Buffer {
    const last = this.#last;
    if (last && last.straat === straat && last.woonplaats === woonplaats) return last.bytes;
    const bytes = this.#bytesOf(straat, woonplaats);
    this.#last = { straat, woonplaats, bytes };
    return bytes;
  }

  #bytesOf(straat: string, woonplaats: string): Buffer {
    let inPlace = this.#places.get(woonplaats);
    if (!inPlace) {
      inPlace = new Map();
      this.#places.set(woonplaats, inPlace);
    }
    let bytes = inPlace.get(straat);
    if (!bytes) {
      bytes = Buffer.from(placeText({ straat, woonplaats }), 'latin1');
      inPlace.set(straat, bytes);
    }
    return bytes;
  }
}

function digit(postcode: string, index: number): number {
  return postcode.charCodeAt(index) - 48;
}

const lineEnd = 0x0a;

/** Reads the lines of a stored shard in their order, some at a time, and makes strings only of those. */
export class ShardReader {
  readonly #text: Buffer;
  #position = 0;

  /** @param packed what `packLines` or a `ShardWriter` stored; `null` is a shard without lines */
  constructor(packed: Uint8Array | null) {
    this.#text = packed ? unpackLineBytes(packed) : Buffer.alloc(0);
  }

  /** The next lines, as long as they begin with `prefix`. */
  next(prefix: string): Line[] {
    const text = this.#text;
    const start = this.#position;
    let end = start;
    while (text.toString('latin1', end, end + prefix.length) === prefix) {
      const found = text.indexOf(lineEnd, end);
      end = (found < 0 ? text.length : found) + 1;
    }
    this.#position = end;
    return end === start ? [] : text.toString('latin1', start, end - 1).split('\n');
  }
}

/** Makes the stored form of a shard from its lines in order, some at a time. */
export class ShardWriter {
  readonly #pieces: Buffer[] = [];

  write(lines: readonly Line[]): void {
    if (lines.length === 0) return;
    if (this.#pieces.length > 0) this.#pieces.push(Buffer.from([lineEnd]));
    this.#pieces.push(Buffer.from(lines.join('\n'), 'latin1'));
  }

  /** The same lines give the same bytes, in however many pieces they were written. */
  pack(): Buffer {
    return packLineBytes(Buffer.concat(this.#pieces));
  }
}
