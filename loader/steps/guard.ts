import { mapConcurrently } from '../../core/concurrency.ts';
import type { LargeItem } from '../addresses/lines.ts';
import {
  addSizes,
  everywhere,
  isGemeente,
  isWoonplaats,
  type PlaceSizes,
} from '../addresses/place-sizes.ts';
import { areaText } from '../bag/delivery-document.ts';
import { mergeReports, problemCounts, reportOfCounts } from '../bag/problem-report.ts';
import {
  begin,
  type ChangeFile,
  contentsOf,
  hasObjecten,
  isSameArea,
  type Load,
  lastExtract,
  type Manifest,
  type ManifestEntry,
  reject,
  resultOf,
  type SetAsideObject,
  type Snapshot,
  type SourceVersion,
} from '../dataset/load.ts';
import { auditOf } from '../guard/audit.ts';
import { type Compared, mergeCompared, mostChanged } from '../guard/columns.ts';
import { shareOfDays } from '../guard/limits.ts';
import {
  type ChangesCsv,
  grouped,
  type LoadCounts,
  mergeSegments,
  problemCount,
  setAsideOf,
} from '../guard/load-counts.ts';
import {
  interruptedLoad,
  type LoadProposal,
  proposalName,
  refusalText,
  reportOf,
} from '../guard/load-report.ts';
import {
  byWeight,
  type Earlier,
  type GuardResult,
  guardLoad,
  isAboutSize,
  isFinal,
  type Objection,
  objectionsToItems,
  objectionsToSetAside,
} from '../guard/objections.ts';
import type { RenamedPlace } from '../guard/renames.ts';
import { LoadError } from '../load-error.ts';
import { anyStage } from '../names.ts';
import { unpackReference } from '../register/reference-file.ts';
import { isSameLocation } from '../storage/source.ts';
import {
  concurrentReads,
  findJson,
  findUsableJson,
  getJson,
  getUnpacked,
  paths,
  putJson,
  type Storage,
} from '../storage/storage.ts';
import { currentManifest, putManifest, type StoredManifest } from '../storage/stored-loads.ts';
import {
  type Extracted,
  extractedSlices,
  type Joined,
  joinedBuckets,
  type Merged,
  type Mutated,
  type SegmentItem,
} from '../storage/work.ts';
import { lambdaStep } from './lambda-step.ts';
import type { Guarded, Step, StepContext, StepInput } from './step.ts';

/** A load before the guard, on the dataset that it changes. */
type GuardedLoad = {
  context: StepContext;
  load: Load;
  manifest: StoredManifest;
  /** The live dataset; a plan or an undo begins from the pending dataset. */
  base: ManifestEntry | null;
  /** The target of a rollback, which the guard let through when it was loaded. */
  target: ManifestEntry | undefined;
  /** Whether the load undoes the pending one. */
  isUndo: boolean;
};

/** The guard's decision, and the facts that the manifest then records. */
type Decision = {
  proposal: LoadProposal;
  snapshot: Snapshot;
  setAside: SetAsideObject[];
  files: ChangeFile[];
  /** The changes of the days since the last extract, if the load is of days. */
  sums: Earlier | null;
};

/**
 * A load that may continue becomes `pending`, and must be finished then. @throws StaleLoadError,
 * LockedError
 */
async function guard(
  context: StepContext,
  { load: loadId, approve, planOnly = false }: StepInput,
): Promise<LoadProposal> {
  const { storage, options } = context;
  const fence = await context.fence();
  const guardedLoad = await guardedLoadOf(context, loadId, planOnly);
  const decision = await decide(guardedLoad, approve === loadId);
  const { proposal, files, sums } = decision;
  await putJson(storage, paths.changeFiles(loadId), files);
  await putJson(storage, paths.proposal(loadId), proposal);
  // Nothing else refers to the snapshot of days that are judged by themselves instead.
  if (proposal.divided) await storage.delete(await storage.list(paths.snapshotOf(loadId)));
  if (!proposal.go || planOnly) return proposal;
  const { addresses, lists } = proposal.counts;
  await options.beforeApply?.({
    lines: addresses + lists,
    writes: files.reduce((total, { writes }) => total + writes, 0),
  });
  if (sums) await putJson(storage, paths.snapshotSums(loadId), sums);
  await fence.confirm(0);
  const { manifest, isUndo } = guardedLoad;
  const begun = begin(manifest, entryOf(guardedLoad, decision));
  const undone = isUndo && manifest.pending;
  await putManifest(storage, undone ? reject(begun, contentsOf(undone)) : begun, manifest);
  return proposal;
}

