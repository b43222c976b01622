/** The objections to a load that changes more than its limits (decisions 0112 and 0179). */

import { addressText } from '../../core/addresses/address-key.ts';
import { type LargeItem, largestItemBytes } from '../addresses/lines.ts';
import {
  everywhere,
  isGemeente,
  isWoonplaats,
  type PlaceSize,
  type PlaceSizes,
} from '../addresses/place-sizes.ts';
import type { SetAsideOfDay } from '../dataset/load.ts';
import {
  type ColumnTally,
  type Compared,
  mergeTallies,
  noTallies,
  type Tallies,
} from './columns.ts';
import {
  type AddressColumn,
  type Allowed,
  allowedBy,
  allowedInTotal,
  type ColumnCode,
  type Limit,
  limitOf,
  sizeNames,
  sizeOf,
  streetLimit,
  type Thresholds,
} from './limits.ts';
import {
  grouped,
  type LoadCounts,
  problemCount,
  problemsOfObjecten,
  type SetAside,
} from './load-counts.ts';
import { explainNames, type RenamedPlace } from './renames.ts';

/** Objections to the contents or the date of the extract. */
const otherCodes = [
  'too_few_addresses',
  'too_many_problems',
  'too_many_object_problems',
  'too_few_objects',
  'too_many_set_aside',
  'last_file_full',
  'repeated_occurrences',
  'item_too_large',
  'older_peildatum',
] as const;

/**
 * The others are to the size of a difference, or to its cause, that one extract replaces another of
 * another area.
 */
export type ObjectionCode = ColumnCode | 'other_area' | (typeof otherCodes)[number];

/**
 * `message` says by how much and where, the others to a program. `since`: together with all days
 * since this date.
 */
export type Objection = {
  code: ObjectionCode;
  message: string;
  count?: number;
  of?: number;
  place?: string;
  since?: string;
  /** The first few, such as `1381 AA 9: Buitenveer → Binnenveer`. */
  examples?: string[];
};

/**
 * Objections that explain the others, in this order: another area or date changes every address.
 */
const explaining: readonly ObjectionCode[] = [
  'item_too_large',
  'other_area',
  'older_peildatum',
  'too_few_addresses',
  'last_file_full',
];

/** The same objections, with the explaining objection first. */
export function byWeight(objections: readonly Objection[]): Objection[] {
  const rank = ({ code }: Objection) =>
    explaining.indexOf(code) + (explaining.includes(code) ? 0 : explaining.length + 1);
  return objections.toSorted((a, b) => rank(a) - rank(b));
}

/**
 * Whether an objection is only to the amount of change, not to the contents or the date of the
 * extract.
 */
export const isAboutSize = ({ code }: Objection) => !otherCodes.some((other) => other === code);

/** Whether no approval lets such a load continue. */
export const isFinal = ({ code }: { code: string }) => code === 'item_too_large';

/**
 * The table can't hold an address that has thousands of objects, whatever an operator thinks of it.
 */
export function objectionsToItems(large: readonly LargeItem[]): Objection[] {
  const [first, ...others] = large.toSorted((a, b) => b.bytes - a.bytes);
  if (!first) return [];
  const more =
    others.length > 0 ? `, and ${grouped(others.length)} other addresses have too many too` : '';
  const message =
    `the item of ${addressText(first.key)} would have ${grouped(first.bytes)} bytes, and the table holds items of at most ` +
    `${grouped(largestItemBytes)}${more}: no approval changes that, so reject the load and get a corrected extract or delivery`;
  return [
    {
      code: 'item_too_large',
      message,
      count: large.length,
      examples: large.slice(0, 5).map(({ key }) => addressText(key)),
    },
  ];
}

/** The live dataset that a load is compared with, and the sizes of its woonplaatsen. */
export type Live = { peildatum: string; addresses: number; places: PlaceSizes };

