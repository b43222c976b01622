/** The lines of a segment of a snapshot as they are stored, and how they are counted. */

import { BlockedLines, BlockFile, BlockFileWriter } from './block-file.ts';
import {
  hasAddress,
  type Line,
  linesHeader,
  linesHeaderMark,
  linesToStore,
  type StoredForm,
  storedForm,
} from './lines.ts';
import { SortedLines } from './sorted-lines.ts';
import { linesOf, unpackLineBytes } from './stored-form.ts';

/** How many lines there are, and how many of them have only a list of toevoegingen. */
export type LineCounts = { lines: number; lists: number };

export function countLines(lines: readonly Line[]): LineCounts {
  return { lines: lines.length, lists: lines.reduce((count, line) => (hasAddress(line) ? count : count + 1), 0) };
}

/** Makes the file of the lines of a segment; each has every field of this release, or those of `form`. */
export function lineSegmentWriter(form = linesHeader): BlockFileWriter<LineCounts> {
  return new BlockFileWriter(form);
}

/** All lines of a segment of a snapshot, in their stored form. */
export function packSegment(lines: readonly Line[]): Buffer {
  const [header, ...stored] = linesToStore(lines);
  const file = lineSegmentWriter(header);
  for (const [part, ofPart] of Map.groupBy(stored, (line) => line.slice(0, 3))) {
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
  readonly #form: StoredForm;
  readonly #file: BlockFile<LineCounts> | null = null;
  /** The parts of a segment that an earlier release stored as one. */
  readonly #parts = new Map<string, Buffer>();

  /** @param packed what was stored; `null` is a segment without lines */
  constructor(packed: Buffer | null) {
    if (packed && BlockFile.isOne(packed)) {
      this.#file = new BlockFile(packed);
      this.#form = storedForm(this.#file.form);
      return;
    }
    const text = packed ? unpackLineBytes(packed) : Buffer.alloc(0);
    const first = text.toString('latin1', 0, (text.indexOf('\n') + 1 || text.length + 1) - 1);
    this.#form = storedForm(first === '' ? linesHeader : first);
    const lines = new SortedLines(text);
    for (let at = first.startsWith(linesHeaderMark) ? first.length + 1 : 0; at < text.length; ) {
      const part = text.toString('latin1', at, at + 3);
      const { start, end } = lines.rangeOf(part);
      this.#parts.set(part, text.subarray(start, end - 1));
      at = end;
    }
  }

  /** Whether each line has every field of this release. */
  get isComplete(): boolean {
    return this.#form.isComplete;
  }

  /** The parts that have lines, in their order. */
  get parts(): string[] {
    return this.#file?.parts ?? [...this.#parts.keys()];
  }

  lines(part: string): Line[] {
    const lines = this.#file?.lines(part).lines() ?? linesOf(this.#parts.get(part) ?? Buffer.alloc(0));
    return this.#form.isCurrent ? lines : lines.map(this.#form.read);
  }

  /** The same lines in the blocks that they are stored in, and their number. */
  blocks(part: string): { lines: BlockedLines; counts: LineCounts } {
    const counts = this.#form.isCurrent ? this.#file?.about(part) : undefined;
    if (this.#file && counts) return { lines: this.#file.lines(part), counts };
    const lines = this.lines(part);
    return { lines: BlockedLines.ofLines(lines), counts: countLines(lines) };
  }
}
