import { mapConcurrently } from '../../core/concurrency.ts';
import { isFuture } from '../bag/delivery-document.ts';
import {
  digestOf,
  type ExtractInfo,
  hasObjecten,
  type Load,
  loadId,
  type Manifest,
  type ManifestEntry,
  type MutationFile,
  type ReplayBase,
  rejectedDay,
  rejectedPeriods,
} from '../dataset/load.ts';
import type { LoadProposal } from '../guard/load-report.ts';
import { ExtractError, LoadError } from '../load-error.ts';
import { SourceError } from '../storage/source.ts';
import { concurrentReads, findJson, paths, putJson, type Storage } from '../storage/storage.ts';
import type { Discovery } from '../storage/stored-loads.ts';
import {
  DeliveryCopies,
  type FoundDelivery,
  isDeliveryKept,
  isPastDelivery,
} from './delivery-copies.ts';
import {
  gapAfter,
  type ListedMutations,
  listAllMutations,
  type MutationListing,
  type Period,
  pathFrom,
} from './mutation-lists.ts';

/** An operator rejected this delivery, or a rollback left it. */
class RejectedDeliveryError extends Error {
  override readonly name = 'RejectedDeliveryError';
}

/** Why nothing leads on, and what does. */
type FollowingDays = { days: MutationFile[]; stopped: Error | null };

/** Finds deliveries for one dataset among the listed deliveries, and copies each at most once. */
export class DeliveryFinder {
  readonly #storage: Storage;
  readonly #deliveries: DeliveryCopies;
  readonly #rejected: readonly string[];
  readonly #listed: ListedMutations[];
  readonly #copies = new Map<ListedMutations, Promise<FoundDelivery | Error>>();
  readonly notes: string[];

  constructor(
    storage: Storage,
    { listed, notes }: MutationListing,
    {
      extract,
      rejected,
      objecten,
    }: { extract: ExtractInfo; rejected: readonly string[]; objecten: boolean },
  ) {
    this.#storage = storage;
    this.#deliveries = new DeliveryCopies(storage, extract.gemeenten, { objecten });
    this.#rejected = rejected;
    const fits = listed.filter(
      ({ gemeenten }) => !gemeenten.length || String(gemeenten) === String(extract.gemeenten),
    );
    // If none fits, the error of the first one says so.
    this.#listed = fits.length > 0 ? fits : listed;
    const others = listed.length - this.#listed.length;
    this.notes =
      others > 0
        ? [...notes, `${others} listed deliveries cover another area and were not used`]
        : notes;
  }

  /** Those that may be applied, by their names, up to today. */
  get usable(): ListedMutations[] {
    return this.#listed.filter(({ tot }) => !isFuture(tot));
  }

  /**
   * The deliveries that lead on from a date, copied. An unavailable, damaged or misnamed delivery
   * is replaced by another copy of it, or by another way; `stopped` is the error of the first
   * delivery without a replacement.
   */
  async following(from: string): Promise<FollowingDays> {
    const unusable = new Map<ListedMutations, Error>();
    for (;;) {
      const path = pathFrom(
        this.#listed.filter((delivery) => !unusable.has(delivery)),
        from,
      );
      const days: MutationFile[] = [];
      for (const delivery of path) {
        const copies: FoundDelivery[] = [];
        for (const listed of this.#of(delivery)) {
          const copy = await this.#copyOf(listed);
          if (copy instanceof Error) unusable.set(listed, copy);
          else {
            copies.push(copy);
          }
        }
        const latest = this.#latest(copies);
        if (!latest) break;
        days.push(latest);
      }
      if (days.length === path.length) {
        return this.#withReason(days, days.at(-1)?.tot ?? from, unusable);
      }
    }
  }

  /**
   * The replacement of an applied delivery, or the same delivery if the storage lost its copy; else
   * `null`.
   */
  async correctionOf(day: MutationFile): Promise<MutationFile | null> {
    const copies: FoundDelivery[] = [];
    for (const listed of this.#of(day)) {
      const copy = await this.#copyOf(listed);
      if (copy instanceof RejectedDeliveryError) continue;
      if (copy instanceof Error) {
        this.notes.push(`replaced after it was applied, and not usable: ${copy.message}`);
      } else {
        copies.push(copy);
      }
    }
    const latest = this.#latest(copies, day);
    if (!latest || latest.key === day.key) return null;
    return latest.hash === day.hash && (await isDeliveryKept(this.#storage, day.key))
      ? null
      : latest;
  }

  #of({ vanaf, tot }: Period): ListedMutations[] {
    return this.#listed.filter((delivery) => delivery.vanaf === vanaf && delivery.tot === tot);
  }

  /**
   * The delivery of a period that was made last. Several are a note until all locations have the
   * same.
   */
  #latest(copies: readonly FoundDelivery[], applied?: MutationFile): MutationFile | undefined {
    const isApplied = ({ file }: FoundDelivery) => Number(file.hash === applied?.hash);
    const order = (a: FoundDelivery, b: FoundDelivery) =>
      b.made - a.made || Date.parse(b.since) - Date.parse(a.since) || isApplied(b) - isApplied(a);
    const [latest, ...others] = copies.toSorted(order);
    const other = others.find(({ file }) => file.hash !== latest?.file.hash);
    if (latest && other) {
      const [used, stale] = [latest, other].map(({ version }) => version.location);
      this.notes.push(
        `${latest.file.name} differs from place to place: the later copy at ${used} is used, not the copy at ${stale}`,
      );
    }
    return latest?.file;
  }

