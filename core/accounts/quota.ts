import { type WindowName, windowEnd, windowNames, windowStart } from '../calendar.ts';

/**
 * One member for each configured window, in the order of `windowNames`. `null` is unlimited, 0
 * admits nothing.
 */
export type Limits = Partial<Record<WindowName, number | null>>;

/**
 * One window being counted: it began at `start` (seconds since 1970). A `limit` of `null` is
 * unlimited; it is `undefined` for a day or month that is counted, but not configured: nothing
 * limits or reports it.
 */
export type WindowCount = { start: number; used: number; limit: number | null | undefined };

/** The windows of an account that are counted. */
export type QuotaState = Partial<Record<WindowName, WindowCount>>;

/**
 * The result of charging units. `passed` names the windows that have passed and must restart with
 * these units.
 */
export type QuotaDecision =
  | { kind: 'admit'; passed: WindowName[] }
  | { kind: 'exceeded'; violated: WindowName[]; retryAfterSeconds: number; quota: QuotaState };

/**
 * Decides on `units`, all or none, at `now` (seconds). A window that starts after `now` was begun
 * by an instance whose clock is ahead; it counts as the current one, because a window never moves
 * backwards.
 */
export function decideQuota(stored: QuotaState, now: number, units = 1): QuotaDecision {
  const quota = currentQuota(stored, now);
  const passed: WindowName[] = [];
  const violated: WindowName[] = [];
  let retryAfterSeconds = 1;
  for (const name of windowNames) {
    const window = quota[name];
    if (!window) continue;
    const { start, used, limit } = window;
    if (start > Number(stored[name]?.start)) passed.push(name);
    if (used + units <= (limit ?? Infinity)) continue;
    violated.push(name);
    retryAfterSeconds = Math.max(retryAfterSeconds, secondsUntil(windowEnd(name, start), now));
  }
  return violated.length === 0
    ? { kind: 'admit', passed }
    : { kind: 'exceeded', violated, retryAfterSeconds, quota };
}

/**
 * The windows as they are at `now` (seconds): a window that has passed begins anew, with nothing
 * used.
 */
export function currentQuota(stored: QuotaState, now: number): QuotaState {
  const quota: QuotaState = {};
  for (const name of windowNames) {
    const window = stored[name];
    if (!window) continue;
    const start = windowStart(name, Math.floor(now));
    quota[name] = window.start < start ? { ...window, start, used: 0 } : window;
  }
  return quota;
}

/**
 * Whether `quota` can be the state right after `units` were consumed in windows that begin at
 * `starts`, or later.
 */
export function showsUnits(
  quota: QuotaState,
  starts: Record<WindowName, number>,
  units: number,
): boolean {
  for (const name of windowNames) {
    const window = quota[name];
    if (!window) continue;
    const { start, used, limit } = window;
    if (start < starts[name] || used < units || used > (limit ?? Infinity)) return false;
  }
  return true;
}

/** The limits in force, a member for each configured window. */
export function limitsOf(quota: QuotaState): Limits {
  return Object.fromEntries(configured(quota).map(([name, { limit }]) => [name, limit]));
}

/** A finite window as reported to a caller; times in seconds. */
export type WindowReport = {
  name: WindowName;
  limit: number;
  seconds: number;
  remaining: number;
  reset: number;
};

/** The finite windows, from short to long. */
export function reportWindows(quota: QuotaState, now: number): WindowReport[] {
  const reports: WindowReport[] = [];
  for (const [name, { start, used, limit }] of configured(quota)) {
    if (limit === null) continue;
    const end = windowEnd(name, start);
    const remaining = Math.max(0, limit - used);
    reports.push({ name, limit, seconds: end - start, remaining, reset: secondsUntil(end, now) });
  }
  return reports;
}

/** The window with the smallest share left; among equals the longest, since it binds longest. */
export function closestToExhaustion(windows: WindowReport[]): WindowReport | undefined {
  let closest: WindowReport | undefined;
  for (const window of windows) {
    if (closest === undefined || shareLeft(window) <= shareLeft(closest)) closest = window;
  }
  return closest;
}

function shareLeft({ limit, remaining }: WindowReport): number {
  return limit === 0 ? 0 : remaining / limit;
}

function secondsUntil(end: number, now: number): number {
  return Math.max(1, Math.ceil(end - now));
}

/** The windows that the plan configures, from short to long. */
export function configured(
  quota: QuotaState,
): [WindowName, WindowCount & { limit: number | null }][] {
  const found: [WindowName, WindowCount & { limit: number | null }][] = [];
  for (const name of windowNames) {
    const { start = 0, used = 0, limit } = quota[name] ?? {};
    if (limit !== undefined) found.push([name, { start, used, limit }]);
  }
  return found;
}
