import type { Access, Plan } from '../../../core/accounts/account.ts';
import { windowItem } from '../../../core/accounts/account-item.ts';
import type { Limits } from '../../../core/accounts/quota.ts';
import { inWindowOrder, type WindowName, windowNames, windowStart } from '../../../core/calendar.ts';
import type { Changes, Guard } from '../../../core/dynamodb.ts';
import { AdminError } from './admin-error.ts';

/** Own limits to set, by window; `'plan'` removes the own limit. */
export type OwnLimitChanges = Partial<Record<WindowName, number | null | 'plan'>>;

/** Keeps one that a later plan does not configure. @throws AdminError `invalid` for one that the plan does not */
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
      'own limit there. Add the window to the plan, as unlimited if necessary, or leave it out.',
  );
}

/** The limit in force: `null` is unlimited, `undefined` is not configured. */
function effectiveLimit(window: WindowName, planLimits: Limits, own: Limits): number | null | undefined {
  return planLimits[window] === undefined || own[window] === undefined ? planLimits[window] : own[window];
}

/** Changes of an item, and what must hold for them. */
export type GuardedChanges = { changes: WindowChanges; guards: Guard[] };

type Seen = Pick<Access, 'quota' | 'dropped'>;

type WindowChanges = Required<Omit<Changes, 'keep'>>;

/** No changes. */
export function noItemChanges(): GuardedChanges {
  return { changes: { set: {}, raise: {}, copy: {}, remove: [] }, guards: [] };
}

/**
 * The changes of the windows of an unsharded account when `planLimits` and `own` apply to it. A window that stays
 * configured keeps its start and count, which only requests change. So does one that is configured again before it has
 * passed: leaving a plan and returning to it gives no extra quota. Any other window starts now, at 0.
 */
export function windowChanges(access: Seen, planLimits: Limits, own: Limits, atSeconds: number): GuardedChanges {
  const made = noItemChanges();
  const { set, remove } = made.changes;
  for (const window of windowNames) {
    const limit = effectiveLimit(window, planLimits, own);
    const count = countOf(access, window);
    const current = windowStart(window, atSeconds);
    if (limit === undefined) {
      if (access.quota[window]) dropWindow(made, window, count as SeenCount, Math.max(current, count?.start ?? 0));
      continue;
    }
    if (limit === null) remove.push(windowItem[window].limit);
    else set[windowItem[window].limit] = limit;
    if (!access.quota[window]) startWindow(made, window, count, Math.max(current, count?.start ?? 0));
  }
  return made;
}

/** The count of a window, configured or dropped, as it was read: `attribute` is the one that holds its start. */
type SeenCount = { start: number; used: number; attribute: string };

function countOf(access: Seen | undefined, window: WindowName): SeenCount | undefined {
  const configured = access?.quota[window];
  if (access && configured) return { ...configured, attribute: windowItem[window].start };
  const dropped = access?.dropped[window];
  return access && dropped && { ...dropped, attribute: windowItem[window].dropped };
}

/** Drops a window from the limits, at `start`; requests continue to count in it. */
function dropWindow({ changes, guards }: GuardedChanges, window: WindowName, seen: SeenCount, start: number): void {
  changes.remove.push(windowItem[window].start, windowItem[window].limit);
  if (seen.start === start) {
    // Not the start that was read: a request may have rolled the window since.
    changes.copy[windowItem[window].dropped] = windowItem[window].start;
    return;
  }
  changes.set[windowItem[window].dropped] = start;
  changes.set[windowItem[window].used] = 0;
  guards.push({ attribute: windowItem[window].start, is: '=', value: seen.start });
}

/** Limits a window from `start`, with the count that it kept while it was dropped. */
function startWindow(
  { changes }: GuardedChanges,
  window: WindowName,
  seen: SeenCount | undefined,
  start: number,
): void {
  if (seen) changes.remove.push(windowItem[window].dropped);
  if (seen?.start === start) {
    changes.copy[windowItem[window].start] = windowItem[window].dropped;
    return;
  }
  changes.set[windowItem[window].start] = start;
  changes.set[windowItem[window].used] = 0;
}

/**
 * Divides `total` over shards that have used so much of it already. The shares add up to `total` exactly. As long as
 * the account has used no more than that, each shard keeps what it used and gets an even part of the rest; else none
 * has any left, and each gets about its part of the use.
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

/**
 * The changes of the windows of each of `count` shards, the first of which are `shards`, when `planLimits` and `own`
 * apply to the account. The shares of a limit add up to it, and what was used stays used. Requests may be counted while
 * this is written: the guards hold as long as no window rolls and no shard uses more than its new share.
 */
