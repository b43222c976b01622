/** The changes of a load in each woonplaats and on its streets. */

import { keyParts } from '../../core/addresses/address-key.ts';
import type { Place } from '../../core/place-fields.ts';
import type { Change } from '../addresses/lines.ts';
import { gemeentePrefix, isSpecial, nameOf, suffixOf } from '../addresses/place-sizes.ts';
import type { loadDefaults } from '../names.ts';

type Threshold = keyof typeof loadDefaults.guard | 'maximumNamesShare';
/** The members of a `PlaceSize` that a change may be a share of. */
type SizeMember = 1 | 2 | 3 | 4 | 5 | 6;

/** Metres that a location may be corrected by. */
export const corrected = 50;

/** The share of a load's limits: on all addresses, and on the addresses in a woonplaats. */
type Limit = {
  code: string;
  what: string;
  whole?: Threshold | 0;
  /**
   * Limits on streets of one woonplaats are numbers without a share: no month renames or empties
   * more streets.
   */
  place?: Threshold;
  /**
   * The member of a `PlaceSize` that it is a share of, and what these addresses are; the live ones
   * by default.
   */
  of?: SizeMember;
  there?: string;
};

const removed = { whole: 'maximumRemovedShare', place: 'maximumPlaceShare' } as const;
const lost = { whole: 'maximumLostShare', place: 'maximumLostShare', there: 'have one' } as const;
const named = { code: 'too_many_changed', whole: 'maximumNamesShare' } as const;
const streets = { place: 'alwaysAllowedStreets' } as const;
const values = { whole: 'maximumChangedShare', place: 'maximumLostShare' } as const;
const there = 'have one';
const ofObjects = { code: 'too_many_objects_changed', of: 6, there, ...values } as const;
/**
 * The kinds of changes in addresses, and their limits. `removed` and `added` count addresses that
 * no other key of their street has before or after: an address that only gets another number or
 * postcode is `renumbered`. `renamed` gets another street, `relocated` another woonplaats, and
 * `changed` is any other change, such as its id. `huisletters` and `toevoegingen` are lost ones.
 * `letters`: a name that differs only in special letters; `garbled`: a name with characters that no
 * name has. `lost` and `moved` count objects, the next seven addresses; `locations` are moved by
 * any distance. The last two count streets: with another name, and that lose many addresses.
 * `mergers`: of a gemeente that ceases to exist; `gemeente`: every other change of it.
 */
const limits = {
  removed: { code: 'too_many_removed', what: 'remove', ...removed },
  changed: {
    code: 'too_many_changed',
    what: 'change',
    whole: 'maximumChangedShare',
    place: 'maximumLostShare',
  },
  renamed: { what: 'change the street of', ...named, place: 'maximumLostShare' },
  relocated: { what: 'change the woonplaats of', ...named, place: 'maximumPlaceShare' },
  gemeente: { what: 'change the gemeente of', ...named, place: 'maximumPlaceShare' },
  mergers: { what: 'change the gemeente of', ...named },
  gemeenteLost: { code: 'too_many_changed', what: 'take the gemeente off', whole: 0 },
  added: {
    code: 'too_many_added',
    what: 'add',
    whole: 'maximumAddedShare',
    place: 'maximumLostShare',
  },
  renumbered: {
    code: 'too_many_renumbered',
    what: 'change the huisnummer or postcode of',
    ...removed,
  },
  huisletters: {
    code: 'too_many_toevoegingen_lost',
    what: 'take the huisletter off',
    of: 1,
    ...lost,
  },
  toevoegingen: {
    code: 'too_many_toevoegingen_lost',
    what: 'take the toevoeging off',
    of: 2,
    ...lost,
  },
  letters: {
    code: 'too_many_names_garbled',
    what: 'change the special letters in the names of',
    of: 3,
    ...lost,
    there: 'have such letters',
  },
  garbled: {
    code: 'too_many_names_garbled',
    what: 'put characters that no name has into the names of',
    whole: 0,
  },
  lost: { code: 'too_many_objects_lost', what: 'take an object from', ...removed },
  moved: {
    code: 'too_many_objects_moved',
    what: `move the objects by more than ${corrected} m of`,
    ...removed,
  },
  ligplaatsen: { code: 'too_many_objects_lost', what: 'take the ligplaats from', of: 4, ...lost },
  standplaatsen: {
    code: 'too_many_objects_lost',
    what: 'take the standplaats from',
    of: 5,
    ...lost,
  },
  gained: { what: 'add objects to', ...ofObjects },
  uses: { what: 'change the gebruiksdoelen of the objects of', ...ofObjects },
  surfaces: { what: 'change the oppervlakte of the objects of', ...ofObjects },
  statuses: { what: 'change the status of the objects of', ...ofObjects },
  locations: { what: 'change the location of the objects of', ...ofObjects },
  renamedStreets: { code: 'too_many_streets_changed', what: 'change the name of', ...streets },
  emptiedStreets: {
    code: 'too_many_streets_removed',
    what: 'remove many addresses from each of',
    ...streets,
  },
} as const satisfies Record<string, Limit>;

