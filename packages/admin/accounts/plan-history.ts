import { itemKey } from '../../../core/accounts/account-item.ts';
import { dateOf, daySeconds, isDate } from '../../../core/calendar.ts';
import { guardedUpdate, type Item, type Update } from '../../../core/dynamodb.ts';
import { accountsTable } from '../../../core/tables.ts';
import type { AdminStore } from './admin-store.ts';

/**
 * The plans that an account has been on, in an item of their own: `account` is its id, `item` is
 * `plans`, and an attribute for each UTC date of a change, `2026-11-21`, holds the plan, or `null`
 * from the day after a deletion on. It is written in the transaction of the change itself, and
 * stays when the account is deleted. The day of a change is wholly under the new plan, and the last
 * change of a day counts.
 */
export const planHistoryItem = 'plans';

/**
 * The plans by their first date, in order; `null` means that the account was deleted on the day
 * before.
 */
export type PlanHistory = ReadonlyMap<string, string | null>;

const historyKey = (account: string) => itemKey(account, planHistoryItem);

/** Reads the item of an account; without one, nothing is known. */
export function readPlanHistory(item: Item | undefined): PlanHistory {
  const dates = Object.entries<string | null>(item ?? {}).filter(([name]) => isDate(name));
  return new Map(dates.toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

export async function planHistoryOf(store: AdminStore, account: string): Promise<PlanHistory> {
  return readPlanHistory(await store.get(historyKey(account)));
}

/** The same of up to 100 accounts, by id. */
export async function planHistories(
  store: AdminStore,
  accounts: readonly string[],
): Promise<ReadonlyMap<string, PlanHistory>> {
  const items = await store.getAll(accounts.map(historyKey));
  return new Map(items.map((item) => [item[accountsTable.partitionKey], readPlanHistory(item)]));
}

/**
 * The update that adds dates to the history of an account, for the transaction that makes the
 * change.
 */
export function addToHistory(table: string, account: string, history: PlanHistory): Update {
  return guardedUpdate(table, historyKey(account), { set: Object.fromEntries(history) });
}

/**
 * The update for an account that comes to `plan` now; by a clock that is behind, on the day of the
 * change before.
 */
export async function planFromNow(
  store: AdminStore,
  account: string,
  plan: string,
): Promise<Update> {
  const last = [...(await planHistoryOf(store, account)).keys()].at(-1) ?? '';
  const today = dateOf(store.nowSeconds());
  return addToHistory(store.table, account, new Map([[last > today ? last : today, plan]]));
}

/** The update when an account is deleted: today's use stays under its current plan. */
export function noPlanFromTomorrow({ table, nowSeconds }: AdminStore, account: string): Update {
  return addToHistory(table, account, new Map([[dateOf(nowSeconds() + daySeconds), null]]));
}

/** The date when the account was created; `undefined` if it never existed. */
export const firstDay = (history: PlanHistory): string | undefined => history.keys().next().value;

/**
 * The days of an account under one plan, from the first to the last inclusive, and its lookups on
 * those days.
 */
export type PlanPeriod = { plan: string; from: string; to: string; lookups: number };

/**
 * The periods that cover `days`, which are in order and without gaps. Days before the account's
 * creation and after its deletion belong to no period, unless a wrong clock counted lookups on
 * them: then they belong to the nearest period.
 */
export function planPeriods(
  days: readonly { date: string; lookups: number }[],
  history: PlanHistory,
): PlanPeriod[] {
  const changes = [...history];
  const nearest = (date: string) => {
    const known = changes.flatMap(([since, plan]) => (plan === null ? [] : [{ since, plan }]));
    return (known.findLast(({ since }) => since <= date) ?? known[0])?.plan ?? '';
  };
  const periods: PlanPeriod[] = [];
  let before: PlanPeriod | undefined;
  for (const { date, lookups } of days) {
    const current = changes.findLast(([since]) => since <= date)?.[1] ?? null;
    const plan = current ?? (lookups > 0 ? nearest(date) : null);
    if (plan === null) before = undefined;
    else if (before?.plan === plan) {
      before.to = date;
      before.lookups += lookups;
    } else {
      before = { plan, from: date, to: date, lookups };
      periods.push(before);
    }
  }
  return periods;
}
