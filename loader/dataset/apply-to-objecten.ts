/** What days of mutations change in the adresseerbare objecten of a dataset. */

import { type AdresseerbaarVoorkomen, dayOf } from '../bag/voorkomen.ts';
import {
  type AdresObjectLine,
  adresObjectLines,
  isMissingKey,
  type KeylessLine,
  keylessOf,
  numOf,
  objectIdOf,
  parseAdresObjectLine,
  withKeys,
} from './adres-objects.ts';
import { type Objects, objectKey } from './apply-mutations.ts';
import { keyOf } from './lines.ts';
import { addEdit, type Edits, editsWith } from './object-segment.ts';
import { keyOfNum } from './objects.ts';

/** The lines that were found by part, the objects that are named or turn, and when some parts turn `next`. */
export type FoundObjecten = {
  lines: Map<string, AdresObjectLine[]>;
  objects: Objects;
  next: Map<string, string | null>;
};

/** Adds the occurrences of the objects among the lines that are named, or of which one begins or ends. */
export function addConcerned(
  { lines, objects }: FoundObjecten,
  named: ReadonlySet<string>,
  { from, to }: { from: number; to: number },
): void {
  const turns = (day: number) => day > from && day <= to;
  const concerned = new Set(named);
  const all = [...lines.values()].flat().map((line) => ({ id: objectIdOf(keylessOf(line)), line }));
  const isUnknown = all.filter(({ id }) => !named.has(id)).map(({ line }) => parseAdresObjectLine(line));
  for (const { identificatie, begin, eind } of isUnknown) if (turns(begin) || turns(eind)) concerned.add(identificatie);
  for (const { id, line } of all) {
    if (!concerned.has(id)) continue;
    const occurrence = parseAdresObjectLine(line);
    const held = objects.get(objectKey(occurrence)) ?? new Map();
    objects.set(objectKey(occurrence), held.set(occurrence.volgnummer, occurrence));
  }
}

/**
 * The edits that turn the lines that were found into those of `objects` on `peildatum`, under the keys of that date.
 */
export function objectenEditsOf({ lines, next }: FoundObjecten, objects: Objects, peildatum: string): Edits {
  const edits = editsWith(next);
  const keysOf = keysAfter(lines, objects, peildatum);
  const concerned = new Set(Array.from(objects.keys(), (key) => key.slice(4)));
  const moved = new Map<string, Set<KeylessLine>>();
  for (const [part, ofPart] of lines) {
    addEdit(edits, 'remove', [[part, ofPart]]);
    for (const line of ofPart.map(keylessOf)) {
      if (concerned.has(objectIdOf(line))) continue;
      moved.set(numOf(line), (moved.get(numOf(line)) ?? new Set()).add(line));
    }
  }
  for (const [num, ofNum] of moved) addEdit(edits, 'add', withKeys(num, [...ofNum], keysOf));
  for (const occurrences of objects.values()) {
    const kept = [...occurrences.values()].filter((one): one is AdresseerbaarVoorkomen => 'hoofdadres' in one);
    if (kept.length > 0) addEdit(edits, 'add', adresObjectLines(kept, peildatum, keysOf));
  }
  return edits;
}

/** The keys of nummeraanduidingen on a date: of those among `objects` by these, of others as the lines have them. */
function keysAfter(
  lines: ReadonlyMap<string, readonly AdresObjectLine[]>,
  objects: Objects,
  peildatum: string,
): (num: string) => Iterable<string> {
  const day = dayOf(peildatum);
  const known = new Map<string, Set<string>>();
  for (const line of [...lines.values()].flat()) {
    if (isMissingKey(line)) continue;
    const num = numOf(keylessOf(line));
    known.set(num, (known.get(num) ?? new Set()).add(keyOf(line)));
  }
  return (num) => {
    const occurrences = objects.get(`NUM ${num}`);
    if (!occurrences) return known.get(num) ?? [];
    return new Set(
      [...occurrences.values()].flatMap((one) => (one.kind === 'NUM' && one.eind > day ? [keyOfNum(one)] : [])),
    );
  };
}
