import { isDeepStrictEqual } from 'node:util';
import type { Access, AccountState, PlanState, PlanVersion, ShardState } from '../../../core/accounts/account.ts';
import { accessItem, accessKey, newAccessItem, readAccess } from '../../../core/accounts/account-item.ts';
import { configured } from '../../../core/accounts/quota.ts';
import { dateOf, instant, type WindowName, windowEnd, windowNames } from '../../../core/calendar.ts';
import { guardedUpdate, type Item } from '../../../core/dynamodb.ts';
import { accountsTable } from '../../../core/names.ts';
import {
  AdminError,
  checkAccountId,
  checkDetails,
  checkOwnLimits,
  checkPlanCode,
  checkShards,
  type DetailsChanges,
} from './admin-error.ts';
import {
  type AdminStore,
  accessUpdate,
  addToIndex,
  exists,
  findAccess,
  getAccess,
  retryConflicts,
  type Write,
} from './admin-store.ts';
import { audited } from './audit.ts';
import { isDeleted, tombstoneKey } from './delete-account.ts';
import {
  type AccountDetails,
  detailsDifference,
  detailsOf,
  detailsPut,
  detailsWrites,
  noDetails,
  textsOf,
  withDetails,
} from './details.ts';
import { type KeyView, keyRecordsOf, viewKeys } from './keys.ts';
import { addToHistory, type PlanHistory } from './plan-history.ts';
import { applyPlan, getPlan, planIsUnchanged } from './plans.ts';
import { allShards, resetWrites, type Shards, useOf } from './reshard.ts';
import { searchWrite } from './search-index.ts';
import { noteFirstMonth } from './usage.ts';
import { changeOwnLimits, futureWindows, type OwnLimitChanges, windowChanges } from './window-changes.ts';

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

/** An account to create. */
export type AccountInput = DetailsChanges & { id: string; plan: string; limits?: OwnLimitChanges | undefined };

/**
 * Creates an active account on a plan, with its own limits and details if given.
 * @throws AdminError `invalid`, `not_found` (the plan), `exists`, `conflict`
 */
export async function createAccount(
  store: AdminStore,
  { id, plan: code, limits = {}, ...details }: AccountInput,
): Promise<AccountView> {
  checkAccountId(id);
  checkPlanCode(code);
  checkOwnLimits(limits);
  checkDetails(details);
  const detail = { plan: code, limits, ...detailsDifference(noDetails, details) };
  return audited(store, { partition: id, action: 'account create', detail }, () =>
    retryConflicts(() => tryCreate(store, { id, plan: code, limits, ...details })),
  );
}

async function tryCreate(
  store: AdminStore,
  { id, plan: code, limits = {}, ...details }: AccountInput,
): Promise<AccountView> {
  if (await findAccess(store, id)) throw new AdminError('exists', `Account "${id}" already exists.`);
  if (await isDeleted(store, id)) {
    throw new AdminError('exists', `Account "${id}" was deleted, and its id can't be used again. Choose another id.`);
  }
  const plan = await getPlan(store, code);
  const ownLimits = changeOwnLimits({}, limits, plan);
  const now = store.nowSeconds();
  const { changes } = windowChanges({ quota: {}, dropped: {} }, plan.limits, ownLimits, now);
  const item = { ...newAccessItem(id, { plan, ownLimits }, now), ...changes.set };
  await store.writeAll(await creation(store, plan, item, details));
  return { ...viewTerms([readAccess(item)], withDetails(noDetails, details), now), keys: [] };
}

/** The writes, to be made together, that create an account on `plan` with the access item `item`. */
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
  const condition = {
    TableName: store.table,
    ConditionExpression: 'attribute_not_exists(#account)',
    ExpressionAttributeNames: { '#account': accountsTable.partitionKey },
  };
  return [
    { ConditionCheck: planIsUnchanged(store, plan) },
    { ConditionCheck: { ...condition, Key: tombstoneKey(account) } },
    { Put: { ...condition, Item: item } },
    addToIndex(store.table, 'account', account),
    { Update: addToHistory(store.table, account, history ?? new Map([[created, plan.code]])) },
    ...detailsPut(store, account, details),
    await searchWrite(store, account, { made: { plan: plan.code, texts: textsOf(details), members } }),
  ];
}

/** What to change of an account; `'plan'` as a limit removes the own limit. */
export type AccountChanges = DetailsChanges & {
  plan?: string | undefined;
  limits?: OwnLimitChanges | undefined;
  shards?: number | undefined;
  /**
   * What the caller has seen: throws `conflict` if the account has another plan, or other own limits or details, by
   * now.
   */
  seen?: (Partial<Pick<AccountView, 'plan' | 'ownLimits'>> & { details?: AccountDetails }) | undefined;
};

/**
 * Moves an account to a plan, changes its own limits, its details, or how many quota shards it has, or all of these,
 * the details first. What was used of a window stays used.
 * @throws AdminError `invalid`, `not_found`, `conflict`
 */
