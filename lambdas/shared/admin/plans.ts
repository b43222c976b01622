import type { Limits } from '../domain/window.ts';
import { accessItem, type PlanState, planRecord } from '../store/access-item.ts';
import { accountsTable } from '../tables.ts';
import { type Access, findAccess, readAccess } from './access.ts';
import { AdminError } from './admin-error.ts';
import type { AdminStore } from './admin-store.ts';
import { applyPlan } from './apply-plan.ts';
import { type AuditEntry, audited, auditOf } from './audit.ts';
import { checkLimits, checkPlanCode } from './check.ts';
import { inWindowOrder } from './effective-limits.ts';
import { forEachOf } from './for-each-of.ts';
import { findPlan, getPlan, type Plan, type PlanVersion, readPlan, writePlanCommand } from './plan.ts';
import { retryConflicts } from './retry-conflicts.ts';
import { scan } from './scan.ts';

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
