import { setTimeout as sleep } from 'node:timers/promises';

/**
 * How long a visitor waits at most, also when the database or the provider hangs; API Gateway waits
 * 30 seconds.
 */
export const deadlineMilliseconds = { page: 10_000, form: 27_000 };

/** The result of `work` within this time, else `undefined`: its later result changes no answer. */
export async function within<T>(milliseconds: number, work: Promise<T>): Promise<T | undefined> {
  const timer = new AbortController();
  const late = sleep(milliseconds, undefined, { signal: timer.signal, ref: false }).catch(
    () => undefined,
  );
  try {
    return await Promise.race([work, late]);
  } finally {
    timer.abort();
  }
}
