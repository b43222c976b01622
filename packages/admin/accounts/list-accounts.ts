import type { AccountState } from '../../../core/accounts/account.ts';
import { type AccountSummary, summaryOf } from './accounts.ts';
import {
  type AdminStore,
  checkPage,
  findAccessOf,
  listNames,
  maxPage,
  type NamePage,
  type PageOptions,
} from './admin-store.ts';
import { detailsOfAll, noDetails } from './details.ts';
import { findAccounts } from './search.ts';

/** A page of accounts; `cursor` is where the next one begins, `null` on the last one. */
export type AccountPage = { accounts: AccountSummary[]; cursor: string | null };

/** Which accounts: all of these. `createdSince` is an instant; `usedShare` of 0.8 is four fifths of a day or month. */
export type AccountFilter = {
  plan?: string | undefined;
  state?: AccountState | undefined;
  createdSince?: string | undefined;
  usedShare?: number | undefined;
};

/**
 * Which page of the accounts; `search` finds those whose id, name, contact, note or members contain each of its words,
 * in any order and case.
 */
export type AccountPageOptions = PageOptions & AccountFilter & { search?: string | undefined };

/** How many accounts a page with a filter looks at: what a visitor can wait for. */
const mostLookedAt = 5_000;

/**
 * A page of the accounts as of now, by id. It reads two items for each account that it returns. With a filter it reads
 * one of each that it looks at, 5,000 at most: a page may then have fewer than `limit`, and a cursor all the same.
 * @throws AdminError `invalid`
 */
export async function listAccounts(
  store: AdminStore,
  { search, plan, state, createdSince, usedShare, ...page }: AccountPageOptions = {},
): Promise<AccountPage> {
  const filter = { plan, state, createdSince, usedShare };
  const isFiltered = Object.values(filter).some((one) => one !== undefined);
  checkPage(page);
  const limit = page.limit ?? maxPage;
  const kept: AccountSummary[] = [];
  let cursor: string | null = page.cursor ?? null;
  let lookedAt = 0;
  do {
    const next = { ...page, ...(isFiltered && { limit: maxPage }), cursor: cursor ?? undefined };
    const part: NamePage =
      search === undefined ? await listNames(store, 'account', next) : await findAccounts(store, search, next);
    const passed = (await summariesOf(store, part.names)).filter((account) => passes(account, filter));
    const room = limit - kept.length;
    kept.push(...passed.slice(0, room));
    cursor = passed.length > room ? (kept.at(-1)?.id ?? null) : part.cursor;
    lookedAt += part.names.length;
  } while (cursor !== null && kept.length < limit && lookedAt < mostLookedAt);
  const details = await detailsOfAll(
    store,
    kept.map(({ id }) => id),
  );
  return { accounts: kept.map((account) => ({ ...account, ...(details.get(account.id) ?? noDetails) })), cursor };
}

/** The accounts of these names, without their details; one that was just deleted is not among them. */
async function summariesOf(store: AdminStore, names: readonly string[]): Promise<AccountSummary[]> {
  const summaries = (await findAccessOf(store, names)).map((access) =>
    summaryOf(access, noDetails, store.nowSeconds()),
  );
  return summaries.toSorted((a, b) => (a.id < b.id ? -1 : 1));
}

/** The windows of which a used share lasts long enough to look at. */
const longWindows = ['day', 'month'] as const;

function passes(account: AccountSummary, { plan, state, createdSince, usedShare }: AccountFilter): boolean {
  const isNear = (window: (typeof longWindows)[number]) => {
    const { limit = null, used = 0 } = account.windows[window] ?? {};
    return limit !== null && usedShare !== undefined && used >= limit * usedShare;
  };
  return (
    account.plan === (plan ?? account.plan) &&
    account.state === (state ?? account.state) &&
    (createdSince === undefined || Date.parse(account.created) >= Date.parse(createdSince)) &&
    (usedShare === undefined || longWindows.some(isNear))
  );
}
