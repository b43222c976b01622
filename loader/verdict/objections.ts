/**
 * The limits on a load without an approval, and the objections to larger changes (decision 0112).
 */

import { addressText } from '../../core/addresses/address-key.ts';
import { type LargeItem, largestItemBytes } from '../addresses/lines.ts';
import { isGemeente, noSize, type PlaceSize, type PlaceSizes } from '../addresses/place-sizes.ts';
import type { loadDefaults } from '../names.ts';
import type { SetAsideOfDay } from '../register/set-aside.ts';
import {
  grouped,
  type LoadCounts,
  problemCount,
  problemsOfObjecten,
  type SetAside,
} from './load-counts.ts';
import {
  type AreaTally,
  type Counted,
  limitOf,
  mergeTallies,
  mostChanged,
  noTallies,
  type PlaceKind,
  type PlaceTallies,
  type SizeCode,
  woonplaatsOf,
} from './place-changes.ts';

/**
 * The limits on a load without an operator's approval. `maximumNamesShare`: the share that may get
 * another street or gemeente and nothing else, if it differs from `maximumChangedShare`.
 */
export type Thresholds = Record<keyof typeof loadDefaults.guard, number> & {
  maximumNamesShare?: number;
};

/**
 * The limits of days of mutations. A day changes a fiftieth as much as a month, but on some days a
 * municipality makes up arrears. So a day may change a fifth as much as a load, and a delivery of
 * more days may change more. Deliveries together may change as much as one delivery: beyond that,
 * each is judged by itself. The gemeenten that merge in a year all do so on one day, and rename
 * streets. So a day may change as many names as a load, and as much in one woonplaats, where a
 * month's changes may all happen on one day.
 */
export function thresholdsOfDays(
  thresholds: Thresholds,
  days: readonly { vanaf: string; tot: string }[],
): Thresholds {
  const lengths = days.map(({ vanaf, tot }) => (Date.parse(tot) - Date.parse(vanaf)) / 86_400_000);
  const share = Math.min(1, Math.min(...lengths) / 5);
  return {
    ...thresholds,
    maximumNamesShare: thresholds.maximumChangedShare,
    maximumRemovedShare: thresholds.maximumRemovedShare * share,
    maximumChangedShare: thresholds.maximumChangedShare * share,
    maximumAddedShare: thresholds.maximumAddedShare * share,
  };
}

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
type ObjectionCode =
  | SizeCode
  | 'other_area'
  | 'too_many_places_renamed'
  | (typeof otherCodes)[number];

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
  /** Addresses or streets, the first few. */
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
      examples: large.slice(0, 5).map(({ key }) => key),
    },
  ];
}

/** The live dataset that a load is compared with, and the sizes of its woonplaatsen. */
export type Live = { peildatum: string; addresses: number; places: PlaceSizes };

/** The changes published in days since the extract or approved load at `since`. */
export type Earlier = PlaceTallies & { since: string };

/**
 * A new quarter has 2,000 addresses: any dataset and woonplaats may gain so many times a
 * woonplaats's allowed loss.
 */
const newQuarter = 10;

/**
 * A village whose objects are measured anew has 1,000 addresses: four times what any woonplaats may
 * lose.
 */
const measuredAgain = 4;

/**
 * A dataset with more addresses than any woonplaats may not change a larger share than a woonplaats
 * may.
 */
const largestPlace = 500_000;

/**
 * The changes of all addresses, or of those in a woonplaats or a street: of a load, or also of the
 * days `since`.
 */
type Area = {
  tally: AreaTally;
  own: AreaTally;
  size?: PlaceSize | undefined;
  place?: string;
  since?: string | undefined;
};

/** @param streetsOf the streets with the most changes of a kind */
function objectionsIn(
  { tally, own, size = noSize(), place, since }: Area,
  thresholds: Thresholds,
  streetsOf: (kind: PlaceKind) => string[] = () => [],
): Objection[] {
  const within = place === undefined ? '' : ` in ${place}`;
  const where = { ...(place !== undefined && { place }) };
  return (Object.keys(own) as PlaceKind[]).flatMap((kind) => {
    const counted = tally[kind];
    const found = limitOf(kind);
    const limit = place === undefined ? found?.whole : found?.place;
    if (!counted || !found || limit === undefined) return [];
    const { count, examples } = counted;
    const { code, what, of: member = 0, there = 'are live' } = found;
    const shares = size[0] > largestPlace && found.place ? [limit, found.place] : [limit];
    const most = Math.min(
      ...shares.map((one) => (one === 0 ? 0 : (thresholds[one] ?? thresholds.maximumChangedShare))),
    );
    if (limit === 'alwaysAllowedStreets') {
      const text = `${what} ${grouped(count)} streets${within}, over the limit of ${most}`;
      return count <= most ? [] : objectionTo(code, text, { count, ...where }, since, examples);
    }
    const of = size[member];
    const { alwaysAllowed, alwaysAllowedInPlace } = thresholds;
    const always = Math.max(
      place === undefined ? alwaysAllowed : alwaysAllowedInPlace,
      kind === 'added' ? newQuarter * alwaysAllowedInPlace : 0,
      place !== undefined && found.code === 'too_many_objects_changed'
        ? measuredAgain * alwaysAllowedInPlace
        : 0,
    );
    if (count <= Math.max(of * most, always)) return [];
    const over = most > 0 ? percent(most) : grouped(always);
    // Of 44 addresses that become 11,920, a share says nothing.
    const allowed = `and no more than ${grouped(Math.floor(Math.max(of * most, always)))} may be`;
    const by = count > of ? `, ${allowed}` : `: ${percent(count / of)}, over the limit of ${over}`;
    const share = `where ${grouped(of)} ${there}${within}${by}`;
    const text = `${what} ${grouped(count)} addresses${of > 0 ? ` ${share}` : within}`;
    const such = [...streetsOf(kind), ...examples.map(addressText)];
    return objectionTo(code, text, { count, of, ...where }, since, such);
  });
}

