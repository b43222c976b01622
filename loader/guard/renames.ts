/** Names that change for many addresses at once, if a person would see one change. */

import { isKnownGemeente } from '../../core/gemeenten.ts';
import {
  everywhere,
  gemeenteArea,
  isGemeente,
  isWoonplaats,
  type PlaceSizes,
} from '../addresses/place-sizes.ts';
import {
  type ColumnTally,
  mergeTallies,
  type NameChange,
  type NameChangeOf,
  type NamedColumn,
  nameChangeOf,
  noTallies,
  type Tallies,
} from './columns.ts';
import { type Allowed, allowedBy, oneChange, sizeOf, type Thresholds } from './limits.ts';

/**
 * A woonplaats with another name, or a gemeente that becomes part of another: one change of many
 * addresses.
 */
export type RenamedPlace = { from: string; to: string; addresses: number };

/** The sizes of areas before and after a load. */
export type Sizes = { live: PlaceSizes; after: PlaceSizes };

type Named = NameChangeOf & NameChange & { key: string };

/** The changed names of a load in a column, and the names that counted in none on earlier days. */
type NamesOfColumn = { all: readonly Named[]; earlier: readonly Named[] };

/** Those of a column that are one change each, and the others. */
type Explained = { renamed: Named[]; others: Named[] };

/**
 * The renamed woonplaatsen and gemeenten, and the tallies with every other change of a name in its
 * column. A renamed street counts in neither. `names` has every name that counts in no column.
 *
 * @param earlier such names of the days before, which share the limits
 */
export function explainNames(
  tallies: Tallies,
  sizes: Sizes,
  thresholds: Thresholds,
  earlier: Tallies['names'] = {},
): { renamed: RenamedPlace[]; names: Tallies['names']; tallies: Tallies } {
  const of = Map.groupBy(namesIn(tallies.names), ({ column }) => column);
  const before = Map.groupBy(namesIn(earlier), ({ column }) => column);
  const inColumn = (column: NamedColumn): NamesOfColumn => {
    return { all: of.get(column) ?? [], earlier: before.get(column) ?? [] };
  };
  const woonplaatsen = renamedWoonplaatsen(inColumn('woonplaats'), sizes);
  const streets = renamedStreets(inColumn('straat'), tallies, sizes);
  const gemeenten = mergedGemeenten(inColumn('gemeente'), sizes, thresholds);
  const explained = [woonplaatsen, streets, gemeenten];
  const others = explained.flatMap((explanation) => explanation.others);
  const renamed = explained.flatMap((explanation) => explanation.renamed);
  const areas = hasGemeenten(sizes.live) ? tallies.areas : withoutLostGemeenten(tallies.areas);
  return {
    renamed: [...placesOf(woonplaatsen.renamed), ...placesOf(gemeenten.renamed)],
    names: Object.fromEntries(
      renamed.map((name) => [name.key, tallies.names[name.key] as NameChange]),
    ),
    tallies: mergeTallies([
      { ...tallies, names: {}, areas },
      ...others.map(tallyOf),
      ...addedInUnknown(tallies, sizes),
    ]),
  };
}

/** Added addresses in gemeenten that were not live, with codes that this version does not know. */
function addedInUnknown({ areas }: Tallies, { live }: Sizes): Tallies[] {
  return Object.entries(areas).flatMap(([area, { columns }]) => {
    const isUnknown = isGemeente(area) && !isKnownGemeente(area.slice(gemeenteArea('').length));
    if (!columns.added || !isUnknown || live[area] !== undefined) return [];
    const tally = { changed: 0, columns: { gemeenteUnknown: columns.added } };
    return { ...noTallies(), areas: { [everywhere]: tally } };
  });
}

const hasGemeenten = (places: PlaceSizes) => Object.keys(places).some(isGemeente);

/** The tallies of a dataset that had no gemeenten: no address loses one. */
function withoutLostGemeenten(areas: Tallies['areas']): Tallies['areas'] {
  const without = ({ changed, columns: { gemeenteLost: _, ...columns } }: ColumnTally) => {
    return { changed, columns };
  };
  return Object.fromEntries(Object.entries(areas).map(([area, tally]) => [area, without(tally)]));
}

const namesIn = (names: Tallies['names']): Named[] =>
  Object.entries(names).map(([key, change]) => ({ key, ...nameChangeOf(key), ...change }));

/** The places of renamed names, each once. */
function placesOf(renamed: readonly Named[]): RenamedPlace[] {
  const places = Map.groupBy(renamed, ({ from, to }) => `${from}\t${to}`);
  return [...places.values()].map((names) => {
    const { column, from, to } = names[0] as Named;
    const areaOf = (name: string) => (column === 'gemeente' ? gemeenteArea(name) : name);
    return { from: areaOf(from), to: areaOf(to), addresses: addressesOf(names) };
  });
}

/** The tallies of a change that counts in its column. */
function tallyOf({ column, woonplaats, gemeente, count, examples }: Named): Tallies {
  const tally: ColumnTally = { changed: 0, columns: { [column]: { count, examples } } };
  const areas = { [everywhere]: tally, [woonplaats]: tally };
  if (gemeente !== undefined) areas[gemeenteArea(gemeente)] = tally;
  return { ...noTallies(), areas };
}

