import { instant, type WindowName, windowEnd, windowNames } from '../../calendar.ts';
import { guardedUpdate, type Item } from '../../dynamodb.ts';
import { accountsTable } from '../../names.ts';
import { accessItem } from '../access-layout.ts';
import type { Access, AccountState, PlanState, PlanVersion, ShardState } from '../account.ts';
import { accessKey, newAccessItem, readAccess } from '../account-item.ts';
import { configured } from '../quota.ts';
import { AdminError, checkAccountId, checkOwnLimits, checkPlanCode, checkShards } from './admin-error.ts';
import {
  type AdminStore,
  accessUpdate,
  addToIndex,
  exists,
  findAccess,
  getAccess,
  listNames,
  type PageOptions,
  retryConflicts,
  type Write,
} from './admin-store.ts';
import { type AuditEntry, type AuditPage, type AuditPageOptions, audited, auditOf, auditPageOf } from './audit.ts';
import { isDeleted, tombstoneKey } from './delete-account.ts';
import { type KeyView, keyRecordsOf, viewKeys } from './key-views.ts';
import { applyPlan, getPlan, planIsUnchanged } from './plans.ts';
import { allShards, resetWrites, type Shards, useOf } from './reshard.ts';
import { changeOwnLimits, futureWindows, type OwnLimitChanges, windowChanges } from './window-changes.ts';

/** The use of a window as of now: `limit` is the effective one, `null` unlimited; `resets` is an ISO 8601 instant. */
export type WindowUsage = { limit: number | null; used: number; resets: string };

