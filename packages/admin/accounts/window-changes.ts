import type { Plan } from '../../../core/accounts/account.ts';
import type { Limits } from '../../../core/accounts/quota.ts';
import { inWindowOrder, type WindowName, windowNames } from '../../../core/calendar.ts';
import { AdminError } from './admin-error.ts';

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
