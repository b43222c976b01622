import { setTimeout as sleep } from 'node:timers/promises';

/** How long a visitor waits at most, also when the database or the provider hangs; API Gateway waits 30 seconds. */
export const deadlineMilliseconds = { page: 10_000, form: 27_000 };

/** Whether `work` ended in time; what it still does then changes no answer. */
export async function within(milliseconds: number, work: Promise<void>): Promise<boolean> {
  const timer = new AbortController();
  const late = sleep(milliseconds, false, { signal: timer.signal, ref: false }).catch(() => false);
  try {
    return await Promise.race([work.then(() => true), late]);
  } finally {
    timer.abort();
  }
}
