import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import {
  comparePlaces,
  maxToevoegingen,
  type Place,
  type StoredAddress,
} from '../../lambdas/shared/addresses/address-item.ts';
import { releaseMemory } from '../release-memory.ts';

/**
 * A load sorts, compares and stores lines: the key, then woonplaats and straat of each place, separated by tabs:
 * `1381AA#9#A<tab>Weesp<tab>Buitenveer`. A row has one place; a line of a snapshot has all distinct places of its key.
 *
 * Under the key without a toevoeging, a line of a snapshot ends in one more field where other toevoegingen exist: the list
 * of all of them, separated by commas, in which nothing stands for the address without one: `1381AA#9#<tab>Weesp<tab>
 * Buitenveer<tab>,A,B`. Where there is no address without one, a line with only the list is added: `1381AA#9#<tab>A,B`.
 *
 * Lines are byte strings: each character stands for one byte of the UTF-8 text. They take one byte a character, need no
 * encoding, and sort by their bytes, so in the same order everywhere (decision 0113).
 */
export type Line = string;

/** The places part of a row; made once per street, not once per address. Tabs and line ends in a name are escaped. */
export function placeText({ woonplaats, straat }: Place): string {
  return Buffer.from(`${escaped(woonplaats)}\t${escaped(straat)}`).toString('latin1');
}

/** The key of a line, which is ASCII. */
export function keyOf(line: Line): string {
  return line.slice(0, line.indexOf('\t'));
}

/** A line as the addresses table holds it. */
export function parseLine(line: Line): StoredAddress {
  const [key = '', ...fields] = Buffer.from(line, 'latin1').toString().split('\t');
  const list = fields.length % 2 === 1 ? fields.pop() : undefined;
  const places: Place[] = [];
  for (let i = 0; i + 1 < fields.length; i += 2) {
    places.push({ straat: unescaped(fields[i + 1] as string), woonplaats: unescaped(fields[i] as string) });
  }
  places.sort(comparePlaces);
  return list === undefined
    ? { key, places }
    : { key, places, toevoegingen: list.split(',').map((one) => one || null) };
}

/** The line of what the addresses table holds, its places in their order there. */
export function lineOf({ key, places, toevoegingen }: StoredAddress): Line {
  const fields = places.map(placeText);
  const list = toevoegingen?.map((one) => one ?? '').join(',');
  if (list !== undefined) fields.push(list);
  return `${key}\t${fields.join('\t')}`;
}

/** The line with its places in the order of a snapshot, which is that of their bytes. */
export function snapshotLine(line: Line): Line {
  const [key = '', ...fields] = line.split('\t');
  const places = Array.from(
    { length: Math.floor(fields.length / 2) },
    (_, i) => `${fields[2 * i]}\t${fields[2 * i + 1]}`,
  );
  return [key, ...places.sort(), ...fields.slice(2 * places.length)].join('\t');
}

/** The line without its list of toevoegingen; `null` for a line that has only a list, which is no address. */
export function addressPart(line: Line): Line | null {
  const first = line.indexOf('\t');
  let tabs = 1;
  for (let at = line.indexOf('\t', first + 1); at >= 0; at = line.indexOf('\t', at + 1)) tabs++;
  if (tabs % 2 === 0) return line;
  return tabs === 1 ? null : line.slice(0, line.lastIndexOf('\t'));
}

/** Whether a line has an address, and not only a list. */
export function hasAddress(line: Line): boolean {
  return line.indexOf('\t', line.indexOf('\t') + 1) >= 0;
}

/** Of lines the lowest level takes a fifth less time than the usual one, and packs them as well. */
const level = { params: { [constants.ZSTD_c_compressionLevel]: 1, [constants.ZSTD_c_checksumFlag]: 1 } };

/** Lines in their stored form; the same lines give the same bytes. */
export function packLines(lines: readonly Line[]): Buffer {
  const bytes = Buffer.from(lines.join('\n'), 'latin1');
  const packed = packLineBytes(bytes);
  releaseMemory(bytes);
  return packed;
}

/** As `packLines`, for lines that are bytes already, separated by line ends. */
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

/** Lines are rarely compressed further than this. */
const mostPacked = 16;

/**
 * The bytes that `packLineBytes` stored; damaged bytes are an error. In one buffer: by default zlib concatenates many.
 */
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
    this.release();
    this.memory = larger;
  }

  /** Frees the memory of bytes that nobody adds to or reads any more. */
  release(): void {
    releaseMemory(this.memory);
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

/** Addresses in the order of their keys, one for each object: the keys, and the places part of the line of each. */
export type Rows = { keys: string[]; places: string[] };

/**
 * The lines of a snapshot: one per key, with its distinct places and the lists of toevoegingen. Needs all rows of a postcode.
 * The same rows give the same lines, whatever the order of those with one key.
 */
export function joinRows({ keys, places }: Rows): Line[] {
  const lines: Line[] = [];
  let group = '';
  let groupAt = 0;
  for (let start = 0, end = 0; start < keys.length; start = end) {
    const key = keys[start] as string;
    do end++;
    while (keys[end] === key);
    if (group === '' || !key.startsWith(group)) {
      addList(lines, groupAt, group);
      group = key.slice(0, key.lastIndexOf('#') + 1);
      groupAt = lines.length;
    }
    const ofKey = end === start + 1 ? places[start] : [...new Set(places.slice(start, end))].sort().join('\t');
    lines.push(`${key}\t${ofKey}`);
  }
  addList(lines, groupAt, group);
  return lines;
}

/** Adds the list of toevoegingen to the lines from `start` on, which have the same postcode and huisnummer: `group`. */
function addList(lines: Line[], start: number, group: string): void {
  const first = lines[start];
  if (first === undefined) return;
  const isBare = first.startsWith(`${group}\t`);
  if (isBare && lines.length === start + 1) return;
  const some = lines.slice(start, start + maxToevoegingen);
  const list = some.map((line) => line.slice(group.length, line.indexOf('\t'))).join(',');
  if (isBare) lines[start] = `${first}\t${list}`;
  else lines.splice(start, 0, `${group}\t${list}`);
}
