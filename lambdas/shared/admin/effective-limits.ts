import { type Limits, type WindowName, windowNames, windowStart } from '../domain/window.ts';
import { accessItem } from '../store/access-item.ts';
import { AdminError } from './admin-error.ts';
import type { Changes } from './update-changes.ts';

/** Own limits to set, by window; `'plan'` gives the window back to the plan. */
export type OwnLimitChanges = Partial<Record<WindowName, number | null | 'plan'>>;

/** The same limits, the shortest window first. */
export function inWindowOrder<Limit>(limits: Partial<Record<WindowName, Limit>>): Partial<Record<WindowName, Limit>> {
  return Object.fromEntries(windowNames.flatMap((name) => (name in limits ? [[name, limits[name]]] : [])));
}

/**
 * The account's own limits after `changes`. Throws `invalid` for a window that the plan does not configure. An own limit
 * that a later plan does not configure stays, asleep, until a plan configures its window again.
 */
export function changeOwnLimits(own: Limits, changes: OwnLimitChanges, plan: { code: string; limits: Limits }): Limits {
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

function notConfigured(window: WindowName, plan: { code: string; limits: Limits }): AdminError {
  const configured = Object.keys(plan.limits).join(', ');
  return new AdminError(
    'invalid',
    `Plan "${plan.code}" does not configure the window "${window}" (it has ${configured}), so an account on it can't ` +
      'have a limit of its own there. Add the window to the plan, as unlimited if need be, or leave it out.',
  );
}

/** The limit in force: `null` is unlimited, `undefined` is not configured. */
export function effectiveLimit(window: WindowName, planLimits: Limits, own: Limits): number | null | undefined {
  return planLimits[window] === undefined || own[window] === undefined ? planLimits[window] : own[window];
}

/**
 * What changes in an access item whose windows have the starts `starts` when `planLimits` and `own` apply to it. A
 * window that stays configured keeps its start and count, which belong to the requests; a new one starts now, at 0.
 */
export function windowChanges(starts: Limits, planLimits: Limits, own: Limits, atSeconds: number): Changes {
  const changes: Changes = { set: {}, remove: [] };
  for (const window of windowNames) {
    const limit = effectiveLimit(window, planLimits, own);
    if (planLimits[window] === undefined) {
      changes.remove.push(accessItem.start(window), accessItem.limit(window));
      continue;
    }
    if (typeof limit === 'number') changes.set[accessItem.limit(window)] = limit;
    else changes.remove.push(accessItem.limit(window));
    if (typeof starts[window] !== 'number') {
      changes.set[accessItem.start(window)] = windowStart(window, atSeconds);
      changes.set[accessItem.used(window)] = 0;
    }
  }
  return changes;
}
