import { isDeepStrictEqual } from 'node:util';
import type {
  Access,
  AccountState,
  PlanState,
  PlanVersion,
} from '../../../core/accounts/account.ts';
import { accessItem, newAccessItem, readAccess } from '../../../core/accounts/account-item.ts';
import { configured, currentQuota } from '../../../core/accounts/quota.ts';
import {
  dateOf,
  instant,
  type WindowName,
  windowEnd,
  windowNames,
  windowOf,
} from '../../../core/calendar.ts';
import { guardExpression, type Item } from '../../../core/dynamodb.ts';
import { accountsTable } from '../../../core/tables.ts';
import { AdminError, type DetailsChanges, type OwnLimitChanges } from './admin-error.ts';
import {
  type AdminStore,
  accessUpdate,
  addToIndex,
  findAccess,
  getAccess,
  retryConflicts,
  type Write,
} from './admin-store.ts';
import { audited } from './audit-log.ts';
import { isDeleted, tombstoneKey } from './delete-account.ts';
import {
  type AccountDetails,
  detailsDifference,
  detailsOf,
  detailsPut,
  detailsWrites,
  noDetails,
  withDetails,
} from './details.ts';
import { type KeyView, keyRecordsOf, type ShownKey, viewKeys } from './keys.ts';
import { addToHistory, type PlanHistory } from './plan-history.ts';
import { applyTerms, changeOwnLimits, getPlan, planIsUnchanged } from './plans.ts';
import { searchAttributes } from './search.ts';
import { noteFirstMonth } from './usage.ts';

/**
 * The use of a window as of now: `limit` is the effective one, `null` is unlimited; `resets` is an
 * ISO 8601 instant.
 */
export type WindowUsage = { limit: number | null; used: number; resets: string };

/**
 * An account as an operator or a portal sees it; never a secret or a hash. Instants are ISO 8601,
 * UTC.
 */
export type AccountView = AccountDetails & {
  id: string;
  state: AccountState;
  plan: string;
  planState: PlanState;
  created: string;
  /**
   * The account's own limits; they override the plan's. One for a window outside `windows` has no
   * effect for now.
   */
  ownLimits: Partial<Record<WindowName, number | null>>;
  /** A member for each window that the plan configures. */
  windows: Partial<Record<WindowName, WindowUsage>>;
  keys: KeyView[];
};

export type AccountSummary = Omit<AccountView, 'keys'> & { activeKeys: number };

function viewOf(
  access: Access,
  details: AccountDetails,
  records: ShownKey[],
  nowSeconds: number,
): AccountView {
  // The next request restarts a window that has passed.
  const windows = configured(currentQuota(access.quota, nowSeconds)).map(
    ([name, { limit, used, start }]) => {
      return [name, { limit, used, resets: instant(windowEnd(windowOf[name], start)) }] as const;
    },
  );
  return {
    id: access.account,
    ...details,
    state: access.state,
    plan: access.plan,
    planState: access.planState,
    created: instant(access.created),
    ownLimits: access.ownLimits,
    windows: Object.fromEntries(windows),
    keys: viewKeys(access, records, nowSeconds),
  };
}

/** An account as of now. @throws AdminError `invalid`, `not_found` */
export async function showAccount(store: AdminStore, id: string): Promise<AccountView> {
  const access = await getAccess(store, id);
  const [records, details] = await Promise.all([keyRecordsOf(store, id), detailsOf(store, id)]);
  return viewOf(access, details, records, store.nowSeconds());
}

/** The same as `showAccount`, without the keys. */
export function summaryOf(
  access: Access,
  details: AccountDetails,
  nowSeconds: number,
): AccountSummary {
  const { keys, ...summary } = viewOf(access, details, [], nowSeconds);
  return { ...summary, activeKeys: keys.filter(({ state }) => state === 'active').length };
}

export type AccountInput = DetailsChanges & {
  id: string;
  plan: string;
  limits?: OwnLimitChanges | undefined;
};

/**
 * Creates an active account on a plan, with its own limits and details if given.
 * @throws AdminError `invalid`, `not_found` (the plan), `exists`, `conflict`
 */
export async function createAccount(store: AdminStore, input: AccountInput): Promise<AccountView> {
  const { id, plan: code, limits = {}, ...details } = input;
  const attempt = async () => {
    if (await findAccess(store, id)) {
      throw new AdminError('exists', `Account "${id}" already exists.`);
    }
    if (await isDeleted(store, id)) {
      throw new AdminError(
        'exists',
        `Account "${id}" was deleted, and its id can't be used again. Choose another id.`,
      );
    }
    const plan = await getPlan(store, code);
    const now = store.nowSeconds();
    const item = newAccessItem(id, { plan, ownLimits: changeOwnLimits({}, limits, plan) }, now);
    await store.writeAll(await creation(store, plan, item, details));
    return viewOf(readAccess(item), withDetails(noDetails, details), [], now);
  };
  const detail = { plan: code, limits, ...detailsDifference(noDetails, details) };
  return audited(store, { partition: id, action: 'account create', detail }, () =>
    retryConflicts(attempt),
  );
}

/**
 * The writes, to be made together, that create an account on `plan` with the access item `item`.
 */
