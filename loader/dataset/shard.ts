import { releaseMemory } from '../release-memory.ts';
import { type Line, packLineBytes, unpackLineBytes } from './lines.ts';

/**
 * The position of the rows of each postcode3 in what a worker packed. A shard is a part of the country: all postcodes
 * with the same first two digits, `10` to `99`. A `postcode3` is the first three digits, `130`.
 */
export type Segments = Record<string, [position: number, length: number]>;

/** Each postcode3 of a shard, in order: of `13`, `130` to `139`. */
export function postcode3sOf(shard: string): string[] {
  return Array.from({ length: 10 }, (_, digit) => `${shard}${digit}`);
}

/** The shard of a postcode3. */
export function shardOf(postcode3: string): string {
  return postcode3.slice(0, 2);
}

const lineEnd = 0x0a;

/** Reads the lines of a stored shard in order, in groups, and makes strings of one group at a time. */
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

/** Encodes a shard for storage, from its lines in order, in groups. */
export class ShardWriter {
  readonly #pieces: Buffer[] = [];

  write(lines: readonly Line[]): void {
    if (lines.length === 0) return;
    if (this.#pieces.length > 0) this.#pieces.push(Buffer.from([lineEnd]));
    this.#pieces.push(Buffer.from(lines.join('\n'), 'latin1'));
  }

  /** The same lines give the same bytes, in however many pieces they were written. */
  pack(): Buffer {
    const bytes = Buffer.concat(this.#pieces);
    const packed = packLineBytes(bytes);
    releaseMemory(bytes);
    return packed;
  }
}
