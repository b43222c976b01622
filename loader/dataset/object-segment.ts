/** The objects of a segment as they are stored: how they are written, read, searched and edited. */

import { emptyReport, type ProblemCounts, problemCounts } from '../bag/problem-report.ts';
import { type BlockedLines, BlockFile, BlockFileWriter } from './block-file.ts';
import { findNamed, indexOfLines, isNamed, mayHave, type NamedObjects } from './named-objects.ts';
import type { ObjectLine } from './objects.ts';
import { segmentOf } from './stored-form.ts';

/**
 * What was derived from a part: its addresses, the problems by kind, and the first date after the snapshot's on which
 * one of its occurrences begins or ceases to be valid.
 */
export type PartResult = { nummeraanduidingen: number; problems: ProblemCounts; next: string | null };

/** The stored form of object lines. Lines in another form can't be read. */
const objectsForm = 'objects 1';

/** Makes the file of the objects of a segment. */
export function objectSegmentWriter(): BlockFileWriter<PartResult> {
  return new BlockFileWriter(objectsForm, indexOfLines);
}

const nothing: PartResult = { nummeraanduidingen: 0, problems: problemCounts(emptyReport()), next: null };

/** Reads what an `objectSegmentWriter` packed; `null` is a segment without objects. */
export class ObjectSegmentReader {
  readonly #file: BlockFile<PartResult>;

  /** @throws UnknownFormError, Error for damaged bytes */
  constructor(bytes: Buffer | null) {
    this.#file = new BlockFile(bytes, objectsForm);
  }

  /** The parts that have lines, in their order. */
  get parts(): string[] {
    return this.#file.parts;
  }

  /** What was derived from the part when it was written. */
  result(part: string): PartResult {
    return this.#file.about(part) ?? nothing;
  }

  blocks(part: string): BlockedLines {
    return this.#file.lines(part);
  }

  lines(part: string): ObjectLine[] {
    return this.blocks(part).lines();
  }

  /** The lines of a part that are among `named`. */
  find(part: string, named: NamedObjects): ObjectLine[] {
    return findNamed(
      this.blocks(part).textsBy(
        (index) => mayHave(index, named),
        (line) => isNamed(line, named),
      ),
      named,
    ).lines;
  }
}

/** The lines of some objects by identificatie, then by the part that they are stored with. */
export type FoundObjects = Map<string, Map<string, ObjectLine[]>>;

/**
 * What to change in one part of the object layer. An object of which an occurrence has begun is among both. `next` is
 * the first later date on which one of the part begins or ends, where it is not as it was.
 */
export type PartEdits = { remove: ObjectLine[]; add: ObjectLine[]; next?: string | null };

/** The edits of each part. Plain JSON. */
export type Edits = Record<string, PartEdits>;

/** Adds lines to remove or to add, by part. */
export function addEdit(
  edits: Edits,
  what: 'remove' | 'add',
  lines: Iterable<[part: string, lines: ObjectLine[]]>,
): void {
  for (const [part, ofPart] of lines) {
    edits[part] ??= { remove: [], add: [] };
    edits[part][what].push(...ofPart);
  }
}

/** Groups edits by the segment that each part is in. */
export function editsBySegment(edits: Edits): Map<string, Edits> {
  const segments = new Map<string, Edits>();
  for (const [part, edit] of Object.entries(edits)) {
    segments.set(segmentOf(part), { ...segments.get(segmentOf(part)), [part]: edit });
  }
  return segments;
}
