/** How the addresses of a load differ from the live ones, by column, in total and by area. */

import { addressText, keyParts } from '../../core/addresses/address-key.ts';
import type { AdresObject } from '../../core/adres-object.ts';
import { isKnownGemeente } from '../../core/gemeenten.ts';
import type { Place } from '../../core/place-fields.ts';
import type { Change } from '../addresses/lines.ts';
import { addSizes, areasOf, nameOf, type PlaceSizes } from '../addresses/place-sizes.ts';
import { type AddressColumn, corrected } from './limits.ts';

/** A number of addresses, with the first few as `1381 AA 9: Buitenveer → Binnenveer`. */
export type Counted = { count: number; examples: string[] };

/** The addresses of an area that differ in any column, and in each. */
export type ColumnTally = { changed: number; columns: Partial<Record<AddressColumn, Counted>> };

/**
 * Addresses whose straat, woonplaats or gemeente gets another name. `isOpen`: the old name of a
 * street stays for other addresses, or the new one was live.
 */
export type NameChange = Counted & { isOpen: boolean };

/** Plain JSON. */
export type Tallies = {
  /** By the names of areas in `place-sizes.ts`. */
  areas: Record<string, ColumnTally>;
  /** By `Buitenveer, Weesp`, for the streets with the most changes; only removed addresses. */
  streets: Record<string, ColumnTally>;
  /** By `nameChangeKey`. Each may be one change of many addresses, so no column counts it yet. */
  names: Record<string, NameChange>;
};

/** The changes from a dataset, and the sizes of its areas. */
export type Compared = { tallies: Tallies; places: PlaceSizes };

export const noTallies = (): Tallies => ({ areas: {}, streets: {}, names: {} });

export type NamedColumn = Extract<AddressColumn, 'straat' | 'woonplaats' | 'gemeente'>;

/**
 * One name that changes, and the area that it counts in. Without names it stands for further
 * changes, which were not told apart.
 */
export type NameChangeOf = {
  column: NamedColumn;
  woonplaats: string;
  gemeente: string | undefined;
  from: string;
  to: string;
};

const nameChangeKey = ({ column, woonplaats, gemeente = '', from, to }: NameChangeOf): string =>
  [column, woonplaats, gemeente, from, to].join('\t');

export function nameChangeOf(key: string): NameChangeOf {
  const [column, woonplaats = '', gemeente, from = '', to = ''] = key.split('\t');
  return { column: column as NamedColumn, woonplaats, gemeente: gemeente || undefined, from, to };
}

/** The value of an address without one, as examples show it in every language. */
const none = '-';

const examplesKept = 3;

function addCounted(total: Counted, { count, examples }: Counted): void {
  total.count += count;
  total.examples.push(...examples.slice(0, examplesKept - total.examples.length));
}

/** The entry of a name; creates it if it is missing. */
function entryOf<T>(all: Record<string, T>, name: string, made: () => T): T {
  const known = all[name];
  if (known) return known;
  const entry = made();
  all[name] = entry;
  return entry;
}

const newTally = (): ColumnTally => ({ changed: 0, columns: {} });

function countedIn({ columns }: ColumnTally, column: AddressColumn): Counted {
  return entryOf<Counted>(columns as Record<AddressColumn, Counted>, column, () => ({
    count: 0,
    examples: [],
  }));
}

function addTallies(
  total: Record<string, ColumnTally>,
  more: Readonly<Record<string, ColumnTally>>,
): void {
  for (const [name, { changed, columns }] of Object.entries(more)) {
    const tally = entryOf(total, name, newTally);
    tally.changed += changed;
    for (const [column, counted] of Object.entries(columns)) {
      addCounted(countedIn(tally, column as AddressColumn), counted);
    }
  }
}

export function mergeTallies(all: readonly Tallies[]): Tallies {
  const total = noTallies();
  for (const { areas, streets, names } of all) {
    addTallies(total.areas, areas);
    addTallies(total.streets, streets);
    for (const [key, change] of Object.entries(names)) {
      const sum = entryOf<NameChange>(total.names, key, () => ({
        count: 0,
        examples: [],
        isOpen: false,
      }));
      addCounted(sum, change);
      sum.isOpen ||= change.isOpen;
    }
  }
  return total;
}

/** The changes of segments from one dataset. */
export function mergeCompared(all: readonly Compared[]): Compared {
  return {
    tallies: mergeTallies(all.map(({ tallies }) => tallies)),
    places: addSizes(all.flatMap(({ places }) => Object.entries(places))),
  };
}