  #withReason(
    days: MutationFile[],
    end: string,
    unusable: ReadonlyMap<ListedMutations, Error>,
  ): FollowingDays {
    const here = [...unusable].filter(([{ vanaf }]) => vanaf === end).map(([, error]) => error);
    const stopped = here.find((error) => error instanceof RejectedDeliveryError) ?? here[0] ?? null;
    for (const [, error] of unusable) {
      if (!here.includes(error)) {
        this.notes.push(`another copy or another delivery was used instead: ${error.message}`);
      }
    }
    return { days, stopped };
  }

  /** The copy of a delivery, or why it can't be applied. @throws any error of the storage */
  #copyOf(listed: ListedMutations): Promise<FoundDelivery | Error> {
    const known = this.#copies.get(listed);
    if (known) return known;
    const copy = this.#copy(listed).catch((error: unknown) => {
      if (
        error instanceof SourceError ||
        error instanceof ExtractError ||
        error instanceof RejectedDeliveryError
      ) {
        return error;
      }
      throw error;
    });
    this.#copies.set(listed, copy);
    return copy;
  }

  async #copy(listed: ListedMutations): Promise<FoundDelivery> {
    // A delivery that includes a rejected day would bring that day back; so would the days of a
    // rejected month.
    const over = rejectedPeriods(this.#rejected).find(
      ({ vanaf, tot }) =>
        vanaf < listed.tot && listed.vanaf < tot && !(vanaf === listed.vanaf && tot === listed.tot),
    );
    if (over) {
      throw new RejectedDeliveryError(
        `${listed.name} covers ${over.vanaf} to ${over.tot}, which was rejected or was rolled back`,
      );
    }
    const copy = await this.#deliveries.copy(listed);
    if (!this.#rejected.includes(rejectedDay(copy.file))) return copy;
    throw new RejectedDeliveryError(`${listed.name} was rejected or was rolled back`);
  }
}

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
 * Finds the deliveries that lead on from the dataset, and describes the load that applies them.
 * After a correction all are applied again, to the last snapshot of an extract. @throws
 * SourceError, ExtractError, MutationGapError
 */
export async function discoverMutations(
  storage: Storage,
  request: MutationRequest,
): Promise<Discovery> {
  const { manifest, live, locations, again } = request;
  const none = (reason: string, notes: readonly string[]): Discovery => {
    return { action: 'none', reason: [reason, ...notes].join('; '), live };
  };
  if (!live?.extract) {
    return none('no full extract was loaded yet, and mutations need one', request.notes);
  }
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

/** The days to apply again, with a corrected one; `null` if live is what its days lead to. */
async function replayOf(
  storage: Storage,
  finder: DeliveryFinder,
  { replayBase, since = [] }: ManifestEntry,
): Promise<{ start: ReplayBase; days: MutationFile[] } | null> {
  const days = await withCorrections(finder, since);
  const corrected = days
    .filter((day, index) => day.hash !== since[index]?.hash)
    .map(({ name }) => name);
  if (corrected.length === 0) return null;
  if (replayBase && (await canReplay(storage, replayBase, days))) {
    return { start: replayBase, days };
  }
  finder.notes.push(
    `replaced after it was applied: ${corrected.join(', ')}. The next full extract corrects the difference`,
  );
  return null;
}

/**
 * The deliveries that were applied, with corrected ones and new copies of lost ones in their place.
 */
export function withCorrections(
  finder: DeliveryFinder,
  applied: readonly MutationFile[],
): Promise<MutationFile[]> {
  const last = applied.at(-1)?.tot ?? '';
  return mapConcurrently(applied, concurrentReads, async (day) =>
    isPastDelivery(day, last) ? day : ((await finder.correctionOf(day)) ?? day),
  );
}

/** How many of the first of some deliveries the storage has, undamaged. */
export async function keptDays(
  storage: Storage,
  days: readonly MutationFile[],
): Promise<MutationFile[]> {
  const kept = await mapConcurrently(days, concurrentReads, ({ key }) =>
    isDeliveryKept(storage, key),
  );
  return days.slice(0, [...kept, false].indexOf(false));
}

async function canReplay(
  storage: Storage,
  { snapshot }: ReplayBase,
  days: readonly MutationFile[],
): Promise<boolean> {
  if ((await storage.open(paths.snapshotReference(snapshot.id))) === null) return false;
  return (await keptDays(storage, days)).length === days.length;
}

type Days = Pick<Load, 'days' | 'stopped' | 'notes' | 'start'> & { leastDays: number };

/**
 * Describes the load of all days, or of fewer after a refusal: a day that changes too much is
 * refused by itself.
 */
async function describeLoad(storage: Storage, live: ManifestEntry, all: Days): Promise<Discovery> {
  const { leastDays, days } = all;
  const found = (load: Load): Discovery => ({
    action: 'mutations',
    load: load.id,
    peildatum: load.peildatum,
  });
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

function loadOf(
  live: ManifestEntry,
  { days: all, stopped, notes = [], start, leastDays }: Days,
  count: number,
): Load {
  const days = all.slice(0, count);
  const identity = digestOf([...(start ? [start.snapshot.id] : []), ...days.map(rejectedDay)]);
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
