const hash = 0x23;
const tab = 0x09;
const lineEnd = 0x0a;
/** A key is at most `1381AA#99999#A1234`, and then a tab and a line end. */
const longestKey = 20;

/**
 * The lines of many rows, written byte by byte into one piece of memory: no string is made of a row, and nothing is left
 * for the garbage collector to copy about.
 */
export class LineBytes {
  #bytes: Buffer = Buffer.allocUnsafeSlow(4_096);
  #length = 0;

  /** Adds the line of one row: its key as `addressKey` makes it, of ASCII alone, then `place`, the bytes of its place. */
  add(postcode: string, huisnummer: number, huisletter: string, huisnummertoevoeging: string, place: Uint8Array): void {
    const room = this.#length + longestKey + place.length;
    if (room > this.#bytes.length) this.#grow(room);
    const bytes = this.#bytes;
    let at = this.#length;
    if (at > 0) bytes[at++] = lineEnd;
    at = write(bytes, at, postcode);
    bytes[at++] = hash;
    at = write(bytes, at, String(huisnummer));
    bytes[at++] = hash;
    at = writeUpperCase(bytes, at, huisletter);
    at = writeUpperCase(bytes, at, huisnummertoevoeging);
    bytes[at++] = tab;
    for (let i = 0; i < place.length; i++) bytes[at++] = place[i] as number;
    this.#length = at;
  }

  /** All lines, parted by line ends. */
  get bytes(): Buffer {
    return this.#bytes.subarray(0, this.#length);
  }

  #grow(least: number): void {
    const larger = Buffer.allocUnsafeSlow(Math.max(2 * this.#bytes.length, least));
    this.#bytes.copy(larger, 0, 0, this.#length);
    this.#bytes = larger;
  }
}

function write(bytes: Buffer, start: number, text: string): number {
  let at = start;
  for (let i = 0; i < text.length; i++) bytes[at++] = text.charCodeAt(i);
  return at;
}

function writeUpperCase(bytes: Buffer, start: number, text: string): number {
  let at = start;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    bytes[at++] = code >= 0x61 && code <= 0x7a ? code - 0x20 : code;
  }
  return at;
}
