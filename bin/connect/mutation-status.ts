import type { ManifestEntry } from '../../loader/dataset/manifest.ts';
import { chainFrom, listMutations } from '../../loader/storage/mutation-list.ts';

/** How far a dataset has followed its mutations. Plain JSON. */
export type MutationStatus = {
  /** The next delivery is the one that leads on from this date. */
  from: string;
  /** Listed deliveries that the next check applies; `null` where no list is known. */
  waiting: string[] | null;
  /** Why it can't follow further: a day is missing, or the list can't be read. */
  problem: string | null;
};

/** What the list (where there is one) holds for the live dataset; `null` for one that follows no mutations. Never throws. */
export async function mutationStatus(
  published: ManifestEntry | null,
  list: string | undefined,
): Promise<MutationStatus | null> {
  if (!published?.extract || (list === undefined && published.extract.peildatum === published.peildatum)) return null;
  const from = published.peildatum;
  if (list === undefined) return { from, waiting: null, problem: null };
  try {
    const { next, broken } = chainFrom(await listMutations(list), from);
    return { from, waiting: next.map(({ name }) => name), problem: broken };
  } catch (error) {
    return { from, waiting: null, problem: (error as Error).message };
  }
}
