import type {
  Access,
  Plan,
  PlanState,
  PlanVersion,
  Terms,
} from '../../../core/accounts/account.ts';
import {
  planKey,
  planRecord,
  readPlan,
  termsChanges,
} from '../../../core/accounts/account-item.ts';
import type { Limits } from '../../../core/accounts/quota.ts';
import { instant, inWindowOrder, type WindowName, windowNames } from '../../../core/calendar.ts';
import { forEachConcurrently } from '../../../core/concurrency.ts';
import {
  guardExpression,
  guardedUpdate,
  type Item,
  isStill,
  type Update,
} from '../../../core/dynamodb.ts';
import { AdminError, type OwnLimitChanges } from './admin-error.ts';
import {
  type AdminStore,
  accessUpdate,
  addToIndex,
  findAccess,
  findAccessOf,
  type PageOptions,
  readNames,
  retryConflicts,
  type Write,
} from './admin-store.ts';
import { audited } from './audit-log.ts';
import { planFromNow } from './plan-history.ts';
import { searchWrite } from './search.ts';

/** A change of a plan that has not reached all of its accounts yet. */
export type PlanChange = {
  /** How many accounts of the service were looked at, and how many of the plan have the change. */
  looked: number;
  followed: number;
  /** An ISO 8601 instant. */
  started: string;
  actor: string;
};

/** `started` in seconds since 1970. */
type StoredChange = Omit<PlanChange, 'started'> & { started: number };

export function readChange(record: Item): PlanChange | undefined {
  const change: StoredChange | undefined = record[planRecord.change];
  return change && { ...change, started: instant(change.started) };
}

/**
 * A plan to create or change. `limits` replaces all windows; without it an existing plan keeps its
 * windows.
 */
export type PlanInput = {
  code: string;
  limits?: Limits | undefined;
  state?: PlanState | undefined;
  /**
   * The plan that the caller saw, `null` if none existed; throws `conflict` if it has changed
   * since.
   */
  seen?: Pick<Plan, 'limits' | 'state'> | null | undefined;
};

/** Writes a plan and that its accounts are to follow; `followPlan` lets them. */
export async function writePlan(store: AdminStore, input: PlanInput): Promise<PlanVersion> {
  const previous = await findPlan(store, input.code);
  requireUnchanged(input, previous);
  const limits = input.limits ?? previous?.limits;
  if (!limits || Object.keys(limits).length === 0) {
    throw new AdminError(
      'invalid',
      'A plan needs a limit for at least one window; the limit may be unlimited.',
    );
  }
  const plan: PlanVersion = {
    code: input.code,
    state: input.state ?? 'active',
    limits: inWindowOrder(limits),
    version: (previous?.version ?? 0) + 1,
  };
  const index = previous ? [] : [addToIndex(store.table, 'plan', plan.code)];
  await store.writeAll([{ Update: planUpdate(store, previous, plan) }, ...index]);
  return plan;
}

export function requireUnchanged({ code, seen }: PlanInput, now: Plan | null): void {
  if (seen === undefined) return;
  const hasSameLimits = windowNames.every((window) => now?.limits[window] === seen?.limits[window]);
  if (now?.state === seen?.state && hasSameLimits) return;
  const what = seen === null ? 'was made' : 'was changed';
  throw new AdminError(
    'conflict',
    `Plan "${code}" ${what} meanwhile. Look at it again, then repeat the change.`,
  );
}

/** Writes `plan` as the version after `previous`, provided that this is still the current one. */
function planUpdate(
  { table, actor, nowSeconds }: AdminStore,
  previous: PlanVersion | null,
  plan: PlanVersion,
): Update {
  const set = {
    [planRecord.limits]: plan.limits,
    [planRecord.state]: plan.state,
    [planRecord.version]: plan.version,
    // Nobody is on a new plan yet.
    ...(previous && {
      [planRecord.change]: {
        looked: 0,
        followed: 0,
        started: nowSeconds(),
        actor,
      } satisfies StoredChange,
      [planRecord.after]: '-',
    }),
  };
  return guardedUpdate(table, planKey(plan.code), { set }, [
    isStill(planRecord.version, previous?.version),
  ]);
}

