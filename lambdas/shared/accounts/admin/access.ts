import { GetCommand, UpdateCommand, type UpdateCommandInput } from '@aws-sdk/lib-dynamodb';
import { accountsTable } from '../../tables.ts';
import { type AccountState, accessItem, type PlanState, planRecord } from '../account-item.ts';
import { type Limits, windowNames } from '../quota.ts';
import { inWindowOrder, windowChanges } from './limits.ts';
import { AdminError, type AdminStore, type Changes, type Guard, guardedUpdate, updateChanges } from './updates.ts';

/** A plan: the limits of each window that it configures, for all accounts on it. */
export type Plan = { code: string; state: PlanState; limits: Limits };

/** A plan as its record holds it; each change makes a new version, and accounts note the version they follow. */
export type PlanVersion = Plan & { version: number };

/** The key of a plan's record. */
export function planKey(code: string): Record<string, string> {
  return { [accountsTable.partitionKey]: planRecord.partitionKey(code), [accountsTable.sortKey]: planRecord.sortKey };
}

/** The plan of a record. */
export function readPlan(record: Record<string, unknown>): PlanVersion {
  return {
    code: String(record[accountsTable.partitionKey]).slice(planRecord.partitionKey('').length),
    state: record[planRecord.state] as PlanState,
    limits: inWindowOrder(record[planRecord.limits] as Limits),
    version: record[planRecord.version] as number,
  };
}

/** The plan as it is now, or `null`. */
export async function findPlan({ client, table }: AdminStore, code: string): Promise<PlanVersion | null> {
  const { Item } = await client.send(new GetCommand({ TableName: table, Key: planKey(code), ConsistentRead: true }));
  return Item ? readPlan(Item) : null;
}

/** The plan as it is now; throws `not_found`. */
export async function getPlan(store: AdminStore, code: string): Promise<PlanVersion> {
  const plan = await findPlan(store, code);
  if (!plan) throw new AdminError('not_found', `There is no plan "${code}"; make it with "plan put".`);
  return plan;
}

/** Writes `plan` as the version after `previous`, provided that this is still the current one. */
export function writePlanCommand(table: string, previous: PlanVersion | null, plan: PlanVersion): UpdateCommand {
  const { names, values, UpdateExpression } = updateChanges({
    set: {
      [planRecord.limits]: plan.limits,
      [planRecord.state]: plan.state,
      [planRecord.version]: plan.version,
    },
    remove: [],
  });
  return new UpdateCommand({
    TableName: table,
    Key: planKey(plan.code),
    UpdateExpression,
    ConditionExpression: previous ? '#version = :previous' : 'attribute_not_exists(#version)',
    ExpressionAttributeNames: names,
    ExpressionAttributeValues: previous ? { ...values, ':previous': previous.version } : values,
  });
}

/** An access item as the admin module sees it: what a request is charged on, or one of several such quota shards. */
export type Access = {
  account: string;
  shard: number;
  /** How many shards take requests; `null` for an account that has one item and nothing to share. */
  shards: number | null;
  state: AccountState;
  plan: string;
  planState: PlanState;
  planVersion: number;
  keys: Record<string, Uint8Array>;
  ownLimits: Limits;
  version: number;
  created: number;
  /** By window; a member for each window that the plan configures. */
  starts: Limits;
  used: Limits;
  /** Effective, or this shard's share of it; a window without a member is unlimited. */
  limits: Limits;
  /** Effective limits, where they are shared. */
  totals: Limits;
  /** How often shares moved from or to this shard. */
  moves: number;
};

/** The key of the item that the requests of `account` are charged on, or of one of several; shard 0 is always there. */
export function accessKey(account: string, shard = 0): Record<string, string> {
  return { [accountsTable.partitionKey]: account, [accountsTable.sortKey]: accessItem.sortKey(shard) };
}

