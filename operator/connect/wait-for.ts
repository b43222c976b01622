/** How often AWS is asked whether it has finished, and how time passes; a test passes it faster. */
export type Patience = { pauseMilliseconds: number; sleep: (milliseconds: number) => Promise<void> };

export const patient: Patience = {
  pauseMilliseconds: 10_000,
  sleep: (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds)),
};

/**
 * Asks until the answer is not `undefined`, however long it takes: a restore takes minutes to hours. Ctrl-C stops
 * waiting, not AWS.
 */
export async function waitFor<T>(
  { pauseMilliseconds, sleep }: Patience,
  ask: () => Promise<T | undefined>,
): Promise<T> {
  for (;;) {
    const answer = await ask();
    if (answer !== undefined) return answer;
    await sleep(pauseMilliseconds);
  }
}
