/**
 * How a load stores its working data: lines, compressed with a checksum, and JSON that ends in a
 * checksum. Reading damaged bytes is an error.
 */

import zlib, { constants, crc32 } from 'node:zlib';
import { ZstdCompress } from 'minizlib';
import { releaseMemory } from '../release-memory.ts';
import { lineEnd, segmentDigits } from './layouts.ts';

/** The lowest level takes a fifth less time than the usual one, and packs lines as well. */
const { ZSTD_c_compressionLevel, ZSTD_c_windowLog, ZSTD_c_checksumFlag } = constants;
const level = {
  params: { [ZSTD_c_compressionLevel]: 1, [ZSTD_c_windowLog]: 16, [ZSTD_c_checksumFlag]: 1 },
};

/**
 * The command line imports this on Node 22.12 too, whose zlib lacks zstd: only snapshots need it.
 */
function requireZstd(): void {
  if (zlib.zstdCompressSync as unknown) return;
  throw new Error(
    'This reads or writes a snapshot, which takes Node 22.15 or newer. Install Node 24, then run it again.',
  );
}

/** Something is stored in a form that this version of the program does not read. */
export class UnknownFormError extends Error {
  override readonly name = 'UnknownFormError';
}

/** @throws UnknownFormError unless this version reads the stored form */
export function requireForm(found: string, known: string): void {
  if (found !== known) {
    throw new UnknownFormError(`its form is '${found}', and this version reads '${known}'`);
  }
}

/** Lines as bytes, each with its line end. */
export function lineBytes(lines: readonly string[]): Buffer {
  return Buffer.from([...lines, ''].join('\n'), 'latin1');
}

/** One for all: making the context of one takes as long as compressing a block (decision 0113). */
let compressor: ZstdCompress | undefined;

export function packLineBytes(lines: Buffer): Buffer {
  requireZstd();
  const used = compressor ?? new ZstdCompress({ ...level, flush: constants.ZSTD_e_end });
  compressor = undefined; // for good if it fails
  used.write(lines);
  compressor = used;
  return used.read() as Buffer;
}

/**
 * The smallest buffer that zlib takes for a result, and the ratio that hardly any lines are packed
 * by: one buffer.
 */
const least = 1_024;
const usualRatio = 16;

/** Packed lines; damaged bytes are an error. */
export function unpackLines(packed: Uint8Array): string[] {
  const bytes = unpackLineBytes(packed);
  const lines = linesOf(bytes);
  releaseMemory(bytes);
  return lines;
}

export function linesOf(bytes: Buffer): string[] {
  return bytes.length === 0 ? [] : bytes.toString('latin1').split('\n');
}

/** The position of the first of some sorted lines that begins with this text, or comes after it. */
export function firstLineFrom(sorted: Buffer, text: string): number {
  const wanted = Buffer.from(text, 'latin1');
  let start = 0;
  let end = sorted.length;
  while (start < end) {
    let line = (start + end) >> 1;
    while (line > start && sorted[line - 1] !== lineEnd) line--;
    let same = 0;
    while (same < wanted.length && sorted[line + same] === wanted[same]) same++;
    if (same < wanted.length && (sorted[line + same] as number) < (wanted[same] as number)) {
      start = sorted.indexOf(lineEnd, line) + 1;
    } else {
      end = line;
    }
  }
  return start;
}

/** The bytes that `packLineBytes` stored; damaged bytes are an error. */
export function unpackLineBytes(packed: Uint8Array): Buffer {
  requireZstd();
  return zlib.zstdDecompressSync(packed, { chunkSize: least + usualRatio * packed.length });
}

/** Whether so many bytes, at least four, are the same at both places. */
export function hasSameBytes(
  bytes: DataView,
  start: number,
  other: number,
  length: number,
): boolean {
  for (let i = length - 4; i > 0; i -= 4) {
    if (bytes.getInt32(start + i) !== bytes.getInt32(other + i)) return false;
  }
  return bytes.getInt32(start) === bytes.getInt32(other);
}

