/** What a load found and would change, in numbers, and whether it is too much to apply without approval. */

import { type AdresObject, adresObjectOfText } from '../../core/adres-object.ts';
import type { Place } from '../../core/place-fields.ts';
import { mergeReports, type ProblemReport } from '../bag/problem-report.ts';
import type { loadDefaults } from '../names.ts';
import type { LineCounts } from './line-segment.ts';
import {
  type Change,
  type ChangeCounts,
  type ChangeKind,
  hasAddress,
  keyOf,
  type Line,
  objectTextsIn,
  parseLine,
  placeText,
} from './lines.ts';

/** What one worker found in its part of the extract. */
export type PartCounts = { voorkomens: number; problems: ProblemReport };

/** A change in readable form, with the BAG ids of the nummeraanduidingen that have the address before or after it. */
export type ChangeExample = {
  key: string;
  before: string[] | null;
  after: string[] | null;
  nummeraanduidingen: string[];
};

/** The counts of a load, before and after it is applied; plain JSON. */
export type LoadCounts = Omit<PartCounts, 'problems'> & {
  /** `null` for a rollback to a snapshot whose problems were not kept. */
  problems: ProblemReport | null;
  /** Nummeraanduidingen that have an address. */
  nummeraanduidingen: number;
} & SegmentCounts;

/** What addresses have of adresseerbare objecten, and what changes of it. */
export type ObjectenCounts = {
  /** Objects that have their hoofdadres. */
  live: number;
  /** Addresses of which nothing else changes. */
  changed: number;
  /** Objects that an address no longer has, though it stays. */
  lost: number;
  /** Objects of an address whose location is another one, further away than a correction of it. */
  moved: number;
};

/** The counts of one merged segment. */
export type SegmentCounts = {
  /** Addresses that a lookup can find: nummeraanduidingen with the same address key count once. */
  addresses: number;
  /** Keys that only have a list of toevoegingen, and no address. */
  lists: number;
  changes: ChangeCounts;
  /** Of the changed addresses those that only get another gemeente, as after a merger. */
  gemeenteChanged: number;
  /** Lists of toevoegingen that are added, changed or removed where the address under the same key does not change. */
  listsChanged: number;
  /** Absent in a dataset without adresseerbare objecten. */
  objecten?: ObjectenCounts;
  examples: Record<ChangeKind, ChangeExample[]>;
};

/** Problems of adresseerbare objecten, which are no addresses. */
const problemsOfObjecten = ['address_missing', 'location_unknown'] as const;

/** Problems that keep no address out: without a postcode it has no key, and a gemeente is not part of it. */
const noAddressMissing: readonly string[] = [
  'no_postcode',
  'gemeente_missing',
  'gemeente_unknown',
  ...problemsOfObjecten,
];

/** How many objects should have been addresses. */
export function problemCount(report: ProblemReport): number {
  return sum(Object.entries(report), ([kind, { count }]) => (noAddressMissing.includes(kind) ? 0 : count));
}

/** Several parts as one, in any order. */
export function mergeParts(parts: readonly PartCounts[]): PartCounts {
  return {
    voorkomens: sum(parts, (part) => part.voorkomens),
    problems: mergeReports(parts.map(({ problems }) => problems)),
  };
}

const examplesPerKind = 5;

/** Several segments as one; the examples are the first of the first segments. */
export function mergeSegments(segments: readonly SegmentCounts[]): SegmentCounts {
  const examples = (kind: ChangeKind) =>
    segments.flatMap((segment) => segment.examples[kind]).slice(0, examplesPerKind);
  return {
    addresses: sum(segments, ({ addresses }) => addresses),
    lists: sum(segments, ({ lists }) => lists),
    listsChanged: sum(segments, ({ listsChanged }) => listsChanged),
    gemeenteChanged: sum(segments, ({ gemeenteChanged }) => gemeenteChanged),
    changes: sumOfChanges(segments.map(({ changes }) => changes)),
    ...sumOfObjecten(segments.flatMap(({ objecten = [] }) => objecten)),
    examples: { added: examples('added'), changed: examples('changed'), removed: examples('removed') },
  };
}

