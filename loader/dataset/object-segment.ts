/** The objects of a segment as they are stored: how they are written, read, searched and edited. */

import { emptyReport, type ProblemCounts, problemCounts } from '../bag/problem-report.ts';
import { adresObjectLayout } from './adres-objects.ts';
import { type BlockedLines, BlockFile, BlockFileWriter } from './block-file.ts';
import { findNamed, indexOfLines, isNamed, type LineLayout, mayHave, type NamedObjects } from './named-objects.ts';
import { identificatieOf, type ObjectLine, objectLayout } from './objects.ts';
import { segmentOf } from './stored-form.ts';

/**
 * What was derived from a part: its addresses, its problems, and the first later date on which it changes by itself.
 */
export type PartResult = { nummeraanduidingen: number; problems: ProblemCounts; next: string | null };

/** What was derived from the adresseerbare objecten of a part, in the same way. */
export type AdresObjectResult = { objecten: number; problems: ProblemCounts; next: string | null };

/** Lines that a snapshot stores of objects: their form, in no other of which they can be read, and their fields. */
export type ObjectLayer<Result> = { form: string; layout: LineLayout; nothing: Result };

const nothing = { problems: problemCounts(emptyReport()), next: null };

export const numLayer: ObjectLayer<PartResult> = {
  form: 'objects 1',
  layout: objectLayout,
  nothing: { nummeraanduidingen: 0, ...nothing },
};
export const adresObjectLayer: ObjectLayer<AdresObjectResult> = {
  form: 'adresseerbare objecten 1',
  layout: adresObjectLayout,
  nothing: { objecten: 0, ...nothing },
};

/** Makes the file of the objects of a segment. */
export function objectSegmentWriter<Result>({ form, layout }: ObjectLayer<Result>): BlockFileWriter<Result> {
  return new BlockFileWriter(form, (text) => indexOfLines(text, layout));
}

/** Reads what an `objectSegmentWriter` packed; `null` is a segment without objects. */
export class ObjectSegmentReader<Result = PartResult> {
  readonly #file: BlockFile<Result>;
  readonly #layer: ObjectLayer<Result>;

  /** @throws UnknownFormError, Error for damaged bytes */
  constructor(bytes: Buffer | null, layer: ObjectLayer<Result>) {
    this.#layer = layer;
    this.#file = new BlockFile(bytes, layer.form);
  }

  get parts(): string[] {
    return this.#file.parts;
  }

  result(part: string): Result {
    return this.#file.about(part) ?? this.#layer.nothing;
  }

  blocks(part: string): BlockedLines {
    return this.#file.lines(part);
  }

  lines(part: string): ObjectLine[] {
    return this.blocks(part).lines();
  }

  /** The lines of a part that are among `named`, or among those that `also` names. */
  find(part: string, named: NamedObjects, also = named): ObjectLine[] {
    const texts = this.blocks(part).textsBy(
      (index) => mayHave(index, named) || (also !== named && mayHave(index, also)),
      (line) => isNamed(line, named) || isNamed(line, also),
    );
    return findNamed(texts, named, { also }).lines;
  }
}

/** The lines of some objects by identificatie, then by the part that they are stored with. */
export type FoundObjects = Map<string, Map<string, ObjectLine[]>>;

/** Adds a line that is stored with a part. */
export function addFound(
  found: FoundObjects,
  part: string,
  line: ObjectLine,
  identificatie = identificatieOf(line),
): void {
  const parts = found.get(identificatie) ?? new Map<string, ObjectLine[]>();
  found.set(identificatie, parts.set(part, [...(parts.get(part) ?? []), line]));
}

/** An object of which an occurrence has begun is among both. `next`: the next date on which one turns, if another. */
export type PartEdits = { remove: ObjectLine[]; add: ObjectLine[]; next?: string | null };

/** The edits of each part. Plain JSON. */
export type Edits = Record<string, PartEdits>;

/** No edits yet, but of the dates on which some parts turn next. */
export function editsWith(next: ReadonlyMap<string, string | null>): Edits {
  return Object.fromEntries(Array.from(next, ([part, date]) => [part, { remove: [], add: [], next: date }]));
}

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
