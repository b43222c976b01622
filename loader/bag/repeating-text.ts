import type { ByteCursor } from './byte-cursor.ts';

/**
 * Values that often are the same as the one before, such as the street of a nummeraanduiding: makes a string only where
 * the bytes differ from the last, or are another cursor's.
 */
export class RepeatingText {
  readonly #length: number;
  #cursor: ByteCursor | undefined;
  #start = 0;
  #text = '';

  /** All values are `length` bytes of ASCII. */
  constructor(length: number) {
    this.#length = length;
  }

  /** The value at `start`. */
  text(cursor: ByteCursor, start: number): string {
    if (cursor !== this.#cursor || !this.#isSame(cursor.bytes, start)) {
      this.#text = cursor.text(start, this.#length);
      this.#cursor = cursor;
      this.#start = start;
    }
    return this.#text;
  }

  /** From the end, where neighbours in the register differ. */
  #isSame(bytes: Buffer, start: number): boolean {
    for (let i = this.#length - 1; i >= 0; i--) {
      if (bytes[start + i] !== bytes[this.#start + i]) return false;
    }
    return true;
  }
}
