import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import { comparePlaces, type Place } from '../../lambdas/shared/domain/address-key.ts';

/**
 * A line is what a load sorts, compares and stores: the key, then woonplaats and straat of each place, parted by tabs.
 * `1381AA#9#A<tab>Weesp<tab>Buitenveer`. A row has one place; a line of a snapshot has all distinct places of its key.
 *
 * Lines are byte strings: each character stands for one byte of the UTF-8 text. They take one byte a character, they
 * cost nothing to read and to write, and their order is that of the bytes, so the same everywhere (decision 0030).
 */
export type Line = string;

/** The places part of a row; made once a street, not once an address. Tabs and line ends in a name are escaped. */
export function placeText({ woonplaats, straat }: Place): string {
  return Buffer.from(`${escaped(woonplaats)}\t${escaped(straat)}`).toString('latin1');
}

/** The key of a line, which is ASCII. */
export function keyOf(line: Line): string {
  return line.slice(0, line.indexOf('\t'));
}

/** A line as the addresses table holds it. */
export function parseLine(line: Line): { key: string; places: Place[] } {
  const [key = '', ...names] = Buffer.from(line, 'latin1').toString().split('\t');
  const places: Place[] = [];
  for (let i = 0; i + 1 < names.length; i += 2) {
    places.push({ straat: unescaped(names[i + 1] as string), woonplaats: unescaped(names[i] as string) });
  }
  return { key, places: places.sort(comparePlaces) };
}

const level = { params: { [constants.ZSTD_c_compressionLevel]: 3, [constants.ZSTD_c_checksumFlag]: 1 } };

/** Lines in their stored form; the same lines give the same bytes. */
export function packLines(lines: readonly Line[]): Buffer {
  return packLineBytes(Buffer.from(lines.join('\n'), 'latin1'));
}

/** The same of lines that are bytes already, parted by line ends. */
export function packLineBytes(lines: Uint8Array): Buffer {
  return zstdCompressSync(lines, level);
}

/** The lines that `packLines` stored; damaged bytes are an error. */
export function unpackLines(packed: Uint8Array): Line[] {
  const bytes = unpackLineBytes(packed);
  const text = bytes.toString('latin1');
  release(bytes);
  return text === '' ? [] : text.split('\n');
}

/** Lines rarely pack better than this. */
const mostPacked = 16;

/** What `packLineBytes` stored; damaged bytes are an error. In one piece: zlib makes it of many, and copies, unless told. */
export function unpackLineBytes(packed: Uint8Array): Buffer {
  return zstdDecompressSync(packed, { chunkSize: Math.max(1_024, mostPacked * packed.length) });
}

/**
 * Gives back the memory of bytes that nothing needs any more. Left to the garbage collector, which sees a small object where
 * megabytes hang on it, a load holds tens of them (decision 0091). A small buffer may share its memory and is left alone.
 */
export function release(bytes: Buffer): void {
  if (bytes.buffer.byteLength > Buffer.poolSize) (bytes.buffer as ArrayBuffer).transfer(0);
}

function escaped(name: string): string {
  return /[\\\t\n]/.test(name) ? name.replaceAll('\\', '\\\\').replaceAll('\t', '\\t').replaceAll('\n', '\\n') : name;
}

function unescaped(name: string): string {
  if (!name.includes('\\')) return name;
  return name.replace(/\\(.)/g, (_, letter) => (letter === 't' ? '\t' : letter === 'n' ? '\n' : letter));
}
