import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import { comparePlaces, type Place, type StoredAddress } from '../../lambdas/shared/addresses/address-item.ts';
import { releaseMemory } from '../release-memory.ts';

/**
 * A load sorts, compares and stores lines: the key, then woonplaats and straat of each place, separated by tabs:
 * `1381AA#9#A<tab>Weesp<tab>Buitenveer`. A row has one place; a line of a snapshot has all distinct places of its key.
 *
 * Lines are byte strings: each character stands for one byte of the UTF-8 text. They take one byte a character, need no
 * encoding, and sort by their bytes, so in the same order everywhere (decision 0113).
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
export function parseLine(line: Line): StoredAddress {
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

/** As `packLines`, of lines that are bytes already, separated by line ends. */
export function packLineBytes(lines: Uint8Array): Buffer {
  return zstdCompressSync(lines, level);
}

/** The lines that `packLines` stored; damaged bytes are an error. */
export function unpackLines(packed: Uint8Array): Line[] {
  const bytes = unpackLineBytes(packed);
  const text = bytes.toString('latin1');
  releaseMemory(bytes);
  return text === '' ? [] : text.split('\n');
}

/** Lines rarely pack better than this. */
const mostPacked = 16;

/** The bytes that `packLineBytes` stored; damaged bytes are an error. In one piece: by default zlib joins many. */
export function unpackLineBytes(packed: Uint8Array): Buffer {
  return zstdDecompressSync(packed, { chunkSize: Math.max(1_024, mostPacked * packed.length) });
}

function escaped(name: string): string {
  return /[\\\t\n]/.test(name) ? name.replaceAll('\\', '\\\\').replaceAll('\t', '\\t').replaceAll('\n', '\\n') : name;
}

function unescaped(name: string): string {
  if (!name.includes('\\')) return name;
  return name.replace(/\\(.)/g, (_, letter) => (letter === 't' ? '\t' : letter === 'n' ? '\n' : letter));
}

/** Bytes appended to one piece of memory, which doubles when it is full. */
export class GrowingBytes {
  memory: Buffer = Buffer.allocUnsafeSlow(4_096);
  length = 0;

  /** Ensures capacity for `count` more bytes, to be written to `memory` at `length`. */
  reserve(count: number): void {
    const least = this.length + count;
    if (least <= this.memory.length) return;
    const larger = Buffer.allocUnsafeSlow(Math.max(2 * this.memory.length, least));
    this.memory.copy(larger, 0, 0, this.length);
    this.memory = larger;
  }

  write(text: string, encoding: 'utf8' | 'latin1' = 'utf8'): void {
    this.reserve(Buffer.byteLength(text, encoding));
    this.length += this.memory.write(text, this.length, encoding);
  }

  /** What was written. */
  get bytes(): Buffer {
    return this.memory.subarray(0, this.length);
  }
}

/**
 * The lines of a snapshot from rows in any order: sorted by key, one a key, with its distinct places. Sorts `rows` in
 * place. The same rows give the same lines, whatever their order and however they were spread over workers.
 */
export function joinRows(rows: Line[]): Line[] {
  rows.sort();
  const lines: Line[] = [];
  let previous = '';
  let start = '';
  for (const row of rows) {
    if (row === previous) continue;
    previous = row;
    if (start !== '' && row.startsWith(start)) {
      lines.push(`${lines.pop()}${row.slice(start.length - 1)}`);
    } else {
      start = `${keyOf(row)}\t`;
      lines.push(row);
    }
  }
  return lines;
}
