import type { Access, Plan } from '../../../core/accounts/account.ts';
import { accessItem, windowItem } from '../../../core/accounts/account-item.ts';
import type { Limits } from '../../../core/accounts/quota.ts';
import { addToRecords, type CountsByDate, sumByDate, unrecorded } from '../../../core/accounts/usage-record.ts';
import { dateOf, inWindowOrder, type WindowName, windowNames, windowStart } from '../../../core/calendar.ts';
import type { Guard, Item, Update } from '../../../core/dynamodb.ts';
import { AdminError } from './admin-error.ts';
import { accessUpdate } from './admin-store.ts';

/** Own limits to set, by window; `'plan'` removes the own limit. */
export type OwnLimitChanges = Partial<Record<WindowName, number | null | 'plan'>>;

/** Keeps own limits that a later plan lacks. @throws AdminError `invalid` if the plan lacks a changed limit */
export function changeOwnLimits(own: Limits, changes: OwnLimitChanges, plan: Plan): Limits {
  const changed: Limits = { ...own };
  for (const window of windowNames) {
    const limit = changes[window];
    if (limit === undefined) continue;
    if (limit === 'plan') delete changed[window];
    else if (plan.limits[window] === undefined) throw notConfigured(window, plan);
    else changed[window] = limit;
  }
  return inWindowOrder(changed);
}

function notConfigured(window: WindowName, plan: Plan): AdminError {
  const has = Object.keys(plan.limits).join(', ');
  return new AdminError(
    'invalid',
    `Plan "${plan.code}" does not configure the window "${window}" (it has ${has}), so an account on it can't have its ` +
      'own limit there. Add the window to the plan, as unlimited if necessary, or leave it out.',
  );
}

/** Clocks may differ by this much: a window that starts within this time from now is not reset. */
const toleratedSeconds = 60;

/** The windows that start in the future, after a request with a wrong clock: no window rolls until then. */
export function futureWindows({ quota }: Access, nowSeconds: number): { window: WindowName; start: number }[] {
  return windowNames.flatMap((window) => {
    const start = quota[window]?.start ?? 0;
    return start > nowSeconds + toleratedSeconds ? [{ window, start }] : [];
  });
}

/**
 * The updates, to be made together, that bring windows in the future back to the present, with a count of 0. Lookups of
 * a day in the future become usage of today, in its record.
 */
export function resetWindows(table: string, access: Access, nowSeconds: number): Update[] {
  const { account, quota, usage } = access;
  const set: Item = {};
  const guards: Guard[] = [];
  const records: CountsByDate[] = [];
  for (const { window, start } of futureWindows(access, nowSeconds)) {
    const names = windowItem[window];
    Object.assign(set, { [names.start]: windowStart(window, nowSeconds), [names.used]: 0 });
    guards.push({ attribute: names.start, is: '=', value: start });
    if (window !== 'day') continue;
    const today = dateOf(nowSeconds);
    const held = Object.entries(unrecorded(usage));
    // The item keeps no earlier days either: those since today were rolled by the wrong clock.
    records.push(...held.map(([date, counts]) => ({ [date > today ? today : date]: counts })));
    Object.assign(set, { [accessItem.days]: {}, [accessItem.byKey]: {}, [accessItem.daysByKey]: {} });
    guards.push({ attribute: names.used, is: '=', value: Number(quota.day?.used) });
  }
  return [accessUpdate(table, access, { set }, guards), ...addToRecords(table, account, sumByDate(records))];
}
