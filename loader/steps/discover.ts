import { createHash } from 'node:crypto';
import { basename } from 'node:path';
import { findMembers } from '../bag/extract-members.ts';
import {
  extractIdentity,
  type Load,
  loadId,
  type Manifest,
  type ManifestEntry,
  type MutationFile,
} from '../dataset/load.ts';
import { loaderEnvironment } from '../names.ts';
import { takeLock } from '../storage/lock.ts';
import {
  asListedNow,
  byDates,
  chainFrom,
  copyDelivery,
  isDeliveryKept,
  type ListedMutations,
  listMutations,
} from '../storage/mutation-deliveries.ts';
import { openSource } from '../storage/open.ts';
import { sourceInTime } from '../storage/remote-reads.ts';
import { type Source, SourceError } from '../storage/source.ts';
import { paths, putJson, type Storage } from '../storage/storage.ts';
import type { StepInput } from './deployment.ts';
import { lambdaStep } from './lambda-step.ts';
import { currentManifest, type Found, finishPending, type LoadContext, loadStatus, sampleTable } from './manifest.ts';
import { readExtract, unlimited } from './stage.ts';
import { resume, rollback } from './stored-loads.ts';

export type DiscoverInput = {
  /** The extract: a URL, `s3://bucket/key` or the path of a file. Without it there are only mutations. */
  source?: string | undefined;
  /** Where mutations are: lists, folders and zips. */
  mutations?: readonly string[] | undefined;
  /** Loads the extract even if it is the live one, or one that was rolled back. */
  again?: boolean;
  /** Changes nothing, and plans as if a load that was interrupted while applying were finished. */
  planOnly?: boolean;
};

/**
 * Checks whether the source has another snapshot than the live one. Reads the directories of the zips and the
 * Leveringsdocument, by range. A load that was interrupted while applying comes first.
 * @throws SourceError, MutationGapError, ExtractError, ForeignStorageError, WorkGoneError
 */
export async function discover(context: LoadContext, input: DiscoverInput): Promise<Found> {
  const { storage, addresses } = context;
  const manifest = await currentManifest(storage, addresses, { refuseUnmarked: true });
  const { pending } = manifest;
  if (pending && !input.planOnly) return finishPending(storage, pending);
  const base = pending ?? manifest.published;

  const { source, mutations = [], again = false } = input;
  const extract = source === undefined ? null : await discoverExtract(context, manifest, base, { ...input, source });
  if (extract && (extract.action !== 'none' || mutations.length === 0)) return extract;
  return discoverMutations(storage, manifest, base, mutations, again && source === undefined);
}

