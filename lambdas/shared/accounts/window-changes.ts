import type { Access, Plan } from './account.ts';
import { accessItem } from './account-item.ts';
import { AdminError } from './admin-error.ts';
import type { Changes, Guard } from './admin-store.ts';
import { inWindowOrder, type Limits, type QuotaState, type WindowName, windowNames, windowStart } from './quota.ts';

/** Own limits to set, by window; `'plan'` makes the window follow the plan again. */
export type OwnLimitChanges = Partial<Record<WindowName, number | null | 'plan'>>;

/**
 * The account's own limits after `changes`. Throws `invalid` for a window that the plan does not configure. An own limit
 * that a later plan does not configure is kept, without effect, until a plan configures its window again.
 */
export function changeOwnLimits(own: Limits, changes: OwnLimitChanges, plan: Plan): Limits {
  const changed: Limits = { ...own };
  for (const window of windowNames) {
    const limit = changes[window];
    if (limit === undefined) continue;
    if (limit === 'plan') delete changed[window];
    else if (plan.limits[window] === undefined) throw notConfigured(window, plan);
    else changed[window] = limit;
  }
  return inWindowOrder(changed);
}

function notConfigured(window: WindowName, plan: Plan): AdminError {
  const has = Object.keys(plan.limits).join(', ');
  return new AdminError(
    'invalid',
    `Plan "${plan.code}" does not configure the window "${window}" (it has ${has}), so an account on it can't have its ` +
      'own limit there. Add the window to the plan, as unlimited if need be, or leave it out.',
  );
}

/** The limit in force: `null` is unlimited, `undefined` is not configured. */
export function effectiveLimit(window: WindowName, planLimits: Limits, own: Limits): number | null | undefined {
  return planLimits[window] === undefined || own[window] === undefined ? planLimits[window] : own[window];
}

/**
 * What changes in an access item with the windows `quota` when `planLimits` and `own` apply to it. A window that stays
 * configured keeps its start and count, which belong to the requests; a new one starts now, at 0.
 */
export function windowChanges(quota: QuotaState, planLimits: Limits, own: Limits, atSeconds: number): Changes {
  const changes: Changes = { set: {}, remove: [] };
  for (const window of windowNames) {
    const limit = effectiveLimit(window, planLimits, own);
    if (limit === undefined) {
      changes.remove.push(accessItem.start(window), accessItem.limit(window));
      continue;
    }
    if (limit === null) changes.remove.push(accessItem.limit(window));
    else changes.set[accessItem.limit(window)] = limit;
    if (!quota[window]) {
      changes.set[accessItem.start(window)] = windowStart(window, atSeconds);
      changes.set[accessItem.used(window)] = 0;
    }
  }
  return changes;
}

/**
 * Divides `total` over shards that have used so much of it already. The shares add up to `total` exactly. As long as the
 * account has used no more than that, each shard keeps what it used and gets an even part of the rest; else none has any
 * left, and each gets about its part of the use.
 */
export function apportion(total: number, used: readonly number[]): number[] {
  const sum = used.reduce((a, b) => a + b, 0);
  if (sum <= total) {
    const rest = total - sum;
    const even = Math.floor(rest / used.length);
    return used.map((units, i) => units + even + (i < rest % used.length ? 1 : 0));
  }
  let left = total;
  const shares = used.map((units) => {
    const share = Math.min(left, Math.floor(units * (total / sum)));
    left -= share;
    return share;
  });
  return shares.map((share, i) => {
    const more = Math.min(left, (used[i] ?? 0) - share);
    left -= more;
    return share + more;
  });
}

export type GuardedChanges = { changes: Changes; guards: Guard[] };

/**
 * What changes in the windows of each of `count` shards, the first of which are `shards`, when `planLimits` and `own`
 * apply to the account: the shares of a limit add up to it, and what was used stays used. Requests may be counted while
 * this is written: the guards hold as long as no window rolls and no shard uses more than its new share.
 */
export function shareWindows(
  shards: readonly Access[],
  count: number,
  planLimits: Limits,
  own: Limits,
  atSeconds: number,
): GuardedChanges[] {
  const all = Array.from({ length: count }, (): GuardedChanges => ({ changes: { set: {}, remove: [] }, guards: [] }));
  for (const window of windowNames) {
    const limit = effectiveLimit(window, planLimits, own);
    const counts = countsOf(shards, count, window, windowStart(window, atSeconds));
    const used = counts.map((count) => count.used);
    const shares = typeof limit === 'number' ? apportion(limit, used) : [];
    const isLeft = typeof limit === 'number' && used.reduce((sum, units) => sum + units, 0) <= limit;
    for (const [i, { changes, guards }] of all.entries()) {
      const { start, used, seen } = counts[i] as ShardCount;
      changes.remove.push(accessItem.exhausted(window));
      if (typeof limit === 'number') {
        const share = shares[i] as number;
        changes.set[accessItem.limit(window)] = share;
        changes.set[accessItem.total(window)] = limit;
        if (seen !== undefined) guards.push({ attribute: accessItem.start(window), is: '=', value: seen });
        if (isLeft && seen === start) guards.push({ attribute: accessItem.used(window), is: '<=', value: share });
      } else {
        changes.remove.push(accessItem.limit(window), accessItem.total(window));
      }
      if (limit === undefined) changes.remove.push(accessItem.start(window));
      else if (seen === undefined || (seen < start && limit !== null)) {
        changes.set[accessItem.start(window)] = start;
        changes.set[accessItem.used(window)] = used;
      }
    }
  }
  return all;
}

/** `seen` is the start that the shard was read with; `start` and `used` are those of the account's current window. */
type ShardCount = { start: number; used: number; seen: number | undefined };

/**
 * The account is in the latest window that any of its shards has begun: the clock of this process does not matter, and
 * no share may go back into a window before one that it was used in.
 */
function countsOf(shards: readonly Access[], count: number, window: WindowName, otherwise: number): ShardCount[] {
  const starts = shards.flatMap(({ quota }) => quota[window]?.start ?? []);
  const start = starts.length > 0 ? Math.max(...starts) : otherwise;
  return Array.from({ length: count }, (_, i) => {
    const seen = shards[i]?.quota[window];
    return { start, seen: seen?.start, used: seen?.start === start ? seen.used : 0 };
  });
}

/**
 * What changes in the windows of `target` when it takes in `closed`, which requests no longer charge: their shares, and
 * what they used of the current window. Where starts differ, the latest window is the current one; what was used of an
 * earlier window is past. `target` may be charged while this is written: the guards hold as long as no window rolls.
 */
export function mergeWindows(target: Access, closed: readonly Access[]): GuardedChanges {
  const set: Record<string, number> = {};
  const raise: Record<string, number> = {};
  const guards: Guard[] = [];
  for (const window of windowNames) {
    const seen = target.quota[window];
    if (!seen || closed.length === 0) continue;
    const merged = closed.flatMap(({ quota }) => quota[window] ?? []);
    const start = Math.max(seen.start, ...merged.map((count) => count.start));
    const used = sum(merged.filter((count) => count.start === start).map((count) => count.used));
    guards.push({ attribute: accessItem.start(window), is: '=', value: seen.start });
    if (start === seen.start) raise[accessItem.used(window)] = used;
    else {
      set[accessItem.start(window)] = start;
      set[accessItem.used(window)] = used;
    }
    if (seen.limit !== null) raise[accessItem.limit(window)] = sum(merged.map(({ limit }) => limit ?? 0));
  }
  return { changes: { set, raise, remove: [] }, guards };
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
