/**
 * Works on the items in their order, at most `limit` at once, until `stopped`; gives the most that there were at once.
 */
export async function pool<T>(
  items: readonly T[],
  limit: number,
  work: (item: T, index: number) => Promise<void>,
  stopped: () => boolean,
): Promise<number> {
  let next = 0;
  let running = 0;
  let peak = 0;
  const worker = async () => {
    while (next < items.length && !stopped()) {
      const index = next++;
      running++;
      peak = Math.max(peak, running);
      await work(items[index] as T, index);
      running--;
    }
  };
  await Promise.all(Array.from({ length: Math.min(limit, items.length) }, worker));
  return peak;
}