/** @throws StaleLoadError if another dataset is live than when the load began */
async function guardedLoadOf(
  context: StepContext,
  loadId: string,
  planOnly: boolean,
): Promise<GuardedLoad> {
  const { storage, addresses } = context;
  const load = await getJson<Load>(storage, paths.load(loadId));
  const manifest = await currentManifest(storage, addresses);
  const { pending, published, history } = manifest;
  const isUndo = load.kind === 'rollback' && pending !== null && pending.load === load.base?.load;
  const base = planOnly || isUndo ? (pending ?? published) : published;
  if ((base?.load ?? null) !== (load.base?.load ?? null)) {
    throw new LoadError(
      'StaleLoadError',
      `Another load was published since ${loadId} began. Run the load again.`,
    );
  }
  const target = history.find(({ load: id }) => id === load.target?.load);
  return { context, load, manifest, base, target, isUndo };
}

/** @param approved by an operator, despite every objection but the final ones */
async function decide(guardedLoad: GuardedLoad, approved: boolean): Promise<Decision> {
  const { context, load, target } = guardedLoad;
  const result = await resultOfSteps(context.storage, load, target);
  const setAside = result.mutated?.unsettled ?? target?.setAside ?? [];
  const earlier = await earlierChanges(guardedLoad);
  const { objections, renamed, sums } = guardResultOf(guardedLoad, result, earlier);
  const found = [
    ...objectionsToItems(result.large),
    ...objections,
    ...objectionsToSetAside(
      result.mutated?.setAside ?? [],
      setAsideOf(setAside),
      context.thresholds.alwaysAllowedInPlace,
    ),
    ...result.incomplete,
    ...objectionsToArea(guardedLoad),
  ];
  const { overruled, blocking } = weighed(guardedLoad, found);
  const go = !blocking.some(isFinal) && (blocking.length === 0 || approved);
  const guarded = { objections: blocking, overruled, approved, go };
  const proposal = proposalOf(guardedLoad, result, { setAside, renamed, guarded });
  // After an approved load the sums of days begin anew.
  const addsUp = load.kind === 'mutations' && blocking.length === 0;
  const since = earlier?.since ?? load.base?.peildatum ?? '';
  return {
    proposal,
    snapshot: result.snapshot,
    setAside,
    files: result.files,
    sums: addsUp ? { since, ...sums } : null,
  };
}

/** The changes since an extract or an approval; unknown if their file is damaged. */
async function earlierChanges({ context, load, base }: GuardedLoad): Promise<Earlier | null> {
  if (!base || load.kind === 'rollback') return null;
  return findUsableJson<Earlier>(context.storage, paths.snapshotSums(base.snapshot.id));
}

function guardResultOf(
  { context: { thresholds, options }, load, base }: GuardedLoad,
  { counts, compared, fromAccepted, after }: StepsResult,
  earlier: Earlier | null,
): GuardResult {
  const { kind, peildatum, source, days, objecten } = load;
  const { disposable } = options;
  const wasGuarded = kind === 'rollback';
  const input = {
    peildatum,
    allowOlder:
      wasGuarded || isDisposable(source, disposable) || isDisposable(base?.source, disposable),
    wasGuarded,
    tallies: compared.tallies,
    fromAccepted,
    earlier,
    after,
    isFirstOfObjects: objecten === true && !(base && hasObjecten(base.snapshot)),
  };
  const live = base && { ...base, places: compared.places };
  return guardLoad(counts, input, live, thresholds, kind === 'mutations' ? shareOfDays(days) : 1);
}

/** Whether a source is of an extract, such as the demo, that anything may replace. */
const isDisposable = (
  source: SourceVersion | null | undefined,
  disposable: string | undefined,
): boolean => source != null && source.location === disposable;

/** The objections that stop the load unless it is approved, and the others. */
type Weighed = { overruled: Objection[]; blocking: Objection[] };

