import { type WindowName, windowEnd, windowNames, windowStart } from '../domain/window.ts';
import type { AccountState, PlanState } from '../store/access-item.ts';
import type { Access } from './access.ts';
import { instant } from './instant.ts';
import { type KeyRecord, type KeyView, viewKeys } from './key-view.ts';

/** The use of a window as of now: `limit` is the effective one, `null` is unlimited; `resets` is an ISO 8601 instant. */
export type WindowUsage = { limit: number | null; used: number; resets: string };

/** An account as an operator or a portal sees it; never a secret or a hash. Instants are ISO 8601, UTC. */
export type AccountView = {
  id: string;
  state: AccountState;
  plan: string;
  planState: PlanState;
  created: string;
  /** The account's own limits; they go before the plan's. One for a window outside `windows` is asleep. */
  ownLimits: Partial<Record<WindowName, number | null>>;
  /** A member for each window that the plan configures. */
  windows: Partial<Record<WindowName, WindowUsage>>;
  keys: KeyView[];
};

/** What `access` and the key records of the account amount to at `nowSeconds`. */
export function viewAccount(access: Access, records: KeyRecord[], nowSeconds: number): AccountView {
  const windows: AccountView['windows'] = {};
  for (const window of windowNames) {
    const start = access.starts[window];
    if (typeof start === 'number') windows[window] = viewWindow(access, window, start, nowSeconds);
  }
  return {
    id: access.account,
    state: access.state,
    plan: access.plan,
    planState: access.planState,
    created: instant(access.created),
    ownLimits: access.ownLimits,
    windows,
    keys: viewKeys(access, records),
  };
}

function viewWindow(access: Access, window: WindowName, start: number, nowSeconds: number): WindowUsage {
  const current = windowStart(window, nowSeconds);
  return {
    limit: access.limits[window] ?? null,
    // A window that has passed is only restarted by the next request. One ahead of our clock is the current one.
    used: start < current ? 0 : (access.used[window] ?? 0),
    resets: instant(windowEnd(window, Math.max(start, current))),
  };
}
