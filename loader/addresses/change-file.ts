/** The files of changes that a load writes to the table, one after the other. */

import { packLines, requireForm, unpackLines } from '../register/stored-form.ts';
import { LineSegmentReader, LineSegmentWriter, unpackSegment } from './line-segment.ts';
import { type Change, keyOf, type Line, type LineWrite, linesForm } from './lines.ts';

/**
 * Encodes changes for storage: `+` and the whole line to put, or `-` and the key to remove. Or, of a first load, the
 * lines of whole parts, which are all to put, as its snapshot has them. Repeating a change has no further effect.
 */
export class ChangeWriter {
  #lines: Line[] = [linesForm];
  #puts = new LineSegmentWriter();
  count = 0;

  add({ before, after }: Change): void {
    this.count++;
    this.#lines.push(after === null ? `-${keyOf(before as Line)}` : `+${after}`);
  }

  /** Adds a whole part as it is stored, to put every line: to a file without other changes. */
  addPart(part: Parameters<LineSegmentWriter['add']>[0]): void {
    this.#puts.add(part);
    this.count += part.counts.lines;
  }

  /** Packs the changes since the last call, in the pieces that `putPacked` joins. */
  pack(): Buffer[] {
    const packed = this.#puts.isEmpty ? [packLines(this.#lines)] : this.#puts.pack();
    this.#puts = new LineSegmentWriter();
    this.#lines = [linesForm];
    this.count = 0;
    return packed;
  }
}

/** The changes that a `ChangeWriter` packed. @throws UnknownFormError for changes that another version stored */
export function unpackWrites(packed: Buffer): LineWrite[] {
  if (LineSegmentReader.reads(packed)) return unpackSegment(packed).map((put) => ({ put }));
  const [form = '', ...writes] = unpackLines(packed);
  requireForm(form, linesForm);
  return writes.map((line) => (line.startsWith('+') ? { put: line.slice(1) } : { remove: line.slice(1) }));
}
