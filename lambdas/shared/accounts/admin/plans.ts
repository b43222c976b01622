import { TransactWriteCommand } from '@aws-sdk/lib-dynamodb';
import { accountsTable } from '../../tables.ts';
import { accessItem, type PlanState, planRecord } from '../account-item.ts';
import type { Limits } from '../quota.ts';
import {
  type Access,
  accessUpdate,
  changeAccess,
  findAccess,
  findPlan,
  getPlan,
  type Plan,
  type PlanVersion,
  planChanges,
  planKey,
  readAccess,
  readPlan,
  writePlanCommand,
} from './access.ts';
import { type AuditEntry, audited, auditOf } from './audit.ts';
import { checkLimits, checkPlanCode, inWindowOrder } from './limits.ts';
import { mergedShards, reshareItems } from './reshard.ts';
import { AdminError, type AdminStore, retryConflicts, scan } from './updates.ts';

/** What applies to an account: a plan, and limits of its own that go before it. */
export type Terms = { plan: PlanVersion; ownLimits: Limits };

/**
 * Makes an account follow what `termsFor` says of it, over as many shards as `shards` says or as it has. `termsFor` may
 * be asked again about a later state of the account; nothing is written when it has nothing to say. Whether something
 * was; a conflict is for `retryConflicts`.
 */
export async function applyPlan(
  store: AdminStore,
  access: Access,
  termsFor: (access: Access) => Promise<Terms | null>,
  shards?: number,
): Promise<boolean> {
  const terms = await termsFor(access);
  if (!terms) return false;
  if (access.shards === null && (shards ?? 1) === 1) {
    await changeSingle(store, access, terms);
    return true;
  }
  const all = await mergedShards(store, access, shards);
  const [first] = all;
  const latest = await termsFor(first);
  if (!latest) return false;
  const count = shards ?? all.length;
  if (first.shards === null && count === 1) {
    await changeSingle(store, first, latest);
    return true;
  }
  const items = reshareItems(store, all, { count, ...latest });
  const checks = latest.plan.code === first.plan ? [] : [{ ConditionCheck: planIsStill(store, latest.plan) }];
  await store.client.send(new TransactWriteCommand({ TransactItems: [...checks, ...items] }));
  return true;
}

async function changeSingle(store: AdminStore, access: Access, { plan, ownLimits }: Terms): Promise<void> {
  const changes = planChanges(access, plan, ownLimits, store.nowSeconds());
  // An account that stays on its plan is found by a change of the plan at the same time, and so needs no transaction,
  // which could get in the way of a request's charge.
  if (plan.code === access.plan) return changeAccess(store, access, changes);
  const update = accessUpdate(store.table, access, changes);
  await store.client.send(
    new TransactWriteCommand({ TransactItems: [{ ConditionCheck: planIsStill(store, plan) }, { Update: update }] }),
  );
}

/** Fails the transaction when the plan has changed, so that the change can't miss an account that joins it meanwhile. */
export function planIsStill({ table }: AdminStore, { code, version }: PlanVersion) {
  return {
    TableName: table,
    Key: planKey(code),
    ConditionExpression: '#version = :version',
    ExpressionAttributeNames: { '#version': planRecord.version },
    ExpressionAttributeValues: { ':version': version },
  };
}

/**
 * Awaits `work` for each item, `concurrency` at a time. After a failure nothing new begins, what runs is awaited, and
 * then the first failure is thrown.
 */
export async function forEachOf<T>(
  items: AsyncIterable<T>,
  concurrency: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const running = new Set<Promise<void>>();
  const failures: unknown[] = [];
  for await (const item of items) {
    const one: Promise<void> = work(item)
      .catch((error: unknown) => void failures.push(error))
      .finally(() => running.delete(one));
    running.add(one);
    if (running.size >= concurrency) await Promise.race(running);
    if (failures.length > 0) break;
  }
  await Promise.all(running);
  if (failures.length > 0) throw failures[0];
}

