import {
  keyDay,
  type QuotaName,
  quotaNames,
  type WindowName,
  windowEnd,
  windowOf,
  windowStart,
} from '../calendar.ts';

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

/** The windows of an account that are counted, and the day of one of its keys. */
export type QuotaState = Partial<Record<QuotaName, WindowCount>>;

/**
 * The result of charging units. `passed` names the windows that have passed and must restart with
 * these units.
 */
export type QuotaDecision =
  | { kind: 'admit'; passed: WindowName[] }
  | { kind: 'exceeded'; violated: QuotaName[]; retryAfterSeconds: number; quota: QuotaState };

/**
 * Decides on `units`, all or none, at `now` (seconds). A window that starts after `now` was begun
 * by an instance whose clock is ahead; it counts as the current one, because a window never moves
 * backwards.
 */
export function decideQuota(stored: QuotaState, now: number, units = 1): QuotaDecision {
  const quota = currentQuota(stored, now);
  const passed: WindowName[] = [];
  const violated: QuotaName[] = [];
  let retryAfterSeconds = 1;
  for (const name of quotaNames) {
    const window = quota[name];
    if (!window) continue;
    const { start, used, limit } = window;
    if (name !== keyDay && start > Number(stored[name]?.start)) passed.push(name);
    if (used + units <= (limit ?? Infinity)) continue;
    violated.push(name);
    retryAfterSeconds = Math.max(
      retryAfterSeconds,
      secondsUntil(windowEnd(windowOf[name], start), now),
    );
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
  for (const name of quotaNames) {
    const window = stored[name];
    if (!window) continue;
    const start = windowStart(windowOf[name], Math.floor(now));
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
  for (const name of quotaNames) {
    const window = quota[name];
    if (!window) continue;
    const { start, used, limit } = window;
    if (start < starts[windowOf[name]] || used < units || used > (limit ?? Infinity)) return false;
  }
  return true;
}

/** The account's limits in force, a member for each configured window. */
export function limitsOf({ [keyDay]: _, ...windows }: QuotaState): Limits {
  return Object.fromEntries(configured(windows).map(([name, { limit }]) => [name, limit]));
}

/** A finite window as reported to a caller; times in seconds. */
export type WindowReport = {
  name: QuotaName;
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
    const end = windowEnd(windowOf[name], start);
    const remaining = Math.max(0, limit - used);
    reports.push({ name, limit, seconds: end - start, remaining, reset: secondsUntil(end, now) });
  }
  return reports;
}

/**
 * The window with the smallest share left; among equals the longest, since it binds longest, and
 * the account's day before the key's.
 */
export function closestToExhaustion([first, ...others]: WindowReport[]): WindowReport | undefined {
  let closest = first;
  for (const window of others) {
    if (closest && isCloser(window, closest)) closest = window;
  }
  return closest;
}

function isCloser(window: WindowReport, other: WindowReport): boolean {
  const more = shareLeft(window) - shareLeft(other);
  return more < 0 || (more === 0 && window.seconds > other.seconds);
}

function shareLeft({ limit, remaining }: WindowReport): number {
  return limit === 0 ? 0 : remaining / limit;
}

function secondsUntil(end: number, now: number): number {
  return Math.max(1, Math.ceil(end - now));
}

/** The windows that have a limit or are configured as unlimited, from short to long. */
export function configured<Name extends QuotaName>(
  quota: Partial<Record<Name, WindowCount>>,
): [Name, WindowCount & { limit: number | null }][] {
  const found: [Name, WindowCount & { limit: number | null }][] = [];
  for (const name of quotaNames) {
    const { start = 0, used = 0, limit } = (quota as QuotaState)[name] ?? {};
    if (limit !== undefined) found.push([name as Name, { start, used, limit }]);
  }
  return found;
}
