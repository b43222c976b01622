import { mapConcurrently } from '../../concurrency.ts';
import type { Access } from '../account.ts';
import { accessKey, readAccess } from '../account-item.ts';
import { lookupsIn, sumByDate, unrecorded } from '../usage-record.ts';
import { type AdminStore, listNames } from './admin-store.ts';
import { allShards } from './reshard.ts';
import { type AccountUsage, countsInRecords, type DayRange, readCounts, readRecords, usageView } from './usage.ts';
import { readRange, type UsageRange } from './usage-range.ts';

/** The usage of an account in a list; `plan` is the one it is on now, `null` for a deleted account. */
export type ListedUsage = AccountUsage & { plan: string | null };

/** A page of the usage of all accounts; `cursor` is where the next one begins, `null` on the last one. */
export type UsagePage = { accounts: ListedUsage[]; cursor: string | null };

export type UsagePageOptions = UsageRange & { limit?: number | undefined; cursor?: string | undefined };

/** How many accounts are read at the same time. */
const concurrency = 16;

/**
 * A page of the usage of all accounts in a range, by id: of each that exists, and of each deleted one with lookups in
 * the range. It takes one call for each account, and two or three for the page.
 * @throws AdminError `invalid`, `conflict`
 */
export async function usagePage(
  store: AdminStore,
  { from, to, limit = 100, cursor }: UsagePageOptions = {},
): Promise<UsagePage> {
  const range = await readRange(store, { from, to });
  const { names, cursor: next } = await namesPage(store, limit, cursor);
  const accounts = await readAccounts(store, names, range);
  return { accounts: accounts.filter(({ plan, days }) => plan !== null || days.some(hasLookups)), cursor: next };
}

/** The same for all accounts, a page in memory at a time. @throws AdminError `invalid`, `conflict` */
export async function* eachUsage(store: AdminStore, options: UsageRange = {}): AsyncGenerator<ListedUsage> {
  const { from, to } = await readRange(store, options);
  let cursor: string | null = null;
  do {
    const page: UsagePage = await usagePage(store, { from, to, ...(cursor !== null && { cursor }) });
    yield* page.accounts;
    cursor = page.cursor;
  } while (cursor !== null);
}

/** All of it in one list. @throws AdminError `invalid`, `conflict` */
export async function usageOfAll(store: AdminStore, range: UsageRange = {}): Promise<ListedUsage[]> {
  const found: ListedUsage[] = [];
  for await (const usage of eachUsage(store, range)) found.push(usage);
  return found;
}

function hasLookups({ lookups }: { lookups: number }): boolean {
  return lookups > 0;
}

/** A page of the ids of all accounts, deleted ones too. */
export async function namesPage(
  store: AdminStore,
  limit: number,
  cursor?: string | undefined,
): Promise<{ names: string[]; cursor: string | null }> {
  const page = { limit, cursor };
  const existing = await listNames(store, 'account', page);
  // Read last: an account that is deleted in between is in both.
  const deleted = await listNames(store, 'deleted', page);
  const all = [...new Set([...existing.names, ...deleted.names])].sort();
  const names = all.slice(0, limit);
  const more = all.length > limit || existing.cursor !== null || deleted.cursor !== null;
  return { names, cursor: more ? (names.at(-1) ?? null) : null };
}

/** The usage of up to 100 accounts. */
export async function readAccounts(
  store: AdminStore,
  names: readonly string[],
  range: DayRange,
): Promise<ListedUsage[]> {
  const items = await store.getAll(names.map((id) => accessKey(id)));
  const found = new Map(items.map(readAccess).map((access) => [access.account, access]));
  return mapConcurrently(names, concurrency, async (id) => readOne(store, id, found.get(id), range));
}

/**
 * Reads the access items before the records, so that no lookup is missed. One that was moved in between would be seen
 * in both, on the same date: then the account is read with more care, which takes a call more.
 */
async function readOne(
  store: AdminStore,
  id: string,
  access: Access | undefined,
  range: DayRange,
): Promise<ListedUsage> {
  const shards = access ? await allShards(store, access) : [];
  const held = sumByDate(shards.map(({ usage }) => unrecorded(usage)));
  const records = countsInRecords(await readRecords(store, id, range));
  const plan = access?.plan ?? null;
  const isInBoth = Object.keys(held).some((date) => lookupsIn(records.counts[date] ?? {}) > 0);
  const read = isInBoth
    ? await readCounts(store, id, range)
    : { ...records, counts: sumByDate([held, records.counts]) };
  return { ...usageView(id, range, read), plan };
}