/** The areas with the most changes, in descending order, and how many. */
export function mostChanged(
  areas: Record<string, ColumnTally>,
  most: number,
): Record<string, number> {
  const counts = Object.entries(areas).map(([name, { changed }]) => [name, changed] as const);
  return Object.fromEntries(inOrder(counts).slice(0, most));
}

const inOrder = <T extends readonly [string, number]>(counts: readonly T[]): T[] =>
  counts.toSorted(([a, count], [b, other]) => other - count || (a < b ? -1 : 1));

/** Up to this many names are told apart in one segment: so many never change. */
const mostNames = 500;

/** Up to this many streets of one segment are kept: one in two segments has fewer in each. */
const streetsKept = 50;

/** An address before or after a load; `isKept`: it has other ids on the other side. */
type At = { key: string; place: Place; isKept: boolean };

/** One difference of an address: its column, and the value before and after. */
type Found = [column: AddressColumn, before: string, after: string];

/** Compares the addresses of a segment by their ids, one part after the other. */
export class ColumnCounter {
  readonly #areas: Record<string, ColumnTally> = {};
  readonly #streets: Record<string, ColumnTally> = {};
  readonly #names: Record<string, NameChange> = {};
  readonly #namesOfPart = new Set<string>();
  #told = 0;
  /** The addresses of the part whose ids have left their key, or have come to it. */
  readonly #left = new Map<string, At>();
  readonly #come = new Map<string, At>();
  readonly #hasObjects: boolean;

  /** @param hasObjects whether both sides have the objects of addresses */
  constructor(hasObjects: boolean) {
    this.#hasObjects = hasObjects;
  }

  add({ key, places: { old, now } }: Pick<Change, 'key' | 'places'>): void {
    const were = old ?? [];
    const are = now ?? [];
    const isAmong = (place: Place, places: readonly Place[]) =>
      places.some((other) => nameOf(other) === nameOf(place));
    for (const place of were) {
      for (const id of idsOf(place)) {
        // Nearly every address that changes stays under its key.
        const is = are.find((candidate) => idsOf(candidate).includes(id));
        if (is) this.#compare({ key, place }, { key, place: is });
        else {
          this.#left.set(id, { key, place, isKept: isAmong(place, are) });
        }
      }
    }
    const known = new Set(were.flatMap(idsOf));
    for (const place of are) {
      for (const id of idsOf(place)) {
        if (!known.has(id)) this.#come.set(id, { key, place, isKept: isAmong(place, were) });
      }
    }
    if (are.length > Math.max(1, were.length)) {
      this.#note(are[0] as Place, [['doubled', placesText(were), placesText(are)]], key);
    }
  }

  /**
   * To be called after each part, the keys of a postcode being in one: pairs the addresses that
   * moved within it. @param before the lines of the part, each with its line end
   */
  endPart(before: Buffer, after: Buffer): void {
    for (const [id, was] of this.#left) {
      const is = this.#come.get(id);
      if (!is) continue;
      this.#compare(was, is);
      this.#left.delete(id);
      this.#come.delete(id);
    }
    this.#pairByName();
    for (const { key, place } of this.#left.values()) {
      this.#note(place, [['removed', nameOf(place), none]], key);
    }
    for (const { key, place } of this.#come.values()) {
      const found: Found[] = [['added', none, nameOf(place)]];
      if (isGarbled(place)) found.push(['garbled', none, nameOf(place)]);
      if (place.gemeente === undefined) found.push(['gemeenteLost', none, nameOf(place)]);
      this.#note(place, found, key);
    }
    this.#left.clear();
    this.#come.clear();
    this.#closeNames(before, after);
  }

  /** Another id of the same address, which a lookup still finds. */
  #pairByName(): void {
    const nameAt = ({ key, place }: At) => `${key} ${nameOf(place)}`;
    const come = Map.groupBy(this.#come, ([, at]) => nameAt(at));
    for (const [id, was] of this.#left) {
      const [other, is] = come.get(nameAt(was))?.pop() ?? [];
      if (is && other !== undefined) {
        this.#come.delete(other);
        this.#compare(was, is, [['id', id, other]]);
      } else if (was.isKept) {
        this.#note(was.place, [['id', id, none]], was.key);
      } else {
        continue;
      }
      this.#left.delete(id);
    }
    for (const [id, { key, place, isKept }] of this.#come) {
      if (!isKept) continue;
      this.#note(place, [['id', none, id]], key);
      this.#come.delete(id);
    }
  }

