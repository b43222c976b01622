import type { AccountState, PlanState } from '../../core/accounts/account.ts';
import { checkAccountId } from '../../core/accounts/admin/admin-error.ts';
import { type AdminStore, getAccess } from '../../core/accounts/admin/admin-store.ts';
import { type AccountDetails, detailsOf } from '../../core/accounts/admin/details.ts';
import { type KeyView, keyRecordsOf, viewKeys } from '../../core/accounts/admin/key-views.ts';
import { allShards, type Shards, useOf } from '../../core/accounts/admin/reshard.ts';
import { configured } from '../../core/accounts/quota.ts';
import { instant, type WindowName, windowEnd } from '../../core/calendar.ts';

/**
 * The use of a window as of now: `limit` is the effective one, `null` is unlimited; `resets` is an ISO 8601 instant.
 */
export type WindowUsage = { limit: number | null; used: number; resets: string };

/** An account as an operator or a portal sees it; never a secret or a hash. Instants are ISO 8601, UTC. */
export type AccountView = AccountDetails & {
  id: string;
  state: AccountState;
  plan: string;
  planState: PlanState;
  created: string;
  /** The account's own limits; they override the plan's. One for a window outside `windows` has no effect for now. */
  ownLimits: Partial<Record<WindowName, number | null>>;
  /** How many quota shards it is spread over. */
  shards: number;
  /** A member for each window that the plan configures. */
  windows: Partial<Record<WindowName, WindowUsage>>;
  keys: KeyView[];
};

/** An account in a list. */
export type AccountSummary = Omit<AccountView, 'keys'> & { activeKeys: number };

export function viewTerms(shards: Shards, details: AccountDetails, nowSeconds: number): Omit<AccountView, 'keys'> {
  const [access] = shards;
  return {
    id: access.account,
    ...details,
    // Shard 0 is never closing.
    state: access.state as AccountState,
    plan: access.plan,
    planState: access.planState,
    created: instant(access.created),
    ownLimits: access.ownLimits,
    shards: access.shards,
    windows: Object.fromEntries(configured(access.quota).map(([name]) => [name, viewWindow(shards, name, nowSeconds)])),
  };
}

function viewWindow(shards: Shards, window: WindowName, nowSeconds: number): WindowUsage {
  const { limit, used, start } = useOf(shards, window, nowSeconds);
  return { limit, used, resets: instant(windowEnd(window, start)) };
}

/** An account as of now. @throws AdminError `invalid`, `not_found` */
export async function showAccount(store: AdminStore, id: string): Promise<AccountView> {
  checkAccountId(id);
  const shards = await allShards(store, await getAccess(store, id));
  const [records, details] = await Promise.all([keyRecordsOf(store, id), detailsOf(store, id)]);
  const nowSeconds = store.nowSeconds();
  return { ...viewTerms(shards, details, nowSeconds), keys: viewKeys(shards[0], records, nowSeconds) };
}

/** The same as `showAccount`, without the keys. */
export function summaryOf(shards: Shards, details: AccountDetails, nowSeconds: number): AccountSummary {
  const keys = viewKeys(shards[0], [], nowSeconds);
  return {
    ...viewTerms(shards, details, nowSeconds),
    activeKeys: keys.filter(({ state }) => state === 'active').length,
  };
}
