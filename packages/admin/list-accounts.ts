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
import { detailsOfAll, noDetails } from '../../core/accounts/admin/details.ts';
import { allShards } from '../../core/accounts/admin/reshard.ts';
import { folded, readLines } from '../../core/accounts/admin/search-index.ts';
import { accountsTable } from '../../core/names.ts';
import { type AccountSummary, summaryOf } from './accounts.ts';

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

const maxSearch = 200;

/** The page of the accounts whose id, name, contact, note or a member contains `text`, in any case. */
async function findAccounts(
  store: AdminStore,
  text: string,
  { prefix = '', limit = maxPage, cursor }: PageOptions,
): Promise<NamePage> {
  const wanted = typeof text === 'string' && text.length <= maxSearch ? folded(text) : '';
  if (wanted === '') throw new AdminError('invalid', `A search is a text of 1 to ${maxSearch} characters.`);
  checkPage({ prefix, limit, cursor });
  const found = new Set((await readLines(store, wanted)).map(({ account }) => account));
  const names = [...found].filter((name) => name > (cursor ?? '') && name.startsWith(prefix)).sort();
  const page = names.slice(0, limit);
  return { names: page, cursor: names.length > limit ? (page.at(-1) ?? null) : null };
}

/** How many accounts are on each plan, by its code. */
export async function countByPlan(store: AdminStore): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const { member, plan } of await readLines(store)) if (member === '') counts[plan] = (counts[plan] ?? 0) + 1;
  return counts;
}