/**
 * Applies a plan and own limits to an account as it was read; a conflict is for `retryConflicts`.
 */
export async function applyTerms(store: AdminStore, access: Access, terms: Terms): Promise<void> {
  const Update = accessUpdate(store.table, access, termsChanges(terms));
  await store.writeAll([...(await joinWrites(store, access, terms)), { Update }]);
}

/**
 * An account that stays on its plan is found by a concurrent change of the plan, and so needs no
 * check of it.
 */
async function joinWrites(
  store: AdminStore,
  { account, plan: from }: Access,
  { plan }: Terms,
): Promise<Write[]> {
  if (plan.code === from) return [];
  return [
    { ConditionCheck: planIsUnchanged(store, plan) },
    { Update: await planFromNow(store, account, plan.code) },
    searchWrite(store, account, { plan: plan.code }),
  ];
}

/**
 * Keeps own limits that a later plan lacks. @throws AdminError `invalid` if the plan lacks a
 * changed limit
 */
export function changeOwnLimits(own: Limits, changes: OwnLimitChanges, plan: Plan): Limits {
  const changed: Limits = { ...own };
  for (const window of windowNames) {
    const limit = changes[window];
    if (limit === undefined) continue;
    if (limit === 'plan') delete changed[window];
    else if (plan.limits[window] === undefined) throw notConfigured(window, plan);
    else {
      changed[window] = limit;
    }
  }
  return inWindowOrder(changed);
}

function notConfigured(window: WindowName, plan: Plan): AdminError {
  const has = Object.keys(plan.limits).join(', ');
  return new AdminError(
    'invalid',
    `Plan "${plan.code}" does not configure the window "${window}" (it has ${has}), so an account on it can't have its ` +
      'own limit there. Add the window to the plan, as unlimited if necessary, or leave it out.',
  );
}

/**
 * Fails the transaction if the plan has changed, so that a plan change can't miss an account that
 * joins it.
 */
export function planIsUnchanged({ table }: AdminStore, { code, version }: PlanVersion) {
  return {
    TableName: table,
    Key: planKey(code),
    ...guardExpression([isStill(planRecord.version, version)]),
  };
}

/** The plan as it is now; throws `not_found`. */
export async function getPlan(store: AdminStore, code: string): Promise<PlanVersion> {
  const plan = await findPlan(store, code);
  if (!plan) throw new AdminError('not_found', `There is no plan "${code}".`, { subject: 'plan' });
  return plan;
}

export async function findPlan(store: AdminStore, code: string): Promise<PlanVersion | null> {
  const record = await store.get(planKey(code));
  return record ? readPlan(record) : null;
}

/** The partition of the audit of a plan that exists. @throws AdminError `invalid`, `not_found` */
export async function auditPartitionOfPlan(store: AdminStore, code: string): Promise<string> {
  await getPlan(store, code);
  return planRecord.partitionKey(code);
}

/** A page of plans; `cursor` starts the next page and is `null` on the last page. */
export type PlanPage = { plans: (Plan & { change?: PlanChange })[]; cursor: string | null };

/** A page of the plans as of now, by code. @throws AdminError `invalid` */
export async function listPlans(store: AdminStore, options: PageOptions = {}): Promise<PlanPage> {
  const { names, cursor } = await readNames(store, 'plan', options);
  const records = await store.getAll(names.map(planKey));
  const plans = records.map((record) => {
    const { code, state, limits } = readPlan(record);
    const change = readChange(record);
    return { code, state, limits, ...(change && { change }) };
  });
  return { plans: names.flatMap((name) => plans.find(({ code }) => code === name) ?? []), cursor };
}

