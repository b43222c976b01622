import type { NumVoorkomen } from '../bag/object-voorkomen.ts';
import { extractDate, type Load } from '../dataset/load.ts';
import { addEdit, type Edits, type FoundObjects } from '../dataset/object-edits.ts';
import { identificatieOf, type ObjectLine, objectLines, parseObjectLine } from '../dataset/objects.ts';
import type { Segments } from '../dataset/shard.ts';
import { paths, type Storage } from '../storage/storage.ts';
import { type Extracted, readRows } from './extract.ts';

type ExtractedPart = Extracted & { part: string; segments: Segments };

/**
 * The edits that complete objects whose occurrences were read separately: by several workers, or from an extract that
 * does not list its objects in order. In an ordered extract these are among the first and last objects of the parts.
 */
export async function editsOfDivided(storage: Storage, load: Load, parts: readonly ExtractedPart[]): Promise<Edits> {
  const found = inOrder(parts)
    ? objectsAtEdges(parts, extractDate(load))
    : await objectsReadTwice(storage, load.id, parts);
  const edits: Edits = {};
  for (const lines of found.values()) {
    const all = [...lines.values()].flat();
    const whole = objectLines(unique(all.map(parseObjectLine)), extractDate(load));
    if (isSame(lines, whole)) continue;
    addEdit(edits, 'remove', lines);
    addEdit(edits, 'add', whole);
  }
  return edits;
}

function inOrder(parts: readonly Extracted[]): boolean {
  let last = '';
  for (const { edges, isSorted } of parts) {
    for (const identificatie of edges.flatMap(([first]) => first?.identificatie ?? [])) {
      if (!isSorted || identificatie < last) return false;
      last = identificatie;
    }
  }
  return true;
}

/** The lines of every object that is at the edge of two parts. */
function objectsAtEdges(parts: readonly Extracted[], peildatum: string): FoundObjects {
  const objects = new Map<string, NumVoorkomen[][]>();
  for (const { edges } of parts) {
    for (const object of edges) {
      const identificatie = object[0]?.identificatie;
      if (identificatie) objects.set(identificatie, [...(objects.get(identificatie) ?? []), object]);
    }
  }
  const found: FoundObjects = new Map();
  for (const [identificatie, pieces] of objects) {
    if (pieces.length < 2) continue;
    const edits: Edits = {};
    for (const piece of pieces) addEdit(edits, 'remove', objectLines(piece, peildatum));
    found.set(identificatie, new Map(Object.entries(edits).map(([part, { remove }]) => [part, remove])));
  }
  return found;
}

/** The lines of every object with several lines. Reads all lines twice, and holds a number for each. */
async function objectsReadTwice(
  storage: Storage,
  load: string,
  parts: readonly ExtractedPart[],
): Promise<FoundObjects> {
  let count = 0;
  const numbers = new Float64Array(parts.reduce((sum, { objects }) => sum + objects, 0));
  for await (const [, line] of linesOf(storage, load, parts)) numbers[count++] = Number(identificatieOf(line));
  numbers.sort();
  const several = new Set(numbers.filter((number, i) => number === numbers[i - 1] || number === numbers[i + 1]));
  const found: FoundObjects = new Map();
  for await (const [part, line] of linesOf(storage, load, parts)) {
    const identificatie = identificatieOf(line);
    if (!several.has(Number(identificatie))) continue;
    const lines = found.get(identificatie) ?? new Map<string, ObjectLine[]>();
    found.set(identificatie, lines.set(part, [...(lines.get(part) ?? []), line]));
  }
  return found;
}

async function* linesOf(
  storage: Storage,
  load: string,
  parts: readonly ExtractedPart[],
): AsyncGenerator<[part: string, line: ObjectLine]> {
  for (const { part, segments } of parts) {
    for (const [postcode3, segment] of Object.entries(segments)) {
      for (const line of await readRows(storage, paths.rows(load, part), segment)) yield [postcode3, line];
    }
  }
}

/** One of each number: an object may be in two members of an extract, and is stored with several parts. */
function unique(occurrences: readonly NumVoorkomen[]): NumVoorkomen[] {
  return [...new Map(occurrences.map((one) => [one.volgnummer, one])).values()];
}

function isSame(a: ReadonlyMap<string, ObjectLine[]>, b: ReadonlyMap<string, ObjectLine[]>): boolean {
  const text = (lines: ReadonlyMap<string, ObjectLine[]>) =>
    [...lines]
      .map(([part, ofPart]) => [part, ...ofPart.toSorted()].join(' '))
      .sort()
      .join();
  return text(a) === text(b);
}
