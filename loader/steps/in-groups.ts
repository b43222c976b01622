const groupSize = 16;

/** Does `work` for each item, 16 at a time, and gives the results in the order of the items. */
export async function inGroups<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  for (let start = 0; start < items.length; start += groupSize) {
    results.push(...(await Promise.all(items.slice(start, start + groupSize).map(work))));
  }
  return results;
}
