import { forEachConcurrently } from '../../concurrency.ts';
import { accessKey, readAccess } from '../account-item.ts';
import { type AdminStore, readNames, retryConflicts } from './admin-store.ts';
import { detailsOfAll, noDetails, textsOf } from './details.ts';
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

/** How many items of the index are written at a time, of how many accounts at once; of these the members are read. */
const chunksAtOnce = 8;
const accountsAtOnce = 100;
const concurrency = 4;

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
  await forEachConcurrently(Map.groupBy(accounts, chunkOf), chunksAtOnce, async ([chunk, names]) => {
    for (let first = 0; first < names.length; first += accountsAtOnce) {
      const part = names.slice(first, first + accountsAtOnce);
      await retryConflicts(async () => store.writeAll([await chunkWrite(store, chunk, () => linesNow(store, part))]));
    }
  });
}

async function linesNow(store: AdminStore, accounts: readonly string[]): Promise<Map<string, SearchChange>> {
  const [items, details] = await Promise.all([
    store.getAll(accounts.map((account) => accessKey(account))),
    detailsOfAll(store, accounts),
  ]);
  const changes = new Map<string, SearchChange>(accounts.map((account) => [account, { made: null }]));
  await forEachConcurrently(items.map(readAccess), concurrency, async ({ account, plan }) => {
    const members = (await membersOf(store, account)).map(({ person }) => person);
    changes.set(account, { made: { plan, texts: textsOf(details.get(account) ?? noDetails), members } });
  });
  return changes;
}
