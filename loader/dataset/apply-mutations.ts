/** Days of mutations: which of them concern a dataset, and what they change in its objects. */

import type { Mutation } from '../bag/mutations.ts';
import { dayOf, dayText, type NumVoorkomen, noEind, type ObjectVoorkomen } from '../bag/voorkomen.ts';
import { addEdit, type Edits, type FoundObjects } from './object-shard.ts';
import { isSameVoorkomen, objectLines, parseObjectLine } from './objects.ts';

/**
 * A file of mutations does not match the objects that it is applied to; the message names the object and what to do.
 */
export class MutationMismatchError extends Error {
  override readonly name = 'MutationMismatchError';
  /** How many of the days could be applied before it. */
  readonly applied: number;

  constructor(message: string, applied: number) {
    super(message);
    this.applied = applied;
  }
}

/** One file of mutations: it leads from `vanaf` to `tot`. */
export type MutationDay = { file: string; vanaf: string; tot: string; mutations: readonly Mutation[] };

/** The occurrences of objects by `objectKey`, each by its number. */
export type Objects = Map<string, Map<number, ObjectVoorkomen>>;

/** Identifies an object among objects of all kinds. */
export function objectKey({ kind, identificatie }: Pick<Mutation, 'kind' | 'identificatie'>): string {
  return `${kind} ${identificatie}`;
}

/**
 * Applies days of mutations, in order, to `objects`: all occurrences of the objects that the days mention which count
 * on the first day's `vanaf` or may count later. Each day must follow the one before, and its old values must equal
 * those in `objects`. Changes `objects`.
 * @throws MutationMismatchError
 */
export function applyMutations(objects: Objects, days: readonly MutationDay[]): void {
  let date = days[0]?.vanaf;
  for (const [applied, day] of days.entries()) {
    if (day.vanaf !== date) {
      throw new MutationMismatchError(
        `${day.file}: starts at ${day.vanaf}, but the dataset is of ${date}. Pass the files that follow ${date}.`,
        applied,
      );
    }
    for (const mutation of day.mutations) applyOne(objects, mutation, day, applied);
    date = day.tot;
  }
}

function applyOne(objects: Objects, mutation: Mutation, { file, vanaf }: MutationDay, applied: number): void {
  const { kind, identificatie, volgnummer, isNew, wordt } = mutation;
  const key = objectKey(mutation);
  const held = objects.get(key) ?? new Map<number, ObjectVoorkomen>();
  objects.set(key, held);
  const found = stillCounting(held.get(volgnummer) ?? null, vanaf);
  const was = stillCounting(mutation.was, vanaf);
  const isExpected = found === null ? was === null : was !== null && isSameVoorkomen(found, was);
  if (!isExpected) {
    const occurrence = `occurrence ${volgnummer} of ${kind} ${identificatie}`;
    throw new MutationMismatchError(
      `${file}: ${isNew ? `adds ${occurrence}, which is there already` : `changes ${occurrence} from ${textOf(was)}, and it is ${textOf(found)}`}. ` +
        'The file was replaced, or one before it is wrong. Nothing of it was applied; the next full extract corrects it.',
      applied,
    );
  }
  if (wordt) held.set(volgnummer, wordt);
  else held.delete(volgnummer);
}

/** Drops an occurrence that ended on or before `date`: nothing depends on it any more. */
function stillCounting(voorkomen: ObjectVoorkomen | null, date: string): ObjectVoorkomen | null {
  return voorkomen && voorkomen.eind > dayOf(date) ? voorkomen : null;
}

function textOf(voorkomen: ObjectVoorkomen | null): string {
  if (!voorkomen) return 'nothing that counts';
  const { begin, eind } = voorkomen;
  const span = eind === noEind ? `${dayText(begin)} on` : `${dayText(begin)} to ${dayText(eind)}`;
  if (voorkomen.kind !== 'NUM') return `'${voorkomen.naam}' (${span})`;
  const { postcode, huisnummer, huisletter, huisnummertoevoeging } = voorkomen;
  return `${postcode ?? 'no postcode'} ${huisnummer}${huisletter}${huisnummertoevoeging} (${span})`;
}

/** What a dataset holds, as far as that decides which mutations concern it. */
export type Register = {
  /** Whether an object is among the current and future ones, by `objectKey`. */
  holds(key: string): boolean;
};

/**
 * The mutations that concern the dataset of one municipality; files of mutations cover the whole country. Its places
 * are those that it holds, its streets those in its places, and its nummeraanduidingen those on its streets, before or
 * after a change.
 */
export function withinRegister(days: readonly MutationDay[], register: Register): MutationDay[] {
  const added = new Set<string>();
  const holds = (key: string) => added.has(key) || register.holds(key);
  const refersToIt = (voorkomen: ObjectVoorkomen | null): boolean => {
    if (voorkomen?.kind === 'NUM') return holds(`OPR ${voorkomen.openbareRuimte}`);
    return voorkomen?.kind === 'OPR' && holds(`WPL ${voorkomen.woonplaats}`);
  };
  const concerns = (mutation: Mutation) =>
    holds(objectKey(mutation)) || refersToIt(mutation.was) || refersToIt(mutation.wordt);
  return days.map((day) => {
    // Streets first: a street and the nummeraanduidingen on it may be new on the same day.
    for (const mutation of day.mutations) {
      if (mutation.kind === 'OPR' && concerns(mutation)) added.add(objectKey(mutation));
    }
    const mutations = day.mutations.filter(concerns);
    for (const mutation of mutations) added.add(objectKey(mutation));
    return { ...day, mutations };
  });
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
