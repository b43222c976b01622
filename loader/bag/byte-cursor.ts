import { absent } from './num-bytes.ts';

/** The window is the part of a file with the cursor. */
const windowBytes = 128 * 1024;
/** Read beyond the window, so that an occurrence is whole; a longer one is left to the strict parser. */
const aheadBytes = 28 * 1024;
/** Zeros that follow, or follow the end of the file: no literal or text extends beyond them. */
const endBytes = 4 * 1024;

const window = Buffer.alloc(windowBytes + aheadBytes + endBytes);
const view = new DataView(window.buffer, window.byteOffset, window.length);

/** Markup that is always written the same, with values in between that have a known length. ASCII. */
export type Literal = {
  readonly length: number;
  /** Its last eight bytes, as a double: these differ between most literals. */
  readonly last: number;
  /** The offset of each value from its start. */
  readonly gaps: number[];
  /** The markup, in turn the offset of eight bytes and these as a double. */
  readonly words: Float64Array;
  /** For each byte that is no markup: its offset, and its lowest and highest value. */
  readonly ranges: Uint16Array;
};

/** A value in a literal by its lowest and highest characters, at each position. */
export type ValueRange = readonly [lowest: string, highest: string];

export const digits = (count: number): ValueRange => ['0'.repeat(count), '9'.repeat(count)];
export const date: ValueRange = ['0000-00-00', '9999-99-99'];
export const postcode: ValueRange = ['1000AA', '9999ZZ'];

const wordBytes = 8;

/** A literal of the joined `parts`; the last part is markup of eight bytes or more. */
export function literal(...parts: readonly (string | ValueRange)[]): Literal {
  const [gaps, words, ranges]: [number[], number[], number[]] = [[], [], []];
  let text = '';
  for (const part of parts) {
    const [lowest, highest] = typeof part === 'string' ? [part, part] : part;
    const isMarkup = typeof part === 'string' && part.length >= wordBytes;
    if (typeof part !== 'string') gaps.push(text.length);
    for (let at = 0; isMarkup && at < part.length; at += wordBytes) {
      const start = Math.min(at, part.length - wordBytes);
      words.push(text.length + start, Buffer.from(part, 'latin1').readDoubleLE(start));
    }
    for (let i = 0; !isMarkup && i < lowest.length; i++)
      ranges.push(text.length + i, lowest.charCodeAt(i), highest.charCodeAt(i));
    text += lowest;
  }
  const last = Buffer.from(text, 'latin1').readDoubleLE(text.length - 8);
  return { length: text.length, last, gaps, words: Float64Array.from(words), ranges: Uint16Array.from(ranges) };
}

const lessThan = 0x3c;
const ampersand = 0x26;
/** The first byte of U+00C0 to U+00FF in UTF-8; the second one begins with the bits 10. */
const accented = 0xc3;
const zero = 0x30;
const dash = 0x2d;
const point = 0x2e;

/** Bytes that are plain text: printable ASCII without the special characters of XML. */
const plain = Uint8Array.from({ length: 256 }, (_, byte) =>
  Number(byte >= 0x20 && byte < 0x7f && !'<&>'.includes(String.fromCharCode(byte))),
);

/** The cursor whose file the window holds a part of. */
let owner: ByteCursor | undefined;

/**
 * A position that moves forward over the bytes of a file, and copies a part at a time to compare literals in. Each
 * `skip` returns whether it found the expected bytes, and moves past them only then. (A `skip` that fails in the middle
 * of text or digits may have moved: a parser that gives up resets the position.)
 */
export class ByteCursor {
  /** An index into `bytes`. */
  position = 0;
  /** A part of the file, until the next `seek` of this cursor or any other. */
  readonly bytes = window;
  readonly view = view;
  readonly #file: Buffer;
  #start = 0;

  constructor(file: Buffer) {
    this.#file = file;
    this.seek(0);
  }

  seek(at: number): void {
    if (owner !== this || at < this.#start || at >= this.#start + windowBytes) {
      const end = this.#file.copy(window, 0, at, at + windowBytes + aheadBytes);
      window.fill(0, end, end + endBytes);
      this.#start = at;
      owner = this;
    }
    this.position = at - this.#start;
  }

  get filePosition(): number {
    return this.#start + this.position;
  }

  /**
   * Past a literal, its last eight bytes first. Bytes are compared as doubles: the one wide number that JavaScript
   * compares without allocating. ASCII never makes a NaN or a negative zero, so equal doubles are equal bytes.
   */
  skip({ length, last, words, ranges }: Literal): boolean {
    const { position } = this;
    if (view.getFloat64(position + length - 8, true) !== last) return false;
    for (let i = 0; i < words.length; i += 2)
      if (view.getFloat64(position + (words[i] as number), true) !== words[i + 1]) return false;
    for (let i = 0; i < ranges.length; i += 3) {
      const byte = window[position + (ranges[i] as number)] as number;
      if (byte < (ranges[i + 1] as number) || byte > (ranges[i + 2] as number)) return false;
    }
    this.position = position + length;
    return true;
  }