/** A plan to make or change. `limits` replaces all windows; without it an existing plan keeps its windows. */
export type PlanInput = { code: string; limits?: Limits; state?: PlanState };

const followers = 16;

/**
 * Makes or changes a plan (`active` unless said otherwise) and returns when every account on it follows. Safe to run
 * again: that finishes one that died halfway. Throws `invalid`, `conflict`.
 */
export async function putPlan(store: AdminStore, input: PlanInput): Promise<Plan & { followed: number }> {
  checkPlanCode(input.code);
  checkLimits(input.limits ?? {});
  const { code, limits, state = 'active' } = input;
  const detail = { state, ...(limits && { limits }) };
  const partition = planRecord.partitionKey(code);
  return audited(store, { partition, action: 'plan put', detail }, () => putAndFollow(store, input));
}

async function putAndFollow(store: AdminStore, input: PlanInput): Promise<Plan & { followed: number }> {
  const plan = await retryConflicts(() => writePlan(store, input));
  // A strongly consistent scan after the write: an account that joined the plan before the write is seen, and one that
  // joins after it has checked the version of the plan in its own write.
  let followed = 0;
  await forEachOf(laggards(store, plan), followers, async (access) => {
    if (await follow(store, access, plan)) followed++;
  });
  const { code, state, limits } = plan;
  return { code, state, limits, followed };
}

/** What was changed of a plan, the newest first. Throws `invalid`, `not_found`. */
export async function auditPlan(store: AdminStore, code: string, last = 100): Promise<AuditEntry[]> {
  checkPlanCode(code);
  await getPlan(store, code);
  return auditOf(store, planRecord.partitionKey(code), last);
}

/** All plans, by code. */
export async function listPlans(store: AdminStore): Promise<Plan[]> {
  const plans: Plan[] = [];
  const records = scan(store, {
    FilterExpression: '#item = :plan',
    ExpressionAttributeNames: { '#item': accountsTable.sortKey },
    ExpressionAttributeValues: { ':plan': planRecord.sortKey },
  });
  for await (const record of records) {
    const { code, state, limits } = readPlan(record);
    plans.push({ code, state, limits });
  }
  return plans.sort((a, b) => (a.code < b.code ? -1 : 1));
}

async function writePlan(store: AdminStore, input: PlanInput): Promise<PlanVersion> {
  const previous = await findPlan(store, input.code);
  const limits = input.limits ?? previous?.limits;
  if (!limits || Object.keys(limits).length === 0) {
    throw new AdminError('invalid', 'A plan has a limit for one window or more, which may be unlimited.');
  }
  const plan: PlanVersion = {
    code: input.code,
    state: input.state ?? 'active',
    limits: inWindowOrder(limits),
    version: (previous?.version ?? 0) + 1,
  };
  await store.client.send(writePlanCommand(store.table, previous, plan));
  return plan;
}

async function* laggards(store: AdminStore, plan: PlanVersion): AsyncGenerator<Access> {
  const items = scan(store, {
    FilterExpression: '#item = :access AND #plan = :code AND #planVersion < :version',
    ExpressionAttributeNames: {
      '#item': accountsTable.sortKey,
      '#plan': accessItem.plan,
      '#planVersion': accessItem.planVersion,
    },
    ExpressionAttributeValues: { ':access': accessItem.sortKey(), ':code': plan.code, ':version': plan.version },
  });
  for await (const item of items) yield readAccess(item);
}

/** Whether this call made the account follow; it may have left the plan, or follow a later version already. */
async function follow(store: AdminStore, seen: Access, plan: PlanVersion): Promise<boolean> {
  let access: Access | null = seen;
  return retryConflicts(async () => {
    access ??= await findAccess(store, seen.account);
    const current = access;
    access = null; // should the write meet a conflict, the next attempt reads afresh
    if (!current) return false;
    return applyPlan(store, current, async ({ plan: code, planVersion, ownLimits }) =>
      code === plan.code && planVersion < plan.version ? { plan, ownLimits } : null,
    );
  });
}
