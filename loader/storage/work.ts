/** Data that the steps of a load leave in the storage for later steps. */

import { mapConcurrently } from '../../core/concurrency.ts';
import type { LargeItem } from '../addresses/lines.ts';
import type { PlaceSizes } from '../addresses/place-sizes.ts';
import type { ProblemReport } from '../bag/problem-report.ts';
import type { ChangeFile, Load, SetAsideObject, SetAsideOfDay, Slice } from '../dataset/load.ts';
import type { Compared } from '../guard/columns.ts';
import type { ChangesCsv, SegmentCounts } from '../guard/load-counts.ts';
import { nameOfNumber } from '../register/rows.ts';
import type { ByteRanges } from '../register/stored-form.ts';
import {
  concurrentReads,
  getJson,
  paths,
  putJson,
  type RecordKinds,
  type Storage,
} from './storage.ts';

/** One bucket to join, and one segment to merge. */
export type BucketItem = { bucket: string };
export type SegmentItem = { segment: string };

/**
 * The findings in a slice of an extract, and the location of its rows; if it exists, the slice is
 * finished.
 */
export type Extracted = {
  voorkomens: number;
  problems: ProblemReport;
  /** Of its files the one with the highest number, and how many occurrences that has. */
  last: { name: string; voorkomens: number };
  ranges: ByteRanges;
  /** The segments of its addresses. */
  segments: string[];
};

/** What `mutate` found in days; if it exists, the step is finished. */
export type Mutated = {
  /**
   * Occurrences of nummeraanduidingen, openbare ruimten and woonplaatsen that the mutations changed
   * or added.
   */
  mutations: number;
  problems: ProblemReport;
  /** The deliveries with set-aside objects. */
  setAside: SetAsideOfDay[];
  /** All set-aside objects, including those from earlier days. */
  unsettled: SetAsideObject[];
  /** The number of the load's days that were applied, and the fault in the next day, if any. */
  applied: number;
  stopped?: string;
};

/**
 * The findings of joining a bucket's records, and the location of the rows sent; if it exists, the
 * bucket is finished.
 */
export type Joined = {
  problems: ProblemReport;
  /** The number of records, and of their repeated occurrences. */
  records: number;
  repeated: number;
  ranges: ByteRanges;
  /** The segments of its addresses, now or later; of no adresseerbaar object. */
  reach: string[];
};

/**
 * What `merge` stores of a segment; if it exists, the segment is finished. `files` names its change
 * files.
 */
export type Merged = SegmentCounts & {
  segment: string;
  files: ChangeFile[];
  nummeraanduidingen: number;
  problems: ProblemReport;
  tooLarge: LargeItem[];
  /** Its changes by column, and the sizes of areas before it; absent for a first load. */
  compared?: Compared;
  /** Its changes from the extract that was accepted before an approved load, if any. */
  fromAccepted?: Compared;
  /** The sizes of areas after it. */
  placesAfter: PlaceSizes;
  /** The files of its changes as CSV; absent as `compared` is. */
  csv?: ChangesCsv[];
};

/**
 * Stores the items of the maps that join: of adresseerbare objecten, none for a load without these.
 */
export async function putBuckets(
  storage: Storage,
  { id, objecten }: Load,
  buckets: number,
): Promise<void> {
  const items = Array.from(
    { length: buckets },
    (_, number): BucketItem => ({ bucket: nameOfNumber(number) }),
  );
  await putJson(storage, paths.objectBuckets(id), objecten ? items : []);
  await putJson(storage, paths.buckets(id), items);
}

/** The findings in every slice of an extract, with the slices; none if the load has no extract. */
export async function extractedSlices(
  storage: Storage,
  load: Load,
): Promise<(Extracted & Slice)[]> {
  if (load.kind !== 'extract') return [];
  const slices = await getJson<Slice[]>(storage, paths.slices(load.id));
  return mapConcurrently(slices, concurrentReads, async (slice) => ({
    ...slice,
    ...(await getJson<Extracted>(storage, paths.extracted(load.id, slice.slice))),
  }));
}

export async function joinedBuckets(
  storage: Storage,
  load: string,
  kinds: RecordKinds,
): Promise<(Joined & BucketItem)[]> {
  const buckets = await getJson<BucketItem[]>(storage, paths.buckets(load));
  return mapConcurrently(buckets, concurrentReads, async ({ bucket }) => ({
    bucket,
    ...(await getJson<Joined>(storage, paths.joined(load, kinds, bucket))),
  }));
}

/** Stores the items of the map that merges. */
export async function putSegments(
  storage: Storage,
  load: string,
  segments: Iterable<string>,
): Promise<{ segments: number }> {
  const items: SegmentItem[] = [...new Set(segments)].sort().map((segment) => ({ segment }));
  await putJson(storage, paths.segments(load), items);
  return { segments: items.length };
}