/** An operator asked for a rollback, so the objections to it are shown but stop nothing. */
function weighed(
  { context, load, manifest, base }: GuardedLoad,
  found: readonly Objection[],
): Weighed {
  const { waiveSize, disposable } = context.options;
  const ignoresSize = waiveSize === true && !isSameExtract(load, manifest, disposable);
  const isOverruled = (objection: Objection) =>
    load.kind === 'rollback' ? !isFinal(objection) : ignoresSize && isAboutSize(objection);
  return {
    // Nobody minds how little stays of a disposable dataset.
    overruled: isDisposable(base?.source, disposable) ? [] : found.filter(isOverruled),
    blocking: byWeight(found.filter((objection) => !isOverruled(objection))),
  };
}

/** The statements of a proposal beyond the numbers of the load. */
type ProposalFacts = {
  setAside: SetAsideObject[];
  renamed: RenamedPlace[];
  guarded: Pick<LoadProposal, 'objections' | 'overruled' | 'approved' | 'go'>;
};

function proposalOf(
  { load, base, manifest }: GuardedLoad,
  { counts, compared, csv }: StepsResult,
  { setAside, renamed, guarded }: ProposalFacts,
): LoadProposal {
  const { areas, streets } = compared.tallies;
  const woonplaatsen = Object.entries(areas).filter(([area]) => isWoonplaats(area));
  return {
    load: load.id,
    kind: load.kind,
    peildatum: load.peildatum,
    livePeildatum: base?.peildatum ?? null,
    counts,
    days: load.days.map(({ name }) => name),
    stopped: load.stopped ?? null,
    extractPeildatum: load.extract?.peildatum ?? null,
    audit: auditOf(load, counts, base),
    setAside: setAsideOf(setAside),
    notes: [...(load.notes ?? []), ...renamed.map(renamedText)],
    byPlace: {
      streets: mostChanged(streets, 10),
      woonplaatsen: mostChanged(Object.fromEntries(woonplaatsen), 10),
    },
    csv,
    ...guarded,
    ...(manifest.pending && { interrupted: interruptedLoad(manifest.pending) }),
    ...(load.more && { more: true }),
    ...(!guarded.go &&
      load.days.length > (load.leastDays ?? load.days.length) && { divided: true }),
  };
}

const renamedText = ({ from, to, addresses }: RenamedPlace) =>
  `${isGemeente(from) ? `${from} becomes part of ${to}` : `the register renames ${from} to ${to}`}, which is one change: ${grouped(addresses)} addresses`;

/**
 * Whether an extract is of the same location and area as the last one; a disposable one never is.
 */
function isSameExtract(
  { kind, source, extract }: Load,
  manifest: Manifest,
  disposable: string | undefined,
): boolean {
  const last = lastExtract(manifest);
  if (kind !== 'extract' || !last || isDisposable(source, disposable)) return false;
  return (
    isSameLocation(source?.location ?? '', last.source?.location ?? '') &&
    isSameArea(extract, last.extract)
  );
}

/** An extract of another area is another dataset, however few addresses differ. */
function objectionsToArea({ context, load, base }: GuardedLoad): Objection[] {
  const { kind, extract, source } = load;
  const { disposable } = context.options;
  if (isDisposable(source, disposable) || isDisposable(base?.source, disposable)) return [];
  if (kind !== 'extract' || !extract || !base?.extract || isSameArea(extract, base.extract)) {
    return [];
  }
  const [now, live] = [extract, base.extract].map(({ gemeenten }) => areaText(gemeenten));
  return [
    { code: 'other_area', message: `the extract is of ${now}, and the live dataset of ${live}` },
  ];
}

/** The last snapshot of an extract, and the deliveries that lead from it to the load's result. */
function lineageOf(
  load: Load,
  snapshot: Snapshot,
  { published, history }: Manifest,
): Pick<ManifestEntry, 'replayBase' | 'since'> {
  const { kind, peildatum, target, start, days } = load;
  if (kind === 'extract') return { replayBase: { peildatum, snapshot }, since: [] };
  if (start) return { replayBase: start, since: days };
  const before =
    kind === 'mutations' ? published : history.find(({ load: id }) => id === target?.load);
  const base = before?.replayBase ?? null;
  return { replayBase: base, since: base ? [...(before?.since ?? []), ...days] : [] };
}

