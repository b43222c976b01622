import { createHash } from 'node:crypto';
import { mapConcurrently } from '../../core/concurrency.ts';
import { isFuture } from '../bag/delivery-document.ts';
import { gapAfter } from '../dataset/delivery-path.ts';
import {
  hasObjecten,
  type Load,
  loadId,
  type ManifestEntry,
  type MutationFile,
  type ReplayBase,
} from '../dataset/load.ts';
import { type Manifest, rejectedDay } from '../dataset/manifest.ts';
import { LoadError } from '../load-error.ts';
import type { LoadProposal } from '../verdict/load-report.ts';
import { DeliveryFinder, RejectedDeliveryError } from './delivery-finder.ts';
import { isDeliveryKept, isPastDelivery } from './mutation-deliveries.ts';
import { listAllMutations } from './mutation-lists.ts';
import { concurrentReads, findJson, paths, putJson, type Storage } from './storage.ts';
import type { Discovery } from './stored-manifest.ts';

/** Days change objects, but can't add objects that the register had before. */
const withoutObjecten =
  "the live dataset has no objects of addresses (dataset.objecten) yet: mutations alone can't bring them, and the next full extract does";

type MutationRequest = {
  manifest: Manifest;
  /** The live dataset, or its state after the pending load is finished. */
  live: ManifestEntry | null;
  /** Lists, folders and zips. */
  locations: readonly string[];
  /** Applies rejected deliveries as well. */
  again: boolean;
  /** Whether the dataset is to have adresseerbare objecten. */
  objecten: boolean;
  notes: readonly string[];
};

/**
 * Finds the deliveries that lead on from the dataset, and describes the load that applies them. After a correction all
 * are applied again, to the last snapshot of an extract. @throws SourceError, ExtractError, MutationGapError
 */
export async function discoverMutations(storage: Storage, request: MutationRequest): Promise<Discovery> {
  const { manifest, live, locations, again } = request;
  const none = (reason: string, notes: readonly string[]): Discovery => {
    return { action: 'none', reason: [reason, ...notes].join('; '), live };
  };
  if (!live?.extract) return none('no full extract was loaded yet, and mutations need one', request.notes);
  const rejected = again ? [] : manifest.rejected;
  const listing = await listAllMutations(locations);
  const finder = new DeliveryFinder(storage, listing, {
    extract: live.extract,
    rejected,
    objecten: hasObjecten(live.snapshot),
  });
  finder.notes.unshift(...request.notes);
  if (request.objecten && !hasObjecten(live.snapshot)) finder.notes.push(withoutObjecten);
  const replay = await replayOf(storage, finder, live);
  const from = replay ? (replay.days.at(-1)?.tot ?? replay.start.peildatum) : live.peildatum;
  const { days, stopped } = await finder.following(from);
  if (replay || days.length > 0) {
    if (stopped instanceof RejectedDeliveryError) finder.notes.push(stopped.message);
    return describeLoad(storage, live, {
      start: replay?.start,
      days: [...(replay?.days ?? []), ...days],
      leastDays: replay ? replay.days.length : 1,
      ...(stopped && !(stopped instanceof RejectedDeliveryError) && { stopped: stopped.message }),
      notes: finder.notes,
    });
  }
  if (stopped instanceof RejectedDeliveryError) {
    return none(`${stopped.message}; "load run --again" applies it again`, finder.notes);
  }
  if (stopped) throw stopped;
  const gap = gapAfter(finder.usable, from);
  if (gap) throw new LoadError('MutationGapError', [gap, ...finder.notes].join('; '));
  return none(`no mutations follow ${from} yet`, finder.notes);
}

/** The days to apply again, with a corrected one or without future ones; `null` where live is what its days lead to. */
async function replayOf(
  storage: Storage,
  finder: DeliveryFinder,
  { replayBase, since = [] }: ManifestEntry,
): Promise<{ start: ReplayBase; days: MutationFile[] } | null> {
  const ahead = since.findIndex(({ tot }) => isFuture(tot));
  const applied = ahead < 0 ? since : since.slice(0, ahead);
  const days = await withCorrections(finder, applied);
  const corrected = days.filter((day, index) => day.hash !== applied[index]?.hash).map(({ name }) => name);
  if (ahead < 0 && corrected.length === 0) return null;
  if (replayBase && (await canReplay(storage, replayBase, days))) return { start: replayBase, days };
  finder.notes.push(
    corrected.length > 0
      ? `replaced after it was applied: ${corrected.join(', ')}. The next full extract corrects the difference`
      : "the live dataset is of a date in the future, and can't be made from its extract again: roll it back, or load an extract",
  );
  return null;
}

/** The deliveries that were applied, with corrected ones and new copies of lost ones in their place. */
export function withCorrections(finder: DeliveryFinder, applied: readonly MutationFile[]): Promise<MutationFile[]> {
  const last = applied.at(-1)?.tot ?? '';
  return mapConcurrently(applied, concurrentReads, async (day) =>
    isPastDelivery(day, last) ? day : ((await finder.correctionOf(day)) ?? day),
  );
}

/** How many of the first of some deliveries the storage has, undamaged. */
export async function keptDays(storage: Storage, days: readonly MutationFile[]): Promise<MutationFile[]> {
  const kept = await mapConcurrently(days, concurrentReads, ({ key }) => isDeliveryKept(storage, key));
  return days.slice(0, [...kept, false].indexOf(false));
}

async function canReplay(storage: Storage, { snapshot }: ReplayBase, days: readonly MutationFile[]): Promise<boolean> {
  if ((await storage.open(paths.snapshotReference(snapshot.id))) === null) return false;
  return (await keptDays(storage, days)).length === days.length;
}

type Days = Pick<Load, 'days' | 'stopped' | 'notes' | 'start'> & { leastDays: number };

/** Describes the load of all days, or of fewer after a refusal: a day that changes too much is refused by itself. */
async function describeLoad(storage: Storage, live: ManifestEntry, all: Days): Promise<Discovery> {
  const { leastDays, days } = all;
  const found = (load: Load): Discovery => ({ action: 'mutations', load: load.id, peildatum: load.peildatum });
  const planOf = ({ id }: Load) => findJson<LoadProposal>(storage, paths.proposal(id));
  const first = loadOf(live, all, leastDays);
  const refused = await planOf(first);
  let load = refused && !refused.go && !refused.divided ? first : loadOf(live, all, days.length);
  while ((await planOf(load))?.divided) {
    load = loadOf(live, all, leastDays + Math.floor((load.days.length - leastDays) / 2));
  }
  await putJson(storage, paths.load(load.id), load);
  return found(load);
}

function loadOf(live: ManifestEntry, { days: all, stopped, notes = [], start, leastDays }: Days, count: number): Load {
  const days = all.slice(0, count);
  const contents = JSON.stringify([...(start ? [start.snapshot.id] : []), ...days.map(rejectedDay)]);
  const identity = createHash('sha256').update(contents).digest('hex').slice(0, 16);
  const peildatum = days.at(-1)?.tot ?? start?.peildatum ?? live.peildatum;
  return {
    id: loadId(peildatum, identity, live.load),
    kind: 'mutations',
    ...(hasObjecten((start ?? live).snapshot) && { objecten: true }),
    peildatum,
    base: { load: live.load, peildatum: live.peildatum, snapshot: live.snapshot },
    ...(start && { start }),
    leastDays,
    target: null,
    days,
    ...(count < all.length ? { more: true } : stopped !== undefined && { stopped }),
    ...(notes.length > 0 && { notes }),
    extract: live.extract,
    source: live.source,
    members: [],
    identity,
  };
}
