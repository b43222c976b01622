/**
 * The time windows that a plan can limit, from short to long, all UTC and aligned to the clock and
 * the calendar. Limits, counts, the contract and the checks of a deployment follow from this
 * declaration.
 *
 * `code` is how the item of an account abbreviates a window: as date patterns do, `m` is the minute
 * and `M` the month. Windows with `isAlwaysCounted` are counted for every account, the others while
 * its plan configures them. Windows with `isLong` last long enough for a person to act on the used
 * share, which lists and messages show.
 */
export const windows = {
  minute: { code: 'm', seconds: 60, isAlwaysCounted: false, isLong: false },
  hour: { code: 'h', seconds: 3600, isAlwaysCounted: false, isLong: false },
  day: { code: 'd', seconds: 86_400, isAlwaysCounted: true, isLong: true },
  /** Its length follows the calendar. */
  month: { code: 'M', seconds: null, isAlwaysCounted: true, isLong: true },
} as const;

export type WindowName = keyof typeof windows;

export const windowNames = Object.keys(windows) as [WindowName, ...WindowName[]];

export type LongWindowName = {
  [Name in WindowName]: (typeof windows)[Name]['isLong'] extends true ? Name : never;
}[WindowName];

export const longWindowNames = windowNames.filter(
  (name): name is LongWindowName => windows[name].isLong,
);

/** The day of one key, which has a limit of its own beside the windows of its account. */
export const keyDay = 'key-day';

/** Every limit that can refuse a request, from short to long; a key's day follows the account's. */
export type QuotaName = WindowName | typeof keyDay;

export const quotaNames = windowNames.flatMap((name) =>
  name === 'day' ? [name, keyDay] : [name],
) as [QuotaName, ...QuotaName[]];

/** The window that each begins and ends with. */
export const windowOf = Object.fromEntries(
  quotaNames.map((name) => [name, name === keyDay ? 'day' : name]),
) as Record<QuotaName, WindowName>;

/** A member for each window. */
export function forEachWindow<T>(make: (name: WindowName) => T): Record<WindowName, T> {
  return Object.fromEntries(windowNames.map((name) => [name, make(name)])) as Record<WindowName, T>;
}

/** The same members, the shortest window first: DynamoDB returns maps in any order. */
export function inWindowOrder<Limit>(
  limits: Partial<Record<WindowName, Limit>>,
): Partial<Record<WindowName, Limit>> {
  return Object.fromEntries(
    windowNames.flatMap((name) => (name in limits ? [[name, limits[name]]] : [])),
  );
}

/** The start of the window that holds `atSeconds`, in seconds since 1970. */
export function windowStart(name: WindowName, atSeconds: number): number {
  const { seconds } = windows[name];
  if (seconds !== null) return atSeconds - (atSeconds % seconds);
  const date = new Date(atSeconds * 1000);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), 1) / 1000;
}

/** The starts of all windows at a time. */
export function windowStarts(atSeconds: number): Record<WindowName, number> {
  const starts = {} as Record<WindowName, number>;
  for (const name of windowNames) starts[name] = windowStart(name, atSeconds);
  return starts;
}

/** The first second after the window that starts at `startSeconds`. */
export function windowEnd(name: WindowName, startSeconds: number): number {
  const { seconds } = windows[name];
  if (seconds !== null) return startSeconds + seconds;
  const date = new Date(startSeconds * 1000);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1) / 1000;
}

/** The time in seconds since 1970, with its fraction. */
export type Clock = () => number;

/** The instance's clock, in seconds since 1970 with its fraction. */
export function systemClock(): number {
  return Date.now() / 1000;
}

/** The seconds of a UTC day. */
export const daySeconds: number = windows.day.seconds;

/** The UTC date of an instant, in seconds since 1970. */
export function dateOf(seconds: number): string {
  return new Date(seconds * 1000).toISOString().slice(0, 10);
}

/** Whether `text` is a date of this century, `2026-11-21`. */
export function isDate(text: string): boolean {
  const seconds = /^20\d\d-\d\d-\d\d$/.test(text) ? secondsOf(text) : Number.NaN;
  return !Number.isNaN(seconds) && dateOf(seconds) === text;
}

/** When a date begins, in seconds since 1970. */
export function secondsOf(date: string): number {
  return Date.parse(`${date}T00:00:00Z`) / 1000;
}

/** The first and the last day of a month, `2026-11`; `undefined` for any other text. */
export function monthOf(month: string): { from: string; to: string } | undefined {
  const from = `${month}-01`;
  if (!isDate(from)) return undefined;
  return { from, to: dateOf(windowEnd('month', secondsOf(from)) - daySeconds) };
}

/** Every date of a range, the first and the last one included. */
export function datesOf({ from, to }: { from: string; to: string }): string[] {
  const dates: string[] = [];
  for (let at = secondsOf(from); at <= secondsOf(to); at += daySeconds) dates.push(dateOf(at));
  return dates;
}

/** Seconds since 1970 as `2026-08-01T12:00:00Z`. */
export function instant(seconds: number): string {
  return new Date(seconds * 1000).toISOString().replace('.000Z', 'Z');
}