export async function creation(
  store: AdminStore,
  plan: PlanVersion,
  item: Item,
  details: DetailsChanges,
  { members = [], history }: { members?: readonly string[]; history?: PlanHistory } = {},
): Promise<Write[]> {
  const account: string = item[accountsTable.partitionKey];
  const created = dateOf(item[accessItem.created]);
  await noteFirstMonth(store, created.slice(0, 7));
  const isNew = guardExpression([{ attribute: accountsTable.partitionKey, is: 'absent' }]);
  const condition = { TableName: store.table, ...isNew };
  return [
    { ConditionCheck: planIsUnchanged(store, plan) },
    { ConditionCheck: { ...condition, Key: tombstoneKey(account) } },
    { Put: { ...condition, Item: item } },
    addToIndex(
      store.table,
      'account',
      account,
      searchAttributes({ plan: plan.code, account, details, members }),
    ),
    { Update: addToHistory(store.table, account, history ?? new Map([[created, plan.code]])) },
    ...detailsPut(store, account, details),
  ];
}

/** Changes to an account; `'plan'` as a limit removes the account's own limit. */
export type AccountChanges = DetailsChanges & {
  plan?: string | undefined;
  limits?: OwnLimitChanges | undefined;
  /**
   * The values that the caller saw: throws `conflict` if the plan, own limits or details have
   * changed since.
   */
  seen?:
    | (Partial<Pick<AccountView, 'plan' | 'ownLimits'>> & { details?: AccountDetails })
    | undefined;
};

/**
 * Moves an account to a plan, and changes its own limits and its details, the details first. Usage
 * stays as it is.
 * @throws AdminError `invalid`, `not_found`, `conflict`
 */
export async function setAccount(
  store: AdminStore,
  input: AccountChanges & { id: string },
): Promise<AccountView> {
  const { id, plan, limits = {}, seen, ...details } = input;
  // Refused before an audit entry is written, except for a change at the same moment.
  const [access, before] = await Promise.all([getAccess(store, id), detailsOf(store, id)]);
  if (seen) requireUnchanged(access, seen);
  if (seen?.details && !isDeepStrictEqual(seen.details, before)) throw changedMeanwhile(id);
  const difference = detailsDifference(before, details);
  const detail = { ...(plan !== undefined && { plan }), limits, ...difference };
  const setsDetails = Object.keys(difference).length > 0;
  const setsTerms = plan !== undefined || Object.keys(limits).length > 0;
  if (setsTerms) Object.assign(detail, { before: { plan: access.plan, limits: access.ownLimits } });
  await audited(store, { partition: id, action: 'account set', detail }, async () => {
    if (setsDetails) await setDetails(store, id, before, details);
    if (setsTerms || !setsDetails) await retryConflicts(() => setTerms(store, id, input));
  });
  return showAccount(store, id);
}

async function setTerms(store: AdminStore, id: string, changes: AccountChanges): Promise<void> {
  const { plan: code, limits = {}, seen } = changes;
  const access = await getAccess(store, id);
  if (seen) requireUnchanged(access, seen);
  const plan = await getPlan(store, code ?? access.plan);
  await applyTerms(store, access, {
    plan,
    ownLimits: changeOwnLimits(access.ownLimits, limits, plan),
  });
}

/** The audit records the previous details, so a change in the meantime is a conflict. */
async function setDetails(
  store: AdminStore,
  id: string,
  before: AccountDetails,
  changes: DetailsChanges,
): Promise<void> {
  await retryConflicts(async () => {
    if (!isDeepStrictEqual(await detailsOf(store, id), before)) throw changedMeanwhile(id);
    await store.writeAll(await detailsWrites(store, id, before, changes));
  });
}

function requireUnchanged(
  { account, plan, ownLimits }: Access,
  seen: NonNullable<AccountChanges['seen']>,
): void {
  const same = windowNames.every(
    (window) => !seen.ownLimits || ownLimits[window] === seen.ownLimits[window],
  );
  if (plan === (seen.plan ?? plan) && same) return;
  throw changedMeanwhile(account);
}

function changedMeanwhile(account: string): AdminError {
  return new AdminError(
    'conflict',
    `Account "${account}" was changed in the meantime. Check it, then repeat the change.`,
  );
}

/**
 * Suspends or activates an account, from its next request on. @throws AdminError `invalid`,
 * `not_found`, `conflict`
 */
export async function setAccountState(
  store: AdminStore,
  id: string,
  state: AccountState,
): Promise<AccountView> {
  const action = state === 'suspended' ? 'account suspend' : 'account activate';
  const write = async () => {
    const access = await getAccess(store, id);
    if (access.state === state) return;
    await store.update(accessUpdate(store.table, access, { set: { [accessItem.state]: state } }));
  };
  await audited(store, { partition: id, action, detail: {} }, () => retryConflicts(write));
  return showAccount(store, id);
}

/**
 * The partition of the audit of an account, also of a deleted one. @throws AdminError `invalid`,
 * `not_found`
 */
export async function auditPartitionOfAccount(store: AdminStore, id: string): Promise<string> {
  if (!(await isDeleted(store, id))) await getAccess(store, id);
  return id;
}
