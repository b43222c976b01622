import { GrowingBytes } from './growing-bytes.ts';

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
  readonly #lines = new GrowingBytes();

  /** Adds the line of one row: its key as `addressKey` makes it, of ASCII alone, then `place`, the bytes of its place. */
  add(postcode: string, huisnummer: number, huisletter: string, huisnummertoevoeging: string, place: Uint8Array): void {
    const lines = this.#lines;
    lines.reserve(longestKey + place.length);
    const { memory } = lines;
    let at = lines.length;
    if (at > 0) memory[at++] = lineEnd;
    at = write(memory, at, postcode);
    memory[at++] = hash;
    at = write(memory, at, String(huisnummer));
    memory[at++] = hash;
    at = writeUpperCase(memory, at, huisletter);
    at = writeUpperCase(memory, at, huisnummertoevoeging);
    memory[at++] = tab;
    for (let i = 0; i < place.length; i++) memory[at++] = place[i] as number;
    lines.length = at;
  }

  /** All lines, parted by line ends. */
  get bytes(): Buffer {
    return this.#lines.bytes;
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