function objectionTo(
  code: ObjectionCode,
  what: string,
  counts: Pick<Objection, 'count' | 'of' | 'place'>,
  since: string | undefined,
  examples: string[],
): Objection {
  const together = since === undefined ? '' : `together with the days since ${since} `;
  const such = examples.length > 0 ? `, such as ${examples.join('; ')}` : '';
  return {
    code,
    message: `${together}it would ${what}${such}`,
    ...counts,
    ...(since !== undefined && { since }),
    examples,
  };
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
 * A woonplaats with another name, or a gemeente that becomes part of another: one change of many
 * addresses.
 */
export type RenamedPlace = { from: string; to: string; addresses: number };

/**
 * From this share of its addresses a woonplaats is renamed; below it, some of its addresses move to
 * another.
 */
const renamedFrom = 0.8;

/**
 * Up to this many gemeenten may become part of others at once; beyond it their share of the
 * addresses counts.
 */
const mostMerged = 3;

const of = (kind: PlaceKind, counted: Counted, woonplaats?: string): PlaceTallies => {
  const tally = { [kind]: counted };
  return {
    ...noTallies(),
    all: tally,
    ...(woonplaats !== undefined && { woonplaatsen: { [woonplaats]: tally } }),
  };
};

/**
 * The renamed places, and the other changes. Addresses that go to another woonplaats are relocated.
 * A gemeente merges if it has no woonplaats left, and becomes part of a gemeente that loses none.
 */
function renamedPlaces(
  tallies: PlaceTallies,
  live: PlaceSizes,
  after: PlaceSizes,
): { renamed: RenamedPlace[]; tallies: PlaceTallies } {
  const pairs = Object.entries(tallies.names).map(([names, counted]) => {
    const [from = '', to = '', woonplaats] = names.split('\t');
    return { from, to, woonplaats, counted };
  });
  const givers = new Set(pairs.map(({ from }) => from));
  const renamed: RenamedPlace[] = [];
  const mergers: Map<string, RenamedPlace> = new Map();
  const moved: PlaceTallies[] = [];
  const merged: PlaceTallies[] = [];
  for (const { from, to, woonplaats, counted } of pairs) {
    if (!isGemeente(from)) {
      if (counted.count >= renamedFrom * (live[from]?.[0] ?? 0)) {
        renamed.push({ from, to, addresses: counted.count });
      } else {
        moved.push(of('relocated', counted, from));
      }
    } else if (after[from] === undefined && !givers.has(to)) {
      const { addresses = 0 } = mergers.get(`${from}\t${to}`) ?? {};
      mergers.set(`${from}\t${to}`, { from, to, addresses: addresses + counted.count });
      merged.push(of('mergers', counted));
    } else {
      moved.push(of('gemeente', counted, woonplaats));
    }
  }
  const all = [...mergers.values()];
  const isFew = new Set(all.map(({ from }) => from)).size <= mostMerged;
  return {
    renamed: isFew ? [...renamed, ...all] : renamed,
    tallies: mergeTallies([tallies, ...moved, ...(isFew ? [] : merged)]),
  };
}

/** Up to this many woonplaatsen may get another name in one load: three, or a hundredth of all. */
const mostRenamed = (places: PlaceSizes) =>
  Math.max(3, Object.keys(places).filter((name) => !isGemeente(name)).length / 100);

function objectionsToNames(all: readonly RenamedPlace[], live: PlaceSizes): Objection[] {
  const renamed = all.filter(({ from }) => !isGemeente(from));
  const names = new Set(renamed.map(({ to }) => to));
  if (renamed.length <= mostRenamed(live) && names.size === renamed.length) return [];
  const examples = renamed.slice(0, 3).map(({ from, to }) => `${from} → ${to}`);
  const what = `rename ${renamed.length} woonplaatsen to ${names.size} names`;
  return [
    objectionTo('too_many_places_renamed', what, { count: renamed.length }, undefined, examples),
  ];
}

/**
 * The changes of a load, and the earlier changes since a date, if any: an extract or an approval
 * resets them.
 */
export type Judged = {
  peildatum: string;
  allowOlder: boolean;
  wasJudged?: boolean;
  tallies: PlaceTallies;
  earlier?: Earlier | null;
  /** The sizes of woonplaatsen and gemeenten after it. */
  after: PlaceSizes;
  /** Whether it is the first load with adresseerbare objecten: then no object changes. */
  isFirstOfObjects?: boolean;
};

/**
 * Every objection to a load, and the woonplaatsen that it renames. @param ofDay the limit on all
 * addresses
 */
export function judge(
  counts: LoadCounts,
  load: Judged,
  live: Live | null,
  thresholds: Thresholds,
  ofDay = thresholds,
): { objections: Objection[]; renamed: RenamedPlace[] } {
  const found: Objection[] = [];
  const { addresses, nummeraanduidingen, objecten, problems } = counts;
  if (addresses < thresholds.minimumAddresses) {
    const message = `the extract has ${grouped(addresses)} addresses, fewer than the ${grouped(thresholds.minimumAddresses)} required`;
    found.push({ code: 'too_few_addresses', message });
  }
  const { objections, renamed } =
    live && live.addresses > 0 ? judgeChanges(load, live, thresholds, ofDay) : nothing;
  found.push(...objections);
  const check = (code: ObjectionCode, what: string, count: number, of: number) =>
    found.push(
      ...overShare(
        code,
        what,
        [count, of],
        thresholds.maximumProblemShare,
        thresholds.alwaysAllowed,
      ),
    );
  if (objecten && problems) {
    const missing = problemsOfObjecten.reduce((sum, kind) => sum + problems[kind].count, 0);
    const what = 'objects have a missing address or an unknown location';
    check('too_many_object_problems', what, missing, objecten.live + missing);
  }
  if (objecten && load.isFirstOfObjects) {
    found.push(...objectionsToFirstObjects(load.after, thresholds));
  }
  if (problems && !load.wasJudged) {
    const count = problemCount(problems);
    check('too_many_problems', 'addresses have a problem', count, nummeraanduidingen + count);
  }
  if (live && load.peildatum < live.peildatum && !load.allowOlder) {
    const message = `the extract of ${load.peildatum} is older than the live dataset of ${live.peildatum}`;
    found.push({ code: 'older_peildatum', message });
  }
  return { objections: found, renamed };
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
  const objectionIn = ([of, , , , , , withObjects]: PlaceSize, always: number, place?: string) => {
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
    isGemeente(name) ? [] : objectionIn(size, alwaysAllowedInPlace, name),
  );
  return [...objectionIn(wholeOf(after), alwaysAllowed), ...firstOfEach(inPlaces)];
}

const nothing: ReturnType<typeof judge> = { objections: [], renamed: [] };

/** The sum of the sizes of all woonplaatsen. */
function wholeOf(places: PlaceSizes): PlaceSize {
  const sizes = Object.entries(places).flatMap(([name, size]) => (isGemeente(name) ? [] : [size]));
  return noSize().map((_, member) =>
    sizes.reduce((sum, size) => sum + (size[member] ?? 0), 0),
  ) as PlaceSize;
}

/**
 * A load alone may change as many addresses as a day may; with the days before it, as many as a
 * load may.
 */
function judgeChanges(
  { tallies, earlier, after }: Judged,
  { addresses, places }: Live,
  thresholds: Thresholds,
  ofDay: Thresholds,
): ReturnType<typeof judge> {
  const { renamed, tallies: ofLoad } = renamedPlaces(tallies, places, after);
  const together = earlier
    ? renamedPlaces(mergeTallies([earlier, tallies]), places, after).tallies
    : ofLoad;
  const since = earlier?.since;
  const [, ...others] = wholeOf(places);
  const whole = { own: ofLoad.all, size: [addresses, ...others] satisfies PlaceSize };
  const alone = objectionsIn({ ...whole, tally: ofLoad.all }, ofDay);
  const withDays = earlier
    ? objectionsIn({ ...whole, tally: together.all, since }, thresholds)
    : [];
  const inPlaces = Object.entries(ofLoad.woonplaatsen).flatMap(([place, own]) => {
    const area = {
      own,
      tally: together.woonplaatsen[place] ?? own,
      size: places[place],
      place,
      since,
    };
    return objectionsIn(area, thresholds, (kind) => {
      const streets = Object.entries(tallies.streets).filter(
        ([name]) => woonplaatsOf(name) === place,
      );
      const most = Object.entries(mostChanged(Object.fromEntries(streets), 3, kind));
      return most.map(([name, count]) => `${name} (${count})`);
    });
  });
  const onStreets = Object.entries(tallies.streets).flatMap(([place, { removed }]) =>
    removed ? objectionsIn({ own: { removed }, tally: { removed }, place }, thresholds) : [],
  );
  const onlyWithDays = withDays.filter(({ code }) => !alone.some((one) => one.code === code));
  return {
    objections: [
      ...alone,
      ...onlyWithDays,
      ...firstOfEach([...inPlaces, ...onStreets]),
      ...objectionsToNames(renamed, places),
    ],
    renamed,
  };
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

function percent(share: number): string {
  return `${Number((share * 100).toFixed(share < 0.01 ? 3 : 1))}%`;
}
