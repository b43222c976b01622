import type { Change } from './diff.ts';
import { GrowingBytes } from './growing-bytes.ts';
import { keyOf, type Line, packLineBytes, unpackLines } from './lines.ts';

/** What to do to one key of the table: put this line, or remove the key. */
export type Write = { put: Line } | { remove: string };

/**
 * Makes the stored form of changes: `+` and the whole line to put, or `-` and the key to remove. Each says all that has to
 * be done, so doing it twice is doing it once.
 */
export class ChangeWriter {
  readonly #text = new GrowingBytes();
  count = 0;

  add({ before, after }: Change): void {
    if (this.count++ > 0) this.#text.write('\n', 'latin1');
    this.#text.write(after === null ? `-${keyOf(before)}` : `+${after}`, 'latin1');
  }

  /** What was added since the last time. */
  pack(): Buffer {
    const packed = packLineBytes(this.#text.bytes);
    this.#text.length = 0;
    this.count = 0;
    return packed;
  }
}

/** What a `ChangeWriter` packed. */
export function unpackWrites(packed: Uint8Array): Write[] {
  return unpackLines(packed).map((line) => (line.startsWith('+') ? { put: line.slice(1) } : { remove: line.slice(1) }));
}
