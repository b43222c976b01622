/** The files of changes that a load writes to the table, one after the other. */

import { type BlockedLines, BlockFile } from './block-file.ts';
import { type LineCounts, lineSegmentWriter, unpackSegment } from './line-segment.ts';
import { type Change, keyOf, type Line, type LineWrite, linesHeader, linesHeaderMark, storedForm } from './lines.ts';
import { GrowingBytes, packLineBytes, unpackLines } from './stored-form.ts';

/**
 * Encodes changes for storage: `+` and the whole line to put, or `-` and the key to remove. Or, of a first load, the
 * lines of whole parts, which are all to put, in the blocks of its snapshot. Repeating a change has no further effect.
 */
export class ChangeWriter {
  readonly #text = new GrowingBytes();
  #puts = lineSegmentWriter();
  count = 0;

  add({ before, after }: Change): void {
    if (this.count++ === 0) this.#text.write(linesHeader, 'latin1');
    this.#text.write(after === null ? `\n-${keyOf(before as Line)}` : `\n+${after}`, 'latin1');
  }

  /** Adds a part of which every line is to put, as it is stored: to a file without other changes. */
  addPart(part: string, lines: BlockedLines, counts: LineCounts): void {
    this.#puts.add(part, lines, counts);
    this.count += counts.lines;
  }

  /** What was added since the last time, in the pieces that `putPacked` joins. */
  pack(): Buffer[] {
    const packed = this.#puts.isEmpty ? [packLineBytes(this.#text.bytes)] : this.#puts.pack();
    this.#puts = lineSegmentWriter();
    this.#text.length = 0;
    this.count = 0;
    return packed;
  }

  /** Frees its memory, after the last change. */
  release(): void {
    this.#text.release();
  }
}

/** What a `ChangeWriter` packed, of an earlier release too: a load that it began is finished. */
export function unpackWrites(packed: Buffer): LineWrite[] {
  if (BlockFile.isOne(packed)) return unpackSegment(packed).map((put) => ({ put }));
  const stored = unpackLines(packed);
  const hasHeader = stored[0]?.startsWith(linesHeaderMark) ?? false;
  const { read } = storedForm(hasHeader ? (stored[0] as Line) : '');
  const writes = hasHeader ? stored.slice(1) : stored;
  return writes.map((line) => (line.startsWith('+') ? { put: read(line.slice(1)) } : { remove: line.slice(1) }));
}
