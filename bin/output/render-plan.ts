import type { Plan } from '../../lambdas/shared/admin/plan.ts';
import { type Limits, windowNames } from '../../lambdas/shared/domain/window.ts';
import { table } from './table.ts';

/** All plans as a table; `-` is a window that the plan does not configure. */
export function renderPlans(plans: Plan[]): string {
  if (plans.length === 0) return 'There are no plans yet; make one with "plan put CODE --limit day=5000".';
  return table(
    ['plan', 'state', ...windowNames],
    plans.map(({ code, state, limits }) => [code, state, ...windowNames.map((name) => renderLimit(limits[name]))]),
  );
}

/** A plan that was just put, and how many accounts its change reached. */
export function renderPutPlan({ code, state, limits, followed }: Plan & { followed: number }): string {
  const accounts = followed === 1 ? '1 account follows' : `${followed} accounts follow`;
  return `Plan "${code}" is ${state}: ${renderLimits(limits)}. ${accounts} this change.`;
}

/** `minute=60 month=unlimited`, as `--limit` takes them. */
export function renderLimits(limits: Limits): string {
  return Object.entries(limits)
    .map(([name, limit]) => `${name}=${renderLimit(limit)}`)
    .join(' ');
}

/** `60`, `unlimited`, or `-` where there is none. */
export function renderLimit(limit: number | null | undefined): string {
  if (limit === undefined) return '-';
  return limit === null ? 'unlimited' : String(limit);
}
