import { forEachConcurrently } from '../../concurrency.ts';
import { type AdminStore, findAccess, retryConflicts } from './admin-store.ts';
import { detailsOf, textsOf } from './details.ts';
import { membersOf } from './members.ts';
import {
  chunkOf,
  chunkWrite,
  completeKey,
  markComplete,
  plansIn,
  readChunks,
  type SearchChange,
} from './search-index.ts';

/** How many accounts are read at the same time, and written at once. */
const concurrency = 16;
const accountsAtOnce = 200;

/**
 * Gives every account the lines by which it is found: those that an earlier version has made, or changed after a
 * roll-back. May run at any time; the next run continues an interrupted one.
 * @param plans of every account, as they were a moment ago
 */
export async function completeSearch(store: AdminStore, plans: ReadonlyMap<string, string>): Promise<void> {
  const known = new Map((await readChunks(store)).flatMap(plansIn));
  const wrong = [...plans].filter(([account, plan]) => known.get(account) !== plan).map(([account]) => account);
  wrong.push(...[...known.keys()].filter((account) => !plans.has(account)));
  const byChunk = new Map<number, string[]>();
  for (const account of wrong) byChunk.set(chunkOf(account), [...(byChunk.get(chunkOf(account)) ?? []), account]);
  for (const [chunk, accounts] of byChunk) {
    for (let first = 0; first < accounts.length; first += accountsAtOnce) {
      const part = accounts.slice(first, first + accountsAtOnce);
      await retryConflicts(async () => store.writeAll([await chunkWrite(store, chunk, () => linesNow(store, part))]));
    }
  }
  if (!(await store.get(completeKey))) await store.update(markComplete(store.table));
}

async function linesNow(store: AdminStore, accounts: readonly string[]): Promise<Map<string, SearchChange>> {
  const changes = new Map<string, SearchChange>();
  await forEachConcurrently(accounts, concurrency, async (account) => {
    const access = await findAccess(store, account);
    if (!access) return void changes.set(account, { made: null });
    const [details, members] = await Promise.all([detailsOf(store, account), membersOf(store, account)]);
    const texts = textsOf(details);
    changes.set(account, { made: { plan: access.plan, texts, members: members.map(({ person }) => person) } });
  });
  return changes;
}