type LimitedKind = keyof typeof limits;
export type PlaceKind = 'total' | LimitedKind;
export type SizeCode = (typeof limits)[LimitedKind]['code'];

/** None of the `total`. */
export const limitOf = (kind: PlaceKind): (Limit & { code: SizeCode }) | undefined =>
  kind === 'total' ? undefined : limits[kind];

/** A number of changes, with the keys or names of the first few. */
export type Counted = { count: number; examples: string[] };
export type AreaTally = Partial<Record<PlaceKind, Counted>>;

/** Changes by street (`Buitenveer, Weesp`) and by woonplaats. */
export type PlaceTallies = {
  /** Changes of all addresses; an address in two places counts once. */
  all: AreaTally;
  streets: Record<string, AreaTally>;
  woonplaatsen: Record<string, AreaTally>;
  /**
   * Changes of the woonplaats, and of the gemeente, by the old and the new one with a tab between
   * them; the woonplaats follows the gemeenten after another tab.
   */
  names: Record<string, Counted>;
};

/**
 * The changes in the objects of one address: the number lost or moved, and 1 for each other kind of
 * change.
 */
export type ChangedObjects = Partial<Record<LimitedKind, number>>;

export const noTallies = (): PlaceTallies => ({
  all: {},
  streets: {},
  woonplaatsen: {},
  names: {},
});

const examplesKept = 3;

/** Adds to the counts under these names: of kinds, or of pairs of names. */
function addCounts<Name extends string>(
  total: Partial<Record<Name, Counted>>,
  more: Partial<Record<Name, Counted>>,
): void {
  for (const [name, { count, examples }] of Object.entries(more) as [Name, Counted][]) {
    const counted: Counted = total[name] ?? { count: 0, examples: [] };
    counted.examples.push(...examples.slice(0, examplesKept - counted.examples.length));
    counted.count += count;
    total[name] = counted;
  }
}

function addTo(areas: Record<string, AreaTally>, name: string, tally: AreaTally): void {
  const area = areas[name] ?? {};
  areas[name] = area;
  addCounts(area, tally);
}

export function mergeTallies(tallies: readonly PlaceTallies[]): PlaceTallies {
  const total = noTallies();
  for (const one of tallies) {
    addCounts(total.all, one.all);
    addCounts(total.names, one.names);
    for (const areas of ['streets', 'woonplaatsen'] as const) {
      for (const [name, tally] of Object.entries(one[areas])) addTo(total[areas], name, tally);
    }
  }
  return total;
}

export const woonplaatsOf = (street: string) => street.slice(street.lastIndexOf(', ') + 2);

/** A street that loses this many addresses is emptied: more than a demolished block of flats. */
const emptiedFrom = 20;

/**
 * An address at one place before or after a change; `isReturned`: it is as in an earlier extract.
 */
type At = { key: string; place: Place; isReturned?: boolean };

