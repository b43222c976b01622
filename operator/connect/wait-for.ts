/** How often AWS is asked whether it has finished, and how time passes; a test passes it faster. */
export type Patience = { pauseMilliseconds: number; sleep: (milliseconds: number) => Promise<void> };

export const patient: Patience = {
  pauseMilliseconds: 10_000,
  sleep: (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds)),
};

/** Asks until it is so, however long it takes: a restore takes minutes to hours. Ctrl-C stops waiting, not AWS. */
export async function waitUntil({ pauseMilliseconds, sleep }: Patience, isSo: () => Promise<boolean>): Promise<void> {
  while (!(await isSo())) await sleep(pauseMilliseconds);
}
