import { setTimeout as sleep } from 'node:timers/promises';

export type BackoffOptions = {
  /** Attempts in a row that may fail, the first included. */
  attempts: number;
  firstPauseMilliseconds: number;
  longestPauseMilliseconds?: number;
};

/** Counts failures in a row, and waits longer after each one: half of the pause is jitter. */
export class Backoff {
  readonly #options: BackoffOptions;
  #failures = 0;

  constructor(options: BackoffOptions) {
    this.#options = options;
  }

  /** The last attempt got further: the failures before it count no more. */
  reset(): void {
    this.#failures = 0;
  }

  /** Waits before the next attempt. @throws error when it was the last one */
  async pause(error: unknown): Promise<void> {
    const { attempts, firstPauseMilliseconds, longestPauseMilliseconds = Number.POSITIVE_INFINITY } = this.#options;
    if (++this.#failures >= attempts) throw error;
    const pause = Math.min(longestPauseMilliseconds, firstPauseMilliseconds * 2 ** (this.#failures - 1));
    if (pause > 0) await sleep(pause * (0.5 + Math.random() / 2));
  }
}

/** Does `work` again after an error that `mayPass`, with growing pauses. @throws the last error, and any other at once */
export async function retryWithBackoff<T>(
  work: () => Promise<T>,
  { mayPass, ...options }: BackoffOptions & { mayPass: (error: unknown) => boolean },
): Promise<T> {
  const backoff = new Backoff(options);
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!mayPass(error)) throw error;
      await backoff.pause(error);
    }
  }
}