/** Counts the changes of a segment, one part after the other. */
export class PlaceCounter {
  readonly #tallies = noTallies();
  /**
   * The addresses of the part that an object no longer has, and its new addresses, by the object's
   * id.
   */
  readonly #left = new Map<string, At>();
  readonly #came = new Map<string, At>();
  readonly #removed: At[] = [];
  /** The last key that was counted of each kind. */
  readonly #last: Partial<Record<PlaceKind, string>> = {};
  readonly #added: At[] = [];

  /** @param isReturned whether the address is as in a previously accepted extract */
  count(
    { key, kind, places: { old, now } }: Change,
    {
      objects = {},
      isOfGemeente = false,
      isReturned = false,
    }: { objects?: ChangedObjects; isOfGemeente?: boolean; isReturned?: boolean } = {},
  ): void {
    const were = old ?? [];
    const are = now ?? [];
    const all = new Map([...were, ...are].map((place) => [nameOf(place), place]));
    for (const name of all.keys()) {
      addTo(this.#tallies.streets, name, { total: { count: 1, examples: [] } });
    }
    for (const name of new Set([...all.values()].map(({ woonplaats }) => woonplaats))) {
      addTo(this.#tallies.woonplaatsen, name, { total: { count: 1, examples: [] } });
    }
    for (const { place, id } of idsWithout(are, were)) {
      this.#came.set(id, { key, place, isReturned });
    }
    if (isReturned) return;
    const gone = without(were, are);
    const come = without(are, were);
    const isChanged = old !== null && now !== null;
    for (const from of gone) {
      const same = come.findIndex(({ straat }) => straat === from.straat);
      this.#countPlace(key, from, come.splice(Math.max(0, same), 1)[0], isChanged);
    }
    for (const to of come) this.#countPlace(key, undefined, to, isChanged);
    for (const { place, id } of idsWithout(were, are)) this.#left.set(id, { key, place });
    const [first] = were;
    if (!first) return;
    const at = { key, place: first };
    const to = are.find(({ woonplaats }) => woonplaats === first.woonplaats);
    if (to && first.gemeente !== to.gemeente) this.#countGemeente(at, to.gemeente);
    if (kind === 'changed' && !isOfGemeente && gone.length + come.length === 0) {
      this.#add('changed', at);
    }
    for (const [what, count] of Object.entries(objects)) {
      this.#add(what as keyof ChangedObjects, at, count);
    }
  }

  #countGemeente(at: At, to: string | undefined): void {
    const { gemeente, woonplaats } = at.place;
    if (to === undefined) this.#add('gemeenteLost', at);
    else if (gemeente !== undefined) {
      this.#addNames(
        `${gemeentePrefix}${gemeente}`,
        `${gemeentePrefix}${to}\t${woonplaats}`,
        at.key,
      );
    }
  }

