import { accessKey, readAccess } from '../../core/accounts/account-item.ts';
import { AdminError } from '../../core/accounts/admin/admin-error.ts';
import {
  type AdminStore,
  allAccounts,
  listNames,
  type PageOptions,
  pageOf,
} from '../../core/accounts/admin/admin-store.ts';
import { completeSearch } from '../../core/accounts/admin/complete-search.ts';
import { detailsOfAll, noDetails } from '../../core/accounts/admin/details.ts';
import { allShards } from '../../core/accounts/admin/reshard.ts';
import { accountsWith, completeKey, folded, plansIn, readChunks } from '../../core/accounts/admin/search-index.ts';
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
    search === undefined ? await listNames(store, 'account', page) : pageOf(await findAccounts(store, search), page);
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

const maxSearch = 200;

/**
 * The ids, in order, of the accounts whose id, name, contact, note or a member contains `text`, in any case.
 * @throws AdminError `invalid`
 */
export async function findAccounts(store: AdminStore, text: string): Promise<string[]> {
  const wanted = typeof text === 'string' && text.length <= maxSearch ? folded(text) : '';
  if (wanted === '') throw new AdminError('invalid', `A search is a text of 1 to ${maxSearch} characters.`);
  const found = (await completeChunks(store)).flatMap((chunk) => [...accountsWith(chunk, wanted)]);
  return [...new Set(found)].sort();
}

/** How many accounts are on each plan, by its code. */
export async function countByPlan(store: AdminStore): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const [, plan] of (await completeChunks(store)).flatMap(plansIn)) counts[plan] = (counts[plan] ?? 0) + 1;
  return counts;
}

/** The first call after an upgrade adds the accounts that an earlier version made, unless the hourly job has. */
async function completeChunks(store: AdminStore): Promise<string[]> {
  if (!(await store.get(completeKey))) {
    const plans = new Map<string, string>();
    for await (const { account, plan } of allAccounts(store)) plans.set(account, plan);
    await completeSearch(store, plans);
  }
  return readChunks(store);
}
