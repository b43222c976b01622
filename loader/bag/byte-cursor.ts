/**
 * Markup that is always written the same, with values of a known length in between. ASCII. It is compared eight bytes
 * at a time: `words` are at `offsets`, and the values at `gaps`.
 */
export type Literal = {
  readonly length: number;
  readonly words: Float64Array;
  readonly offsets: Uint16Array;
  readonly gaps: number[];
};

/** A literal of the joined `parts`; a number is the length of a value. Markup around values has eight bytes or more. */
export function literal(...parts: readonly (string | number)[]): Literal {
  const pattern = parts.map((part) => (typeof part === 'number' ? '\0'.repeat(part) : part)).join('');
  const offsets = Array.from(pattern.matchAll(/[^\0]+/g), ({ index, 0: { length } }) =>
    Array.from({ length: Math.ceil(length / 8) }, (_, i) => index + Math.min(8 * i, length - 8)),
  ).flat();
  const bytes = Buffer.from(pattern, 'latin1');
  return {
    length: bytes.length,
    words: Float64Array.from(offsets, (at) => bytes.readDoubleLE(at)),
    offsets: Uint16Array.from(offsets),
    gaps: Array.from(pattern.matchAll(/\0+/g), ({ index }) => index),
  };
}

const lessThan = 0x3c;
const ampersand = 0x26;
const zero = 0x30;
const dash = 0x2d;
const letterT = 0x54;

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
   * Past a literal, whatever is in its gaps. Compares eight bytes at a time, as a double: the one wide number that
   * JavaScript compares without allocating. ASCII never makes a NaN or a negative zero, so equal doubles are equal
   * bytes. The ends come first, as they differ between most literals. Twice as fast as byte by byte (decision 0111).
   */
  skip({ length, words, offsets }: Literal): boolean {
    const { view, position } = this;
    const end = position + length;
    if (end > this.bytes.length) return false; // the view would throw
    const last = words.length - 1;
    if (view.getFloat64(position, true) !== words[0] || view.getFloat64(end - 8, true) !== words[last]) return false;
    for (let i = 1; i < last; i++) {
      if (view.getFloat64(position + (offsets[i] as number), true) !== words[i]) return false;
    }
    this.position = end;
    return true;
  }

  /** Whether there are `count` digits at `start`, a multiple of four; compares four at a time. */
  hasDigits(start: number, count: number): boolean {
    for (let at = start; at < start + count; at += 4) {
      if (!areWithin(this.view.getInt32(at, true), 0x50505050, 0x46464646)) return false;
    }
    return true;
  }

  /** Whether a date, or a time with milliseconds, may be at `start`: plain text in any case. */
  hasDateText(start: number): boolean {
    return this.#hasDigitsOrSigns(start) && this.#hasDigitsOrSigns(start + 4) && this.#hasDigitsOrSigns(start + 6);
  }

  /** As `hasDateText`, of a time such as `2021-10-15T13:06:12.318`. */
  hasTimeText(start: number): boolean {
    return (
      this.hasDateText(start) &&
      this.bytes[start + 10] === letterT &&
      this.#hasDigitsOrSigns(start + 11) &&
      this.#hasDigitsOrSigns(start + 15) &&
      this.#hasDigitsOrSigns(start + 19)
    );
  }

  /** Four bytes from `-` to `:`. */
  #hasDigitsOrSigns(at: number): boolean {
    return areWithin(this.view.getInt32(at, true), 0x53535353, 0x45454545);
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
    if (!this.hasPostcode(this.position)) return false;
    this.position += 6;
    return this.bytes[this.position] === lessThan;
  }

  /** Whether a postcode is at `start`, whatever follows it. */
  hasPostcode(start: number): boolean {
    const { bytes } = this;
    if (bytes[start] === zero) return false;
    for (let i = 0; i < 4; i++) if (!isDigit(bytes[start + i])) return false;
    return isCapital(bytes[start + 4]) && isCapital(bytes[start + 5]);
  }

  /** The `length` bytes of ASCII at `start`. */
  text(start: number, length: number): string {
    return this.bytes.toString('latin1', start, start + length);
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
    const number = this.dateAt(this.position);
    this.position += 10;
    return this.bytes[this.position] === lessThan ? number : -1;
  }

  /** The date at `start` as a number, whatever follows it, or -1. */
  dateAt(start: number): number {
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

/**
 * Whether each of four bytes is within two bounds: adding `low` sets the highest bit from the lower bound on, adding
 * `high` above the upper one.
 */
function areWithin(bytes: number, low: number, high: number): boolean {
  return ((bytes | (bytes + high) | ~(bytes + low)) & 0x80808080) === 0;
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
