import { setTimeout as sleep } from 'node:timers/promises';

export type RetryOptions = {
  /** How often the work is tried at most. */
  attempts: number;
  /** The pause after a first failure; it doubles with each further one. */
  firstPauseMs: number;
  longestPauseMs: number;
  /** Whether another attempt makes sense; any other error is thrown at once. */
  retryIf: (error: unknown) => boolean;
};

/**
 * Runs `attempt` until it succeeds, with random pauses (full jitter) in between, so that competitors come apart. Throws
 * the error of the last attempt.
 */
export async function retryWithBackoff<T>(
  attempt: () => Promise<T>,
  { attempts, firstPauseMs, longestPauseMs, retryIf }: RetryOptions,
): Promise<T> {
  for (let failed = 1; ; failed++) {
    try {
      return await attempt();
    } catch (error) {
      if (failed === attempts || !retryIf(error)) throw error;
      await sleep(Math.random() * Math.min(longestPauseMs, firstPauseMs * 2 ** (failed - 1)));
    }
  }
}
