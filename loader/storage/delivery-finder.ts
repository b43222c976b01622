import { isFuture } from '../bag/delivery-document.ts';
import { type Period, pathFrom } from '../dataset/delivery-path.ts';
import type { ExtractInfo, MutationFile } from '../dataset/load.ts';
import { rejectedDay, rejectedPeriods } from '../dataset/manifest.ts';
import { ExtractError } from '../extract-error.ts';
import { DeliveryCopies, type FoundDelivery, isDeliveryKept } from './mutation-deliveries.ts';
import type { ListedMutations, MutationListing } from './mutation-lists.ts';
import { SourceError } from './source.ts';
import type { Storage } from './storage.ts';

/** An operator rejected this delivery, or a rollback left it. */
export class RejectedDeliveryError extends Error {
  override readonly name = 'RejectedDeliveryError';
}

/** Why nothing leads on, and what does. */
export type FollowingDays = { days: MutationFile[]; stopped: Error | null };

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
    { extract, rejected, objecten }: { extract: ExtractInfo; rejected: readonly string[]; objecten: boolean },
  ) {
    this.#storage = storage;
    this.#deliveries = new DeliveryCopies(storage, extract.gemeenten, { objecten });
    this.#rejected = rejected;
    const fits = listed.filter(({ gemeente }) => gemeente === null || gemeente === extract.gemeenten.join());
    // If none fits, the error of the first one says so.
    this.#listed = fits.length > 0 ? fits : listed;
    const others = listed.length - this.#listed.length;
    this.notes = others > 0 ? [...notes, `${others} listed deliveries cover another area and were not used`] : notes;
  }

  /** Those that may be applied, by their names, up to today. */
  get usable(): ListedMutations[] {
    return this.#listed.filter(({ tot }) => !isFuture(tot));
  }

  /**
   * The deliveries that lead on from a date, copied. An unavailable, damaged or misnamed delivery is replaced by
   * another copy of it, or by another way; `stopped` is the error of the first delivery without a replacement.
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
          else copies.push(copy);
        }
        const latest = this.#latest(copies);
        if (!latest) break;
        days.push(latest);
      }
      if (days.length === path.length) return this.#withReason(days, days.at(-1)?.tot ?? from, unusable);
    }
  }

  /** The replacement of an applied delivery, or the same delivery if the storage lost its copy; else `null`. */
  async correctionOf(day: MutationFile): Promise<MutationFile | null> {
    const copies: FoundDelivery[] = [];
    for (const listed of this.#of(day)) {
      const copy = await this.#copyOf(listed);
      if (copy instanceof RejectedDeliveryError) continue;
      if (copy instanceof Error) this.notes.push(`replaced after it was applied, and not usable: ${copy.message}`);
      else copies.push(copy);
    }
    const latest = this.#latest(copies, day);
    if (!latest || latest.key === day.key) return null;
    return latest.hash === day.hash && (await isDeliveryKept(this.#storage, day.key)) ? null : latest;
  }

  #of({ vanaf, tot }: Period): ListedMutations[] {
    return this.#listed.filter((one) => one.vanaf === vanaf && one.tot === tot);
  }

  /** The delivery of a period that was made last. Several are a note until all locations have the same. */
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

  #withReason(days: MutationFile[], end: string, unusable: ReadonlyMap<ListedMutations, Error>): FollowingDays {
    const here = [...unusable].filter(([{ vanaf }]) => vanaf === end).map(([, error]) => error);
    const stopped = here.find((error) => error instanceof RejectedDeliveryError) ?? here[0] ?? null;
    for (const [, error] of unusable) {
      if (!here.includes(error)) this.notes.push(`another copy or another delivery was used instead: ${error.message}`);
    }
    return { days, stopped };
  }

  /** The copy of a delivery, or why it can't be applied. @throws any error of the storage */
  #copyOf(listed: ListedMutations): Promise<FoundDelivery | Error> {
    const known = this.#copies.get(listed);
    if (known) return known;
    const copy = this.#copy(listed).catch((error: unknown) => {
      if (error instanceof SourceError || error instanceof ExtractError || error instanceof RejectedDeliveryError)
        return error;
      throw error;
    });
    this.#copies.set(listed, copy);
    return copy;
  }

  async #copy(listed: ListedMutations): Promise<FoundDelivery> {
    // A delivery that includes a rejected day would bring that day back; so would the days of a rejected month.
    const over = rejectedPeriods(this.#rejected).find(
      ({ vanaf, tot }) => vanaf < listed.tot && listed.vanaf < tot && !(vanaf === listed.vanaf && tot === listed.tot),
    );
    if (over)
      throw new RejectedDeliveryError(
        `${listed.name} covers ${over.vanaf} to ${over.tot}, which was rejected or was rolled back`,
      );
    const copy = await this.#deliveries.copy(listed);
    if (!this.#rejected.includes(rejectedDay(copy.file))) return copy;
    throw new RejectedDeliveryError(`${listed.name} was rejected or was rolled back`);
  }
}
