/** The lines of a segment of a snapshot as they are stored, and how they are counted. */

import { BlockedLines, BlockFile, BlockFileWriter } from './block-file.ts';
import { type Line, linesForm, parseLine } from './lines.ts';
import { addSizes, type PlaceSize, type PlaceSizes, sizeOfAddress } from './place-sizes.ts';

/** How many lines there are, how many of them have only a list of toevoegingen, and the addresses by woonplaats. */
export type LineCounts = { lines: number; lists: number; places: PlaceSizes };

export const noLines: LineCounts = { lines: 0, lists: 0, places: {} };

export function countLines(lines: readonly Line[]): LineCounts {
  const all = lines.map(parseLine);
  const sizes = all.flatMap(({ key, places }) =>
    places.map((place): [string, PlaceSize] => [place.woonplaats, sizeOfAddress(key, place)]),
  );
  return {
    lines: lines.length,
    lists: all.filter(({ places }) => places.length === 0).length,
    places: addSizes({}, sizes),
  };
}

/** Counts after lines were replaced by others. */
export function countsAfter(counts: LineCounts, before: readonly Line[], after: readonly Line[]): LineCounts {
  const [old, now] = [countLines(before), countLines(after)];
  return {
    lines: counts.lines - old.lines + now.lines,
    lists: counts.lists - old.lists + now.lists,
    places: addSizes(addSizes(counts.places, Object.entries(old.places), -1), Object.entries(now.places)),
  };
}

/** Makes the file of the lines of a segment. */
export function lineSegmentWriter(): BlockFileWriter<LineCounts> {
  return new BlockFileWriter(linesForm);
}

/** All lines of a segment of a snapshot, in their stored form. */
export function packSegment(lines: readonly Line[]): Buffer {
  const file = lineSegmentWriter();
  for (const [part, ofPart] of Map.groupBy(lines, (line) => line.slice(0, 3))) {
    file.add(part, BlockedLines.ofLines(ofPart), countLines(ofPart));
  }
  return Buffer.concat(file.pack());
}

/** The lines of a stored segment. */
export function unpackSegment(packed: Buffer): Line[] {
  const reader = new LineSegmentReader(packed);
  return reader.parts.flatMap((part) => reader.lines(part));
}

/** Reads the lines of a stored segment, a part at a time. */
export class LineSegmentReader {
  readonly #file: BlockFile<LineCounts>;

  /** @param packed what was stored; `null` is a segment without lines */
  constructor(packed: Buffer | null) {
    this.#file = new BlockFile(packed, linesForm);
  }

  get parts(): string[] {
    return this.#file.parts;
  }

  lines(part: string): Line[] {
    return this.#file.lines(part).lines();
  }

  /** The same lines in the blocks that they are stored in, and their number. */
  blocks(part: string): { lines: BlockedLines; counts: LineCounts } {
    return { lines: this.#file.lines(part), counts: this.#file.about(part) ?? noLines };
  }
}