function sumOfObjecten(counts: readonly ObjectenCounts[]): { objecten?: ObjectenCounts } {
  if (counts.length === 0) return {};
  const of = (kind: keyof ObjectenCounts) => sum(counts, (one) => one[kind]);
  return { objecten: { live: of('live'), changed: of('changed'), lost: of('lost'), moved: of('moved') } };
}

/** Several counts as one. */
export function sumOfChanges(counts: readonly ChangeCounts[]): ChangeCounts {
  const of = (kind: ChangeKind) => sum(counts, (one) => one[kind]);
  return { added: of('added'), changed: of('changed'), removed: of('removed') };
}

/** Counts of nothing. */
export function noChanges(): SegmentCounts {
  return {
    addresses: 0,
    lists: 0,
    listsChanged: 0,
    gemeenteChanged: 0,
    changes: { added: 0, changed: 0, removed: 0 },
    examples: { added: [], changed: [], removed: [] },
  };
}

/** Adds one change to `counts`, and keeps the first few as examples. */
export function countChange(counts: SegmentCounts, change: Change): void {
  const { kind } = change;
  if (kind === 'list') counts.listsChanged++;
  else if (kind !== 'objecten') countAddress(counts, kind, change);
  if (counts.objecten && kind !== 'list') countObjecten(counts.objecten, change);
}

/** Metres that a location may be corrected by. */
const corrected = 50;

function countObjecten(counts: ObjectenCounts, { kind, before, after }: Change): void {
  if (kind === 'objecten') counts.changed++;
  if (before === null || after === null) return;
  const now = objectsIn(after);
  for (const [id, { locatie: old }] of objectsIn(before)) {
    const locatie = now.get(id)?.locatie;
    if (!locatie) counts.lost++;
    else if (Math.hypot(locatie.x - old.x, locatie.y - old.y) > corrected) counts.moved++;
  }
}

function objectsIn(line: Line): Map<string, AdresObject> {
  const objects = objectTextsIn(line).flat().map(adresObjectOfText);
  return new Map(objects.map((object) => [object.identificatie, object]));
}

/** Adds the lines of a part of a first load, all of which are new; some of the `first` of them become examples. */
export function countFirst(counts: SegmentCounts, { lines, lists }: LineCounts, first: readonly Line[]): void {
  counts.changes.added += lines - lists;
  counts.listsChanged += lists;
  const examples = counts.examples.added;
  for (const after of first.filter(hasAddress).slice(0, examplesPerKind - examples.length))
    examples.push(changeExample({ before: null, after }));
}

function countAddress(counts: SegmentCounts, kind: ChangeKind, change: Change): void {
  counts.changes[kind]++;
  if (kind === 'changed' && isOfGemeente(change)) counts.gemeenteChanged++;
  const examples = counts.examples[kind];
  if (examples.length < examplesPerKind) examples.push(changeExample(change));
}

/** Whether an address changes in nothing but its gemeente. */
function isOfGemeente(change: Change): boolean {
  const { old, now } = changedPlaces(change);
  const rest = (places: Place[] | null) =>
    places
      ?.map(({ gemeente: _, ...place }) => placeText(place))
      .sort()
      .join('\t');
  return rest(old) === rest(now);
}

/** How many changes there are by street (`Buitenveer, Weesp`) and by woonplaats. */
export type ChangesByPlace = { streets: Record<string, number>; woonplaatsen: Record<string, number> };

/** The places of an address before and after a change, or `null` where there is no address. */
export type ChangedPlaces = Record<'old' | 'now', Place[] | null>;

export function changedPlaces({ before, after }: Pick<Change, 'before' | 'after'>): ChangedPlaces {
  return { old: placesIn(before), now: placesIn(after) };
}

/** Counts a change of an address at each place that it has before or after. */
export function countPlaces({ streets, woonplaatsen }: ChangesByPlace, { old, now }: ChangedPlaces): void {
  const places = [...(old ?? []), ...(now ?? [])];
  for (const name of new Set(places.map(nameOf))) streets[name] = (streets[name] ?? 0) + 1;
  for (const name of new Set(places.map(({ woonplaats }) => woonplaats)))
    woonplaatsen[name] = (woonplaatsen[name] ?? 0) + 1;
}