function entryOf(
  { load, manifest }: GuardedLoad,
  { proposal, snapshot, setAside }: Decision,
): ManifestEntry {
  const { counts, audit, notes, objections } = proposal;
  return {
    load: load.id,
    kind: load.kind,
    peildatum: load.peildatum,
    snapshot: resultOf(load) === load.id ? snapshot : (load.target?.snapshot ?? snapshot),
    ...(load.target && { rolledBackTo: load.target.load }),
    identity: load.identity,
    source: load.source,
    extract: load.extract,
    days: load.days,
    ...(load.stopped !== undefined && { stopped: load.stopped }),
    ...(load.more && { more: true }),
    ...(notes.length > 0 && { notes }),
    ...(objections.length > 0 && { approved: true }),
    ...(setAside.length > 0 && { setAside }),
    ...lineageOf(load, snapshot, manifest),
    ...(audit && { audit }),
    voorkomens: counts.voorkomens,
    nummeraanduidingen: counts.nummeraanduidingen,
    addresses: counts.addresses,
    lists: counts.lists,
    ...counts.changes,
    listsChanged: counts.listsChanged,
    gemeenteChanged: counts.gemeenteChanged,
    ...(counts.objecten && { objecten: counts.objecten.live }),
    problems: counts.problems && problemCount(counts.problems),
    ...(counts.problems && { problemCounts: problemCounts(counts.problems) }),
    at: new Date().toISOString(),
  };
}

/** Decides whether the load may continue (`go`), and reports its changes. */
export const step: Step<Guarded> = {
  async run(context, input) {
    const { load, planOnly } = input;
    const proposal = await guard(context, input);
    const go = proposal.go && !planOnly;
    const outcome = go ? 'published' : planOnly ? 'planned' : 'refused';
    const refused = outcome === 'refused' && { ...proposal, proposal: proposalName(proposal) };
    const refusal = refused && refusalText(refused, anyStage);
    const report = { ...reportOf(proposal, outcome), ...(refusal && { refusal }) };
    return { load, go, divided: proposal.divided ?? false, report };
  },
};

export const handler = /* @__PURE__ */ lambdaStep('guard', step);

/** Kadaster writes as many occurrences into each file but the last. */
const occurrencesPerFile = 10_000;

/** The results of the steps before, added up. */
type StepsResult = Omit<LoadTotals, 'counts' | 'snapshot'> & {
  counts: LoadCounts;
  snapshot: Snapshot;
  files: ChangeFile[];
  csv: ChangesCsv[];
  /** Addresses that the table can't hold. */
  large: LargeItem[];
  /** Its changes from its base, with the sizes before it; empty for a first load. */
  compared: Compared;
  /** Its changes from the extract that was accepted before an approved load, if any. */
  fromAccepted: Compared | null;
  /** The sizes of areas after it. */
  after: PlaceSizes;
};

async function resultOfSteps(
  storage: Storage,
  load: Load,
  target: ManifestEntry | undefined,
): Promise<StepsResult> {
  const items = await getJson<SegmentItem[]>(storage, paths.segments(load.id));
  const merged = await mapConcurrently(items, concurrentReads, ({ segment }) =>
    getJson<Merged>(storage, paths.merged(load.id, segment)),
  );
  const totals = load.target
    ? restored(load.target.snapshot, target)
    : await derived(storage, load, merged);
  const compared = mergeCompared(merged.flatMap(({ compared = [] }) => compared));
  const fromAccepted = merged.flatMap(({ fromAccepted = [] }) => fromAccepted);
  const segments = merged.filter(({ addresses }) => addresses > 0).map(({ segment }) => segment);
  return {
    ...totals,
    counts: countsOf(totals, merged, compared, target),
    snapshot: { ...totals.snapshot, segments },
    files: merged.flatMap(({ files }) => files),
    large: merged.flatMap(({ tooLarge }) => tooLarge),
    compared,
    fromAccepted: fromAccepted.length > 0 ? mergeCompared(fromAccepted) : null,
    after: addSizes(merged.flatMap(({ placesAfter }) => Object.entries(placesAfter))),
    csv: merged.flatMap(({ csv = [] }) => csv).sort((a, b) => (a.name < b.name ? -1 : 1)),
  };
}

