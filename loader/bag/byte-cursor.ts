/** Markup that is always written the same, compared eight bytes at a time. ASCII, and at least eight bytes. */
export type Literal = { readonly length: number; readonly words: Float64Array };

/** A literal of the joined `parts`. */
export function literal(...parts: string[]): Literal {
  const bytes = Buffer.from(parts.join(''), 'latin1');
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const starts = Array.from({ length: Math.ceil(bytes.length / 8) }, (_, i) => Math.min(i * 8, bytes.length - 8));
  return { length: bytes.length, words: Float64Array.from(starts, (start) => view.getFloat64(start, true)) };
}

const lessThan = 0x3c;
const ampersand = 0x26;
const zero = 0x30;
const dash = 0x2d;

/** Bytes that are plain text: printable ASCII without the special characters of XML. */
const plain = Uint8Array.from({ length: 256 }, (_, byte) =>
  Number(byte >= 0x20 && byte < 0x7f && !'<&>'.includes(String.fromCharCode(byte))),
);

/**
 * A position that moves forward over bytes. Each `skip` returns whether it found what it expects, and moves past it
 * only then. (One that fails in the middle of text or digits may have moved: a parser that gives up resets the
 * position.)
 */
export class ByteCursor {
  position = 0;
  readonly bytes: Buffer;
  /** The same bytes. Not a `#private` field: V8 takes a quarter longer to read one. */
  protected readonly view: DataView;

  constructor(bytes: Buffer) {
    this.bytes = bytes;
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  }

  /**
   * Past a literal. Compares eight bytes at a time, as a double: the one wide number that JavaScript compares without
   * allocating. ASCII never makes a NaN or a negative zero, so equal doubles are equal bytes. The ends come first, as
   * they differ between most literals. Twice as fast as byte by byte (decision 0111).
   */
  skip({ length, words }: Literal): boolean {
    const { view, position } = this;
    const end = position + length;
    if (end > this.bytes.length) return false; // the view would throw
    const last = words.length - 1;
    if (view.getFloat64(position, true) !== words[0] || view.getFloat64(end - 8, true) !== words[last]) return false;
    for (let i = 1, at = position + 8; i < last; i++, at += 8) {
      if (view.getFloat64(at, true) !== words[i]) return false;
    }
    this.position = end;
    return true;
  }

  /** Past any plain text, up to the next tag. */
  skipText(): boolean {
    const { bytes } = this;
    let { position } = this;
    while (plain[bytes[position] as number] === 1) position++;
    this.position = position;
    return bytes[position] === lessThan;
  }

  /** As `skipText`, but with `&amp;`, `&lt;` and `&gt;` allowed, as they are common in document numbers. */
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

  /** Past spaces, tabs and line ends, if any. */
  skipBlank(): void {
    for (;;) {
      const byte = this.bytes[this.position];
      if (byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09) return;
      this.position++;
    }
  }

  /** Past exactly `count` digits, up to the next tag. */
  skipDigits(count: number): boolean {
    const end = this.position + count;
    while (this.position < end) {
      if (!isDigit(this.bytes[this.position])) return false;
      this.position++;
    }
    return this.bytes[end] === lessThan;
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

  /** Past a postcode `1381AA`, up to the next tag. */
  skipPostcode(): boolean {
    const { bytes, position } = this;
    if (bytes[position] === zero) return false;
    for (let i = 0; i < 4; i++) if (!isDigit(bytes[position + i])) return false;
    for (let i = 4; i < 6; i++) if (!isCapital(bytes[position + i])) return false;
    this.position = position + 6;
    return bytes[this.position] === lessThan;
  }

  /** The letter at `start`. Making a short string from character codes is faster than from bytes (decision 0111). */
  letter(start: number): string {
    return String.fromCharCode(this.bytes[start] as number);
  }

  /** The postcode at `start`, made as `letter` is. */
  postcode(start: number): string {
    const at = (index: number) => this.bytes[start + index] as number;
    return String.fromCharCode(at(0), at(1), at(2), at(3), at(4), at(5));
  }

  /** The `length` bytes of ASCII at `start`. */
  text(start: number, length: number): string {
    return this.bytes.toString('latin1', start, start + length);
  }

  /** Copies the `length` bytes at `start` to the start of `target`; of a few bytes faster than `Buffer.copy`. */
  copy(start: number, length: number, target: Uint8Array): void {
    const { bytes } = this;
    for (let i = 0; i < length; i++) target[i] = bytes[start + i] as number;
  }

  /** Past a number of one to five digits without leading zero, up to the next tag; returns it, or 0. */
  readNumber(): number {
    const start = this.position;
    let number = 0;
    while (isDigit(this.bytes[this.position])) {
      number = number * 10 + (this.bytes[this.position] as number) - zero;
      this.position++;
    }
    const length = this.position - start;
    const isWellFormed = length >= 1 && length <= 5 && this.bytes[start] !== zero;
    return isWellFormed && this.bytes[this.position] === lessThan ? number : 0;
  }

  /** Past a date `2021-10-15`, up to the next tag; returns it as the number 20211015, or -1. */
  readDate(): number {
    const number = this.peekDate();
    this.position += 10;
    return this.bytes[this.position] === lessThan ? number : -1;
  }

  /** The date at the cursor, whatever follows it, or -1; does not move. */
  peekDate(): number {
    const start = this.position;
    let number = 0;
    for (let i = 0; i < 10; i++) {
      const byte = this.bytes[start + i];
      if (i === 4 || i === 7) {
        if (byte !== dash) return -1;
      } else if (isDigit(byte)) {
        number = number * 10 + byte - zero;
      } else {
        return -1;
      }
    }
    return number;
  }
}

function isDigit(byte: number | undefined): byte is number {
  return byte !== undefined && byte >= zero && byte <= 0x39;
}

function isCapital(byte: number | undefined): boolean {
  return byte !== undefined && byte >= 0x41 && byte <= 0x5a;
}

function isLetter(byte: number | undefined): boolean {
  return byte !== undefined && isCapital(byte & ~0x20);
}

/**
 * Reads values that often equal the one before, such as the street of a nummeraanduiding: makes a string only where the
 * bytes differ from the last ones, or belong to another cursor.
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