/**
 * The changes published in days since the extract or approved load at `since`. `names` are those
 * that count in no column, as one change each.
 */
export type Earlier = { since: string } & Pick<Tallies, 'areas' | 'names'>;

/** How much a load may change: shares and numbers, and which part of the shares in a day. */
type Allowance = { thresholds: Thresholds; shareOfDay: number };

/** The objections to the changes of a load from a dataset, with the days before it. */
function objectionsToColumns(
  { tallies, places }: Compared,
  earlier: Earlier | null,
  allowance: Allowance,
): Objection[] {
  const { thresholds } = allowance;
  const together = earlier && mergeTallies([{ ...noTallies(), areas: earlier.areas }, tallies]);
  const since = earlier?.since;
  const found = Object.entries(tallies.areas).flatMap(([area, own]) =>
    (Object.keys(own.columns) as AddressColumn[]).flatMap((column) => {
      const most = limitsIn(area, places, limitOf(column), allowance);
      const mostTogether = limitsIn(area, places, limitOf(column), { thresholds, shareOfDay: 1 });
      const alone = firstOver({ area, column, own, tally: own, tallies }, most);
      if (alone.length > 0 || !together || since === undefined) return alone;
      const tally = together.areas[area] as ColumnTally;
      return firstOver({ area, column, own, tally, tallies, since }, mostTogether);
    }),
  );
  const isTotal = ({ place }: Objection) => place === undefined;
  return [
    ...found.filter(isTotal),
    ...firstOfEach([
      ...found.filter((objection) => !isTotal(objection)),
      ...objectionsToStreets(tallies, thresholds),
    ]),
  ];
}

/** A limit in an area: which addresses it is a share of, and how many there are. */
type LimitIn = Pick<Limit, 'of' | 'what' | 'code'> & { size: number; allowed: Allowed };

function limitsIn(
  area: string,
  places: PlaceSizes,
  limit: Limit,
  { thresholds, shareOfDay }: Allowance,
): LimitIn[] {
  const { code, what, of, place, also } = limit;
  const sized = (member: Limit['of'], allowed: Allowed): LimitIn => {
    return { code, what, of: member, size: sizeOf(places[area], member), allowed };
  };
  if (area !== everywhere) {
    const scope = isGemeente(area) ? 'gemeente' : 'place';
    return place ? [sized(of, allowedBy(place, thresholds, scope))] : [];
  }
  const addresses = sizeOf(places[everywhere], 'addresses');
  return [
    sized(of, allowedInTotal(limit, addresses, thresholds, shareOfDay)),
    ...(also ? [sized(also.of, allowedBy(also.total, thresholds, 'total', shareOfDay))] : []),
  ];
}

/**
 * The changes of a column in an area: of the load, whose examples are shown, and with the days
 * `since`.
 */
type ColumnIn = {
  area: string;
  column: AddressColumn;
  own: ColumnTally;
  tally: ColumnTally;
  tallies: Tallies;
  since?: string;
};

/** The objection to the first limit that the changes of a column are over, if any. */
function firstOver(
  { area, column, own, tally, tallies, since }: ColumnIn,
  limits: readonly LimitIn[],
): Objection[] {
  const count = tally.columns[column]?.count ?? 0;
  const over = limits.find(({ size, allowed }) => !isAllowed(count, size, allowed));
  if (!over) return [];
  const { code, size } = over;
  const examples = own.columns[column]?.examples ?? [];
  const streets = column === 'removed' ? mostRemoved(tallies, area) : [];
  const together = since === undefined ? '' : `together with the days since ${since} `;
  const most = streets.length > 0 ? `, most on ${streets.join(', ')}` : '';
  return [
    {
      code: code as ColumnCode,
      message: `${together}it would ${overText(over, count, area)}${most}${suchAs(examples)}`,
      count,
      of: size,
      ...(area !== everywhere && { place: area }),
      ...(since !== undefined && { since }),
      examples,
    },
  ];
}