/** Bytes appended to one piece of memory, which doubles when it is full. */
export class GrowingBytes {
  memory: Buffer = Buffer.allocUnsafeSlow(4_096);
  view = new DataView(this.memory.buffer);
  length = 0;

  /** Ensures capacity for `count` more bytes, to be written to `memory` at `length`. */
  reserve(count: number): void {
    const least = this.length + count;
    if (least <= this.memory.length) return;
    const larger = Buffer.allocUnsafeSlow(Math.max(2 * this.memory.length, least));
    this.memory.copy(larger, 0, 0, this.length);
    this.release();
    this.memory = larger;
    this.view = new DataView(larger.buffer);
  }

  /** Frees the memory of bytes that nobody adds to or reads any more. */
  release(): void {
    releaseMemory(this.memory);
  }

  write(text: string, encoding: 'utf8' | 'latin1' = 'utf8'): void {
    this.reserve(Buffer.byteLength(text, encoding));
    this.length += this.memory.write(text, this.length, encoding);
  }

  /** Appends a few bytes; `reserve` made room. */
  add(from: Uint8Array, start: number, end: number): void {
    const { memory } = this;
    let at = this.length;
    for (let i = start; i < end; i++) memory[at++] = from[i] as number;
    this.length = at;
  }

  /**
   * Appends bytes, eight at a time (not as doubles, which may change), and ensures capacity for one
   * more.
   */
  copy(from: DataView, start: number, length: number): void {
    this.reserve(length + 1);
    let i = 0;
    for (; i <= length - 8; i += 8) {
      this.view.setBigInt64(this.length + i, from.getBigInt64(start + i));
    }
    for (; i < length; i++) this.view.setUint8(this.length + i, from.getUint8(start + i));
    this.length += length;
  }

  get bytes(): Buffer {
    return this.memory.subarray(0, this.length);
  }
}

/**
 * The range of a worker's stored rows that each destination gets: a bucket, or a segment. A segment
 * is a part of the country: all postcodes with the same first two digits, `10` to `99`. A
 * `postcode3` is the first three digits, `130`.
 */
export type ByteRanges = Record<string, [position: number, length: number, crc32: number]>;

/** Each postcode3 of a segment, in order: of `13`, `130` to `139`. */
export function postcode3sOf(segment: string): string[] {
  return Array.from({ length: 10 }, (_, digit) => `${segment}${digit}`);
}

export function segmentOf(postcode3: string): string {
  return postcode3.slice(0, segmentDigits);
}

const bits = 32;

/**
 * JSON that ends in a line with the CRC-32 of all before it, each bit a space (0) or a tab (1).
 * JSON parsers ignore that line as white space: Step Functions reads some files as the items of a
 * map, so they must stay plain JSON. With a `name`, the checksum covers the name too, so that an
 * object stored under one name is not accepted under another.
 */
export function checkedJson(value: unknown, name = ''): Buffer {
  const text = Buffer.from(`${JSON.stringify(value)}\n`);
  const checked = Buffer.concat([text, Buffer.from(checksumLine(text, name))]);
  releaseMemory(text);
  return checked;
}

/**
 * Parses what `checkedJson` made, or JSON without a checksum. @throws Error if the bytes have
 * changed
 */
export function parseCheckedJson<T>(bytes: Buffer, name = ''): T {
  const start = bytes.length - bits;
  const line = bytes.toString('latin1', Math.max(0, start));
  if (/^[ \t]{32}$/.test(line)) {
    if (line !== checksumLine(bytes.subarray(0, start), name)) throw new Error('wrong checksum');
  }
  return JSON.parse(bytes.toString()) as T;
}

function checksumLine(text: Uint8Array, name: string): string {
  return crc32(text, crc32(name))
    .toString(2)
    .padStart(bits, '0')
    .replaceAll('0', ' ')
    .replaceAll('1', '\t');
}
