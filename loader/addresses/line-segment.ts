/**
 * The lines of a segment of a snapshot as they are stored, part by part, and how they are counted.
 */

import { crc32 } from 'node:zlib';
import { partDigits } from '../register/layouts.ts';
import {
  checkedJson,
  lineBytes,
  linesOf,
  packLineBytes,
  parseCheckedJson,
  requireForm,
  unpackLineBytes,
} from '../register/stored-form.ts';
import { type Line, linesForm, parseLine } from './lines.ts';
import { addSizes, type PlaceSizes, sizesOfAddress } from './place-sizes.ts';

/**
 * The number of lines, the number with only a list of toevoegingen, and the addresses by
 * woonplaats.
 */
export type LineCounts = { lines: number; lists: number; places: PlaceSizes };

export const noLines: LineCounts = { lines: 0, lists: 0, places: {} };

function countLines(lines: readonly Line[]): LineCounts {
  const all = lines.map(parseLine);
  const sizes = all.flatMap(({ key, places }) =>
    places.flatMap((place) => sizesOfAddress(key, place)),
  );
  return {
    lines: lines.length,
    lists: all.filter(({ places }) => places.length === 0).length,
    places: addSizes(sizes),
  };
}

/** The packed lines of a part: all lines with the same first three digits of the postcode. */
type PackedPart = { part: string; packed: Buffer; counts: LineCounts };

/**
 * `form` is the version of the lines, and `crc` is of the bytes after it: the packed parts, with
 * these lengths.
 */
type Header = {
  form: string;
  crc: number;
  parts: (Pick<PackedPart, 'part' | 'counts'> & { length: number })[];
};

/** The first bytes of a segment, in any version. */
const mark = Buffer.from('BAG1');
const headerAt = mark.length + 4;

/** Makes the stored form of a segment. */
export class LineSegmentWriter {
  #parts: PackedPart[] = [];

  /** Adds a part; one without lines leaves no trace. */
  add(part: PackedPart): void {
    if (part.counts.lines > 0) this.#parts.push(part);
  }

  /** The added lines, in the pieces that `putPacked` joins. */
  pack(): Buffer[] {
    const packed = this.#parts.map((part) => part.packed);
    const header = checkedJson({
      form: linesForm,
      crc: packed.reduce((sum, bytes) => crc32(bytes, sum), 0),
      parts: this.#parts.map(({ part, counts, packed: { length } }) => ({ part, counts, length })),
    } satisfies Header);
    const length = Buffer.alloc(headerAt - mark.length);
    length.writeUInt32LE(header.length);
    return [mark, length, header, ...packed];
  }
}

/** All lines of a segment of a snapshot, in their stored form. */
export function packSegment(lines: readonly Line[]): Buffer {
  const segment = new LineSegmentWriter();
  for (const [part, ofPart] of Map.groupBy(lines, (line) => line.slice(0, partDigits))) {
    segment.add({ part, packed: packLineBytes(lineBytes(ofPart)), counts: countLines(ofPart) });
  }
  return Buffer.concat(segment.pack());
}

/** The lines of a stored segment. */
export function unpackSegment(packed: Buffer): Line[] {
  const reader = new LineSegmentReader(packed);
  return reader.parts.flatMap((part) => reader.lines(part));
}

/** Reads the lines of a stored segment, a part at a time. */
export class LineSegmentReader {
  readonly #parts = new Map<string, PackedPart>();

  /**
   * @param bytes the stored segment; `null` has no lines @throws UnknownFormError, Error for damage
   */
  constructor(bytes: Buffer | null) {
    if (!bytes) return;
    if (!bytes.subarray(0, mark.length).equals(mark)) throw new Error('not the lines of a segment');
    const start = headerAt + bytes.readUInt32LE(mark.length);
    const { form, crc, parts } = parseCheckedJson<Header>(bytes.subarray(headerAt, start));
    requireForm(form, linesForm);
    let position = start;
    for (const { part, counts, length } of parts) {
      position += length;
      this.#parts.set(part, { part, counts, packed: bytes.subarray(position - length, position) });
    }
    if (crc32(bytes.subarray(start, position)) !== crc) throw new Error('wrong checksum');
  }

  /** The parts that have lines, in their order. */
  get parts(): string[] {
    return [...this.#parts.keys()].sort();
  }

  lines(part: string): Line[] {
    return linesOf(this.bytes(part).subarray(0, -1));
  }

  /** The same lines as bytes, each with its line end. */
  bytes(part: string): Buffer {
    const packed = this.#parts.get(part)?.packed;
    return packed ? unpackLineBytes(packed) : Buffer.alloc(0);
  }

  /** The part as it is stored; `null` if it has no lines. */
  stored(part: string): PackedPart | null {
    return this.#parts.get(part) ?? null;
  }

  counts(part: string): LineCounts {
    return this.#parts.get(part)?.counts ?? noLines;
  }
}
