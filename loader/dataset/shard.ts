import type { AddressRow } from '../bag/address-row.ts';
import { type Line, LineBytes, packLineBytes, placeText, unpackLineBytes } from './lines.ts';

/**
 * A shard is a part of the country: the first two digits of the postcode, `10` to `99`. A tenth of it has the third digit
 * in common too, and is named by all three. Here: where the rows of each tenth lie in what a worker packed.
 */
export type Segments = Record<string, [position: number, length: number]>;

const firstTenth = 100;
const tenthCount = 900;

/** The tenths of a shard in their order: of `13`, `130` to `139`. */
export function tenthsOf(shard: string): string[] {
  return Array.from({ length: 10 }, (_, digit) => `${shard}${digit}`);
}

/** The shard of a tenth. */
export function shardOf(tenth: string): string {
  return tenth.slice(0, 2);
}

/** The rows of one worker, kept apart by tenths of shards until they are stored. */
export class ShardedRows {
  readonly #tenths: (LineBytes | undefined)[] = Array.from({ length: tenthCount }, () => undefined);
  readonly #places = new Map<string, Map<string, Buffer>>();
  #last: { straat: string; woonplaats: string; bytes: Buffer } | null = null;

  add({ postcode, huisnummer, huisletter, huisnummertoevoeging, straat, woonplaats }: AddressRow): void {
    const tenth = digit(postcode, 0) * 100 + digit(postcode, 1) * 10 + digit(postcode, 2) - firstTenth;
    if (!(tenth >= 0 && tenth < tenthCount)) throw new Error(`${postcode} is not a postcode`);
    this.#tenths[tenth] ??= new LineBytes();
    this.#tenths[tenth].add(postcode, huisnummer, huisletter, huisnummertoevoeging, this.#place(straat, woonplaats));
  }

  /** All rows in one object, each tenth compressed by itself, and where each lies in it. */
  pack(): { bytes: Buffer; segments: Segments } {
    const segments: Segments = {};
    const packed: Buffer[] = [];
    let position = 0;
    this.#tenths.forEach((rows, tenth) => {
      if (!rows) return;
      const bytes = packLineBytes(rows.bytes);
      packed.push(bytes);
      segments[tenth + firstTenth] = [position, bytes.length];
      position += bytes.length;
    });
    return { bytes: Buffer.concat(packed), segments };
  }

  /** The bytes of a place are made once a street, and mostly it is the street of the row before. */
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

/** Reads the lines of a stored shard in their order, some at a time: only what is taken becomes strings. */
export class ShardReader {
  readonly #text: Buffer;
  #position = 0;

  /** @param packed what `packLines` or a `ShardWriter` stored; `null` is a shard without lines */
  constructor(packed: Uint8Array | null) {
    this.#text = packed ? unpackLineBytes(packed) : Buffer.alloc(0);
  }

  /** The lines that come next, for as long as they begin with `prefix`. */
  take(prefix: string): Line[] {
    const text = this.#text;
    const start = this.#position;
    let next = start;
    while (text.toString('latin1', next, next + prefix.length) === prefix) {
      const end = text.indexOf(lineEnd, next);
      next = (end < 0 ? text.length : end) + 1;
    }
    this.#position = next;
    return next === start ? [] : text.toString('latin1', start, next - 1).split('\n');
  }
}

/** Makes the stored form of a shard of lines that come in their order, some at a time. */
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
