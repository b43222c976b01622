/** Whether all cases of a sweep run: `SWEEP=full npm test`, as in `.ci/run`. A contributor's `npm test` runs a few. */
export const isFullSweep = process.env.SWEEP === 'full';

/** All `cases` in a full sweep; otherwise `few` of them at equal distances, the first always among them. */
export function sweep<T>(cases: Iterable<T>, few: number): T[] {
  const all = [...cases];
  if (isFullSweep || all.length <= few) return all;
  return Array.from({ length: few }, (_, i) => all[Math.floor((i * all.length) / few)] as T);
}
