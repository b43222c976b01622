/**
 * Awaits `work` for each item, `concurrency` at a time; after a failure starts no more, and throws
 * the first one.
 */
export async function forEachConcurrently<T>(
  items: AsyncIterable<T> | Iterable<T>,
  concurrency: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const running = new Set<Promise<void>>();
  const failures: unknown[] = [];
  try {
    for await (const item of items) {
      const task: Promise<void> = work(item)
        .catch((error: unknown) => void failures.push(error))
        .finally(() => running.delete(task));
      running.add(task);
      if (running.size >= concurrency) await Promise.race(running);
      if (failures.length > 0) break;
    }
  } catch (error) {
    failures.push(error); // of the items themselves
  }
  await Promise.all(running);
  if (failures.length > 0) throw failures[0];
}

/**
 * The results of `work` in the order of the items, `concurrency` at a time. Fails as
 * `forEachConcurrently` does.
 */
export async function mapConcurrently<T, R>(
  items: readonly T[],
  concurrency: number,
  work: (item: T) => Promise<R>,
): Promise<R[]> {
  const results: R[] = new Array(items.length);
  await forEachConcurrently(items.entries(), concurrency, async ([index, item]) => {
    results[index] = await work(item);
  });
  return results;
}

/** The same as they come, in the order of the items: holds at most `concurrency` results. */
export async function* mapInOrder<T, R>(
  items: AsyncIterable<T>,
  concurrency: number,
  work: (item: T) => Promise<R>,
): AsyncGenerator<R> {
  const running: Promise<R>[] = [];
  for await (const item of items) {
    const result = work(item);
    result.catch(() => undefined); // thrown when its turn comes
    running.push(result);
    if (running.length >= concurrency) yield (await running.shift()) as R;
  }
  while (running.length > 0) yield (await running.shift()) as R;
}
