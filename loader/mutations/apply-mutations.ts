/** Days of mutations: the selection for a dataset, and their changes to its objects. */

import { adresObjectText } from '../../core/adres-object.ts';
import { isObjectenKind } from '../bag/elements.ts';
import { type AnyVoorkomen, dayOf, dayText, noEind } from '../bag/voorkomen.ts';
import type { SetAsideObject, SetAsideOfDay } from '../dataset/load.ts';
import { addressesOf, isSameVoorkomen } from '../register/record.ts';
import type { Mutation } from './read-mutations.ts';

/** One file of mutations: it leads from `vanaf` to `tot`. */
export type MutationDay = {
  file: string;
  vanaf: string;
  tot: string;
  mutations: readonly Mutation[];
  /** Whether it covers just the municipalities of the dataset, rather than the whole country. */
  isOwnArea?: boolean;
};

/** The occurrences of objects by `objectKey`, each by its number. */
export type Objects = Map<string, Map<number, AnyVoorkomen>>;

/** Identifies an object among objects of all kinds. */
export function objectKey({
  kind,
  identificatie,
}: Pick<Mutation, 'kind' | 'identificatie'>): string {
  return `${kind} ${identificatie}`;
}

/** The nummeraanduidingen that an occurrence of any kind names as its addresses, by `objectKey`. */
export function numKeysOf(voorkomen: AnyVoorkomen | null): string[] {
  return voorkomen && 'hoofdadres' in voorkomen
    ? addressesOf(voorkomen).map((num) => `NUM ${num}`)
    : [];
}

/**
 * Applies a day of mutations to `objects`: all occurrences of the objects that it mentions which
 * count on its `vanaf` or may count later. Its old values must equal the values in `objects`, or be
 * applied already: Kadaster has repeated changes of one day in the next. Any other object is set
 * aside for that day, with all of its changes. Updates `objects` and, by key, the set-aside objects
 * in `unsettled`: an object that matches now is settled.
 */
export function applyMutations(
  objects: Objects,
  day: MutationDay,
  unsettled = new Map<string, SetAsideObject>(),
): SetAsideOfDay {
  const byObject = Map.groupBy(day.mutations, objectKey);
  const setAside: SetAsideOfDay = {
    file: day.file,
    objects: byObject.size,
    count: 0,
    examples: [],
  };
  for (const [key, mutations] of byObject) {
    const changed = new Map(objects.get(key));
    const why = firstMismatch(changed, mutations, day);
    if (why === null) {
      objects.set(key, changed);
      unsettled.delete(key);
      continue;
    }
    setAside.count++;
    if (setAside.examples.length === 0) setAside.examples.push(why);
    unsettled.set(key, { object: key, file: day.file, why, addresses: 1 });
  }
  return setAside;
}

/**
 * How many set-aside objects are remembered, those with the most addresses: more are of a delivery
 * that is wrong as a whole.
 */
const mostRemembered = 200;

/** The objects with the most addresses first. */
export function remembered(objects: readonly SetAsideObject[]): SetAsideObject[] {
  return objects.toSorted((a, b) => b.addresses - a.addresses).slice(0, mostRemembered);
}

/** Applies the changes of one object to its occurrences; what does not match, or `null`. */
function firstMismatch(
  held: Map<number, AnyVoorkomen>,
  mutations: readonly Mutation[],
  { file, vanaf }: MutationDay,
): string | null {
  const isEmpty = held.size === 0;
  for (const { kind, identificatie, volgnummer, isNew, was: expected, wordt } of mutations) {
    const found = stillCounting(held.get(volgnummer) ?? null, vanaf);
    const was = stillCounting(expected, vanaf);
    if (!isSame(found, was) && !isSame(found, stillCounting(wordt, vanaf))) {
      const occurrence = `occurrence ${volgnummer} of ${kind} ${identificatie}`;
      if (isEmpty) return `${file}: changes ${occurrence}, and the dataset has no such object`;
      if (isNew) {
        return `${file}: adds ${occurrence} as ${textOf(wordt)}, which it already has as ${textOf(found)}`;
      }
      return `${file}: changes ${occurrence} from ${textOf(was)}, and it is ${textOf(found)}`;
    }
    if (wordt) held.set(volgnummer, wordt);
    else {
      held.delete(volgnummer);
    }
  }
  return null;
}

function isSame(a: AnyVoorkomen | null, b: AnyVoorkomen | null): boolean {
  return a === null || b === null ? a === b : isSameVoorkomen(a, b);
}