  #countPlace(
    key: string,
    from: Place | undefined,
    to: Place | undefined,
    isChanged: boolean,
  ): void {
    if (to && isGarbled(to) && !(from && isGarbled(from))) this.#add('garbled', { key, place: to });
    if (!from || !to) {
      // The address stays, and gains or loses one of its places.
      if (isChanged) this.#add('changed', { key, place: (from ?? to) as Place });
      else if (from) this.#removed.push({ key, place: from });
      else if (to) this.#added.push({ key, place: to });
      return;
    }
    if (from.straat === to.straat) this.#addNames(from.woonplaats, to.woonplaats, key);
    else {
      this.#add('renamed', { key, place: from });
    }
    if (isSpecial(from) && !isGarbled(to) && hasOtherLetters(nameOf(from), nameOf(to))) {
      this.#add('letters', { key, place: from });
    }
  }

  #addNames(from: string, to: string, key: string): void {
    addCounts(this.#tallies.names, { [`${from}\t${to}`]: { count: 1, examples: [key] } });
  }

  #add(kind: PlaceKind, { key, place }: At, count = 1): void {
    if (count === 0) return;
    const tally = { [kind]: { count, examples: [key] } };
    addTo(this.#tallies.streets, nameOf(place), tally);
    addTo(this.#tallies.woonplaatsen, place.woonplaats, tally);
    if (this.#last[kind] !== key) addCounts(this.#tallies.all, tally);
    this.#last[kind] = key;
  }

  /**
   * To be called after each part, the keys of a postcode being in one: pairs the addresses that
   * moved within it.
   */
  endPart(): void {
    const isThere = ({ place }: At, at: At | undefined) =>
      at !== undefined && nameOf(at.place) === nameOf(place);
    for (const one of this.#removed) {
      const to = idsOf(one.place).flatMap((id) => this.#came.get(id) ?? []);
      const moved = to.find((at) => isThere(one, at));
      const kind = moved ? !moved.isReturned && kindOfMove(one.key, moved.key) : 'removed';
      if (kind) this.#add(kind, one);
    }
    for (const one of this.#added) {
      if (!idsOf(one.place).some((id) => isThere(one, this.#left.get(id)))) this.#add('added', one);
    }
    this.#removed.length = this.#added.length = 0;
    this.#left.clear();
    this.#came.clear();
  }

  /** To be called last. Keeps the streets with the most changes. */
  end(mostStreets: number): PlaceTallies {
    const { streets, ...others } = this.#tallies;
    for (const [name, { renamed, removed }] of Object.entries(streets)) {
      const street = { count: 1, examples: [name] };
      const tally: AreaTally = {
        ...(renamed && { renamedStreets: street }),
        ...(removed && removed.count >= emptiedFrom && { emptiedStreets: street }),
      };
      if (Object.keys(tally).length > 0) addTo(others.woonplaatsen, woonplaatsOf(name), tally);
    }
    return { ...others, streets: Object.fromEntries(byChanges(streets).slice(0, mostStreets)) };
  }
}

function byChanges(
  areas: Record<string, AreaTally>,
  kind: PlaceKind = 'total',
): [string, AreaTally][] {
  const changes = (tally: AreaTally) => tally[kind]?.count ?? 0;
  return Object.entries(areas).sort(
    ([a, one], [b, other]) => changes(other) - changes(one) || (a < b ? -1 : 1),
  );
}

/** The areas with the most changes of a kind, in descending order, and how many; each has one. */
export function mostChanged(
  areas: Record<string, AreaTally>,
  most: number,
  kind?: PlaceKind,
): Record<string, number> {
  const counts = byChanges(areas, kind).map(
    ([name, tally]) => [name, tally[kind ?? 'total']?.count ?? 0] as const,
  );
  return Object.fromEntries(counts.slice(0, most).filter(([, count]) => count > 0));
}

function kindOfMove(from: string, to: string): PlaceKind | null {
  const old = keyParts(from);
  const now = keyParts(to);
  if (old.postcode !== now.postcode || old.huisnummer !== now.huisnummer) return 'renumbered';
  const was = old.toevoeging;
  const is = now.toevoeging;
  if (suffixOf(was.charCodeAt(0), was.length) % 2 === 1 && is === was.slice(1)) {
    return 'huisletters';
  }
  return was.startsWith(is) ? 'toevoegingen' : null;
}

function without(places: readonly Place[], others: readonly Place[]): Place[] {
  return places.filter((place) => !others.some((other) => nameOf(other) === nameOf(place)));
}

const idsOf = ({ nummeraanduidingen = [] }: Place) => nummeraanduidingen;

function idsWithout(
  places: readonly Place[],
  others: readonly Place[],
): { place: Place; id: string }[] {
  const there = new Set(others.flatMap(idsOf));
  return places.flatMap((place) =>
    idsOf(place).flatMap((id) => (there.has(id) ? [] : { place, id })),
  );
}

/**
 * The characters of names. `Ã` and `Â` are what other letters begin with where they were encoded
 * twice.
 */
const usual = /^[\p{Script=Latin}\p{M}\p{Nd} .,'’‘`´"&+:;!°/()–-]*$/u;
const isGarbled = (place: Place) => !usual.test(nameOf(place)) || /[ÃÂ]/.test(nameOf(place));

/** Whether names differ in special letters only, which one name lacks or replaces. */
function hasOtherLetters(from: string, to: string): boolean {
  const bare = (name: string) => name.normalize('NFD').replace(/\p{M}/gu, '');
  return bare(from) === bare(to) || from.replace(/[^ -~]/g, '') === to.replace(/[^ -~]/g, '');
}