async function discoverExtract(
  { storage, remainingMilliseconds = unlimited }: LoadContext,
  manifest: Manifest,
  base: ManifestEntry | null,
  { source: location, mutations = [], again = false }: DiscoverInput & { source: string },
): Promise<Found> {
  const known = again ? undefined : (base?.source ?? undefined);
  const opened = await openSource(location, known);
  if (!opened) return { action: 'none', reason: `${location} has not changed`, live: base };
  const source = sourceInTime(opened, storage, remainingMilliseconds);
  try {
    const load = await describe(storage, source, manifest, base, mutations);
    if (load.identity === base?.extract?.identity && !again) {
      return { action: 'none', reason: `the snapshot of ${load.extract?.peildatum} is already live`, live: base };
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
 * Describes the load of an extract. One that is older than the live dataset is brought to its date by the mutations
 * that led there.
 */
async function describe(
  storage: Storage,
  source: Source,
  manifest: Manifest,
  base: ManifestEntry | null,
  mutations: readonly string[],
): Promise<Load> {
  const { version } = source;
  const label = basename(version.location);
  const { peildatum, members } = await readExtract(storage, source, (access, spool) =>
    findMembers(access, label, { spool }),
  );
  const identity = extractIdentity(peildatum, members);
  const applied = (await appliedSince(storage, manifest, peildatum)) ?? [];
  const days = await asListedNow(storage, applied, mutations);
  const contents = [identity, ...days.map(({ key }) => key)].join(' ');
  return {
    id: loadId(peildatum, contents, base?.load ?? null),
    kind: 'extract',
    peildatum: days.at(-1)?.tot ?? peildatum,
    base: base && { load: base.load, peildatum: base.peildatum, snapshot: base.snapshot },
    target: null,
    days,
    extract: { peildatum, identity, isNational: members.every(({ name }) => name.startsWith('9999')) },
    source: version,
    members,
    identity,
  };
}

/** Why an extract that is not the live one is skipped. */
function whyNot(load: Load, base: ManifestEntry | null, manifest: Manifest): string | null {
  if (manifest.rejected.includes(load.identity)) {
    return `the snapshot of ${load.peildatum} was rolled back; "load run --again" loads it again`;
  }
  // If the guard refused it, the mutations that follow could not be applied.
  if (base?.extract && base.extract.peildatum !== base.peildatum && load.peildatum < base.peildatum) {
    return (
      `the extract of ${load.peildatum} is older than the live dataset of ${base.peildatum}, and the mutations between the ` +
      'two are not known; the next extract takes its place'
    );
  }
  return null;
}

/** A gap: no delivery of mutations starts at the date of the live dataset, but later ones exist. */
export class MutationGapError extends Error {
  override readonly name = 'MutationGapError';
}

/**
 * Finds the deliveries of mutations (in lists, folders, zips) that lead on from the dataset, copies them to the
 * storage, and describes the load that applies them.
 * @throws SourceError, MutationGapError
 */
async function discoverMutations(
  storage: Storage,
  { history, rejected }: Manifest,
  base: ManifestEntry | null,
  locations: readonly string[],
  again = false,
): Promise<Found> {
  if (!base?.extract) {
    const reason = 'no full extract was loaded yet, and mutations need one';
    return { action: 'none', reason, live: base };
  }
  const listed = (await Promise.all(locations.map(listMutations))).flat().sort(byDates);
  const { next, broken } = chainFrom(listed, base.peildatum);
  const replaced = correctedOf(listed, history);
  if (next.length === 0) {
    if (broken) throw new MutationGapError(`${broken}${replaced}`);
    return { action: 'none', reason: `no mutations follow ${base.peildatum} yet${replaced}`, live: base };
  }
  const days: MutationFile[] = [];
  let stopped: string | undefined;
  for (const delivery of next) {
    try {
      days.push(await copyDelivery(storage, delivery));
    } catch (error) {
      // The days before one that can't be had are applied all the same.
      if (!(error instanceof SourceError) || days.length === 0) throw error;
      stopped = error.message;
      break;
    }
  }
  const identity = createHash('sha256')
    .update(JSON.stringify(days.map(({ key }) => key)))
    .digest('hex')
    .slice(0, 16);
  const peildatum = days.at(-1)?.tot ?? base.peildatum;
  if (rejected.includes(identity) && !again) {
    const reason = `the mutations up to ${peildatum} were rolled back; "load run --again" applies them again`;
    return { action: 'none', reason, live: base };
  }
  const load: Load = {
    id: loadId(peildatum, identity, base.load),
    kind: 'mutations',
    peildatum,
    base: { load: base.load, peildatum: base.peildatum, snapshot: base.snapshot },
    target: null,
    days,
    ...(stopped !== undefined && { stopped }),
    extract: base.extract,
    source: base.source,
    members: [],
    identity,
  };
  await putJson(storage, paths.load(load.id), load);
  return { action: 'mutations', load: load.id, peildatum };
}

/**
 * The deliveries that led from `peildatum` to the live dataset, if all of them are known and still in the storage: they
 * bring an extract of that date to the date of the live dataset, so that the two can be compared.
 */
async function appliedSince(
  storage: Storage,
  { history, published }: Manifest,
  peildatum: string,
): Promise<MutationFile[] | null> {
  const applied = history.flatMap(({ days }) => days);
  const chain: MutationFile[] = [];
  let date = peildatum;
  while (published && date < published.peildatum) {
    const following = applied.find(({ vanaf, tot }) => vanaf === date && tot <= published.peildatum);
    if (!following || !(await isDeliveryKept(storage, following.key))) return null;
    chain.push(following);
    date = following.tot;
  }
  return chain;
}

/** The part of the message about deliveries that were replaced after they were applied. */
function correctedOf(listed: readonly ListedMutations[], history: readonly ManifestEntry[]): string {
  const applied = new Map(history.flatMap(({ days }) => days).map((day) => [day.name, day.size]));
  const names = listed.flatMap(({ name, size }) => {
    const then = applied.get(name);
    return then !== undefined && size !== null && size !== then ? [name] : [];
  });
  if (names.length === 0) return '';
  return `; replaced after it was applied: ${names.join(', ')}. The next full extract corrects the difference`;
}

/**
 * Acquires the lock on the table and returns what to do. Fails with `LockedError` if another owner holds the lock;
 * takes over the lock of an ended execution, or fails with `LockSettlingError` while its Lambdas may still write.
 * `items` are the files that `finish` applies, or the shards that `rollback` merges.
 */
export const handler = /* @__PURE__ */ lambdaStep('discover', async ({ owner, ...wanted }, deployment, invocation) => {
  const remainingMilliseconds = () => invocation.getRemainingTimeInMillis();
  const context = { storage: deployment.storage, addresses: deployment.addresses(), remainingMilliseconds };
  // Even when nothing is new: the alarm on the age tells an operator that a source has stopped publishing.
  const { ageDays } = await loadStatus(context);
  if (ageDays !== null) deployment.reportAge(ageDays);
  deployment.reportVersion();
  const seconds = deployment.number(loaderEnvironment.lockSeconds, 6 * 3600);
  await takeLock(context.addresses.lock, { owner, seconds, isGone: deployment.isGone });
  const sample = await sampleTable(context); // under the lock, so nothing writes meanwhile
  if (sample) deployment.reportSample(sample);
  const found = await find(context, wanted, deployment.source, deployment.mutations);
  if (found.action === 'finish') return { ...found, items: deployment.itemsAt(paths.changeFiles(found.load)) };
  if (found.action === 'rollback') return { ...found, items: deployment.itemsAt(paths.shards(found.load)) };
  return found;
});

function find(
  context: LoadContext,
  wanted: Omit<StepInput<'discover'>, 'owner'>,
  source: string,
  mutations: string[],
): Promise<Found> {
  if (wanted.rollback !== undefined) return rollback(context, wanted.rollback);
  if (wanted.approve !== undefined && wanted.source === undefined) return resume(context, wanted.approve);
  const { again = false, planOnly = false } = wanted;
  // Mutations named in the input are applied alone; the configured ones are applied after the extract.
  const sources = wanted.mutations
    ? { source: wanted.source, mutations: wanted.mutations }
    : { source: wanted.source ?? source, mutations };
  return discover(context, { ...sources, again, planOnly });
}