  /** Looks for the other addresses of the streets whose names changed in the part. */
  #closeNames(before: Buffer, after: Buffer): void {
    for (const key of this.#namesOfPart) {
      const { column, woonplaats, from, to } = nameChangeOf(key);
      const change = this.#names[key];
      if (column !== 'straat' || to === '' || !change || change.isOpen) continue;
      const lineText = (straat: string) => `\t${straat}\t${woonplaats}\t`;
      change.isOpen = after.includes(lineText(from)) || before.includes(lineText(to));
    }
    this.#namesOfPart.clear();
  }

  #compare(was: Omit<At, 'isKept'>, is: Omit<At, 'isKept'>, found: Found[] = []): void {
    const names = namesThatChange(was.place, is.place);
    if (was.key !== is.key) {
      const from = keyParts(was.key);
      const to = keyParts(is.key);
      for (const column of ['postcode', 'huisnummer', 'toevoeging'] as const) {
        if (from[column] !== to[column]) found.push([column, '', addressText(is.key)]);
      }
    }
    found.push(...namesFound(was.place, is.place));
    if (this.#hasObjects) found.push(...objectsFound(was.place, is.place));
    if (found.length + names.length > 0) this.#note(was.place, found, was.key, names);
  }

  #note(place: Place, found: readonly Found[], key: string, names: readonly NameChangeOf[] = []) {
    const street = entryOf(this.#streets, nameOf(place), newTally);
    street.changed++;
    const tallies = areasOf(place).map((area) => entryOf(this.#areas, area, newTally));
    for (const tally of tallies) tally.changed++;
    for (const [column, before, after] of found) {
      for (const tally of column === 'removed' ? [street, ...tallies] : tallies) {
        const counted = countedIn(tally, column);
        counted.count++;
        if (counted.examples.length < examplesKept) {
          counted.examples.push(exampleOf(key, before, after));
        }
      }
    }
    for (const name of names) this.#noteName(name, key);
  }

  #noteName(name: NameChangeOf, key: string): void {
    let names = nameChangeKey(name);
    if (!this.#names[names] && this.#told++ >= mostNames) {
      names = nameChangeKey({ ...name, from: '', to: '' });
    }
    const change = entryOf<NameChange>(this.#names, names, () => ({
      count: 0,
      examples: [],
      isOpen: false,
    }));
    change.count++;
    if (change.examples.length < examplesKept) {
      change.examples.push(exampleOf(key, name.from || none, name.to));
    }
    this.#namesOfPart.add(names);
  }

  /** To be called last. */
  end(): Tallies {
    const removed = ([, { columns }]: [string, ColumnTally]) => columns.removed?.count ?? 0;
    const all = Object.entries(this.#streets);
    const most = (count: (street: [string, ColumnTally]) => number) =>
      inOrder(all.map((street) => [street[0], count(street)] as const)).slice(0, streetsKept);
    const kept = [...most(([, { changed }]) => changed), ...most(removed)];
    return {
      areas: this.#areas,
      streets: Object.fromEntries(
        kept.map(([name]) => [name, this.#streets[name] as ColumnTally] as const),
      ),
      names: this.#names,
    };
  }
}

const idsOf = ({ nummeraanduidingen = [] }: Place) => nummeraanduidingen;
const placesText = (places: readonly Place[]) => places.map(nameOf).join(' | ') || none;

const exampleOf = (key: string, before: string, after: string): string =>
  before === '' ? `${addressText(key)} → ${after}` : `${addressText(key)}: ${before} → ${after}`;

/** The names that differ; a street in another woonplaats is in `namesFound`. */
function namesThatChange(was: Place, is: Place): NameChangeOf[] {
  const { woonplaats, gemeente } = was;
  const at = { woonplaats, gemeente };
  const found: NameChangeOf[] = [];
  if (woonplaats !== is.woonplaats) {
    found.push({ ...at, column: 'woonplaats', from: woonplaats, to: is.woonplaats });
  } else if (was.straat !== is.straat) {
    found.push({ ...at, column: 'straat', from: was.straat, to: is.straat });
  }
  if (gemeente !== is.gemeente && is.gemeente !== undefined) {
    found.push({ ...at, column: 'gemeente', from: gemeente ?? '', to: is.gemeente });
  }
  return found;
}

/** The differences in names, without the names that may be one change for many addresses. */
function namesFound(was: Place, is: Place): Found[] {
  const found: Found[] = [];
  const { straat, woonplaats, gemeente } = was;
  if (woonplaats !== is.woonplaats && straat !== is.straat) {
    found.push(['straat', straat, is.straat]);
  }
  if (gemeente !== is.gemeente) {
    if (is.gemeente === undefined) found.push(['gemeenteLost', `${gemeente}`, none]);
    else if (!isKnownGemeente(is.gemeente)) {
      found.push(['gemeenteUnknown', gemeente ?? none, is.gemeente]);
    }
  }
  if (straat === is.straat && woonplaats === is.woonplaats) return found;
  const names: [before: string, after: string] = [nameOf(was), nameOf(is)];
  if (hasLostLetters(...names)) found.push(['lettersLost', ...names]);
  if (isGarbled(is) && !isGarbled(was)) found.push(['garbled', ...names]);
  return found;
}

/** Whether a name has fewer letters beyond ASCII, or others. */
function hasLostLetters(from: string, to: string): boolean {
  const left = [...to];
  for (const letter of from.match(/[^\0-\x7f]/gu) ?? []) {
    const at = left.indexOf(letter);
    if (at < 0) return true;
    left.splice(at, 1);
  }
  return false;
}

/**
 * The characters of names, with the spaces that they have. The Latin script also has full-width
 * letters and ligatures, which no name has.
 */
const usual =
  /^(?! )(?!.*( {2}| ,| $))[A-Za-z\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u024f\u1e00-\u1eff\p{M}0-9 .,'’‘`´"&+:;!°/()–-]*$/u;
/** The two bytes of a letter, each read as a character of its own. */
const encodedTwice = /[\u00c2-\u00c5][\u0080-\u00bfŒœŠšŽžŸƒ‘’–]/;
/** A character that is still escaped, such as `&apos;`. */
const escaped = /&[A-Za-z]+\d*;/;

/** Whether a name has characters that no name has, no letter, or spaces that none has. */
function isGarbled(place: Place): boolean {
  const name = nameOf(place);
  const hasLetters = [place.straat, place.woonplaats].every((name) => /\p{L}/u.test(name));
  return !hasLetters || !usual.test(name) || encodedTwice.test(name) || escaped.test(name);
}

/** The differences of the objects of an address, at most one by column. */
function objectsFound({ objecten: were = [] }: Place, { objecten: are = [] }: Place): Found[] {
  const found = new Map<AddressColumn, Found>();
  const add = (column: AddressColumn, before: string, after: string) => {
    if (!found.has(column)) found.set(column, [column, before, after]);
  };
  const known = new Set(were.map(({ identificatie }) => identificatie));
  for (const { type, identificatie } of are) {
    if (!known.has(identificatie)) add('objectGained', none, `${type} ${identificatie}`);
  }
  for (const was of were) {
    const is = are.find(({ identificatie }) => identificatie === was.identificatie);
    if (is?.type === was.type) addValues(was, is, add);
    else {
      const object = `${was.type} ${was.identificatie}`;
      const after = is ? `${is.type} ${is.identificatie}` : none;
      add('objectLost', object, after);
      if (was.type === 'ligplaats') add('ligplaatsLost', object, after);
      if (was.type === 'standplaats') add('standplaatsLost', object, after);
      if (!was.hoofdadres) add('nevenadresLost', object, after);
    }
  }
  return [...found.values()];
}

/** Adds the values of an object that differ. */
function addValues(
  was: AdresObject,
  is: AdresObject,
  add: (column: AddressColumn, before: string, after: string) => void,
): void {
  const distance = Math.hypot(is.locatie.x - was.locatie.x, is.locatie.y - was.locatie.y);
  if (distance > 0) {
    const text = ({ locatie: { x, y } }: AdresObject) => `${x} ${y}`;
    add('locatie', text(was), text(is));
    if (distance > corrected) add('moved', text(was), text(is));
  }
  const uses = was.gebruiksdoelen ?? [];
  const usesNow = is.gebruiksdoelen ?? [];
  if (String(uses) !== String(usesNow)) {
    const texts = [uses.join(', ') || none, usesNow.join(', ') || none] as const;
    add('gebruiksdoel', ...texts);
    if (uses.length > 1 && !uses.every((use) => usesNow.includes(use))) {
      add('gebruiksdoelLost', ...texts);
    }
  }
  if (was.oppervlakte !== is.oppervlakte) {
    add('oppervlakte', `${was.oppervlakte} m2`, `${is.oppervlakte} m2`);
  }
  if (was.status !== is.status) add('status', was.status, is.status);
  if (was.hoofdadres !== is.hoofdadres) {
    const text = ({ hoofdadres }: AdresObject) => (hoofdadres ? 'hoofdadres' : 'nevenadres');
    add('hoofdadres', text(was), text(is));
  }
}