  /** Past a literal; returns where its first value is, or `absent`. */
  skipTo(literal: Literal): number {
    const { position } = this;
    return this.skip(literal) ? position + (literal.gaps[0] as number) : absent;
  }

  /** Past any plain text, up to the next tag. It may have the letters of Latin-1 with accents, which are two bytes. */
  skipText(): boolean {
    const { bytes } = this;
    let { position } = this;
    while (plain[bytes[position] as number] === 1) position++;
    for (; bytes[position] === accented && (bytes[position + 1] as number) >> 6 === 2; position += 2)
      while (plain[bytes[position + 2] as number] === 1) position++;
    this.position = position;
    return bytes[position] === lessThan;
  }

  /** Like `skipText`, but allows `&amp;`, `&lt;` and `&gt;`, which are common in document numbers. */
  skipEscapedText(): boolean {
    while (!this.skipText()) {
      const { bytes, position } = this;
      if (bytes[position] !== ampersand) return false;
      const reference = bytes.toString('latin1', position, position + 5);
      if (reference === '&amp;') this.position += 5;
      else if (reference.startsWith('&lt;') || reference.startsWith('&gt;')) this.position += 4;
      else return false;
    }
    return true;
  }

  skipBlank(): void {
    for (;;) {
      const byte = this.bytes[this.position];
      if (byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09) return;
      this.position++;
    }
  }

  /** Past exactly one letter, up to the next tag. */
  skipLetter(): boolean {
    if (!isLetter(this.bytes[this.position])) return false;
    return this.bytes[++this.position] === lessThan;
  }

  /** Past one to `most` letters and digits, up to the next tag. */
  skipLettersAndDigits(most: number): boolean {
    const start = this.position;
    while (isLetter(this.bytes[this.position]) || isDigit(this.bytes[this.position])) this.position++;
    const length = this.position - start;
    return length >= 1 && length <= most && this.bytes[this.position] === lessThan;
  }

  /** Past a decimal number of at most six and nine digits. Returns where its shortest form ends, or `absent`. */
  skipDecimal(): number {
    const { bytes, position: start } = this;
    let at = start;
    while (isDigit(bytes[at])) at++;
    const whole = at - start;
    if (whole < 1 || whole > 6 || (whole > 1 && bytes[start] === zero)) return absent;
    let end = at;
    if (bytes[at] === point) {
      const fraction = ++at;
      for (; isDigit(bytes[at]); at++) if (bytes[at] !== zero) end = at + 1;
      if (at === fraction || at - fraction > 9) return absent;
    }
    this.position = at;
    return end;
  }

  wholeAt(start: number): number {
    let number = 0;
    for (let at = start; isDigit(this.bytes[at]); at++) number = number * 10 + (this.bytes[at] as number) - zero;
    return number;
  }

  /** Past ASCII up to a tag, and past that; returns the ASCII, or `null`. */
  textBefore(tag: string): string | null {
    const { position: start } = this;
    const end = this.bytes.indexOf(tag, start, 'latin1');
    if (end < 0 || end > start + aheadBytes) return null;
    this.position = end + tag.length;
    return this.text(start, end - start);
  }

  text(start: number, length: number): string {
    return this.bytes.toString('latin1', start, start + length);
  }

  /** Past a number of one to `most` digits without leading zero, up to the next tag; returns it, or 0. */
  readNumber(most = 5): number {
    const start = this.position;
    let number = 0;
    while (isDigit(this.bytes[this.position])) {
      number = number * 10 + (this.bytes[this.position] as number) - zero;
      this.position++;
    }
    const length = this.position - start;
    const isWellFormed = length >= 1 && length <= most && this.bytes[start] !== zero;
    return isWellFormed && this.bytes[this.position] === lessThan ? number : 0;
  }

  /** The date of a literal at `start`, as the number 20211015. */
  dateAt(start: number): number {
    let number = 0;
    for (let at = start; at < start + 10; at++) {
      const byte = this.bytes[at] as number;
      if (byte !== dash) number = number * 10 + byte - zero;
    }
    return number;
  }
}

function isDigit(byte: number | undefined): byte is number {
  return byte !== undefined && byte >= zero && byte <= 0x39;
}

function isLetter(byte: number | undefined): boolean {
  return byte !== undefined && (byte & ~0x20) >= 0x41 && (byte & ~0x20) <= 0x5a;
}
