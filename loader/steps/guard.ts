import { mapConcurrently } from '../../core/concurrency.ts';
import type { ChangeCounts } from '../addresses/lines.ts';
import { addSizes, isGemeente } from '../addresses/place-sizes.ts';
import { areaText } from '../bag/delivery-document.ts';
import { mergeReports, problemCounts, reportOfCounts } from '../bag/problem-report.ts';
import {
  begin,
  contentsOf,
  hasObjecten,
  isSameArea,
  type Load,
  lastExtract,
  type Manifest,
  type ManifestEntry,
  reject,
  resultOf,
  type Snapshot,
  type SourceVersion,
} from '../dataset/load.ts';
import { LoadError } from '../load-error.ts';
import { anyStage } from '../names.ts';
import { unpackReference } from '../register/reference-file.ts';
import type { SetAsideObject } from '../register/set-aside.ts';
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
import { currentManifest, putManifest } from '../storage/stored-loads.ts';
import {
  type Extracted,
  extractedSlices,
  type Joined,
  joinedBuckets,
  type Merged,
  type Mutated,
  type SegmentItem,
} from '../storage/work.ts';
import {
  grouped,
  type LoadCounts,
  mergeSegments,
  problemCount,
  setAsideOf,
} from '../verdict/load-counts.ts';
import {
  interruptedLoad,
  type LoadProposal,
  proposalName,
  refusalText,
  reportOf,
} from '../verdict/load-report.ts';
import {
  byWeight,
  type Earlier,
  isAboutSize,
  isFinal,
  judge,
  type Objection,
  objectionsToItems,
  objectionsToSetAside,
  type RenamedPlace,
  thresholdsOfDays,
} from '../verdict/objections.ts';
import { mergeTallies, mostChanged } from '../verdict/place-changes.ts';
import { lambdaStep } from './lambda-step.ts';
import type { Guarded, Step, StepContext, StepInput } from './step.ts';

/**
 * A load that may continue becomes `pending`, and must be finished then. @throws StaleLoadError,
 * LockedError
 */
async function guard(
  context: StepContext,
  { load: loadId, approve, planOnly = false }: StepInput,
): Promise<LoadProposal> {
  const { storage, addresses, thresholds } = context;
  const { waiveSize, disposable, beforeApply } = context.options;
  const fence = await context.fence();
  /** By an operator, despite every objection but the final ones. */
  const approved = approve === loadId;
  const load = await getJson<Load>(storage, paths.load(loadId));
  const manifest = await currentManifest(storage, addresses);
  const { pending, published } = manifest;
  const isUndone = load.kind === 'rollback' && pending !== null && pending.load === load.base?.load;
  const base = planOnly || isUndone ? (pending ?? published) : published;
  if ((base?.load ?? null) !== (load.base?.load ?? null)) {
    throw new LoadError(
      'StaleLoadError',
      `Another load was published since ${loadId} began. Run the load again.`,
    );
  }
  const target = manifest.history.find(({ load: id }) => id === load.target?.load);
  const { counts, files, snapshot, mutated, incomplete, large, tallies, places, after, csv } =
    await addUp(storage, load, target);
  const setAside = mutated?.unsettled ?? target?.setAside ?? [];
  const wasJudged = load.kind === 'rollback';
  const isDisposable = (source: SourceVersion | null | undefined) =>
    source != null && source.location === disposable;
  const replacesDisposable = isDisposable(base?.source);
  const allowOlder = wasJudged || isDisposable(load.source) || replacesDisposable;
  const ofDay = load.kind === 'mutations' ? thresholdsOfDays(thresholds, load.days) : thresholds;
  // The sums published since an extract or an approval; unknown if their file is damaged.
  const earlier =
    base && !wasJudged
      ? await findUsableJson<Earlier>(storage, paths.snapshotSums(base.snapshot.id))
      : null;
  const isFirstOfObjects = load.objecten === true && !(base && hasObjecten(base.snapshot));
  const judged = {
    peildatum: load.peildatum,
    allowOlder,
    wasJudged,
    tallies,
    earlier,
    after,
    isFirstOfObjects,
  };
  const { objections, renamed } = judge(
    counts,
    judged,
    base && { ...base, places },
    thresholds,
    ofDay,
  );
  const found = [
    ...objectionsToItems(large),
    ...objections,
    ...objectionsToSetAside(
      mutated?.setAside ?? [],
      setAsideOf(setAside),
      thresholds.alwaysAllowedInPlace,
    ),
    ...incomplete,
    ...objectionsToArea(load, isDisposable(load.source) || replacesDisposable ? null : base),
  ];
  // An operator asked for the rollback, so the guard's objections are shown but stop nothing.
  const waived = wasJudged
    ? found.filter((objection) => !isFinal(objection))
    : waiveSize && !isSameExtract(load, manifest, isDisposable)
      ? found.filter(isAboutSize)
      : [];
  const against = byWeight(found.filter((objection) => !waived.includes(objection)));
  const go = !against.some(isFinal) && (against.length === 0 || approved);
  const proposal: LoadProposal = {
    load: loadId,
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
      streets: mostChanged(tallies.streets, 10),
      woonplaatsen: mostChanged(tallies.woonplaatsen, 10),
    },
    csv,
    objections: against,
    // Nobody minds how little stays of a disposable dataset.
    waived: replacesDisposable ? [] : waived,
    approved,
    go,
    ...(manifest.pending && { interrupted: interruptedLoad(manifest.pending) }),
    ...(load.more && { more: true }),
    ...(!go && load.days.length > (load.leastDays ?? load.days.length) && { divided: true }),
  };
  await putJson(storage, paths.changeFiles(loadId), files);
  await putJson(storage, paths.proposal(loadId), proposal);
  // Nothing else refers to the snapshot of days that are judged by themselves instead.
  if (proposal.divided) await storage.delete(await storage.list(paths.snapshotOf(loadId)));
  if (!proposal.go || planOnly) return proposal;
  await beforeApply?.({
    lines: counts.addresses + counts.lists,
    writes: files.reduce((total, { writes }) => total + writes, 0),
  });
  if (load.kind === 'mutations' && against.length === 0) {
    const sums: Earlier = {
      since: earlier?.since ?? load.base?.peildatum ?? '',
      ...mergeTallies([...(earlier ? [earlier] : []), { ...tallies, streets: {} }]),
    };
    await putJson(storage, paths.snapshotSums(loadId), sums);
  }
  await fence.confirm(0);
  const begun = begin(manifest, entryOf(load, proposal, { snapshot, setAside }, manifest));
  await putManifest(storage, isUndone ? reject(begun, contentsOf(pending)) : begun, manifest);
  return proposal;
}