const isAllowed = (count: number, size: number, { share, number }: Allowed) =>
  count <= Math.max(size * share, number);

const suchAs = (examples: readonly string[]) =>
  examples.length > 0 ? `, such as ${examples.join('; ')}` : '';

/** `remove 501 of the 10,000 addresses: 5.01%, over the limit of 500 (5%)`. */
function overText({ what, of, size, allowed }: LimitIn, count: number, area: string): string {
  const { share, number } = allowed;
  const within = area === everywhere ? '' : ` in ${area}`;
  const limit =
    size * share > number
      ? `${grouped(Math.floor(size * share))} (${percent(share)})`
      : grouped(number);
  const over = `over the limit of ${limit}`;
  if (size === 0) return `${what} ${grouped(count)} addresses${within}, ${over}`;
  if (count <= size) {
    const text = `${what} ${grouped(count)} of the ${grouped(size)} ${sizeNames[of]}${within}`;
    return `${text}: ${percent(count / size)}, ${over}`;
  }
  // Of 44 addresses that become 11,920, a share says nothing.
  const known = `where ${grouped(size)} ${sizeNames[of]} are live${within}`;
  return `${what} ${grouped(count)} addresses ${known}, ${over}`;
}

/** The streets of a woonplaats that lose the most addresses, as `Buitenveer (12)`. */
function mostRemoved({ streets }: Tallies, woonplaats: string): string[] {
  const end = `, ${woonplaats}`;
  const counts = Object.entries(streets).flatMap(([street, { columns }]) => {
    if (!columns.removed || !street.endsWith(end)) return [];
    return { name: street.slice(0, -end.length), count: columns.removed.count };
  });
  return counts
    .toSorted((a, b) => b.count - a.count)
    .slice(0, 3)
    .map(({ name, count }) => `${name} (${grouped(count)})`);
}

function objectionsToStreets({ streets }: Tallies, thresholds: Thresholds): Objection[] {
  const { number } = allowedBy(streetLimit, thresholds, 'place');
  return Object.entries(streets).flatMap(([street, { columns }]): Objection[] => {
    const { count, examples } = columns.removed ?? { count: 0, examples: [] };
    if (count <= number) return [];
    const what = `remove ${grouped(count)} addresses of ${street}`;
    const message = `it would ${what}, over the limit of ${grouped(number)}${suchAs(examples)}`;
    return [{ code: 'too_many_removed', message, count, place: street, examples }];
  });
}

/** How many objections of one kind name their woonplaats or street. */
const mostPlaces = 5;

/** The first of each kind, and how many more there are. */
function firstOfEach(found: readonly Objection[]): Objection[] {
  return [...Map.groupBy(found, ({ code }) => code).values()].flatMap((same) => {
    const [first, ...others] = same
      .toSorted((a, b) => (b.count ?? 0) - (a.count ?? 0))
      .slice(0, mostPlaces);
    if (!first) return [];
    const more = same.length - mostPlaces;
    return [
      more > 0 ? { ...first, message: `${first.message}; and so in ${more} other places` } : first,
      ...others,
    ];
  });
}

/**
 * The changes of a load, and the earlier changes since a date, if any: an extract or an approval
 * resets them.
 */
export type GuardInput = {
  peildatum: string;
  allowOlder: boolean;
  wasGuarded?: boolean;
  tallies: Tallies;
  earlier?: Earlier | null;
  /** The sizes of areas after it. */
  after: PlaceSizes;
  /** Whether it is the first load with adresseerbare objecten: then no object changes. */
  isFirstOfObjects?: boolean;
  /**
   * Its changes from the extract that was accepted before an approved load, which may be restored.
   */
  fromAccepted?: Compared | null;
};