/** @param target the target of a rollback, whose objects were counted when it was loaded */
function countsOf(
  totals: LoadTotals,
  merged: readonly Merged[],
  { tallies }: Compared,
  target: ManifestEntry | undefined,
): LoadCounts {
  const { objecten, ...counts } = mergeSegments(merged);
  const inSegments = merged.reduce((sum, segment) => sum + segment.nummeraanduidingen, 0);
  const { objectLost, moved } = tallies.areas[everywhere]?.columns ?? {};
  return {
    ...totals.counts,
    ...counts,
    nummeraanduidingen: totals.counts.nummeraanduidingen + inSegments,
    ...(objecten && {
      objecten: {
        live: objecten.live + (target?.objecten ?? 0),
        changed: objecten.changed,
        lost: objectLost?.count ?? 0,
        moved: moved?.count ?? 0,
      },
    }),
  };
}

type LoadTotals = {
  counts: Pick<LoadCounts, 'voorkomens' | 'problems' | 'nummeraanduidingen'>;
  snapshot: Omit<Snapshot, 'segments'>;
  mutated: Mutated | null;
  /** Objections to incomplete files of an extract. */
  incomplete: Objection[];
};

function restored(
  { segments: _, ...snapshot }: Snapshot,
  target: ManifestEntry | undefined,
): LoadTotals {
  const { voorkomens = 0, nummeraanduidingen = 0, problemCounts } = target ?? {};
  const problems = problemCounts ? reportOfCounts(problemCounts) : null;
  return {
    counts: { voorkomens, nummeraanduidingen, problems },
    snapshot,
    mutated: null,
    incomplete: [],
  };
}

async function derived(
  storage: Storage,
  load: Load,
  merged: readonly Merged[],
): Promise<LoadTotals> {
  const mutated = await findJson<Mutated>(storage, paths.mutated(load.id));
  const extracted = await extractedSlices(storage, load);
  const nums = await joinedBuckets(storage, load.id, 'nummeraanduidingen');
  const objecten = load.objecten ? await joinedBuckets(storage, load.id, 'objecten') : [];
  const ofNums = extracted.filter(({ member }) => load.members[member]?.kind === 'NUM');
  const voorkomens =
    load.kind === 'extract'
      ? ofNums.reduce((sum, slice) => sum + slice.voorkomens, 0)
      : (mutated?.mutations ?? 0);
  const problems = mergeReports([
    ...(load.kind === 'extract'
      ? [(await getUnpacked(storage, paths.reference(load.id), unpackReference)).problems]
      : []),
    ...(mutated ? [mutated.problems] : []),
    ...[...extracted, ...nums, ...objecten, ...merged].map((result) => result.problems),
  ]);
  const reach = nums.flatMap(({ ranges, reach }) => [
    ...Object.keys(ranges).map((name) => name.slice(1)),
    ...reach,
  ]);
  return {
    counts: { voorkomens, nummeraanduidingen: 0, problems },
    snapshot: {
      id: load.id,
      buckets: nums.length,
      reach: [...new Set(reach)].sort(),
      ...(load.objecten && { objecten: true }),
    },
    mutated,
    incomplete: [
      ...lastFilesThatAreFull(load, extracted),
      ...objectionsToRepeats(load, nums, voorkomens),
    ],
  };
}

/** Members whose last file is as full as all before it usually are: one after it may be missing. */
function lastFilesThatAreFull(
  { members }: Load,
  extracted: readonly (Extracted & { member: number })[],
): Objection[] {
  return members.flatMap(({ name }, index) => {
    const files = extracted.filter(({ member }) => member === index).map(({ last }) => last);
    const last = files.reduce((latest, other) => (other.name > latest.name ? other : latest), {
      name: '',
      voorkomens: 0,
    });
    if (last.voorkomens !== occurrencesPerFile) return [];
    const message = `the last file of ${name}, ${last.name}, is full, so one after it may be missing: get the extract again`;
    return [{ code: 'last_file_full' as const, message }];
  });
}

/**
 * An object may be in the members of two municipalities; within one member, a file repeats another.
 */
function objectionsToRepeats(
  { members }: Load,
  joined: readonly Joined[],
  voorkomens: number,
): Objection[] {
  const isOneMember = members.filter(({ kind }) => kind === 'NUM').length === 1;
  const repeated = joined.reduce((sum, bucket) => sum + bucket.repeated, 0);
  if (!isOneMember || repeated <= Math.min(1000, voorkomens / 100)) return [];
  const message = `${grouped(repeated)} nummeraanduidingen occur twice, because one file repeats another: get the extract again`;
  return [{ code: 'repeated_occurrences', message }];
}