/** The names with the most changes in all `parts` together, in descending order. */
export function mostChanged(parts: readonly Record<string, number>[], most: number): Record<string, number> {
  const total = new Map<string, number>();
  for (const [name, count] of parts.flatMap((part) => Object.entries(part)))
    total.set(name, (total.get(name) ?? 0) + count);
  const sorted = [...total].toSorted(([one, a], [other, b]) => b - a || (one < other ? -1 : 1));
  return Object.fromEntries(sorted.slice(0, most));
}

/** A change in readable form, from its lines. */
export function changeExample(
  change: Pick<Change, 'before' | 'after'>,
  { old, now } = changedPlaces(change),
): ChangeExample {
  const isSame = (of: (place: Place) => string) => String(old?.map(of)) === String(now?.map(of));
  const withIds = (place: Place) => `${nameOf(place)} (${idsOf([place]).join(' ')})`;
  const text = [nameOf, nameWithGemeente, withIds].find((of) => !isSame(of)) ?? nameWithObjects;
  return {
    key: keyOf((change.after ?? change.before) as Line),
    before: old?.map(text) ?? null,
    after: now?.map(text) ?? null,
    nummeraanduidingen: [...new Set(idsOf([...(old ?? []), ...(now ?? [])]))].sort(),
  };
}

function nameOf({ straat, woonplaats }: Place): string {
  return `${straat}, ${woonplaats}`;
}

/** A place in readable form, with its gemeente. */
export function nameWithGemeente(place: Place): string {
  return `${nameOf(place)} (${place.gemeente === undefined ? 'no gemeente' : `gemeente ${place.gemeente}`})`;
}

/** `..., 85 m2 woonfunctie, 131234.5 480123.4)`. */
function nameWithObjects(place: Place): string {
  const texts = (place.objecten ?? []).map(({ identificatie, type, status, locatie: { x, y }, ...more }) => {
    const { hoofdadres, oppervlakte, gebruiksdoelen = [] } = more;
    const role = hoofdadres ? [] : ['nevenadres'];
    const use = oppervlakte === undefined ? [] : [[`${oppervlakte} m2`, ...gebruiksdoelen].join(' ')];
    return [`${identificatie} ${type}`, status, ...role, ...use, `${x} ${y}`].join(', ');
  });
  return `${nameOf(place)} (objects: ${texts.join('; ') || 'none'})`;
}

function idsOf(places: readonly Place[]): string[] {
  return places.flatMap(({ nummeraanduidingen = [] }) => nummeraanduidingen);
}

/** The places of a line, or `null` where it has no address. */
function placesIn(line: Line | null): Place[] | null {
  return line !== null && hasAddress(line) ? parseLine(line).places : null;
}

function sum<T>(items: readonly T[], count: (item: T) => number): number {
  return items.reduce((total, item) => total + count(item), 0);
}

/**
 * What a load may change before an operator has to approve it; `maximumGemeenteShare`: the share that may get another
 * gemeente and nothing else, where that is not `maximumChangedShare`.
 */
export type Thresholds = Record<keyof typeof loadDefaults.guard, number> & { maximumGemeenteShare?: number };

/** Objections to the size of a difference and to its cause, that one extract replaces another of another area. */
const sizeCodes = [
  'too_many_removed',
  'too_many_changed',
  'too_many_added',
  'too_many_objects_lost',
  'too_many_objects_moved',
  'other_area',
] as const;

/**
 * The limits of days of mutations. A day changes a fiftieth of what a month does, but on some days a municipality
 * renames its streets. So one may change a fifth of what a load may, and a delivery of several days more. Several
 * deliveries together may change what one of them may: beyond that, each is judged by itself. The gemeenten that merge
 * in a year all do so on one day, so of nothing but the gemeente a day may change what a load may.
 */
export function thresholdsOfDays(thresholds: Thresholds, days: readonly { vanaf: string; tot: string }[]): Thresholds {
  const lengths = days.map(({ vanaf, tot }) => (Date.parse(tot) - Date.parse(vanaf)) / 86_400_000);
  const share = Math.min(1, Math.min(...lengths) / 5);
  return {
    ...thresholds,
    maximumGemeenteShare: thresholds.maximumChangedShare,
    maximumRemovedShare: thresholds.maximumRemovedShare * share,
    maximumChangedShare: thresholds.maximumChangedShare * share,
    maximumAddedShare: thresholds.maximumAddedShare * share,
  };
}

