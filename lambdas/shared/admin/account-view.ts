import { type WindowName, windowEnd, windowNames, windowStart } from '../domain/window.ts';
import type { AccountState, PlanState } from '../store/access-item.ts';
import { instant } from './instant.ts';
import { type KeyRecord, type KeyView, viewKeys } from './key-view.ts';
import type { Shards } from './shards.ts';

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
  /** How many quota shards it is spread over. */
  shards: number;
  /** A member for each window that the plan configures. */
  windows: Partial<Record<WindowName, WindowUsage>>;
  keys: KeyView[];
};

/** What the shards and the key records of the account amount to at `nowSeconds`. */
export function viewAccount(shards: Shards, records: KeyRecord[], nowSeconds: number): AccountView {
  const [access] = shards;
  const windows: AccountView['windows'] = {};
  for (const window of windowNames) {
    if (typeof access.starts[window] === 'number') windows[window] = viewWindow(shards, window, nowSeconds);
  }
  return {
    id: access.account,
    state: access.state,
    plan: access.plan,
    planState: access.planState,
    created: instant(access.created),
    ownLimits: access.ownLimits,
    shards: access.shards ?? 1,
    windows,
    keys: viewKeys(access, records),
  };
}

function viewWindow(shards: Shards, window: WindowName, nowSeconds: number): WindowUsage {
  const [{ totals, limits }] = shards;
  // A window that has passed is only restarted by the next request. One ahead of our clock is the current one.
  const current = Math.max(windowStart(window, nowSeconds), ...shards.flatMap(({ starts }) => starts[window] ?? []));
  return {
    limit: totals[window] ?? limits[window] ?? null,
    used: shards.reduce((sum, { starts, used }) => sum + (starts[window] === current ? (used[window] ?? 0) : 0), 0),
    resets: instant(windowEnd(window, current)),
  };
}
