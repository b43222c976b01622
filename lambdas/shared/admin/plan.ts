import { GetCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import type { Limits } from '../domain/window.ts';
import { type PlanState, planRecord } from '../store/access-item.ts';
import { accountsTable } from '../tables.ts';
import { AdminError } from './admin-error.ts';
import type { AdminStore } from './admin-store.ts';
import { inWindowOrder } from './effective-limits.ts';
import { updateChanges } from './update-changes.ts';

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