/** An account as an operator or a portal sees it; never a secret or a hash. Instants are ISO 8601, UTC. */
export type AccountView = {
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

function viewAccount(shards: Shards, records: Parameters<typeof viewKeys>[1], nowSeconds: number): AccountView {
  return { ...viewTerms(shards, nowSeconds), keys: viewKeys(shards[0], records, nowSeconds) };
}

function viewTerms(shards: Shards, nowSeconds: number): Omit<AccountView, 'keys'> {
  const [access] = shards;
  return {
    id: access.account,
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

/** An account to create. */
export type AccountInput = { id: string; plan: string; limits?: OwnLimitChanges | undefined };

/**
 * Creates an active account on a plan, with its own limits if given.
 * @throws AdminError `invalid`, `not_found` (the plan), `exists`, `conflict`
 */
export async function createAccount(
  store: AdminStore,
  { id, plan: code, limits = {} }: AccountInput,
): Promise<AccountView> {
  checkAccountId(id);
  checkPlanCode(code);
  checkOwnLimits(limits);
  const change = { partition: id, action: 'account create' as const, detail: { plan: code, limits } };
  return audited(store, change, () => retryConflicts(() => tryCreate(store, { id, plan: code, limits })));
}

async function tryCreate(
  store: AdminStore,
  { id, plan: code, limits }: { id: string; plan: string; limits: OwnLimitChanges },
): Promise<AccountView> {
  if (await findAccess(store, id)) throw new AdminError('exists', `Account "${id}" already exists.`);
  if (await isDeleted(store, id)) {
    throw new AdminError('exists', `Account "${id}" was deleted, and its id can't be used again. Choose another id.`);
  }
  const plan = await getPlan(store, code);
  const ownLimits = changeOwnLimits({}, limits, plan);
  const now = store.nowSeconds();
  const { changes } = windowChanges({ layout: accessItem, quota: {}, dropped: {} }, plan.limits, ownLimits, now);
  const item = { ...newAccessItem(id, { plan, ownLimits }, now), ...changes.set };
  await store.writeAll(creation(store, plan, item));
  return viewAccount([readAccess(item)], [], now);
}

/** The writes, to be made together, that create an account on `plan` with the access item `item`. */
export function creation(store: AdminStore, plan: PlanVersion, item: Item): Write[] {
  const account: string = item[accountsTable.partitionKey];
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
  ];
}

/** What to change of an account; `'plan'` as a limit removes the own limit. */
export type AccountChanges = {
  plan?: string | undefined;
  limits?: OwnLimitChanges | undefined;
  shards?: number | undefined;
  /** What the caller has seen: throws `conflict` if the account has another plan or other own limits by now. */
  seen?: Pick<AccountView, 'plan' | 'ownLimits'> | undefined;
};

/**
 * Moves an account to a plan, changes its own limits, or changes how many quota shards it has, or all of these. What
 * was used of a window stays used.
 * @throws AdminError `invalid`, `not_found`, `conflict`
 */
export async function setAccount(
  store: AdminStore,
  { id, ...changes }: AccountChanges & { id: string },
): Promise<AccountView> {
  const { plan, limits = {}, shards, seen } = changes;
  checkAccountId(id);
  if (plan !== undefined) checkPlanCode(plan);
  if (shards !== undefined) checkShards(shards);
  checkOwnLimits(limits);
  // Refused before an audit entry is written, except for a change at the same moment.
  if (seen) requireUnchanged(await getAccess(store, id), seen);
  const detail = { ...(plan !== undefined && { plan }), limits, ...(shards !== undefined && { shards }) };
  await audited(store, { partition: id, action: 'account set', detail }, () =>
    retryConflicts(() => trySet(store, id, changes)),
  );
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

function requireUnchanged({ account, plan, ownLimits }: Access, seen: NonNullable<AccountChanges['seen']>): void {
  const same = windowNames.every((window) => ownLimits[window] === seen.ownLimits[window]);
  if (plan === seen.plan && same) return;
  throw new AdminError(
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
  const changes = { set: { [accessItem.state]: state satisfies ShardState }, remove: [] };
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

/** An account as of now. @throws AdminError `invalid`, `not_found` */
export async function showAccount(store: AdminStore, id: string): Promise<AccountView> {
  checkAccountId(id);
  const shards = await allShards(store, await getAccess(store, id));
  return viewAccount(shards, await keyRecordsOf(store, id), store.nowSeconds());
}

/**
 * The changes of an account and its keys, newest first, also of a deleted account; changes of a plan are in the plan's
 * audit.
 * @throws AdminError `invalid`, `not_found`
 */
export async function auditAccount(store: AdminStore, id: string, last = 100): Promise<AuditEntry[]> {
  checkAccountId(id);
  if (!(await isDeleted(store, id))) await getAccess(store, id);
  return auditOf(store, id, last);
}

/** The same, by pages. @throws AdminError `invalid`, `not_found` */
export async function auditAccountPage(store: AdminStore, id: string, options?: AuditPageOptions): Promise<AuditPage> {
  checkAccountId(id);
  if (!(await isDeleted(store, id))) await getAccess(store, id);
  return auditPageOf(store, id, options);
}

/** A page of accounts; `cursor` is where the next one begins, `null` on the last one. */
export type AccountPage = { accounts: AccountSummary[]; cursor: string | null };

/**
 * A page of the accounts as of now, by id. It reads as many items as it returns accounts.
 * @throws AdminError `invalid`
 */
export async function listAccounts(store: AdminStore, options: PageOptions = {}): Promise<AccountPage> {
  const { names, cursor } = await listNames(store, 'account', options);
  const items = await store.getAll(names.map((id) => accessKey(id)));
  const found = new Map(items.map((item) => [item[accountsTable.partitionKey] as string, readAccess(item)]));
  const accounts: AccountSummary[] = [];
  for (const id of names) {
    const access = found.get(id);
    if (access) accounts.push(summaryOf(await allShards(store, access), store.nowSeconds())); // otherwise it was just deleted
  }
  return { accounts, cursor };
}

function summaryOf(shards: Shards, nowSeconds: number): AccountSummary {
  const keys = viewKeys(shards[0], [], nowSeconds);
  return { ...viewTerms(shards, nowSeconds), activeKeys: keys.filter(({ state }) => state === 'active').length };
}
