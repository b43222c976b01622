/** The findings and changes of a load, in numbers. */

import { gzipSync } from 'node:zlib';
import type { Place } from '../../core/place-fields.ts';
import type { Change, ChangeCounts, ChangeKind } from '../addresses/lines.ts';
import { nameOf } from '../addresses/place-sizes.ts';
import type { ProblemReport } from '../bag/problem-report.ts';
import type { SetAsideObject } from '../dataset/load.ts';

/**
 * A change in readable form: what lookups of a key answer before and after it, as `street, town`,
 * or `null` for no address; with the BAG ids of the nummeraanduidingen that have the address before
 * or after it.
 */
export type ChangeExample = {
  /** `1381AA#9#A`; `addressText` writes it as people do. */
  key: string;
  before: string[] | null;
  after: string[] | null;
  nummeraanduidingen: string[];
};

/** The counts of a load, before and after it is applied; plain JSON. */
export type LoadCounts = {
  /**
   * Occurrences (`sl:stand`) of nummeraanduidingen that were read; for mutations, those changed or
   * added.
   */
  voorkomens: number;
  /** `null` for a rollback to a snapshot whose problems were not kept. */
  problems: ProblemReport | null;
  /** Nummeraanduidingen that have an address. */
  nummeraanduidingen: number;
  /** Absent in a dataset without adresseerbare objecten. */
  objecten?: ObjectenCounts;
} & Omit<SegmentCounts, 'objecten'>;

/** The adresseerbare objecten of addresses, and their changes. */
export type ObjectenCounts = {
  /** Objects that have their hoofdadres. */
  live: number;
  /** Addresses that don't change otherwise. */
  changed: number;
  /** Addresses that stay and lose an object. */
  lost: number;
  /** Addresses with an object whose location moves further than a correction. */
  moved: number;
};

/** The counts in a segment; `columns.ts` counts what changes of its objects. */
export type SegmentCounts = {
  /** Addresses that a lookup can find: nummeraanduidingen with the same address key count once. */
  addresses: number;
  /** Keys that only have a list of toevoegingen, and no address. */
  lists: number;
  changes: ChangeCounts;
  /** How many of the changed addresses only get another gemeente, such as after a merger. */
  gemeenteChanged: number;
  /**
   * Lists of toevoegingen that are added, changed or removed while the address under the same key
   * does not change.
   */
  listsChanged: number;
  /** Absent in a dataset without adresseerbare objecten. */
  objecten?: Pick<ObjectenCounts, 'live' | 'changed'>;
  examples: Record<ChangeKind, ChangeExample[]>;
};

/** All objects that are set aside and not settled yet. */
export type SetAside = { count: number; addresses: number; examples: string[] };

const examplesPerKind = 5;

export function setAsideOf(objects: readonly SetAsideObject[]): SetAside {
  return {
    count: objects.length,
    addresses: objects.reduce((sum, { addresses }) => sum + addresses, 0),
    examples: objects
      .slice(0, examplesPerKind)
      .map(({ why, addresses }) => `${why} (${grouped(addresses)} addresses)`),
  };
}

/** `9,912,345`. Not by `toLocaleString`, whose first call takes 17 ms. */
export function grouped(count: number): string {
  return `${count}`.replace(/\B(?=(\d{3})+$)/g, ',');
}

/** Problems of adresseerbare objecten, which are no addresses. */
export const problemsOfObjecten = ['address_missing', 'location_unknown'] as const;

/**
 * Problems that keep no address out: without a postcode it has no key, and a gemeente is not part
 * of it.
 */
const noAddressMissing: readonly string[] = [
  'no_postcode',
  'gemeente_missing',
  'gemeente_unknown',
  ...problemsOfObjecten,
];

/** How many objects should have been addresses. */
export function problemCount(report: ProblemReport): number {
  return sum(Object.entries(report), ([kind, { count }]) =>
    noAddressMissing.includes(kind) ? 0 : count,
  );
}

const changeKinds: readonly ChangeKind[] = ['added', 'changed', 'removed'];

/** Several segments as one; the examples are the first of the first segments. */
export function mergeSegments(segments: readonly SegmentCounts[]): SegmentCounts {
  const objecten = segments.flatMap((segment) => segment.objecten ?? []);
  const examples = changeKinds.map((kind) => {
    return [kind, segments.flatMap((segment) => segment.examples[kind]).slice(0, examplesPerKind)];
  });
  return {
    ...sumOf(['addresses', 'lists', 'listsChanged', 'gemeenteChanged'], segments),
    changes: sumOf(
      changeKinds,
      segments.map(({ changes }) => changes),
    ),
    ...(objecten.length > 0 && { objecten: sumOf(['live', 'changed'], objecten) }),
    examples: Object.fromEntries(examples),
  };
}

