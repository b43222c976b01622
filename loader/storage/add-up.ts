/** Adds up the findings of all parts of a load. */

import { mapConcurrently } from '../../core/concurrency.ts';
import { addSizes } from '../addresses/place-sizes.ts';
import { emptyReport, mergeReports, type ProblemReport, reportOfCounts } from '../bag/problem-report.ts';
import type { Load, ManifestEntry, Snapshot } from '../dataset/load.ts';
import { unpackReference } from '../register/reference-file.ts';
import { type LoadCounts, mergeSegments } from '../verdict/load-counts.ts';
import { grouped, type Objection } from '../verdict/objections.ts';
import { mergeTallies } from '../verdict/place-changes.ts';
import { concurrentReads, findJson, getJson, getUnpacked, paths, type Storage } from './storage.ts';
import {
  type ChangeFile,
  type Extracted,
  extractedParts,
  type Joined,
  joinedBuckets,
  type Merged,
  type Mutated,
  type SegmentItem,
} from './work.ts';

/** Kadaster writes as many occurrences into each file but the last. */
const occurrencesPerFile = 10_000;

/** @param target the target of a rollback, which was counted when it was made */
export async function addUp(storage: Storage, load: Load, target: ManifestEntry | undefined) {
  const items = await getJson<SegmentItem[]>(storage, paths.segments(load.id));
  const merged = await mapConcurrently(items, concurrentReads, ({ segment }) =>
    getJson<Merged>(storage, paths.merged(load.id, segment)),
  );
  const files: ChangeFile[] = merged.flatMap((segment) =>
    segment.files.map(({ name, writes }) => ({ changes: name, writes })),
  );
  const tallies = mergeTallies(merged.flatMap(({ byPlace = [] }) => byPlace));
  const places = addSizes(
    {},
    merged.flatMap((segment) => Object.entries(segment.places ?? {})),
  );
  const after = addSizes(
    {},
    merged.flatMap(({ placesAfter }) => Object.entries(placesAfter)),
  );
  const csv = merged.flatMap((segment) => segment.csv ?? []).sort((a, b) => (a.name < b.name ? -1 : 1));
  const segments = merged.filter(({ addresses }) => addresses > 0).map(({ segment }) => segment);
  const made = load.target
    ? restored(load.target.snapshot, target)
    : await derived(
        storage,
        load,
        merged.map(({ problems }) => problems),
      );
  const counts: LoadCounts = {
    ...made.counts,
    nummeraanduidingen:
      made.counts.nummeraanduidingen + merged.reduce((sum, { nummeraanduidingen }) => sum + nummeraanduidingen, 0),
    ...mergeSegments(merged),
  };
  const snapshot: Snapshot = { ...made.snapshot, segments };
  const large = merged.flatMap(({ tooLarge }) => tooLarge);
  return { ...made, counts, files, large, snapshot, tallies, places, after, csv };
}

type Made = {
  counts: Pick<LoadCounts, 'voorkomens' | 'problems' | 'nummeraanduidingen'>;
  snapshot: Omit<Snapshot, 'segments'>;
  mutated: Mutated | null;
  /** Objections to incomplete files of an extract. */
  incomplete: Objection[];
};

function restored({ segments: _, ...snapshot }: Snapshot, target: ManifestEntry | undefined): Made {
  const { voorkomens = 0, nummeraanduidingen = 0, problemCounts } = target ?? {};
  const problems = problemCounts ? reportOfCounts(problemCounts) : null;
  return { counts: { voorkomens, nummeraanduidingen, problems }, snapshot, mutated: null, incomplete: [] };
}

async function derived(storage: Storage, load: Load, merged: readonly ProblemReport[]): Promise<Made> {
  const mutated = await findJson<Mutated>(storage, paths.mutated(load.id));
  const extracted = await extractedParts(storage, load);
  const nums = await joinedBuckets(storage, load.id, 'nummeraanduidingen');
  const objecten = load.objecten ? await joinedBuckets(storage, load.id, 'objecten') : [];
  const ofNums = extracted.filter(({ member }) => load.members[member]?.kind === 'NUM');
  const voorkomens =
    load.kind === 'extract' ? ofNums.reduce((sum, part) => sum + part.voorkomens, 0) : (mutated?.mutations ?? 0);
  const problems = mergeReports([
    ...(load.kind === 'extract' ? [await problemsOfReference(storage, load)] : []),
    ...(mutated ? [mutated.problems] : []),
    ...[...extracted, ...nums, ...objecten].map((one) => one.problems),
    ...merged,
  ]);
  const reach = nums.flatMap(({ ranges, reach }) => [...Object.keys(ranges).map((name) => name.slice(1)), ...reach]);
  return {
    counts: { voorkomens, nummeraanduidingen: 0, problems },
    snapshot: {
      id: load.id,
      buckets: nums.length,
      reach: [...new Set(reach)].sort(),
      ...(load.objecten && { objecten: true }),
    },
    mutated,
    incomplete: [...lastFilesThatAreFull(load, extracted), ...objectionsToRepeats(load, nums, voorkomens)],
  };
}

/** The problems of streets, places and gemeenten; after days, some were counted again. */
async function problemsOfReference(storage: Storage, load: Load): Promise<ProblemReport> {
  const { problems } = await getUnpacked(storage, paths.reference(load.id), unpackReference);
  const { several_current, gemeente_missing, gemeente_unknown } = emptyReport();
  return load.days.length === 0 ? problems : { ...problems, several_current, gemeente_missing, gemeente_unknown };
}

/** Members whose last file is as full as all before it usually are: one after it may be missing. */
function lastFilesThatAreFull({ members }: Load, extracted: readonly (Extracted & { member: number })[]): Objection[] {
  return members.flatMap(({ name }, index) => {
    const files = extracted.filter(({ member }) => member === index).map(({ last }) => last);
    const last = files.reduce((one, other) => (other.name > one.name ? other : one), { name: '', voorkomens: 0 });
    if (last.voorkomens !== occurrencesPerFile) return [];
    const message = `the last file of ${name}, ${last.name}, is full, so one after it may be missing: get the extract again`;
    return [{ code: 'last_file_full' as const, message }];
  });
}

/** An object may be in the members of two municipalities; within one member, a file repeats another. */
function objectionsToRepeats({ members }: Load, joined: readonly Joined[], voorkomens: number): Objection[] {
  const isOneMember = members.filter(({ kind }) => kind === 'NUM').length === 1;
  const repeated = joined.reduce((sum, one) => sum + one.repeated, 0);
  if (!isOneMember || repeated <= Math.min(1000, voorkomens / 100)) return [];
  const message = `${grouped(repeated)} nummeraanduidingen occur twice, because one file repeats another: get the extract again`;
  return [{ code: 'repeated_occurrences', message }];
}
