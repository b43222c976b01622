import type { NumVoorkomen } from '../bag/object-voorkomen.ts';
import type { Objects } from './apply-mutations.ts';
import { type ObjectLine, objectLines, parseObjectLine } from './objects.ts';

/** The lines of some objects by identificatie, then by the part that they are stored with. */
export type FoundObjects = Map<string, Map<string, ObjectLine[]>>;

/** What to change in one part of the object layer. */
export type PartEdits = { remove: ObjectLine[]; add: ObjectLine[] };

/** By part; plain JSON. */
export type Edits = Record<string, PartEdits>;

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

/** What leads from the lines that were found to those of `objects` on `peildatum`. */
export function editsOf(found: FoundObjects, objects: Objects, peildatum: string): Edits {
  const edits: Edits = {};
  const editOf = (part: string): PartEdits => {
    edits[part] ??= { remove: [], add: [] };
    return edits[part];
  };
  for (const [key, occurrences] of objects) {
    const identificatie = key.slice('NUM '.length);
    if (!key.startsWith('NUM ')) continue;
    for (const [part, lines] of found.get(identificatie) ?? []) editOf(part).remove.push(...lines);
    const kept = [...occurrences.values()].filter((one): one is NumVoorkomen => one.kind === 'NUM');
    for (const [part, lines] of objectLines(kept, peildatum)) editOf(part).add.push(...lines);
  }
  return edits;
}

/** The lines of a part after an edit, sorted. */
export function edited(lines: readonly ObjectLine[], { remove, add }: PartEdits): ObjectLine[] {
  const gone = new Set(remove);
  return [...lines.filter((line) => !gone.has(line)), ...add].sort();
}