/** Drops an occurrence that ended on or before `date`: nothing depends on it any more. */
function stillCounting(voorkomen: AnyVoorkomen | null, date: string): AnyVoorkomen | null {
  return voorkomen && voorkomen.eind > dayOf(date) ? voorkomen : null;
}

function textOf(voorkomen: AnyVoorkomen | null): string {
  if (!voorkomen) return 'nothing that counts';
  const { begin, eind } = voorkomen;
  const span = eind === noEind ? `${dayText(begin)} on` : `${dayText(begin)} to ${dayText(eind)}`;
  if ('hoofdadres' in voorkomen) {
    return `${adresObjectText({ ...voorkomen, hoofdadres: true })} of ${addressesOf(voorkomen).join(' ')} (${span})`;
  }
  if (voorkomen.kind !== 'NUM') return `'${voorkomen.naam}' (${span})`;
  const { postcode, huisnummer, huisletter, huisnummertoevoeging } = voorkomen;
  return `${postcode ?? 'no postcode'} ${huisnummer}${huisletter}${huisnummertoevoeging} (${span})`;
}

/**
 * The contents of a dataset of some municipalities, as far as they decide which mutations concern
 * it.
 */
export type Register = {
  /** Whether it has an object, current or future, by `objectKey`. */
  holds(key: string): boolean;
  /**
   * The woonplaatsen with streets in it: only these are certainly its own, because it keeps every
   * new woonplaats.
   */
  inhabited: ReadonlySet<string>;
  /** The codes of its municipalities, which begin the identificaties of their new objects. */
  gemeenten: readonly string[];
};

/**
 * Selects the mutations of days, one after the other, that concern the dataset of some
 * municipalities, from deliveries of the whole country: mutations of its own objects, of objects in
 * its places or on its streets before or after a change, and of new objects from its
 * municipalities, because an address can be registered a day before its street. Every new
 * woonplaats is kept: its streets may move there on a later day, and without streets it gives no
 * address.
 */
export function withinRegister(register: Register): (day: MutationDay) => MutationDay['mutations'] {
  const added = new Set<string>();
  const inhabited = new Set(register.inhabited);
  const holds = (key: string) => added.has(key) || register.holds(key);
  const isNew = ({ isNew: isAdded, volgnummer }: Mutation) => isAdded && volgnummer === 1;
  const isOwn = ({ identificatie }: Mutation) =>
    register.gemeenten.includes(identificatie.slice(0, 4));
  /**
   * Whether nothing of an object counted before the day: it is new, or was withdrawn and comes
   * back.
   */
  const isGone = (mutations: readonly Mutation[]) => {
    const first = new Map(mutations.toReversed().map(({ volgnummer, was }) => [volgnummer, was]));
    return [...first.values()].every((was) => was === null);
  };
  const liesWithin = (voorkomen: AnyVoorkomen | null): boolean => {
    if (voorkomen?.kind === 'NUM') return holds(`OPR ${voorkomen.openbareRuimte}`);
    return voorkomen?.kind === 'OPR' && inhabited.has(voorkomen.woonplaats);
  };
  /**
   * Changes of an object that is held or new, or comes back. Others are of another municipality
   * until an extract has them.
   */
  const concerns = (mutations: readonly Mutation[]) =>
    mutations.some(
      (mutation) =>
        holds(objectKey(mutation)) ||
        (mutation.kind === 'WPL' && isNew(mutation)) ||
        liesWithin(mutation.was),
    ) ||
    (isGone(mutations) &&
      mutations.some(
        (mutation) =>
          isOwn(mutation) || liesWithin(mutation.wordt) || numKeysOf(mutation.wordt).some(holds),
      ));
  return (day) => {
    const objects = [...Map.groupBy(day.mutations, objectKey).values()];
    // Streets first: a street and the nummeraanduidingen on it may be new on the same day, and a
    // place and its streets.
    const streets = objects.filter(([mutation]) => mutation?.kind === 'OPR');
    for (let before = -1; before < added.size + inhabited.size; ) {
      before = added.size + inhabited.size;
      for (const street of streets.filter(concerns).flat()) {
        added.add(objectKey(street));
        if (street.wordt?.kind === 'OPR') inhabited.add(street.wordt.woonplaats);
      }
    }
    if (day.isOwnArea) {
      for (const mutation of day.mutations) added.add(objectKey(mutation));
      return day.mutations;
    }
    // Adresseerbare objecten after their addresses, which may be new on the same day.
    return [false, true].flatMap((isObject) => {
      const found = objects
        .filter(([mutation]) => mutation && isObjectenKind(mutation.kind) === isObject)
        .filter(concerns);
      for (const mutation of found.flat()) added.add(objectKey(mutation));
      return found.flat();
    });
  };
}
