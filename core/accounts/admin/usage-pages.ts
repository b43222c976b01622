import { datesOf } from '../../calendar.ts';
import { mapConcurrently, mapInOrder } from '../../concurrency.ts';
import { accountsTable } from '../../names.ts';
import type { Access } from '../account.ts';
import { accessKey, readAccess } from '../account-item.ts';
import { dateIn, lookupsIn, refusalKinds, refusalsIn, sumByDate, unrecorded, usageRecord } from '../usage-record.ts';
import { AdminError, checkAccountId } from './admin-error.ts';
import { type AdminStore, checkPage, maxPage, readNames } from './admin-store.ts';
import { allShards } from './reshard.ts';
import {
  type AccountUsage,
  type DayRange,
  type DayRefusals,
  lookupsByDate,
  readCounts,
  recordsQuery,
  usageView,
} from './usage.ts';
import { readRange, type UsageRange } from './usage-range.ts';

/** The usage of an account in a list; `plan` is the one it is on now, `null` for a deleted account. */
export type ListedUsage = AccountUsage & { plan: string | null };

/** A page of the usage of all accounts; `cursor` is where the next one begins, `null` on the last one. */
export type UsagePage = { accounts: ListedUsage[]; cursor: string | null };

export type UsagePageOptions = UsageRange & { limit?: number | undefined; cursor?: string | undefined };

/** The accounts after an id, up to another one, which is included; without them from the first, or to the last. */
export type UsagePart = { after?: string | undefined; last?: string | undefined };

/** How many accounts are read at the same time, and how many names at once. */
const concurrency = 16;
const namesAtOnce = 1_000;

/** What a list needs of a record. */
const countAttributes = [accountsTable.sortKey, usageRecord.lookups, ...refusalKinds.map(usageRecord.refused)];

/**
 * A page of the usage of all accounts in a range, by id: of each that exists, and of each deleted one with lookups in
 * the range. It takes one call for each account, and two or three for the page.
 * @throws AdminError `invalid`, `conflict`
 */
export async function usagePage(
  store: AdminStore,
  { from, to, limit = 100, cursor }: UsagePageOptions = {},
): Promise<UsagePage> {
  checkPage({ limit, cursor });
  const range = await readRange(store, { from, to });
  const { names, cursor: next } = await namesPage(store, limit, cursor);
  return { accounts: (await readAccounts(store, names, range)).filter(isListed), cursor: next };
}

/**
 * The same for all accounts, or for a part of them, with a few of them in memory at a time.
 * @throws AdminError `invalid`, `conflict`
 */
export async function* eachUsage(
  store: AdminStore,
  { after, last, ...options }: UsageRange & UsagePart = {},
): AsyncGenerator<ListedUsage> {
  for (const id of [after, last]) if (id !== undefined) checkAccountId(id);
  const read = reader(store, await readRange(store, options));
  const accounts = accountsByName(store, { after, last });
  for await (const usage of mapInOrder(accounts, 2 * concurrency, read)) if (isListed(usage)) yield usage;
}

/**
 * The parts, of so many accounts each, that all of them come in; it reads only their names. @throws AdminError
 * `invalid`
 */
export async function usageParts(store: AdminStore, accounts: number): Promise<UsagePart[]> {
  if (!Number.isInteger(accounts) || accounts < 1) throw new AdminError('invalid', 'A part has 1 account or more.');
  const parts: UsagePart[] = [];
  let after: string | undefined;
  do {
    const { cursor } = await namesPage(store, accounts, after);
    const last = cursor ?? undefined;
    parts.push({ after, last });
    after = last;
  } while (after !== undefined);
  return parts;
}

/** A deleted account without lookups in the range is not. */
function isListed({ plan, days }: ListedUsage): boolean {
  return plan !== null || days.some(({ lookups }) => lookups > 0);
}

