import type { ByteCursor } from './byte-cursor.ts';

/**
 * Values that often are the same as the one before, such as the street of a nummeraanduiding: makes a string only where
 * the bytes differ from the last. For one file: it remembers a place in it.
 */
export class RepeatingText {
  readonly #length: number;
  #start = -1;
  #text = '';

  /** All values are `length` bytes of ASCII. */
  constructor(length: number) {
    this.#length = length;
  }

  /** The value at `start`. */
  text({ bytes }: ByteCursor, start: number): string {
    if (this.#start < 0 || !this.#isSame(bytes, start)) {
      this.#text = bytes.toString('latin1', start, start + this.#length);
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
