import { setTimeout as sleep } from 'node:timers/promises';

export type RetryOptions = {
  /** How many attempts in a row may fail, the first included. */
  attempts: number;
  /** The pause after the first failure; it doubles with each further one. 0 retries at once. */
  firstPauseMilliseconds: number;
  longestPauseMilliseconds?: number;
  /**
   * The share of each pause that is random: 1 (full jitter) separates writers that compete for one
   * item.
   */
  jitter?: number;
  /**
   * Whether another attempt can succeed; any other error is thrown at once. Not called after the
   * last attempt.
   */
  retryIf: (error: unknown) => boolean | Promise<boolean>;
};

/**
 * Counts the failures in a row and pauses longer after each: for loops that a callback does not
 * fit.
 */
export class Backoff {
  readonly #options: RetryOptions;
  #failures = 0;

  constructor(options: RetryOptions) {
    this.#options = options;
  }

  /** Forgets the failures so far, because an attempt made progress. */
  reset(): void {
    this.#failures = 0;
  }

  /** Pauses before the next attempt. @throws `error` after the last one */
  async pause(error: unknown): Promise<void> {
    const {
      attempts,
      firstPauseMilliseconds,
      longestPauseMilliseconds = Number.POSITIVE_INFINITY,
      jitter = 0.5,
      retryIf,
    } = this.#options;
    if (++this.#failures >= attempts || !(await retryIf(error))) throw error;
    const pause = Math.min(
      longestPauseMilliseconds,
      firstPauseMilliseconds * 2 ** (this.#failures - 1),
    );
    if (pause > 0) await sleep(pause * (1 - jitter * Math.random()));
  }
}

/** Runs `attempt` until it succeeds, with growing pauses. @throws the error of the last attempt */
export async function retryWithBackoff<T>(
  attempt: (backoff: Backoff) => Promise<T>,
  options: RetryOptions,
): Promise<T> {
  const backoff = new Backoff(options);
  for (;;) {
    try {
      return await attempt(backoff);
    } catch (error) {
      await backoff.pause(error);
    }
  }
}
