/** The time windows that a plan can limit, from short to long. All UTC, aligned to the clock and the calendar. */
export const windowNames = ['minute', 'hour', 'day', 'month'] as const;
export type WindowName = (typeof windowNames)[number];

/** One member for each configured window, in the order of `windowNames`. `null` is unlimited, 0 admits nothing. */
export type Limits = Partial<Record<WindowName, number | null>>;

const fixedSeconds = { minute: 60, hour: 3600, day: 86_400 };

/** The start of the window that holds `atSeconds`, in seconds since 1970. */
export function windowStart(name: WindowName, atSeconds: number): number {
  if (name !== 'month') return atSeconds - (atSeconds % fixedSeconds[name]);
  const date = new Date(atSeconds * 1000);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), 1) / 1000;
}

/** The first second after the window that starts at `startSeconds`. */
export function windowEnd(name: WindowName, startSeconds: number): number {
  if (name !== 'month') return startSeconds + fixedSeconds[name];
  const date = new Date(startSeconds * 1000);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1) / 1000;
}
