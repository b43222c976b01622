import type { NumVoorkomen } from '../bag/voorkomen.ts';
import type { Objects } from './apply-mutations.ts';
import { type ObjectLine, objectLines, parseObjectLine } from './objects.ts';
import { shardOf } from './shard.ts';

/** The lines of some objects by identificatie, then by the part that they are stored with. */
export type FoundObjects = Map<string, Map<string, ObjectLine[]>>;

/** What to change in one part of the object layer. */
export type PartEdits = { remove: ObjectLine[]; add: ObjectLine[] };

/** By part; plain JSON. */
export type Edits = Record<string, PartEdits>;

/** Adds lines to remove or to add, by part. */
export function addEdit(
  edits: Edits,
  what: keyof PartEdits,
  lines: Iterable<[part: string, lines: ObjectLine[]]>,
): void {
  for (const [part, ofPart] of lines) {
    edits[part] ??= { remove: [], add: [] };
    edits[part][what].push(...ofPart);
  }
}

/** The same by the shard that each part is in. */
export function editsByShard(edits: Edits): Map<string, Edits> {
  const shards = new Map<string, Edits>();
  for (const [part, edit] of Object.entries(edits)) {
    shards.set(shardOf(part), { ...shards.get(shardOf(part)), [part]: edit });
  }
  return shards;
}

/** The occurrences of what was found, each once. */
export function objectsOf(found: FoundObjects): Objects {
  const objects: Objects = new Map();
  for (const [identificatie, parts] of found) {
    // A part that an object is stored with has all of its lines.
    const [lines = []] = parts.values();
    objects.set(
      `NUM ${identificatie}`,
      new Map(lines.map(parseObjectLine).map((occurrence) => [occurrence.volgnummer, occurrence])),
    );
  }
  return objects;
}

/** The edits that turn the lines that were found into those of `objects` on `peildatum`. */
export function editsOf(found: FoundObjects, objects: Objects, peildatum: string): Edits {
  const edits: Edits = {};
  for (const [key, occurrences] of objects) {
    if (!key.startsWith('NUM ')) continue;
    addEdit(edits, 'remove', found.get(key.slice('NUM '.length)) ?? []);
    const kept = [...occurrences.values()].filter((one): one is NumVoorkomen => one.kind === 'NUM');
    addEdit(edits, 'add', objectLines(kept, peildatum));
  }
  return edits;
}

/** The lines of a part after an edit, sorted. Removes every copy of a line. Changes `lines`. */
export function edited(lines: ObjectLine[], edit: PartEdits | undefined): ObjectLine[] {
  if (!edit) return lines.sort();
  const gone = new Set(edit.remove);
  return [...lines.filter((line) => !gone.has(line)), ...edit.add].sort();
}
