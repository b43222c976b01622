import { TransactWriteCommand } from '@aws-sdk/lib-dynamodb';
import { type AccountState, accessItem, keyRecord, planRecord } from '../store/access-item.ts';
import { accountsTable } from '../tables.ts';
import {
  type Access,
  accessUpdate,
  changeAccess,
  findAccess,
  getAccess,
  newAccessItem,
  planChanges,
  readAccess,
} from './access.ts';
import { type AccountView, viewAccount } from './account-view.ts';
import { AdminError } from './admin-error.ts';
import type { AdminStore } from './admin-store.ts';
import { type AuditEntry, audited, auditOf } from './audit.ts';
import { checkAccountId, checkOwnLimits, checkPlanCode } from './check.ts';
import { changeOwnLimits, type OwnLimitChanges } from './effective-limits.ts';
import { type KeyRecord, readKeyRecord } from './key-view.ts';
import { keyRecordsOf } from './keys.ts';
import { getPlan, type PlanVersion, planKey } from './plan.ts';
import { retryConflicts } from './retry-conflicts.ts';
import { scan } from './scan.ts';

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
  return viewAccount(readAccess(item), [], store.nowSeconds());
}

/**
 * Moves an account to a plan, or changes its own limits, or both; `plan` gives a window's limit back to the plan. What
 * was used of a window stays used. Throws `invalid`, `not_found`, `conflict`.
 */
export async function setAccount(
  store: AdminStore,
  { id, plan: code, limits = {} }: { id: string; plan?: string; limits?: OwnLimitChanges },
): Promise<AccountView> {
  checkAccountId(id);
  if (code !== undefined) checkPlanCode(code);
  checkOwnLimits(limits);
  const change = {
    partition: id,
    action: 'account set',
    detail: { ...(code !== undefined && { plan: code }), limits },
  };
  await audited(store, change, () => retryConflicts(() => trySet(store, { id, plan: code, limits })));
  return showAccount(store, id);
}

async function trySet(
  store: AdminStore,
  { id, plan: code, limits }: { id: string; plan: string | undefined; limits: OwnLimitChanges },
): Promise<void> {
  const access = await getAccess(store, id);
  const plan = await getPlan(store, code ?? access.plan);
  const ownLimits = changeOwnLimits(access.ownLimits, limits, plan);
  const changes = planChanges(access, plan, ownLimits, store.nowSeconds());
  // An account that stays on its plan is found by a change of the plan at the same time, and so needs no transaction,
  // which could get in the way of a request's charge.
  if (plan.code === access.plan) return changeAccess(store, access, changes);
  const update = accessUpdate(store.table, access, changes);
  await store.client.send(
    new TransactWriteCommand({ TransactItems: [{ ConditionCheck: planIsStill(store, plan) }, { Update: update }] }),
  );
}

/** Suspends or activates an account; its next request finds out. Throws `invalid`, `not_found`, `conflict`. */
export async function setAccountState(store: AdminStore, id: string, state: AccountState): Promise<AccountView> {
  checkAccountId(id);
  const action = state === 'suspended' ? 'account suspend' : 'account activate';
  await audited(store, { partition: id, action, detail: {} }, () =>
    retryConflicts(async () => {
      const access = await getAccess(store, id);
      if (access.state !== state) await changeAccess(store, access, { set: { [accessItem.state]: state }, remove: [] });
    }),
  );
  return showAccount(store, id);
}

/** An account as of now. Throws `invalid`, `not_found`. */
export async function showAccount(store: AdminStore, id: string): Promise<AccountView> {
  checkAccountId(id);
  const access = await getAccess(store, id);
  return viewAccount(access, await keyRecordsOf(store, id), store.nowSeconds());
}

/** What was changed of an account and its keys, the newest first; a plan's changes are in the plan's. Throws `invalid`, `not_found`. */
export async function auditAccount(store: AdminStore, id: string, last = 100): Promise<AuditEntry[]> {
  checkAccountId(id);
  await getAccess(store, id);
  return auditOf(store, id, last);
}

/** All accounts as of now, by id. */
export async function listAccounts(store: AdminStore): Promise<AccountView[]> {
  const accounts: Access[] = [];
  const records = new Map<string, KeyRecord[]>();
  const items = scan(store, {
    FilterExpression: 'begins_with(#item, :access) OR begins_with(#item, :key)',
    ExpressionAttributeNames: { '#item': accountsTable.sortKey },
    ExpressionAttributeValues: { ':access': accessItem.sortKey(), ':key': keyRecord.sortKey('') },
  });
  for await (const item of items) {
    const account = item[accountsTable.partitionKey] as string;
    if (item[accountsTable.sortKey] === accessItem.sortKey()) accounts.push(readAccess(item));
    else records.set(account, [...(records.get(account) ?? []), readKeyRecord(item)]);
  }
  return accounts
    .map((access) => viewAccount(access, records.get(access.account) ?? [], store.nowSeconds()))
    .sort((a, b) => (a.id < b.id ? -1 : 1));
}

/** Fails the transaction when the plan has changed, so that the change can't miss an account that joins it meanwhile. */
function planIsStill({ table }: AdminStore, { code, version }: PlanVersion) {
  return {
    TableName: table,
    Key: planKey(code),
    ConditionExpression: '#version = :version',
    ExpressionAttributeNames: { '#version': planRecord.version },
    ExpressionAttributeValues: { ':version': version },
  };
}
