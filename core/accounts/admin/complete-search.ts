import { forEachConcurrently } from '../../concurrency.ts';
import { type AdminStore, findAccess, readNames, retryConflicts } from './admin-store.ts';
import { detailsOf, textsOf } from './details.ts';
import { membersOf } from './members.ts';
import {
  chunkOf,
  chunkWrite,
  eachPlan,
  readChunks,
  readCompletion,
  type SearchChange,
  writeCompletion,
} from './search-index.ts';

/** How many accounts are read at the same time, and written at once. */
const concurrency = 16;
const accountsAtOnce = 200;

/** How far the accounts of an earlier version have come; `done`: a search finds all of them. */
export type SearchProgress = { looked: number; done: boolean };

/**
 * Gives the next 1,000 accounts, or `accounts`, the lines by which they are found, unless they have them. What was
 * interrupted continues there, also when several do it at once.
 */
export async function continueSearch(store: AdminStore, accounts = 1_000): Promise<SearchProgress> {
  const { after, looked, done } = await readCompletion(store);
  if (done) return { looked, done };
  const { names, cursor } = await readNames(store, 'account', { limit: accounts, cursor: after });
  const known = await knownPlans(store);
  await writeLines(
    store,
    names.filter((name) => !known.has(name)),
  );
  const now = { looked: looked + names.length, done: cursor === null };
  await writeCompletion(store, { ...now, after: cursor ?? after });
  return now;
}

/**
 * Gives every account the lines by which it is found: those that an earlier version has made, or changed after a
 * roll-back. May run at any time; the next run continues an interrupted one.
 * @param plans of every account, as they were a moment ago
 */
export async function completeSearch(store: AdminStore, plans: ReadonlyMap<string, string>): Promise<void> {
  const known = await knownPlans(store);
  const wrong = [...plans].filter(([account, plan]) => known.get(account) !== plan).map(([account]) => account);
  wrong.push(...[...known.keys()].filter((account) => !plans.has(account)));
  await writeLines(store, wrong);
  await writeCompletion(store, { looked: plans.size, after: '-', done: true });
}

async function knownPlans(store: AdminStore): Promise<Map<string, string>> {
  const known = new Map<string, string>();
  for (const text of await readChunks(store)) eachPlan(text, (account, plan) => void known.set(account, plan));
  return known;
}

async function writeLines(store: AdminStore, accounts: readonly string[]): Promise<void> {
  const byChunk = Map.groupBy(accounts, chunkOf);
  for (const [chunk, names] of byChunk) {
    for (let first = 0; first < names.length; first += accountsAtOnce) {
      const part = names.slice(first, first + accountsAtOnce);
      await retryConflicts(async () => store.writeAll([await chunkWrite(store, chunk, () => linesNow(store, part))]));
    }
  }
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
