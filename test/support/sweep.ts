/**
 * Whether all cases of a sweep run: `SWEEP=full npm test`, as in `.ci/run`. A contributor's
 * `npm test` runs a few.
 */
export const isFullSweep = process.env.SWEEP === 'full' || process.env.SWEEP === 'hours';

/**
 * `full` of the cases in a full sweep, all unless given, otherwise `few`: at equal distances, the
 * first among them.
 */
export function sweep<T>(cases: Iterable<T>, few: number, full = Number.POSITIVE_INFINITY): T[] {
  const all = [...cases];
  const count = isFullSweep ? full : few;
  if (all.length <= count) return all;
  return Array.from({ length: count }, (_, i) => all[Math.floor((i * all.length) / count)] as T);
}