export function shareWindows(
  shards: readonly Access[],
  count: number,
  planLimits: Limits,
  own: Limits,
  atSeconds: number,
): GuardedChanges[] {
  const all = Array.from({ length: count }, noItemChanges);
  for (const window of windowNames) {
    const limit = effectiveLimit(window, planLimits, own);
    const seen = all.map((_, i) => countOf(shards[i], window));
    const start = startOf(shards, window, windowStart(window, atSeconds));
    const used = seen.map((count) => (count?.start === start ? count.used : 0));
    const shares = typeof limit === 'number' ? apportion(limit, used) : [];
    const isLeft = typeof limit === 'number' && sum(used) <= limit;
    for (const [i, made] of all.entries()) {
      const { changes, guards } = made;
      const count = seen[i];
      const isConfigured = shards[i]?.quota[window] !== undefined;
      changes.remove.push(windowItem[window].exhausted);
      if (limit === undefined) {
        changes.remove.push(windowItem[window].total);
        const current = Math.max(start, windowStart(window, atSeconds));
        if (count && isConfigured) dropWindow(made, window, count, current);
        else if (!count && seen.some(Boolean)) {
          changes.set[windowItem[window].dropped] = start;
          changes.set[windowItem[window].used] = 0;
        }
        continue;
      }
      if (limit === null) changes.remove.push(windowItem[window].limit, windowItem[window].total);
      else {
        const share = shares[i] as number;
        changes.set[windowItem[window].limit] = share;
        changes.set[windowItem[window].total] = limit;
        if (count) guards.push({ attribute: count.attribute, is: '=', value: count.start });
        if (isLeft && count?.start === start) {
          guards.push({ attribute: windowItem[window].used, is: '<=', value: share });
        }
      }
      if (!isConfigured) startWindow(made, window, count, start);
      else if (count && count.start < start && limit !== null) {
        changes.set[windowItem[window].start] = start;
        changes.set[windowItem[window].used] = 0;
      }
    }
  }
  return all;
}

/**
 * The start of the account's current window: the latest that any of its shards has begun, since no share may go back
 * into a window before one that it was used in. The clock of this process matters only where no shard has the window in
 * force.
 */
function startOf(shards: readonly Access[], window: WindowName, current: number): number {
  const starts = shards.flatMap((shard) => countOf(shard, window)?.start ?? []);
  const isConfigured = shards.some(({ quota }) => quota[window]);
  return isConfigured ? Math.max(...starts) : Math.max(current, ...starts);
}

/**
 * The changes of the windows of `target` when it takes over `closed`, which requests no longer charge: their shares,
 * and what they used of the current window. If starts differ, the latest window is the current one; use in an earlier
 * window is dropped. `target` may be charged while this is written: the guards hold as long as no window rolls.
 */
export function mergeWindows(target: Access, closed: readonly Access[]): GuardedChanges {
  const made = noItemChanges();
  const { changes, guards } = made;
  for (const window of windowNames) {
    const seen = countOf(target, window);
    if (!seen || closed.length === 0) continue;
    const merged = closed.flatMap((shard) => countOf(shard, window) ?? []);
    const start = Math.max(seen.start, ...merged.map((count) => count.start));
    const used = sum(merged.filter((count) => count.start === start).map((count) => count.used));
    guards.push({ attribute: seen.attribute, is: '=', value: seen.start });
    if (start === seen.start) changes.raise[windowItem[window].used] = used;
    else {
      changes.set[seen.attribute] = start;
      changes.set[windowItem[window].used] = used;
    }
    if (typeof target.quota[window]?.limit === 'number') {
      changes.raise[windowItem[window].limit] = sum(closed.map(({ quota }) => quota[window]?.limit ?? 0));
    }
  }
  return made;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

/** Clocks may differ by this much: a window that starts within this time from now is not reset. */
export const toleratedSeconds = 60;

/** The windows that start in the future, after a request with a wrong clock: no window rolls until then. */
export function futureWindows(shards: readonly Access[], nowSeconds: number): { window: WindowName; start: number }[] {
  return windowNames.flatMap((window) => {
    const start = Math.max(...shards.map((shard) => countOf(shard, window)?.start ?? 0));
    return start > nowSeconds + toleratedSeconds ? [{ window, start }] : [];
  });
}

/**
 * The changes of one shard that bring `windows` back to the present. Counts of a window in the future are not those of
 * the current one, so they restart at 0; a shard that is in the present keeps its count.
 */
export function resetWindows(access: Access, windows: readonly WindowName[], nowSeconds: number): GuardedChanges {
  const made = noItemChanges();
  const { changes, guards } = made;
  for (const window of windows) {
    const seen = countOf(access, window);
    changes.remove.push(windowItem[window].exhausted);
    if (!seen) continue;
    guards.push({ attribute: seen.attribute, is: '=', value: seen.start });
    if (seen.start <= nowSeconds + toleratedSeconds) continue;
    changes.set[seen.attribute] = windowStart(window, nowSeconds);
    changes.set[windowItem[window].used] = 0;
  }
  return made;
}