/** The guard's opinion on a load. */
export type GuardResult = {
  objections: Objection[];
  /** The woonplaatsen and gemeenten that it renames. */
  renamed: RenamedPlace[];
  /** Its changes, added to the changes of the days before it. */
  sums: Omit<Earlier, 'since'>;
};

/**
 * Every objection to a load, and the woonplaatsen that it renames. @param shareOfDay the part of
 * the shares of all addresses that the load may change
 */
export function guardLoad(
  counts: LoadCounts,
  load: GuardInput,
  live: Live | null,
  thresholds: Thresholds,
  shareOfDay = 1,
): GuardResult {
  const isCompared = live !== null && live.addresses > 0;
  const changes = isCompared
    ? guardChanges(load, live, { thresholds, shareOfDay })
    : { objections: [], renamed: [], sums: { areas: {}, names: {} } };
  const objections = [
    ...objectionsToSize(counts, thresholds),
    ...changes.objections,
    ...objectionsToObjects(counts, load, thresholds),
    ...objectionsToProblems(counts, load, thresholds),
    ...objectionsToDate(load, live),
  ];
  return { ...changes, objections };
}

function objectionsToSize(
  { addresses }: LoadCounts,
  { minimumAddresses }: Thresholds,
): Objection[] {
  if (addresses >= minimumAddresses) return [];
  const message = `the extract has ${grouped(addresses)} addresses, fewer than the ${grouped(minimumAddresses)} required`;
  return [{ code: 'too_few_addresses', message }];
}

/** Objects with a problem, and a first load with too few. */
function objectionsToObjects(
  { objecten, problems }: LoadCounts,
  { after, isFirstOfObjects }: GuardInput,
  thresholds: Thresholds,
): Objection[] {
  if (!objecten) return [];
  const missing = problemsOfObjecten.reduce((sum, kind) => sum + (problems?.[kind].count ?? 0), 0);
  const what = 'objects have a missing address or an unknown location';
  const { maximumProblemShare, alwaysAllowed } = thresholds;
  const count: [count: number, of: number] = [missing, objecten.live + missing];
  return [
    ...overShare('too_many_object_problems', what, count, maximumProblemShare, alwaysAllowed),
    ...(isFirstOfObjects ? objectionsToFirstObjects(after, thresholds) : []),
  ];
}

function objectionsToProblems(
  { problems, nummeraanduidingen }: LoadCounts,
  { wasGuarded }: GuardInput,
  { maximumProblemShare, alwaysAllowed }: Thresholds,
): Objection[] {
  if (!problems || wasGuarded) return [];
  const missing = problemCount(problems);
  const count: [count: number, of: number] = [missing, nummeraanduidingen + missing];
  const what = 'addresses have a problem';
  return overShare('too_many_problems', what, count, maximumProblemShare, alwaysAllowed);
}

function objectionsToDate({ peildatum, allowOlder }: GuardInput, live: Live | null): Objection[] {
  if (!live || peildatum >= live.peildatum || allowOlder) return [];
  const message = `the extract of ${peildatum} is older than the live dataset of ${live.peildatum}`;
  return [{ code: 'older_peildatum', message }];
}

/** An objection to a share of addresses or objects, in all or at a place, unless there are few. */
function overShare(
  code: ObjectionCode,
  what: string,
  [count, of]: [count: number, of: number],
  limit: number,
  alwaysAllowed: number,
  place?: string,
): Objection[] {
  if (count <= Math.max(of * limit, alwaysAllowed)) return [];
  const message = `${grouped(count)} of ${grouped(of)} ${what}: ${percent(count / of)}, over the limit of ${percent(limit)}`;
  return [{ code, message, count, of, ...(place !== undefined && { place }) }];
}

