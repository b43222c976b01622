/** The span of a delivery of mutations: it leads from the state of one date to the state of a later date. */
export type Period = { vanaf: string; tot: string };

/** The end of a way through deliveries from a date, and the first delivery of the best way there. */
type Way<T> = { end: string; count: number; first: T | null };

/** The deliveries that lead from `date` to the latest date, by the way with the most deliveries, or else the first. */
export function pathFrom<T extends Period>(deliveries: readonly T[], date: string): T[] {
  const ways = new Map<string, Way<T>>();
  const wayFrom = (from: string): Way<T> => ways.get(from) ?? { end: from, count: 0, first: null };
  const byStart = deliveries.toSorted((a, b) => (a.vanaf > b.vanaf ? -1 : a.vanaf < b.vanaf ? 1 : 0));
  for (const delivery of byStart) {
    if (delivery.vanaf < date) break;
    const { end, count } = wayFrom(delivery.tot);
    const known = wayFrom(delivery.vanaf);
    const isBetter = known.first === null || end > known.end || (end === known.end && count + 1 > known.count);
    if (isBetter) ways.set(delivery.vanaf, { end, count: count + 1, first: delivery });
  }
  const path: T[] = [];
  for (let next = wayFrom(date).first; next; next = wayFrom(next.tot).first) path.push(next);
  return path;
}

/** Why a list of deliveries can't be followed beyond `date`; `null` if no delivery leads further. */
export function gapAfter(deliveries: readonly (Period & { name: string })[], date: string): string | null {
  const later = deliveries.filter(({ tot }) => tot > date).toSorted((a, b) => (a.vanaf < b.vanaf ? -1 : 1))[0];
  if (!later) return null;
  const how =
    later.vanaf > date
      ? `the next delivery, ${later.name}, starts at ${later.vanaf}`
      : `${later.name} spans that date, from ${later.vanaf} to ${later.tot}`;
  return (
    `No mutations follow ${date}: ${how}. Pass the missing ones with --mutations, or wait for the next full ` +
    'extract, which makes the dataset complete again.'
  );
}
