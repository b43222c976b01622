import type { AccountState } from '../../../core/accounts/account.ts';
import { type LongWindowName, longWindowNames } from '../../../core/calendar.ts';
import { type AccountSummary, summaryOf } from './accounts.ts';
import {
  type AdminStore,
  findAccessOf,
  maxPage,
  type NamePage,
  type PageOptions,
  readNames,
} from './admin-store.ts';
import { detailsOfAll, noDetails } from './details.ts';
import { findAccounts } from './search.ts';

/** A page of accounts; `cursor` starts the next page and is `null` on the last page. */
export type AccountPage = { accounts: AccountSummary[]; cursor: string | null };

/**
 * An account must meet each one. `createdSince` is an instant; a `usedShare` of 0.8 is 80 % of a
 * day or month.
 */
export type AccountFilter = {
  plan?: string | undefined;
  state?: AccountState | undefined;
  createdSince?: string | undefined;
  usedShare?: number | undefined;
};

/**
 * Selects a page of accounts. `search` finds accounts whose id, name, contact, note or members
 * contain each of its words, in any order and case.
 */
export type AccountPageOptions = PageOptions & AccountFilter & { search?: string | undefined };

/** The most accounts that a filtered page examines, which bounds a visitor's wait. */
const mostLookedAt = 5_000;

/**
 * A page of the accounts as of now, by id. It reads two items for each account that it returns.
 * With a filter it reads one of each that it looks at, 5,000 at most: a page may then have fewer
 * than `limit`, and a cursor all the same.
 * @throws AdminError `invalid`
 */
export async function listAccounts(
  store: AdminStore,
  options: AccountPageOptions = {},
): Promise<AccountPage> {
  const { search, plan, state, createdSince, usedShare, ...page } = options;
  const filter = { plan, state, createdSince, usedShare };
  const isFiltered = Object.values(filter).some((condition) => condition !== undefined);
  const limit = page.limit ?? maxPage;
  const kept: AccountSummary[] = [];
  let cursor: string | null = page.cursor ?? null;
  let lookedAt = 0;
  do {
    const next = { ...page, ...(isFiltered && { limit: maxPage }), cursor: cursor ?? undefined };
    const part: NamePage =
      search === undefined
        ? await readNames(store, 'account', next)
        : await findAccounts(store, search, next);
    // An account that was just deleted is left out.
    const found = (await findAccessOf(store, part.names)).map((access) =>
      summaryOf(access, noDetails, store.nowSeconds()),
    );
    const passed = found
      .filter((account) => passes(account, filter))
      .sort((a, b) => (a.id < b.id ? -1 : 1));
    const room = limit - kept.length;
    kept.push(...passed.slice(0, room));
    cursor = passed.length > room ? (kept.at(-1)?.id ?? null) : part.cursor;
    lookedAt += part.names.length;
  } while (cursor !== null && kept.length < limit && lookedAt < mostLookedAt);
  const details = await detailsOfAll(
    store,
    kept.map(({ id }) => id),
  );
  return {
    accounts: kept.map((account) => ({ ...account, ...(details.get(account.id) ?? noDetails) })),
    cursor,
  };
}

function passes(
  account: AccountSummary,
  { plan, state, createdSince, usedShare }: AccountFilter,
): boolean {
  const isNear = (window: LongWindowName) => {
    const { limit = null, used = 0 } = account.windows[window] ?? {};
    return limit !== null && usedShare !== undefined && used >= limit * usedShare;
  };
  return (
    account.plan === (plan ?? account.plan) &&
    account.state === (state ?? account.state) &&
    (createdSince === undefined || Date.parse(account.created) >= Date.parse(createdSince)) &&
    (usedShare === undefined || longWindowNames.some(isNear))
  );
}