/** Reads an item laid out as `access-item.ts` says. */
export function readAccess(item: Record<string, unknown>): Access {
  const perWindow = (attribute: (typeof accessItem)['start']): Limits =>
    Object.fromEntries(windowNames.map((window) => [window, item[attribute(window)] as number | undefined]));
  return {
    account: item[accountsTable.partitionKey] as string,
    shard: Number(String(item[accountsTable.sortKey]).slice(accessItem.sortKeyPrefix.length)),
    shards: (item[accessItem.shards] as number | undefined) ?? null,
    state: item[accessItem.state] as AccountState,
    plan: item[accessItem.plan] as string,
    planState: item[accessItem.planState] as PlanState,
    planVersion: item[accessItem.planVersion] as number,
    keys: item[accessItem.keys] as Record<string, Uint8Array>,
    ownLimits: inWindowOrder(item[accessItem.ownLimits] as Limits),
    version: item[accessItem.version] as number,
    created: item[accessItem.created] as number,
    starts: perWindow(accessItem.start),
    used: perWindow(accessItem.used),
    limits: perWindow(accessItem.limit),
    totals: perWindow(accessItem.total),
    moves: (item[accessItem.moves] as number | undefined) ?? 0,
  };
}

/** The access item as it is now, or `null`. */
export async function findAccess({ client, table }: AdminStore, account: string): Promise<Access | null> {
  const get = new GetCommand({ TableName: table, Key: accessKey(account), ConsistentRead: true });
  const { Item } = await client.send(get);
  return Item ? readAccess(Item) : null;
}

/** The access item as it is now; throws `not_found`. */
export async function getAccess(store: AdminStore, account: string): Promise<Access> {
  const access = await findAccess(store, account);
  if (!access) throw new AdminError('not_found', `There is no account "${account}"; make it with "account create".`);
  return access;
}

/** A new account's access item: active, without keys. */
export function newAccessItem(
  account: string,
  plan: PlanVersion,
  ownLimits: Limits,
  nowSeconds: number,
): Record<string, unknown> {
  return {
    ...accessKey(account),
    [accessItem.state]: 'active' satisfies AccountState,
    [accessItem.keys]: {},
    [accessItem.created]: nowSeconds,
    [accessItem.version]: 1,
    ...planChanges({ starts: {} }, plan, ownLimits, nowSeconds).set,
  };
}

/** What changes in an access item when `plan` and `ownLimits` apply to it. */
export function planChanges(
  { starts }: Pick<Access, 'starts'>,
  plan: PlanVersion,
  ownLimits: Limits,
  nowSeconds: number,
): Changes {
  const windows = windowChanges(starts, plan.limits, ownLimits, nowSeconds);
  return { set: { ...planAttributes(plan, ownLimits), ...windows.set }, remove: windows.remove };
}

/** What an access item says of the plan, beside its windows. */
export function planAttributes(plan: PlanVersion, ownLimits: Limits): Record<string, unknown> {
  return {
    [accessItem.plan]: plan.code,
    [accessItem.planState]: plan.state,
    [accessItem.planVersion]: plan.version,
    [accessItem.ownLimits]: ownLimits,
  };
}

/**
 * The update that makes `changes`, provided that no other admin change came after `access` was read. Requests that are
 * charged at the same time don't count as one and keep all that they write.
 */
export function accessUpdate(table: string, access: Access, changes: Changes) {
  const next = { ...changes, set: { ...changes.set, [accessItem.version]: access.version + 1 } };
  return guardedUpdate(table, accessKey(access.account, access.shard), next, [
    isStill(access),
  ]) satisfies UpdateCommandInput;
}

/** Holds as long as no other admin change came after `access` was read. */
export function isStill({ version }: Access): Guard {
  return { attribute: accessItem.version, is: '=', value: version };
}

/** Sends the update of `accessUpdate`; a conflict is for `retryConflicts`. */
export async function changeAccess({ client, table }: AdminStore, access: Access, changes: Changes): Promise<void> {
  await client.send(new UpdateCommand(accessUpdate(table, access, changes)));
}