const addressesOf = (names: readonly Named[]) => names.reduce((sum, { count }) => sum + count, 0);

const isWithin = (count: number, size: number, { share, number }: Allowed) =>
  count <= Math.max(size * share, number);

/** Splits into the names that pass and the others. */
function split(all: readonly Named[], isRenamed: (name: Named) => boolean): Explained {
  return { renamed: all.filter(isRenamed), others: all.filter((name) => !isRenamed(name)) };
}

/** The same names, none as one change: they are too many. */
const asOthers = ({ renamed, others }: Explained): Explained => ({
  renamed: [],
  others: [...renamed, ...others],
});

/**
 * A new name, not another spelling of the old one; without letters or with odd spaces it is none.
 */
function isOtherName(from: string, to: string): boolean {
  const bare = (name: string) =>
    name
      .normalize('NFC')
      .toLowerCase()
      .replace(/[^\p{L}\p{N}]/gu, '');
  return bare(from) !== bare(to) && /\p{L}/u.test(to) && to === to.trim() && !to.includes('  ');
}

function renamedWoonplaatsen({ all, earlier }: NamesOfColumn, { live, after }: Sizes): Explained {
  const byTo = Map.groupBy(all, ({ to }) => to);
  const found = split(
    all,
    ({ from, to, count }) =>
      byTo.get(to)?.length === 1 &&
      isOtherName(from, to) &&
      live[to] === undefined &&
      after[from] === undefined &&
      count >= oneChange.renamedFrom * sizeOf(live[from], 'addresses'),
  );
  const known = Object.keys(live).filter(isWoonplaats).length;
  const addresses = sizeOf(live[everywhere], 'addresses');
  const together = [...earlier, ...found.renamed];
  const areFew =
    isWithin(together.length, known, oneChange.woonplaatsen) &&
    isWithin(addressesOf(together), addresses, oneChange.addressesOfWoonplaatsen);
  return areFew ? found : asOthers(found);
}

function renamedStreets(
  { all, earlier }: NamesOfColumn,
  { streets }: Tallies,
  { live }: Sizes,
): Explained {
  const nameIn = (straat: string, woonplaats: string) => `${straat}, ${woonplaats}`;
  const byFrom = Map.groupBy(all, ({ from, woonplaats }) => nameIn(from, woonplaats));
  const byTo = Map.groupBy(all, ({ to, woonplaats }) => nameIn(to, woonplaats));
  const isRenamed = ({ from, to, woonplaats, count, isOpen }: Named) => {
    const street = nameIn(from, woonplaats);
    const removed = streets[street]?.columns.removed?.count ?? 0;
    return (
      !isOpen &&
      byFrom.get(street)?.length === 1 &&
      // Another part of the woonplaats may have it: two streets swap their names.
      !byFrom.has(nameIn(to, woonplaats)) &&
      byTo.get(nameIn(to, woonplaats))?.length === 1 &&
      isOtherName(from, to) &&
      count >= oneChange.renamedFrom * (count + removed)
    );
  };
  const alone = split(all, isRenamed);
  const inPlace = Map.groupBy([...earlier, ...alone.renamed], ({ woonplaats }) => woonplaats);
  const found = split(
    all,
    (name) =>
      isRenamed(name) &&
      (inPlace.get(name.woonplaats)?.length ?? 0) <= oneChange.streetsInWoonplaats,
  );
  const addresses = sizeOf(live[everywhere], 'addresses');
  const together = addressesOf([...earlier, ...found.renamed]);
  const areFew = isWithin(together, addresses, oneChange.addressesOfStreets);
  return areFew ? found : asOthers(found);
}

/**
 * A gemeente merges if it has no woonplaats left, and becomes part of gemeenten that lose none. A
 * new code for one gemeente alone is no merger, and neither is an unknown code. In a dataset that
 * had no gemeenten, all addresses get theirs at once.
 */
function mergedGemeenten(
  { all, earlier }: NamesOfColumn,
  { live, after }: Sizes,
  thresholds: Thresholds,
): Explained {
  const known = all.filter(({ from }) => hasGemeenten(live) || from !== '');
  const givers = Map.groupBy(known, ({ from }) => from);
  const receivers = Map.groupBy(known, ({ to }) => to);
  const isMerger = ({ from, to }: Named) => {
    const giversTo = new Set(receivers.get(to)?.map((giver) => giver.from));
    const isNew = live[gemeenteArea(to)] === undefined;
    return (
      from !== '' &&
      after[gemeenteArea(from)] === undefined &&
      !givers.has(to) &&
      !(isNew && giversTo.size === 1) &&
      isKnownGemeente(to)
    );
  };
  const found = split(known, (name) => givers.get(name.from)?.every(isMerger) ?? false);
  const together = [...earlier, ...found.renamed];
  const merged = new Set(together.map(({ from }) => from));
  const most = allowedBy(oneChange.addressesOfGemeenten, thresholds, 'total');
  const areFew =
    merged.size <= oneChange.gemeenten ||
    isWithin(addressesOf(together), sizeOf(live[everywhere], 'addresses'), most);
  return areFew ? found : asOthers(found);
}
