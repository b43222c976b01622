import type { Access, Plan, PlanVersion } from '../../core/accounts/account.ts';
import { accessKey, planKey, planRecord, readAccess, readPlan } from '../../core/accounts/account-item.ts';
import { AdminError, checkLimits, checkPlanCode } from '../../core/accounts/admin/admin-error.ts';
import { type AdminStore, findAccess, readNames, retryConflicts } from '../../core/accounts/admin/admin-store.ts';
import { audited } from '../../core/accounts/admin/audit.ts';
import { forEachConcurrently } from '../../core/concurrency.ts';
import { guardedUpdate } from '../../core/dynamodb.ts';
import {
  applyPlan,
  findPlan,
  type PlanChange,
  type PlanInput,
  readChange,
  requireUnchanged,
  writePlan,
} from './plans.ts';

/**
 * Creates or changes a plan (`active` by default) and returns when the change applies to every account on it;
 * `followed` is how many are on it. Safe to repeat, which completes an interrupted call, as `followPlan` does.
 * @throws AdminError `invalid`, `conflict`
 */
export async function putPlan(store: AdminStore, input: PlanInput): Promise<Plan & { followed: number }> {
  return changePlan(store, input, async (plan) => {
    let followed = 0;
    for (let done = false; !done; ) {
      const progress = await followPlan(store, plan.code);
      done = progress.done;
      followed = Math.max(followed, progress.followed);
    }
    return { ...plan, followed };
  });
}

/**
 * Creates or changes a plan, and returns before its accounts have the change: call `followPlan` until it is done. An
 * account that is made or moved meanwhile has it at once.
 * @throws AdminError `invalid`, `conflict`
 */
export async function beginPlan(store: AdminStore, input: PlanInput): Promise<Plan> {
  return changePlan(store, input, async (plan) => plan);
}

async function changePlan<T>(store: AdminStore, input: PlanInput, then: (plan: Plan) => Promise<T>): Promise<T> {
  checkPlanCode(input.code);
  checkLimits(input.limits ?? {});
  // Refused before an entry in the audit, but for a change at this very moment.
  const before = await findPlan(store, input.code);
  requireUnchanged(input, before);
  const { code, limits, state = 'active' } = input;
  const was = before && { before: { state: before.state, limits: before.limits } };
  const detail = { state, ...(limits && { limits }), ...was };
  const partition = planRecord.partitionKey(code);
  return audited(store, { partition, action: 'plan put', detail }, async () => {
    const { state, limits } = await retryConflicts(() => writePlan(store, input));
    return then({ code, state, limits });
  });
}

/** How far a change has come; `done`: every account on the plan has it. */
export type PlanProgress = PlanChange & { done: boolean };

/** How many accounts are looked at before that is written down, and how many change at once. */
const accountsAtOnce = 1_000;
const concurrency = 16;

/**
 * Brings a change of a plan to the next 1,000 accounts, or `accounts`. What was interrupted goes on from there,
 * also by somebody else, or by several at once.
 * @throws AdminError `invalid`, `not_found`, `conflict`
 */
export async function followPlan(
  store: AdminStore,
  code: string,
  { accounts = accountsAtOnce }: { accounts?: number | undefined } = {},
): Promise<PlanProgress> {
  checkPlanCode(code);
  if (!Number.isInteger(accounts) || accounts < 1) throw new AdminError('invalid', 'Give a whole number of accounts.');
  return retryConflicts(async () => {
    const record = await store.get(planKey(code));
    if (!record) throw new AdminError('not_found', `There is no plan "${code}".`, { subject: 'plan' });
    const change = readChange(record);
    if (!change) return { looked: 0, followed: 0, started: '', actor: '', done: true };
    const plan = readPlan(record);
    const after: string = record[planRecord.after];
    // Strongly consistent reads after the write of the plan: an account that joined before it is seen, and one that
    // joins after it has checked the version of the plan in its own write.
    const { names, cursor } = await readNames(store, 'account', { limit: accounts, cursor: after });
    let { looked, followed } = change;
    looked += names.length;
    await forEachConcurrently(accessItems(store, names), concurrency, async (access) => {
      if (isBehind(access, plan)) await follow(store, access, plan);
      if (access.plan === code) followed++;
    });
    const { change: stored } = record as { change: object };
    const changes =
      cursor === null
        ? { set: {}, remove: [planRecord.change, planRecord.after] }
        : { set: { [planRecord.change]: { ...stored, looked, followed }, [planRecord.after]: cursor }, remove: [] };
    const unchanged = [
      { attribute: planRecord.version, is: '=', value: plan.version },
      { attribute: planRecord.after, is: '=', value: after },
    ] as const;
    await store.update(guardedUpdate(store.table, planKey(code), changes, [...unchanged]));
    return { ...change, looked, followed, done: cursor === null };
  });
}

async function* accessItems(store: AdminStore, names: readonly string[]): AsyncGenerator<Access> {
  for (let first = 0; first < names.length; first += 100) {
    const keys = names.slice(first, first + 100).map((id) => accessKey(id));
    yield* (await store.getAll(keys)).map(readAccess);
  }
}

function isBehind({ plan: code, planVersion }: Access, plan: PlanVersion): boolean {
  return code === plan.code && planVersion < plan.version;
}

/** The account may have left the plan, or have a later version already. */
async function follow(store: AdminStore, seen: Access, plan: PlanVersion): Promise<void> {
  let access: Access | null = seen;
  await retryConflicts(async () => {
    access ??= await findAccess(store, seen.account);
    const current = access;
    access = null; // if the write meets a conflict, the next attempt reads afresh
    if (!current) return;
    await applyPlan(store, current, async (latest) =>
      isBehind(latest, plan) ? { plan, ownLimits: latest.ownLimits } : null,
    );
  });
}
