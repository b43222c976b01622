import { setTimeout as sleep } from 'node:timers/promises';

const attemptsWithoutProgress = 10;
const firstPauseMilliseconds = 50;
const longestPauseMilliseconds = 10_000;

/** What a table says when it is asked for too much at once, or is unwell for a moment. */
const passing = new Set([
  'InternalServerError',
  'LimitExceededException',
  'ProvisionedThroughputExceededException',
  'RequestLimitExceeded',
  'RequestTimeout',
  'ServiceUnavailable',
  'ThrottlingException',
  'TimeoutError',
]);

/**
 * Does `attempt` until it is done, with growing pauses full of jitter while it gets no further. What won't pass is
 * thrown at once; what should have passed is thrown after ten attempts in a row without progress (about 40 seconds).
 */
export async function persistently(
  attempt: () => Promise<{ done: boolean; progress: boolean }>,
  pause = firstPauseMilliseconds,
): Promise<void> {
  for (let failed = 0; ; ) {
    let trouble: unknown;
    try {
      const { done, progress } = await attempt();
      if (done) return;
      if (progress) failed = 0;
    } catch (error) {
      if (!mayPass(error)) throw error;
      trouble = error;
    }
    failed++;
    if (failed >= attemptsWithoutProgress) {
      throw trouble ?? new Error('The addresses table takes no more writes. Run the load again: it goes on from here.');
    }
    await sleep(Math.random() * Math.min(longestPauseMilliseconds, pause * 2 ** failed));
  }
}

function mayPass(error: unknown): boolean {
  const { name, code, $metadata } = error as Error & { code?: string; $metadata?: { httpStatusCode?: number } };
  if (passing.has(name) || ($metadata?.httpStatusCode ?? 0) >= 500) return true;
  return code === 'ECONNRESET' || code === 'EPIPE' || code === 'ETIMEDOUT';
}
