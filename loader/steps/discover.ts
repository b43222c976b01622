import { basename } from 'node:path';
import { contentsOfMembers, findMembers, isOfArea } from '../bag/extract-members.ts';
import { relatieFile } from '../bag/gemeente-relaties.ts';
import {
  extractIdentity,
  hasObjecten,
  type Load,
  loadId,
  type Manifest,
  type ManifestEntry,
  type MutationFile,
  rejectedDay,
} from '../dataset/load.ts';
import { setAsideOf } from '../guard/load-counts.ts';
import { interruptedLoad } from '../guard/load-report.ts';
import {
  DeliveryFinder,
  discoverMutations,
  keptDays,
  withCorrections,
} from '../mutations/following-days.ts';
import { listAllMutations, type MutationListing } from '../mutations/mutation-lists.ts';
import { loaderEnvironment } from '../names.ts';
import { takeLock } from '../storage/lock.ts';
import { readExtract, unlimited } from '../storage/members.ts';
import { openSource } from '../storage/open.ts';
import { inTime, type Source, SourceError, SourceTooSlowError } from '../storage/source.ts';
import { paths, putJson, type Storage } from '../storage/storage.ts';
import {
  currentManifest,
  type Discovery,
  finishPending,
  type LoadContext,
  loadStatus,
  readManifest,
  rejectRefused,
  removeExpiredSnapshots,
  resume,
  rollback,
  sampleTable,
} from '../storage/stored-loads.ts';
import { lambda } from './lambda-step.ts';
import type { LoadRequest, Step } from './step.ts';

/**
 * Checks by range whether the source has another snapshot than the live one. A load that was
 * interrupted while applying comes first. @throws SourceError, MutationGapError, ExtractError,
 * ForeignStorageError, WorkGoneError
 */
async function discover(context: LoadContext, request: LoadRequest): Promise<Discovery> {
  const { storage, addresses } = context;
  const manifest = await currentManifest(storage, addresses, { refuseUnmarked: true });
  const { pending } = manifest;
  if (pending && !request.planOnly) return finishPending(storage, pending);
  // Not if nothing is live: then the table was lost, and the manifest does not count.
  if (manifest.published) await removeExpiredSnapshots(storage, manifest);
  const found = await discoverNew(context, manifest, request);
  // A plan is made as if it were finished, which it is not.
  const interrupted = pending && {
    live: manifest.published,
    interrupted: interruptedLoad(pending),
  };
  return found.action === 'none' && interrupted ? { ...found, ...interrupted } : found;
}

async function discoverNew(
  context: LoadContext,
  manifest: Manifest,
  request: LoadRequest,
): Promise<Discovery> {
  const { storage, objecten = false } = context;
  const base = manifest.pending ?? manifest.published;
  const { source, mutations = [], again = false } = request;
  const extract =
    source === undefined
      ? null
      : await discoverExtract(context, manifest, base, { ...request, source });
  if (extract && (extract.action !== 'none' || mutations.length === 0)) return extract;
  const isSkipped = extract?.action === 'none' && extract.isSkipped === true;
  const notes = isSkipped ? [`the extract was skipped: ${extract.reason}`] : [];
  const wanted = {
    manifest,
    live: base,
    locations: mutations,
    again: again && source === undefined,
    notes,
    objecten,
  };
  const found = await discoverMutations(storage, wanted);
  return found.action === 'none' && isSkipped ? { ...found, isSkipped } : found;
}

async function discoverExtract(
  { storage, objecten = false, remainingMilliseconds = unlimited }: LoadContext,
  manifest: Manifest,
  base: ManifestEntry | null,
  { source: location, mutations = [], again = false }: LoadRequest & { source: string },
): Promise<Discovery> {
  // A dataset whose objects are turned on or off is replaced by any extract, even by its own.
  const isSwitched = base !== null && hasObjecten(base.snapshot) !== objecten;
  const known = again || isSwitched ? undefined : (base?.source ?? undefined);
  const source = await openSource(location, known);
  if (!source) return { action: 'none', reason: `${location} has not changed`, live: base };
  try {
    const described = describe(storage, source, manifest, base, { mutations, again, objecten });
    const load = await inTime(
      described,
      remainingMilliseconds(),
      () => new SourceTooSlowError(source.version),
    );
    if (load.identity === base?.extract?.identity && !again && !isSwitched) {
      return {
        action: 'none',
        reason: `the snapshot of ${load.extract?.peildatum} is already live`,
        live: base,
      };
    }
    const reason = again ? null : whyNot(load, base, manifest);
    if (reason) return { action: 'none', reason, live: base, isSkipped: true };
    await putJson(storage, paths.load(load.id), load);
    return { action: 'load', load: load.id, peildatum: load.peildatum };
  } finally {
    await source.close();
  }
}

/**
 * Describes the load of an extract; an extract older than the live dataset gets the mutations since
 * its date.
 */