/** A page of the ids of all accounts, deleted ones too. */
export async function namesPage(
  store: AdminStore,
  limit: number,
  cursor?: string | undefined,
): Promise<{ names: string[]; cursor: string | null }> {
  const page = { limit, cursor };
  const existing = await readNames(store, 'account', page);
  // Read last: an account that is deleted in between is in both.
  const deleted = await readNames(store, 'deleted', page);
  const all = [...new Set([...existing.names, ...deleted.names])].sort();
  const names = all.slice(0, limit);
  const more = all.length > limit || existing.cursor !== null || deleted.cursor !== null;
  return { names, cursor: more ? (names.at(-1) ?? null) : null };
}

/** An account as it is found by its name; one that was deleted has no access item. */
type Named = { id: string; access: Access | undefined };

/** The accounts of a part, by id. */
async function* accountsByName(store: AdminStore, { after, last }: UsagePart): AsyncGenerator<Named> {
  let cursor = after;
  do {
    const page = await namesPage(store, namesAtOnce, cursor);
    const names = page.names.filter((id) => last === undefined || id <= last);
    for (let at = 0; at < names.length; at += maxPage) yield* await findNamed(store, names.slice(at, at + maxPage));
    cursor = names.length < page.names.length ? undefined : (page.cursor ?? undefined);
  } while (cursor !== undefined);
}

async function findNamed(store: AdminStore, names: readonly string[]): Promise<Named[]> {
  const items = await store.getAll(names.map((id) => accessKey(id)));
  const found = new Map(items.map(readAccess).map((access) => [access.account, access]));
  return names.map((id) => ({ id, access: found.get(id) }));
}

/** The usage of up to 100 accounts. */
export async function readAccounts(
  store: AdminStore,
  names: readonly string[],
  range: DayRange,
): Promise<ListedUsage[]> {
  return mapConcurrently(await findNamed(store, names), concurrency, reader(store, range));
}

/**
 * Reads the usage of an account, its access item having been read before its records, so that no lookup is missed. One
 * that was moved in between would be seen in both, on the same date: then the account is read with more care, which
 * takes a call more.
 */
function reader(store: AdminStore, range: DayRange): (account: Named) => Promise<ListedUsage> {
  const dates = datesOf(range);
  return async ({ id, access }) => {
    const plan = access?.plan ?? null;
    const shards = access ? await allShards(store, access) : [];
    const held = Object.entries(sumByDate(shards.map(({ usage }) => unrecorded(usage))));
    const { lookups, refusals } = await readDays(store, id, range);
    if (held.some(([date]) => (lookups.get(date) ?? 0) > 0)) {
      const read = await readCounts(store, id, range);
      return { ...usageView(id, dates, lookupsByDate(read.counts), read.refusals), plan };
    }
    for (const [date, counts] of held) lookups.set(date, (lookups.get(date) ?? 0) + lookupsIn(counts));
    return { ...usageView(id, dates, lookups, refusals), plan };
  };
}

/** The records of an account: many small reads, of which the document client would double the CPU. */
async function readDays(
  store: AdminStore,
  id: string,
  range: DayRange,
): Promise<{ lookups: Map<string, number>; refusals: DayRefusals[] }> {
  const lookups = new Map<string, number>();
  const refusals: DayRefusals[] = [];
  const { ExpressionAttributeValues: values, ...query } = recordsQuery(store.table, id, range, countAttributes);
  const raw = Object.fromEntries(Object.entries(values).map(([name, S]) => [name, { S }]));
  for (const record of await store.queryRaw({ ...query, ExpressionAttributeValues: raw })) {
    const { [accountsTable.sortKey]: item, ...counts } = record;
    const date = dateIn({ [accountsTable.sortKey]: item?.S });
    const read = Object.fromEntries(Object.entries(counts).map(([name, { N }]) => [name, Number(N)]));
    lookups.set(date, lookupsIn(read));
    const refused = refusalsIn(read);
    if (refused) refusals.push({ date, ...refused });
  }
  return { lookups, refusals };
}
