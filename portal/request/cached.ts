/**
 * How long a value is used before it is read again, and how long at most while reading it fails.
 */
type Ages = { milliseconds: number; usableMilliseconds?: number; now?: () => number };

/**
 * The value that `read` returned not long ago, read once for all who ask at a time; `again` reads
 * it now.
 */
export function cached<T>(
  read: () => Promise<T>,
  { milliseconds, usableMilliseconds = 0, now = Date.now }: Ages,
) {
  let last: { found: Promise<T>; at: number } | undefined;
  return ({ again = false } = {}): Promise<T> => {
    if (last && !again && now() - last.at < milliseconds) return last.found;
    const before = last;
    const found = read().catch((error: unknown) => {
      const usable = before && now() - before.at < usableMilliseconds ? before : undefined;
      if (last?.found === found) last = usable;
      if (usable) return usable.found;
      throw error;
    });
    found.catch(() => undefined); // not unhandled before the caller awaits it
    last = { found, at: now() };
    return found;
  };
}