export function noChanges(): Omit<SegmentCounts, 'objecten'> {
  const { objecten: _, ...counts } = mergeSegments([]);
  return counts;
}

function sumOf<Name extends string>(names: readonly Name[], all: readonly Record<Name, number>[]) {
  return Object.fromEntries(
    names.map((name) => [name, sum(all, (counts) => counts[name])]),
  ) as Record<Name, number>;
}

/** Whether all examples of a kind of change are known. */
export function hasExamples({ examples }: SegmentCounts, kind: ChangeKind): boolean {
  return examples[kind].length === examplesPerKind;
}

/** Adds a key that differs to `counts`, and keeps the first few as examples. */
export function countKey(counts: SegmentCounts, change: Change, kind = change.kind): void {
  if (kind === 'list') counts.listsChanged++;
  else if (kind === 'objecten') {
    if (counts.objecten) counts.objecten.changed++;
  } else {
    counts.changes[kind]++;
    const examples = counts.examples[kind];
    if (examples.length < examplesPerKind) examples.push(changeExample(change));
    if (kind === 'changed' && change.isOnlyOf('gemeente')) counts.gemeenteChanged++;
  }
}

/** A change in readable form. */
export function changeExample({ key, places: { old, now } }: Change): ChangeExample {
  const isSame = (of: (place: Place) => string) => String(old?.map(of)) === String(now?.map(of));
  const withIds = (place: Place) => `${nameOf(place)} (${idsOf([place]).join(' ')})`;
  const text = [nameOf, nameWithGemeente, withIds].find((of) => !isSame(of)) ?? nameWithObjects;
  return {
    key,
    before: old?.map(text) ?? null,
    after: now?.map(text) ?? null,
    nummeraanduidingen: [...new Set(idsOf([...(old ?? []), ...(now ?? [])]))].sort(),
  };
}

/** A place in readable form, with its gemeente. */
export function nameWithGemeente(place: Place): string {
  return `${nameOf(place)} (${place.gemeente === undefined ? 'no gemeente' : `gemeente ${place.gemeente}`})`;
}

/** `..., 85 m2 woonfunctie, 131234.5 480123.4)`. */
function nameWithObjects(place: Place): string {
  const texts = (place.objecten ?? []).map(
    ({ identificatie, type, status, locatie: { x, y }, ...more }) => {
      const { hoofdadres, oppervlakte, gebruiksdoelen = [] } = more;
      const role = hoofdadres ? [] : ['nevenadres'];
      const use =
        oppervlakte === undefined ? [] : [[`${oppervlakte} m2`, ...gebruiksdoelen].join(' ')];
      return [`${identificatie} ${type}`, status, ...role, ...use, `${x} ${y}`].join(', ');
    },
  );
  return `${nameOf(place)} (objects: ${texts.join('; ') || 'none'})`;
}

function idsOf(places: readonly Place[]): string[] {
  return places.flatMap(({ nummeraanduidingen = [] }) => nummeraanduidingen);
}

function sum<T>(items: readonly T[], count: (item: T) => number): number {
  return items.reduce((total, item) => total + count(item), 0);
}

/**
 * A stored part of the CSV of a load's changes; `bytes` of the text without its head, before it was
 * packed.
 */
export type ChangesCsv = { name: string; changes: number; bytes: number };

export const changesCsvHead = 'key,before,after,nummeraanduidingen\r\n';

/** A change as CSV (RFC 4180); several places of one key are separated by ` | `. */
export function changesCsvLine({ key, before, after, nummeraanduidingen }: ChangeExample): string {
  const fields = [
    key,
    before?.join(' | ') ?? '',
    after?.join(' | ') ?? '',
    nummeraanduidingen.join(' '),
  ];
  const quoted = fields.map((text) =>
    /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text,
  );
  return `${quoted.join(',')}\r\n`;
}

/** Small enough for a page of the portal to send one or more. */
const usualBytes = 2_000_000;

/** Collects changes of addresses of a segment. */
export class ChangesCsvWriter {
  readonly files: ChangesCsv[] = [];
  readonly #segment: string;
  readonly #write: (name: string, packed: Buffer) => Promise<void>;
  #text = '';
  #changes = 0;

  constructor(segment: string, write: (name: string, packed: Buffer) => Promise<void>) {
    this.#segment = segment;
    this.#write = write;
  }

  async add(change: Change): Promise<void> {
    this.#text += changesCsvLine(changeExample(change));
    this.#changes++;
    if (this.#text.length >= usualBytes) await this.flush();
  }

  async flush(): Promise<void> {
    if (this.#changes === 0) return;
    const name = `${this.#segment}-${String(this.files.length).padStart(3, '0')}`;
    const text = Buffer.from(this.#text);
    await this.#write(name, gzipSync(text));
    this.files.push({ name, changes: this.#changes, bytes: text.length });
    this.#text = '';
    this.#changes = 0;
  }
}