async function describe(
  storage: Storage,
  source: Source,
  manifest: Manifest,
  base: ManifestEntry | null,
  {
    mutations,
    again,
    objecten,
  }: { mutations: readonly string[]; again: boolean; objecten: boolean },
): Promise<Load> {
  const { version } = source;
  const label = basename(version.location);
  const { peildatum, members, gemeenten, contents } = await readExtract(
    storage,
    source,
    async (access, spool) => {
      const found = await findMembers(access, label, { spool, objecten });
      return { ...found, contents: await contentsOfMembers(access, found.members, label, spool) };
    },
  );
  const identity = extractIdentity(peildatum, contents);
  const extract = { peildatum, identity, isNational: gemeenten.length === 0, gemeenten };
  const applied = appliedSince(manifest, peildatum);
  // Some deliveries are corrected afterwards, and with the corrections the extract leads to the
  // right data.
  const listing = await listed(applied.length > 0 ? mutations : []);
  const finder = new DeliveryFinder(storage, listing, {
    extract,
    rejected: again ? [] : manifest.rejected,
    objecten,
  });
  const known = await withCorrections(finder, applied);
  const kept = await keptDays(storage, known);
  const days = kept.length === known.length ? kept : [];
  const parts = [identity, ...days.map(rejectedDay), ...(objecten ? ['objecten'] : [])];
  const notes = [
    ...finder.notes,
    ...(members.every(isOfArea)
      ? [`${label} has no ${relatieFile}, so no address has a gemeente`]
      : []),
  ];
  return {
    id: loadId(peildatum, parts.join(' '), base?.load ?? null),
    kind: 'extract',
    ...(objecten && { objecten }),
    peildatum: days.at(-1)?.tot ?? peildatum,
    base: base && { load: base.load, peildatum: base.peildatum, snapshot: base.snapshot },
    target: null,
    days,
    ...(notes.length > 0 && { notes }),
    extract,
    source: version,
    members,
    identity,
  };
}

/** The deliveries that are listed now; if no list can be read, the kept deliveries. */
async function listed(locations: readonly string[]): Promise<MutationListing> {
  try {
    return await listAllMutations(locations);
  } catch (error) {
    if (error instanceof SourceError) return { listed: [], notes: [error.message] };
    throw error;
  }
}

/** Why an extract is skipped; `null` for one to load. */
function whyNot(load: Load, base: ManifestEntry | null, manifest: Manifest): string | null {
  if (manifest.rejected.includes(load.identity)) {
    return `the snapshot of ${load.peildatum} was rejected or was rolled back; "load run --again" loads it again`;
  }
  // If the guard refused it, the mutations that follow could not be applied.
  const hasDays = base?.extract && base.extract.peildatum !== base.peildatum;
  if (hasDays && load.peildatum < base.peildatum) {
    return (
      `the extract of ${load.peildatum} is older than the live dataset of ${base.peildatum}, and the mutations between the ` +
      'two are not known; the next extract takes its place'
    );
  }
  return null;
}

/**
 * The deliveries that lead an extract of `peildatum` to the date of the live dataset, to compare
 * the two.
 */
function appliedSince({ history, published }: Manifest, peildatum: string): MutationFile[] {
  // The days of the live dataset first: others of the same date were rolled back, or corrected
  // since.
  const applied = [...(published?.since ?? []), ...history.flatMap(({ days }) => days)];
  const chain: MutationFile[] = [];
  let date = peildatum;
  while (published && date < published.peildatum) {
    const following = applied.find(
      ({ vanaf, tot }) => vanaf === date && tot <= published.peildatum,
    );
    if (!following) return [];
    chain.push(following);
    date = following.tot;
  }
  return chain;
}

/**
 * Finds the load that a request asks for. If the request names any place, only its places count.
 */
export const step: Step<Discovery> = {
  async run(context, request) {
    const { reject, rollback: target, approve, source, mutations } = request;
    if (reject !== undefined) return rejectRefused(context, reject);
    if (target !== undefined) return rollback(context, target);
    if (approve === undefined || source !== undefined) return discover(context, request);
    const { published } = await readManifest(context.storage);
    // Once it is live, the same execution goes on to the days that follow it.
    return published?.load === approve
      ? discover(context, { mutations })
      : resume(context, approve);
  },
};

/**
 * Acquires the lock on the table and returns what to do. Fails with `LockedError` if another owner
 * holds the lock; takes over the lock of an ended execution, or fails with `LockSettlingError`
 * while its Lambdas may still write.
 */
export const handler = /* @__PURE__ */ lambda(
  'discover',
  'load',
  async (input, deployment, invocation) => {
    const context = deployment.context(input.owner, invocation);
    // Even when nothing is new: the alarm on the age tells an operator that a source has stopped
    // publishing.
    const { ageDays, published } = await loadStatus(context);
    if (ageDays !== null) deployment.reportAge(ageDays);
    if (published) deployment.report('setAside', setAsideOf(published.setAside ?? []).addresses);
    deployment.reportVersion();
    const seconds = deployment.number(loaderEnvironment.lockSeconds, 6 * 3600);
    await takeLock(context.addresses.lock, {
      owner: input.owner,
      seconds,
      isGone: deployment.isGone,
    });
    const sample = await sampleTable(context); // under the lock, so nothing writes meanwhile
    if (sample) deployment.reportSample(sample);
    // Mutations named in the input are applied alone; the configured ones are applied after the
    // extract.
    if (input.mutations) return step.run(context, input);
    const source = input.source ?? (input.approve === undefined ? deployment.source : undefined);
    return step.run(context, { ...input, source, mutations: deployment.mutations });
  },
);