const renamedText = ({ from, to, addresses }: RenamedPlace) =>
  `${isGemeente(from) ? `${from} becomes part of ${to}` : `the register renames ${from} to ${to}`}, which is one change: ${grouped(addresses)} addresses`;

/**
 * Whether an extract is of the same location and area as the last one; a disposable one never is.
 */
function isSameExtract(
  { kind, source, extract }: Load,
  manifest: Manifest,
  isDisposable: (source: SourceVersion | null) => boolean,
): boolean {
  const last = lastExtract(manifest);
  if (kind !== 'extract' || !last || isDisposable(source)) return false;
  return (
    isSameLocation(source?.location ?? '', last.source?.location ?? '') &&
    isSameArea(extract, last.extract)
  );
}

/**
 * How an extract differs from the result of mutations of the same date, in objects too if both have
 * them.
 */
function auditOf(
  { kind, peildatum, extract }: Load,
  { changes, objecten }: LoadCounts,
  base: ManifestEntry | null,
): ChangeCounts | null {
  if (kind !== 'extract' || !base?.extract || !isSameArea(base.extract, extract)) return null;
  if (base.extract.peildatum === base.peildatum || base.peildatum !== peildatum) return null;
  if (!objecten || !hasObjecten(base.snapshot)) return changes;
  return { ...changes, changed: changes.changed + objecten.changed };
}

/** An extract of another area is another dataset, however few addresses differ. */
function objectionsToArea({ kind, extract }: Load, base: ManifestEntry | null): Objection[] {
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
  load: Load,
  { counts, audit, notes, objections }: LoadProposal,
  { snapshot, setAside }: { snapshot: Snapshot; setAside: SetAsideObject[] },
  manifest: Manifest,
): ManifestEntry {
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

/** @param target the target of a rollback, which was counted when it was made */
async function addUp(storage: Storage, load: Load, target: ManifestEntry | undefined) {
  const items = await getJson<SegmentItem[]>(storage, paths.segments(load.id));
  const merged = await mapConcurrently(items, concurrentReads, ({ segment }) =>
    getJson<Merged>(storage, paths.merged(load.id, segment)),
  );
  const made = load.target
    ? restored(load.target.snapshot, target)
    : await derived(storage, load, merged);
  const nummeraanduidingen = merged.reduce(
    (sum, one) => sum + one.nummeraanduidingen,
    made.counts.nummeraanduidingen,
  );
  const counts: LoadCounts = { ...made.counts, nummeraanduidingen, ...mergeSegments(merged) };
  if (counts.objecten) counts.objecten.live += target?.objecten ?? 0;
  const segments = merged.filter(({ addresses }) => addresses > 0).map(({ segment }) => segment);
  return {
    ...made,
    counts,
    snapshot: { ...made.snapshot, segments },
    files: merged.flatMap(({ files }) => files),
    large: merged.flatMap(({ tooLarge }) => tooLarge),
    tallies: mergeTallies(merged.flatMap(({ byPlace = [] }) => byPlace)),
    places: addSizes(merged.flatMap(({ places = {} }) => Object.entries(places))),
    after: addSizes(merged.flatMap(({ placesAfter }) => Object.entries(placesAfter))),
    csv: merged.flatMap(({ csv = [] }) => csv).sort((a, b) => (a.name < b.name ? -1 : 1)),
  };
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
  return {
    counts: { voorkomens, nummeraanduidingen, problems },
    snapshot,
    mutated: null,
    incomplete: [],
  };
}

async function derived(storage: Storage, load: Load, merged: readonly Merged[]): Promise<Made> {
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
    ...[...extracted, ...nums, ...objecten, ...merged].map((one) => one.problems),
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
    const last = files.reduce((one, other) => (other.name > one.name ? other : one), {
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
  const repeated = joined.reduce((sum, one) => sum + one.repeated, 0);
  if (!isOneMember || repeated <= Math.min(1000, voorkomens / 100)) return [];
  const message = `${grouped(repeated)} nummeraanduidingen occur twice, because one file repeats another: get the extract again`;
  return [{ code: 'repeated_occurrences', message }];
}