export async function setAccount(
  store: AdminStore,
  { id, ...changes }: AccountChanges & { id: string },
): Promise<AccountView> {
  const { plan, limits = {}, shards, seen, ...details } = changes;
  checkAccountId(id);
  checkDetails(details);
  if (plan !== undefined) checkPlanCode(plan);
  if (shards !== undefined) checkShards(shards);
  checkOwnLimits(limits);
  // Refused before an audit entry is written, except for a change at the same moment.
  const [access, before] = await Promise.all([getAccess(store, id), detailsOf(store, id)]);
  if (seen) requireUnchanged(access, seen);
  if (seen?.details && !isDeepStrictEqual(seen.details, before)) throw changedMeanwhile(id);
  const difference = detailsDifference(before, details);
  const detail = {
    ...(plan !== undefined && { plan }),
    limits,
    ...(shards !== undefined && { shards }),
    ...difference,
  };
  const setsDetails = Object.keys(difference).length > 0;
  const setsTerms = plan !== undefined || shards !== undefined || Object.keys(limits).length > 0;
  if (setsTerms)
    Object.assign(detail, { before: { plan: access.plan, limits: access.ownLimits, shards: access.shards } });
  await audited(store, { partition: id, action: 'account set', detail }, async () => {
    if (setsDetails) await setDetails(store, id, before, details);
    if (setsTerms || !setsDetails) await retryConflicts(() => trySet(store, id, changes));
  });
  return showAccount(store, id);
}

async function trySet(
  store: AdminStore,
  id: string,
  { plan: code, limits = {}, shards, seen }: AccountChanges,
): Promise<void> {
  const termsFor = async (access: Access) => {
    if (seen) requireUnchanged(access, seen);
    const plan = await getPlan(store, code ?? access.plan);
    return { plan, ownLimits: changeOwnLimits(access.ownLimits, limits, plan) };
  };
  await applyPlan(store, await getAccess(store, id), termsFor, shards);
}

/** The audit says what they were before, so details that have changed since are a conflict. */
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

function requireUnchanged({ account, plan, ownLimits }: Access, seen: NonNullable<AccountChanges['seen']>): void {
  const same = windowNames.every((window) => !seen.ownLimits || ownLimits[window] === seen.ownLimits[window]);
  if (plan === (seen.plan ?? plan) && same) return;
  throw changedMeanwhile(account);
}

function changedMeanwhile(account: string): AdminError {
  return new AdminError(
    'conflict',
    `Account "${account}" was changed in the meantime. Check it, then repeat the change.`,
  );
}

/** Suspends or activates an account, from its next request on. @throws AdminError `invalid`, `not_found`, `conflict` */
export async function setAccountState(store: AdminStore, id: string, state: AccountState): Promise<AccountView> {
  checkAccountId(id);
  const action = state === 'suspended' ? 'account suspend' : 'account activate';
  await audited(store, { partition: id, action, detail: {} }, () =>
    retryConflicts(async () => writeState(store, await getAccess(store, id), state)),
  );
  return showAccount(store, id);
}

/**
 * Only shard 0 refuses requests, so its state is the valid one: an account is suspended there last, by writes that
 * succeed under load, and activated on all shards at once.
 */
async function writeState(store: AdminStore, access: Access, state: AccountState): Promise<void> {
  const changes = { set: { [accessItem.state]: state satisfies ShardState } };
  if (!access.sharded && access.state === state) return;
  const first = accessUpdate(store.table, access, changes);
  const others = Array.from({ length: access.shards - 1 }, (_, i) =>
    guardedUpdate(store.table, accessKey(access.account, i + 1), changes, [exists]),
  );
  if (state === 'active') return store.writeAll([first, ...others].map((Update) => ({ Update })));
  await Promise.all(others.map((update) => store.update(update)));
  await store.update(first);
}

/** A window that started in the future, and the instant at which it did. */
export type RepairedWindow = { window: WindowName; start: string };

/**
 * Brings windows that start more than a minute in the future back to the present, with a count of 0: after a request
 * with a wrong clock they would refuse all others until then, since a window never moves backwards. Returns what it
 * changed.
 * @throws AdminError `invalid`, `not_found`, `conflict`
 */
export async function repairWindows(store: AdminStore, id: string): Promise<RepairedWindow[]> {
  checkAccountId(id);
  const find = async () => {
    const shards = await allShards(store, await getAccess(store, id));
    return { shards, found: futureWindows(shards, store.nowSeconds()) };
  };
  const view = (found: ReturnType<typeof futureWindows>) =>
    found.map(({ window, start }) => ({ window, start: instant(start) }));
  const { found } = await find();
  if (found.length === 0) return [];
  const detail = { windows: Object.fromEntries(view(found).map(({ window, start }) => [window, start])) };
  return audited(store, { partition: id, action: 'account repair-windows', detail }, () =>
    retryConflicts(async () => {
      const { shards, found } = await find();
      const windows = found.map(({ window }) => window);
      if (windows.length > 0) await store.writeAll(resetWrites(store, shards, windows));
      return view(found);
    }),
  );
}

/** The partition of the audit of an account, also of a deleted one. @throws AdminError `invalid`, `not_found` */
export async function auditPartitionOfAccount(store: AdminStore, id: string): Promise<string> {
  checkAccountId(id);
  if (!(await isDeleted(store, id))) await getAccess(store, id);
  return id;
}
