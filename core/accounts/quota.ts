import { type WindowName, windowEnd, windowNames, windowStart } from '../calendar.ts';

/** One member for each configured window, in the order of `windowNames`. `null` is unlimited, 0 admits nothing. */
export type Limits = Partial<Record<WindowName, number | null>>;

/**
 * One window being counted: it began at `start` (seconds since 1970). A `limit` of `null` is unlimited. Where an
 * account has several quota shards, `limit` is this one's share of the account's `total`; `exhaustedAt` is the start of
 * a window in which no shard had quota left, as an earlier request has proved (decision 0103).
 */
export type WindowCount = { start: number; used: number; limit: number | null; total?: number; exhaustedAt?: number };

/** The configured windows of an account. */
export type QuotaState = Partial<Record<WindowName, WindowCount>>;

/** The result of charging units. `roll` names the windows that have passed and must restart with these units. */
export type QuotaDecision =
  | { kind: 'admit'; roll: WindowName[] }
  | { kind: 'exceeded'; violated: WindowName[]; retryAfterSeconds: number; quota: QuotaState };

/**
 * Decides on `units`, all or none, at `now` (seconds). A window that starts after `now` was begun by an instance whose
 * clock is ahead; it counts as the current one, because a window never moves backwards.
 */
export function decideQuota(stored: QuotaState, now: number, units = 1): QuotaDecision {
  const quota = currentQuota(stored, now);
  const roll = configured(stored).flatMap(([name, { start }]) => (start < Number(quota[name]?.start) ? [name] : []));
  const violated = configured(quota).flatMap(([name, { used, limit }]) =>
    limit !== null && used + units > limit ? [name] : [],
  );
  if (violated.length === 0) return { kind: 'admit', roll };
  const waits = violated.map((name) => secondsToReset(name, quota[name] as WindowCount, now));
  return { kind: 'exceeded', violated, retryAfterSeconds: Math.max(...waits), quota };
}

/** The windows as they are at `now` (seconds): one that has passed begins anew, with nothing used. */
export function currentQuota(stored: QuotaState, now: number): QuotaState {
  const quota: QuotaState = {};
  for (const [name, window] of configured(stored)) {
    const start = windowStart(name, Math.floor(now));
    quota[name] = window.start < start ? { ...window, start, used: 0 } : window;
  }
  return quota;
}

/** Whether `quota` can be the state right after `units` were consumed at `now`: within the limit of every window. */
export function showsUnits(quota: QuotaState, now: number, units: number): boolean {
  const windows = configured(quota);
  return (
    windows.length > 0 &&
    windows.every(
      ([name, { start, used, limit }]) =>
        start >= windowStart(name, Math.floor(now)) && used >= units && (limit === null || used <= limit),
    )
  );
}

/** What a window has left at `at`, once it has passed all of its limit. */
export function leftOf(name: WindowName, window: WindowCount | undefined, at: number): number {
  if (!window || window.limit === null) return Infinity;
  const used = window.start < windowStart(name, Math.floor(at)) ? 0 : window.used;
  return Math.max(0, window.limit - used);
}

/** The quota of an account, from that of all of its shards, as if it were one; its remainder is exact. */
export function wholeQuota(shards: readonly QuotaState[], at: number): QuotaState {
  const quota: QuotaState = {};
  for (const name of windowNames) {
    const windows = shards.flatMap((shard) => shard[name] ?? []);
    if (windows.length === 0) continue;
    const left = windows.reduce((sum, window) => sum + leftOf(name, window, at), 0);
    const limits = windows.map(({ limit, total = limit }) => total);
    const limit = limits.includes(null) ? null : Math.max(...limits.map(Number));
    quota[name] = { start: windowStart(name, Math.floor(at)), used: limit === null ? 0 : limit - left, limit };
  }
  return quota;
}

/** Whether the shares were read as they are at one moment, not while some of them moved or limits changed. */
export function addsUp(shards: readonly QuotaState[]): boolean {
  return windowNames.every((name) => {
    const windows = shards.flatMap((shard) => shard[name] ?? []);
    const [{ limit = null, total = limit } = {}] = windows;
    if (windows.length !== 0 && windows.length !== shards.length) return false;
    return total === null || windows.reduce((sum, window) => sum + Number(window.limit), 0) === total;
  });
}

/** The limits in force, a member for each configured window. */
export function limitsOf(quota: QuotaState): Limits {
  return Object.fromEntries(configured(quota).map(([name, { limit, total = limit }]) => [name, total]));
}

/** A finite window as reported to a caller; times in seconds. */
export type WindowReport = { name: WindowName; limit: number; seconds: number; remaining: number; reset: number };

/** The finite windows, from short to long. On a shard what remains is its own: never more than the account has. */
export function reportWindows(quota: QuotaState, now: number): WindowReport[] {
  return configured(quota).flatMap(([name, window]) => {
    const { start, used, limit } = window;
    if (limit === null) return [];
    const { total = limit } = window;
    const seconds = windowEnd(name, start) - start;
    const remaining = Math.max(0, limit - used);
    return [{ name, limit: total, seconds, remaining, reset: secondsToReset(name, window, now) }];
  });
}

/** The window with the smallest share left; among equals the one that lasts longest, since it binds longest. */
export function closestToExhaustion(windows: WindowReport[]): WindowReport | undefined {
  return windows.reduce<WindowReport | undefined>(
    (closest, window) => (closest === undefined || shareLeft(window) <= shareLeft(closest) ? window : closest),
    undefined,
  );
}

function shareLeft({ limit, remaining }: WindowReport): number {
  return limit === 0 ? 0 : remaining / limit;
}

function secondsToReset(name: WindowName, { start }: WindowCount, now: number): number {
  return Math.max(1, Math.ceil(windowEnd(name, start) - now));
}

/** The configured windows, from short to long. */
export function configured(quota: QuotaState): [WindowName, WindowCount][] {
  const found: [WindowName, WindowCount][] = [];
  for (const name of windowNames) {
    const window = quota[name];
    if (window) found.push([name, window]);
  }
  return found;
}
