import { isFuture } from '../bag/delivery-document.ts';
import { pathFrom } from '../dataset/delivery-path.ts';
import type { ExtractInfo, MutationFile } from '../dataset/load.ts';
import { rejectedDay, rejectedPeriods } from '../dataset/manifest.ts';
import { ExtractError } from '../extract-error.ts';
import { copyDelivery, isSameDelivery } from '../storage/mutation-deliveries.ts';
import type { ListedMutations, MutationListing } from '../storage/mutation-lists.ts';
import { SourceError } from '../storage/source.ts';
import type { Storage } from '../storage/storage.ts';

/** An operator rejected this delivery, or a rollback left it. */
export class RejectedDeliveryError extends Error {
  override readonly name = 'RejectedDeliveryError';
}

/** Why nothing leads on, and what does. */
export type FollowingDays = { days: MutationFile[]; stopped: Error | null };

/** Finds deliveries for one dataset among those that are listed, and copies each of them at most once. */
export class DeliveryFinder {
  readonly #storage: Storage;
  readonly #objecten: boolean;
  readonly #gemeenten: readonly string[];
  readonly #rejected: readonly string[];
  readonly #listed: ListedMutations[];
  readonly #copies = new Map<ListedMutations, Promise<MutationFile | Error>>();
  /** What an operator should know. */
  readonly notes: string[];

  constructor(
    storage: Storage,
    { listed, notes }: MutationListing,
    { extract, rejected, objecten = false }: { extract: ExtractInfo; rejected: readonly string[]; objecten?: boolean },
  ) {
    this.#storage = storage;
    this.#objecten = objecten;
    this.#gemeenten = extract.gemeenten;
    this.#rejected = rejected;
    const fits = listed.filter(({ gemeente }) => gemeente === null || gemeente === this.#gemeenten.join());
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
   * The deliveries that lead on from a date, copied. One that is unavailable, damaged or not what it is named is
   * replaced by another copy of it, or by another way; `stopped` is the error of the first that nothing replaces.
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
        const copy = await this.#copyOf(delivery);
        if (copy instanceof Error) {
          unusable.set(delivery, copy);
          break;
        }
        days.push(copy);
      }
      if (days.length === path.length) return this.#withReason(days, days.at(-1)?.tot ?? from, unusable);
    }
  }

  /**
   * The delivery that has replaced one that was applied: `null` where none has, or where a list still has the one that
   * was applied.
   */
  async correctionOf(day: MutationFile): Promise<MutationFile | null> {
    const candidates = this.#listed.filter(({ vanaf, tot }) => vanaf === day.vanaf && tot === day.tot);
    for (const candidate of candidates) if (await isSameDelivery(candidate, day)) return null;
    for (const candidate of candidates) {
      const copy = await this.#copyOf(candidate);
      if (copy instanceof RejectedDeliveryError) continue;
      if (copy instanceof Error) this.notes.push(`replaced after it was applied, and not usable: ${copy.message}`);
      else return rejectedDay(copy) === rejectedDay(day) || copy.key === day.key ? null : copy;
    }
    return null;
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
  #copyOf(listed: ListedMutations): Promise<MutationFile | Error> {
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

  async #copy(listed: ListedMutations): Promise<MutationFile> {
    // A delivery of several days, of which one was rejected, would bring that back; so would the days of a rejected
    // month.
    const over = rejectedPeriods(this.#rejected).find(
      ({ vanaf, tot }) => vanaf < listed.tot && listed.vanaf < tot && !(vanaf === listed.vanaf && tot === listed.tot),
    );
    if (over)
      throw new RejectedDeliveryError(
        `${listed.name} covers ${over.vanaf} to ${over.tot}, which was rejected or was rolled back`,
      );
    const copy = await copyDelivery(this.#storage, listed, this.#gemeenten, { objecten: this.#objecten });
    if (!this.#rejected.includes(rejectedDay(copy))) return copy;
    throw new RejectedDeliveryError(`${listed.name} was rejected or was rolled back`);
  }
}
