import { accessKey, readAccess } from '../../core/accounts/account-item.ts';
import { AdminError } from '../../core/accounts/admin/admin-error.ts';
import {
  type AdminStore,
  checkPage,
  listNames,
  maxPage,
  type NamePage,
  type PageOptions,
} from '../../core/accounts/admin/admin-store.ts';
import { continueSearch, type SearchProgress } from '../../core/accounts/admin/complete-search.ts';
import { detailsOfAll, noDetails } from '../../core/accounts/admin/details.ts';
import { allShards } from '../../core/accounts/admin/reshard.ts';
import { eachAccountWith, eachPlan, folded, readChunks } from '../../core/accounts/admin/search-index.ts';
import { accountsTable } from '../../core/names.ts';
import { type AccountSummary, summaryOf } from './account-views.ts';

/** A page of accounts; `cursor` is where the next one begins, `null` on the last one. */
export type AccountPage = { accounts: AccountSummary[]; cursor: string | null };

/**
 * Which page of the accounts; `search` finds those whose id, name, contact, note or a member contains it, in any case.
 */
export type AccountPageOptions = PageOptions & { search?: string | undefined };

/**
 * A page of the accounts as of now, by id. It reads two items for each account that it returns.
 * @throws AdminError `invalid`
 */
export async function listAccounts(
  store: AdminStore,
  { search, ...page }: AccountPageOptions = {},
): Promise<AccountPage> {
  const { names, cursor } =
    search === undefined ? await listNames(store, 'account', page) : await findAccounts(store, search, page);
  const [items, details] = await Promise.all([
    store.getAll(names.map((id) => accessKey(id))),
    detailsOfAll(store, names),
  ]);
  const found = new Map(items.map((item) => [item[accountsTable.partitionKey] as string, readAccess(item)]));
  const accounts: AccountSummary[] = [];
  for (const id of names) {
    const access = found.get(id);
    // Otherwise it was just deleted.
    if (access)
      accounts.push(summaryOf(await allShards(store, access), details.get(id) ?? noDetails, store.nowSeconds()));
  }
  return { accounts, cursor };
}

/**
 * Takes names in any order, also more than once, and returns the page of them as `listNames` does; it sorts few of
 * them.
 * @throws AdminError `invalid`
 */
export function pageOfUnsorted({ prefix = '', limit = maxPage, cursor = '' }: PageOptions) {
  checkPage({ prefix, limit, cursor: cursor || undefined });
  let last = '~';
  let names = new Set<string>();
  const first = () => [...names].sort().slice(0, limit + 1);
  return {
    add(name: string): void {
      if (name >= last || name <= cursor || !name.startsWith(prefix)) return;
      names.add(name);
      if (names.size < 20 * limit) return;
      names = new Set(first());
      last = [...names].at(-1) ?? last;
    },
    page(): NamePage {
      const sorted = first();
      return { names: sorted.slice(0, limit), cursor: sorted.length > limit ? (sorted[limit - 1] ?? null) : null };
    },
  };
}

const maxSearch = 200;

/** The page of the accounts whose id, name, contact, note or a member contains `text`, in any case. */
async function findAccounts(store: AdminStore, text: string, options: PageOptions): Promise<NamePage> {
  const wanted = typeof text === 'string' && text.length <= maxSearch ? folded(text) : '';
  if (wanted === '') throw new AdminError('invalid', `A search is a text of 1 to ${maxSearch} characters.`);
  const found = pageOfUnsorted(options);
  for (const chunk of await completeChunks(store)) eachAccountWith(chunk, wanted, found.add);
  return found.page();
}

/**
 * Makes the next 1,000 accounts, or `accounts`, of an earlier version found and counted: a list with `search`, and the
 * counts of plans, do this for all of them first, which takes minutes for 100,000.
 * @throws AdminError `invalid`
 */
export async function prepareSearch(store: AdminStore, accounts?: number): Promise<SearchProgress> {
  if (accounts !== undefined && (!Number.isInteger(accounts) || accounts < 1))
    throw new AdminError('invalid', 'Give a whole number of accounts.');
  return continueSearch(store, accounts);
}

/** How many accounts are on each plan, by its code. */
export async function countByPlan(store: AdminStore): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const chunk of await completeChunks(store)) {
    eachPlan(chunk, (_, plan) => {
      counts[plan] = (counts[plan] ?? 0) + 1;
    });
  }
  return counts;
}

/** The first call after an upgrade adds the accounts that an earlier version made, unless the hourly job has. */
async function completeChunks(store: AdminStore): Promise<string[]> {
  while (!(await continueSearch(store)).done);
  return readChunks(store);
}
