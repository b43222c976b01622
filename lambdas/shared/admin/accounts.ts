import { TransactWriteCommand } from '@aws-sdk/lib-dynamodb';
import { type AccountState, accessItem, keyRecord } from '../store/access-item.ts';
import { accountsTable } from '../tables.ts';
import { type Access, findAccess, getAccess, newAccessItem, readAccess } from './access.ts';
import { writeState } from './account-state.ts';
import { type AccountView, viewAccount } from './account-view.ts';
import { AdminError } from './admin-error.ts';
import type { AdminStore } from './admin-store.ts';
import { applyPlan, planIsStill } from './apply-plan.ts';
import { type AuditEntry, audited, auditOf } from './audit.ts';
import { checkAccountId, checkOwnLimits, checkPlanCode, checkShards } from './check.ts';
import { changeOwnLimits, type OwnLimitChanges } from './effective-limits.ts';
import { type KeyRecord, readKeyRecord } from './key-view.ts';
import { keyRecordsOf } from './keys.ts';
import { getPlan } from './plan.ts';
import { retryConflicts } from './retry-conflicts.ts';
import { scan } from './scan.ts';
import { readShards } from './shards.ts';

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