/**
 * Creates or changes a plan (`active` by default) and returns when the change applies to every
 * account on it; `followed` is how many are on it. Safe to repeat, which completes an interrupted
 * call, as `followPlan` does.
 * @throws AdminError `invalid`, `conflict`
 */
export async function putPlan(
  store: AdminStore,
  input: PlanInput,
): Promise<Plan & { followed: number }> {
  const plan = await beginPlan(store, input);
  for (let followed = 0; ; ) {
    const progress = await followPlan(store, plan.code);
    followed = Math.max(followed, progress.followed);
    if (progress.done) return { ...plan, followed };
  }
}

/**
 * Creates or changes a plan, and returns before its accounts have the change: call `followPlan`
 * until it is done. An account that is made or moved meanwhile has it at once.
 * @throws AdminError `invalid`, `conflict`
 */
export async function beginPlan(store: AdminStore, input: PlanInput): Promise<Plan> {
  // Refused before an entry in the audit, but for a change at this very moment.
  const before = await findPlan(store, input.code);
  requireUnchanged(input, before);
  const { code, limits, state = 'active' } = input;
  const was = before && { before: { state: before.state, limits: before.limits } };
  const detail = { state, ...(limits && { limits }), ...was };
  const partition = planRecord.partitionKey(code);
  return audited(store, { partition, action: 'plan put', detail }, async () => {
    const { state, limits } = await retryConflicts(() => writePlan(store, input));
    return { code, state, limits };
  });
}

/** How far a change has come; `done`: every account on the plan has it. */
export type PlanProgress = PlanChange & { done: boolean };

/** How many accounts are looked at before that is written down, and how many change at once. */
const accountsAtOnce = 1_000;
const concurrency = 16;

/**
 * Brings a change of a plan to the next 1,000 accounts, or `accounts`. An interrupted change
 * continues from there; another caller, or several at once, may continue it.
 * @throws AdminError `invalid`, `not_found`, `conflict`
 */
export async function followPlan(
  store: AdminStore,
  code: string,
  options: { accounts?: number | undefined } = {},
): Promise<PlanProgress> {
  const { accounts = accountsAtOnce } = options;
  if (!Number.isInteger(accounts) || accounts < 1) {
    throw new AdminError('invalid', 'Give a whole number of accounts.');
  }
  return retryConflicts(async () => {
    const record = await store.get(planKey(code));
    if (!record) {
      throw new AdminError('not_found', `There is no plan "${code}".`, { subject: 'plan' });
    }
    const change = readChange(record);
    if (!change) return { looked: 0, followed: 0, started: '', actor: '', done: true };
    const plan = readPlan(record);
    const after: string = record[planRecord.after];
    // Strongly consistent reads after the write of the plan: they see an account that joined before
    // it, and an account that joins later checks the plan's version in its own write.
    const { names, cursor } = await readNames(store, 'account', { limit: accounts, cursor: after });
    let { looked, followed } = change;
    looked += names.length;
    await forEachConcurrently(await findAccessOf(store, names), concurrency, async (access) => {
      if (isBehind(access, plan)) await follow(store, access, plan);
      if (access.plan === code) followed++;
    });
    const { change: stored } = record as { change: object };
    const changes =
      cursor === null
        ? { set: {}, remove: [planRecord.change, planRecord.after] }
        : {
            set: {
              [planRecord.change]: { ...stored, looked, followed },
              [planRecord.after]: cursor,
            },
          };
    const unchanged = [isStill(planRecord.version, plan.version), isStill(planRecord.after, after)];
    await store.update(guardedUpdate(store.table, planKey(code), changes, unchanged));
    return { ...change, looked, followed, done: cursor === null };
  });
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
    if (!current || !isBehind(current, plan)) return;
    await applyTerms(store, current, { plan, ownLimits: current.ownLimits });
  });
}