/** The first objects have none before them to be compared with; nearly every address has one. */
function objectionsToFirstObjects(after: PlaceSizes, thresholds: Thresholds): Objection[] {
  const { maximumObjectShare, alwaysAllowed, alwaysAllowedInPlace } = thresholds;
  const objectionIn = (size: PlaceSize | undefined, always: number, place?: string) => {
    const of = sizeOf(size, 'addresses');
    const withObjects = sizeOf(size, 'withObjects');
    const what = `addresses${place === undefined ? '' : ` in ${place}`} would have no object`;
    return overShare(
      'too_few_objects',
      what,
      [of - withObjects, of],
      maximumObjectShare,
      always,
      place,
    );
  };
  const inPlaces = Object.entries(after).flatMap(([name, size]) =>
    isWoonplaats(name) ? objectionIn(size, alwaysAllowedInPlace, name) : [],
  );
  return [...objectionIn(after[everywhere], alwaysAllowed), ...firstOfEach(inPlaces)];
}

/**
 * A load alone may change as much as a day may; with the days before it, as much as a load may.
 * Data that an accepted extract had may return: what changes since that one must be allowed too.
 */
function guardChanges(
  { tallies, earlier = null, after, fromAccepted = null }: GuardInput,
  { places }: Live,
  allowance: Allowance,
): GuardResult {
  const changesFrom = (compared: Compared, names: Tallies['names']) =>
    explainNames(compared.tallies, { live: compared.places, after }, allowance.thresholds, names);
  const {
    renamed,
    names,
    tallies: ofLoad,
  } = changesFrom({ tallies, places }, earlier?.names ?? {});
  const found = objectionsToColumns({ tallies: ofLoad, places }, earlier, allowance);
  const isReturn =
    found.length > 0 &&
    fromAccepted !== null &&
    objectionsToColumns(
      { tallies: changesFrom(fromAccepted, {}).tallies, places: fromAccepted.places },
      null,
      allowance,
    ).length === 0;
  const days = { ...noTallies(), ...earlier };
  const sums = mergeTallies([days, { ...ofLoad, streets: {}, names }]);
  return { objections: isReturn ? [] : found, renamed, sums: withoutExamples(sums) };
}

/** The same counts: each day has examples of its own. */
function withoutExamples({ areas, names }: Tallies): Omit<Earlier, 'since'> {
  const without = <T extends object>(counted: Record<string, T>) =>
    Object.entries(counted).map(([name, count]) => [name, { ...count, examples: [] }] as const);
  const sums = Object.entries(areas).map(([area, { changed, columns }]) => {
    return [area, { changed, columns: Object.fromEntries(without(columns)) }] as const;
  });
  return { areas: Object.fromEntries(sums), names: Object.fromEntries(without(names)) };
}

/**
 * The share of a delivery's objects. Usually none is set aside; of a wrong or a replaced delivery
 * nearly all are.
 */
const mostSetAsideShare = 0.01;

/**
 * Objections to deliveries with over 1% of objects not matching, and to over `alwaysAllowed`
 * addresses together.
 */
export function objectionsToSetAside(
  days: readonly SetAsideOfDay[],
  { count, addresses, examples }: SetAside,
  alwaysAllowed: number,
): Objection[] {
  const found = days.flatMap(({ file, objects, count, examples }): Objection[] => {
    if (count <= Math.max(1, objects * mostSetAsideShare)) return [];
    const message =
      `${count} of the ${objects} objects that ${file} changes do not match it: it was replaced, or an earlier delivery is wrong. ` +
      `Among them: ${examples[0]}`;
    return [{ code: 'too_many_set_aside', message, count, of: objects, examples }];
  });
  if (days.length === 0 || addresses <= alwaysAllowed) return found;
  const message =
    `${grouped(addresses)} addresses of ${count} objects would stay as they were, as their changes do not match, over the limit of ` +
    `${grouped(alwaysAllowed)}: ${examples[0]}`;
  return [...found, { code: 'too_many_set_aside', message, count: addresses, examples }];
}

/** `5%`, `5.01%`: in three digits. */
function percent(share: number): string {
  return `${Number((share * 100).toPrecision(3))}%`;
}