type ObjectionCode =
  | (typeof sizeCodes)[number]
  | 'too_few_addresses'
  | 'too_many_problems'
  | 'too_many_object_problems'
  | 'too_many_set_aside'
  | 'last_file_full'
  | 'repeated_occurrences'
  | 'older_peildatum';

/** Why a load stops before its first write; the message says by how much. */
export type Objection = { code: ObjectionCode; message: string };

/** Whether an objection is only to the amount of change, not to the contents or the date of the extract. */
export function isAboutSize({ code }: Objection): boolean {
  return (sizeCodes as readonly string[]).includes(code);
}

/** What a load is compared with: the live dataset. */
export type Live = { peildatum: string; addresses: number; objecten?: number };

/**
 * Every objection to a load, compared with the live dataset; without a live dataset the shares don't apply. An older
 * date is an objection unless `allowOlder`.
 */
export function objections(
  counts: LoadCounts,
  load: { peildatum: string; allowOlder: boolean; wasJudged?: boolean },
  live: Live | null,
  thresholds: Thresholds,
): Objection[] {
  const found: Objection[] = [];
  const { addresses, nummeraanduidingen, changes, gemeenteChanged } = counts;
  if (addresses < thresholds.minimumAddresses) {
    const message = `the extract has ${grouped(addresses)} addresses, fewer than the ${grouped(thresholds.minimumAddresses)} required`;
    found.push({ code: 'too_few_addresses', message });
  }
  const check = (code: ObjectionCode, what: string, count: number, of: number, limit: number) => {
    if (count <= Math.max(of * limit, thresholds.alwaysAllowed)) return;
    found.push({ code, message: `${what}: ${percent(count / of)}, over the limit of ${percent(limit)}` });
  };
  if (live && live.addresses > 0) {
    const of = live.addresses;
    const change = (code: ObjectionCode, verb: string, count: number, limit: number) =>
      check(code, `it would ${verb} ${grouped(count)} addresses where ${grouped(of)} are live`, count, of, limit);
    change('too_many_removed', 'remove', changes.removed, thresholds.maximumRemovedShare);
    const { maximumChangedShare, maximumGemeenteShare = maximumChangedShare } = thresholds;
    change('too_many_changed', 'change', changes.changed - gemeenteChanged, maximumChangedShare);
    change('too_many_changed', 'change the gemeente of', gemeenteChanged, maximumGemeenteShare);
    change('too_many_added', 'add', changes.added, thresholds.maximumAddedShare);
  }
  const { objecten } = counts;
  if (objecten && live?.objecten) {
    const of = live.objecten;
    const there = `where ${grouped(of)} are live`;
    const lost = `${grouped(objecten.lost)} addresses would lose an object ${there}`;
    check('too_many_objects_lost', lost, objecten.lost, of, thresholds.maximumRemovedShare);
    const moved = `${grouped(objecten.moved)} objects would move by more than ${corrected} m ${there}`;
    check('too_many_objects_moved', moved, objecten.moved, of, thresholds.maximumRemovedShare);
  }
  if (objecten && counts.problems) {
    const { problems } = counts;
    const missing = sum(problemsOfObjecten, (kind) => problems[kind].count);
    const of = objecten.live + missing;
    const what = `${grouped(missing)} of ${grouped(of)} objects have an address that is not there, or an unknown location`;
    check('too_many_object_problems', what, missing, of, thresholds.maximumProblemShare);
  }
  if (counts.problems && !load.wasJudged) {
    const problems = problemCount(counts.problems);
    const of = nummeraanduidingen + problems;
    const what = `${grouped(problems)} of ${grouped(of)} addresses have a problem`;
    check('too_many_problems', what, problems, of, thresholds.maximumProblemShare);
  }
  if (live && load.peildatum < live.peildatum && !load.allowOlder) {
    const message = `the extract of ${load.peildatum} is older than the live dataset of ${live.peildatum}`;
    found.push({ code: 'older_peildatum', message });
  }
  return found;
}

/** `9,912,345`. Not by `toLocaleString`, the first of which takes 17 ms. */
export function grouped(count: number): string {
  return `${count}`.replace(/\B(?=(\d{3})+$)/g, ',');
}

function percent(share: number): string {
  return `${Number((share * 100).toFixed(share < 0.01 ? 3 : 1))} %`;
}
