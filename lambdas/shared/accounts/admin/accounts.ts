import { TransactWriteCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { accountsTable } from '../../tables.ts';
import { type AccountState, accessItem, keyRecord, type PlanState } from '../account-item.ts';
import { type WindowName, windowEnd, windowNames, windowStart } from '../quota.ts';
import {
  type Access,
  accessKey,
  accessUpdate,
  changeAccess,
  findAccess,
  getAccess,
  getPlan,
  newAccessItem,
  readAccess,
} from './access.ts';
import { type AuditEntry, audited, auditOf } from './audit.ts';
import { type KeyRecord, type KeyView, keyRecordsOf, readKeyRecord, viewKeys } from './keys.ts';
import {
  changeOwnLimits,
  checkAccountId,
  checkOwnLimits,
  checkPlanCode,
  checkShards,
  type OwnLimitChanges,
} from './limits.ts';
import { applyPlan, planIsStill } from './plans.ts';
import { readShards, type Shards } from './reshard.ts';
import {
  AdminError,
  type AdminStore,
  type Guard,
  guardedUpdate,
  instant,
  retryConflicts,
  scan,
  updateAll,
} from './updates.ts';

const there: Guard = { attribute: accessItem.version, is: 'there' };

/**
 * Sets the state of an account; a conflict is for `retryConflicts`. Only shard 0 refuses requests, so what it says
 * counts: an account is suspended there last, by writes that get through under load, and activated on all at once.
 */
export async function writeState(store: AdminStore, access: Access, state: AccountState): Promise<void> {
  const changes = { set: { [accessItem.state]: state }, remove: [] };
  if (access.shards === null) {
    if (access.state !== state) await changeAccess(store, access, changes);
    return;
  }
  const others = Array.from({ length: access.shards - 1 }, (_, i) =>
    guardedUpdate(store.table, accessKey(access.account, i + 1), changes, [there]),
  );
  if (state === 'suspended') {
    await Promise.all(others.map((update) => store.client.send(new UpdateCommand(update))));
    await changeAccess(store, access, changes);
  } else {
    await updateAll(store, [accessUpdate(store.table, access, changes), ...others]);
  }
}

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

/**
 * Makes an active account on a plan, with limits of its own where given.
 * Throws `invalid`, `not_found` (the plan), `exists`, `conflict`.
 */
export async function createAccount(
  store: AdminStore,
  { id, plan: code, limits = {} }: { id: string; plan: string; limits?: OwnLimitChanges },
): Promise<AccountView> {
  checkAccountId(id);
  checkPlanCode(code);
  checkOwnLimits(limits);
  const change = { partition: id, action: 'account create', detail: { plan: code, limits } };
  return audited(store, change, () => retryConflicts(() => tryCreate(store, { id, plan: code, limits })));
}

async function tryCreate(
  store: AdminStore,
  { id, plan: code, limits }: { id: string; plan: string; limits: OwnLimitChanges },
): Promise<AccountView> {
  if (await findAccess(store, id)) {
    throw new AdminError('exists', `There is an account "${id}" already; change it with "account set".`);
  }
  const plan = await getPlan(store, code);
  const item = newAccessItem(id, plan, changeOwnLimits({}, limits, plan), store.nowSeconds());
  const put = {
    TableName: store.table,
    Item: item,
    ConditionExpression: 'attribute_not_exists(#account)',
    ExpressionAttributeNames: { '#account': accountsTable.partitionKey },
  };
  await store.client.send(
    new TransactWriteCommand({ TransactItems: [{ ConditionCheck: planIsStill(store, plan) }, { Put: put }] }),
  );
  return viewAccount([readAccess(item)], [], store.nowSeconds());
}

/** What to change of an account; `plan` as a limit gives the window's limit back to the plan. */
export type AccountChanges = { plan?: string; limits?: OwnLimitChanges; shards?: number };

/**
 * Moves an account to a plan, changes its own limits, or changes how many quota shards it has, or all of these. What was
 * used of a window stays used. Throws `invalid`, `not_found`, `conflict`.
 */
export async function setAccount(
  store: AdminStore,
  { id, ...changes }: AccountChanges & { id: string },
): Promise<AccountView> {
  const { plan, limits = {}, shards } = changes;
  checkAccountId(id);
  if (plan !== undefined) checkPlanCode(plan);
  if (shards !== undefined) checkShards(shards);
  checkOwnLimits(limits);
  const detail = { ...(plan !== undefined && { plan }), limits, ...(shards !== undefined && { shards }) };
  await audited(store, { partition: id, action: 'account set', detail }, () =>
    retryConflicts(() => trySet(store, id, changes)),
  );
  return showAccount(store, id);
}

async function trySet(
  store: AdminStore,
  id: string,
  { plan: code, limits = {}, shards }: AccountChanges,
): Promise<void> {
  const termsFor = async (access: Access) => {
    const plan = await getPlan(store, code ?? access.plan);
    return { plan, ownLimits: changeOwnLimits(access.ownLimits, limits, plan) };
  };
  await applyPlan(store, await getAccess(store, id), termsFor, shards);
}

/** Suspends or activates an account; its next request finds out. Throws `invalid`, `not_found`, `conflict`. */
export async function setAccountState(store: AdminStore, id: string, state: AccountState): Promise<AccountView> {
  checkAccountId(id);
  const action = state === 'suspended' ? 'account suspend' : 'account activate';
  await audited(store, { partition: id, action, detail: {} }, () =>
    retryConflicts(async () => writeState(store, await getAccess(store, id), state)),
  );
  return showAccount(store, id);
}

/** An account as of now. Throws `invalid`, `not_found`. */
export async function showAccount(store: AdminStore, id: string): Promise<AccountView> {
  checkAccountId(id);
  const shards = await readShards(store, await getAccess(store, id));
  return viewAccount(shards, await keyRecordsOf(store, id), store.nowSeconds());
}

/** What was changed of an account and its keys, the newest first; a plan's changes are in the plan's. Throws `invalid`, `not_found`. */
export async function auditAccount(store: AdminStore, id: string, last = 100): Promise<AuditEntry[]> {
  checkAccountId(id);
  await getAccess(store, id);
  return auditOf(store, id, last);
}

/** All accounts as of now, by id. */
export async function listAccounts(store: AdminStore): Promise<AccountView[]> {
  const shards = new Map<string, Access[]>();
  const records = new Map<string, (KeyRecord & { account: string })[]>();
  const items = scan(store, {
    FilterExpression: 'begins_with(#item, :access) OR begins_with(#item, :key)',
    ExpressionAttributeNames: { '#item': accountsTable.sortKey },
    ExpressionAttributeValues: { ':access': accessItem.sortKeyPrefix, ':key': keyRecord.sortKey('') },
  });
  for await (const item of items) {
    if (String(item[accountsTable.sortKey]).startsWith(accessItem.sortKeyPrefix)) add(shards, readAccess(item));
    else add(records, { account: item[accountsTable.partitionKey] as string, ...readKeyRecord(item) });
  }
  return [...shards.values()]
    .map((all) => all.toSorted((a, b) => a.shard - b.shard))
    .flatMap(([first, ...others]) => {
      // A shard without shard 0 was made while the table was being read.
      if (first?.shard !== 0) return [];
      return viewAccount([first, ...others], records.get(first.account) ?? [], store.nowSeconds());
    })
    .sort((a, b) => (a.id < b.id ? -1 : 1));
}

function add<T extends { account: string }>(groups: Map<string, T[]>, member: T): void {
  const group = groups.get(member.account);
  if (group) group.push(member);
  else groups.set(member.account, [member]);
}
