/** The lines of a segment of a snapshot as they are stored, and how they are counted. */

import { BlockedLines, BlockFile, BlockFileWriter } from './block-file.ts';
import { hasAddress, type Line, linesForm } from './lines.ts';

/** How many lines there are, and how many of them have only a list of toevoegingen. */
export type LineCounts = { lines: number; lists: number };

export function countLines(lines: readonly Line[]): LineCounts {
  return { lines: lines.length, lists: lines.reduce((count, line) => (hasAddress(line) ? count : count + 1), 0) };
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

  /** The parts that have lines, in their order. */
  get parts(): string[] {
    return this.#file.parts;
  }

  lines(part: string): Line[] {
    return this.#file.lines(part).lines();
  }

  /** The same lines in the blocks that they are stored in, and their number. */
  blocks(part: string): { lines: BlockedLines; counts: LineCounts } {
    return { lines: this.#file.lines(part), counts: this.#file.about(part) ?? { lines: 0, lists: 0 } };
  }
}
