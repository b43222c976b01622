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
const tab = 0x09;

/** Reads the lines of a stored shard in order, in groups, and makes strings of one group at a time. */
export class ShardReader {
  readonly #text: Buffer;
  #position = 0;

  /** @param packed what `packLines` or a `ShardWriter` stored; `null` is a shard without lines */
  constructor(packed: Uint8Array | null) {
    this.#text = packed ? unpackLineBytes(packed) : Buffer.alloc(0);
  }

  /** The next lines, as long as they start with `prefix`. */
  next(prefix: string): Line[] {
    const bytes = this.take(prefix);
    return bytes.length === 0 ? [] : bytes.toString('latin1').split('\n');
  }

  /** As `next`, as the bytes of these lines. */
  take(prefix: string): Buffer {
    const text = this.#text;
    const start = this.#position;
    let end = start;
    while (end < text.length && startsWith(text, end, prefix)) {
      const found = text.indexOf(lineEnd, end);
      end = (found < 0 ? text.length : found) + 1;
    }
    this.#position = end;
    return text.subarray(start, Math.max(start, end - 1));
  }
}

function startsWith(text: Buffer, start: number, prefix: string): boolean {
  for (let i = 0; i < prefix.length; i++) if (text[start + i] !== prefix.charCodeAt(i)) return false;
  return true;
}

/** How many lines there are, and how many of them have only a list of toevoegingen. */
export function countLines(bytes: Uint8Array): { lines: number; lists: number } {
  if (bytes.length === 0) return { lines: 0, lists: 0 };
  let [lines, lists, tabs] = [1, 0, 0];
  for (const byte of bytes) {
    if (byte === tab) tabs++;
    else if (byte === lineEnd) {
      if (tabs === 1) lists++;
      lines++;
      tabs = 0;
    }
  }
  return { lines, lists: tabs === 1 ? lists + 1 : lists };
}

/** Encodes a shard for storage, from its lines in order, in groups. */
export class ShardWriter {
  readonly #pieces: Buffer[] = [];

  write(lines: readonly Line[]): void {
    this.writeBytes(Buffer.from(lines.join('\n'), 'latin1'));
  }

  /** As `write`, of the bytes of lines, which must stay as they are until `pack`. */
  writeBytes(lines: Buffer): void {
    if (lines.length === 0) return;
    if (this.#pieces.length > 0) this.#pieces.push(Buffer.from([lineEnd]));
    this.#pieces.push(lines);
  }

  /** The same lines give the same bytes, in however many pieces they were written. */
  pack(): Buffer {
    const bytes = Buffer.concat(this.#pieces);
    const packed = packLineBytes(bytes);
    releaseMemory(bytes);
    return packed;
  }
}
