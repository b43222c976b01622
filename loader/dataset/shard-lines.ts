import { type Line, packLineBytes, unpackLineBytes } from './lines.ts';

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
