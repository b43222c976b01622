/** How many requests a kind of visitor may send: so many a second, and so many at once above that. */
export type Rate = { perSecond: number; burst: number };

/** Visitors who are not signed in share one rate, and so do sign-ins; each session has its own. */
export type Rates = { anonymous: Rate; signIn: Rate; session: Rate };

/**
 * Rates that people do not reach. A page counts as one request: API Gateway limits its style sheet and script apart.
 */
export const defaultRates: Rates = {
  anonymous: { perSecond: 5, burst: 50 },
  signIn: { perSecond: 2, burst: 20 },
  session: { perSecond: 5, burst: 60 },
};

/** How many sessions an instance remembers. */
const maxBuckets = 10_000;

/**
 * Limits what this instance answers, so that visitors who are not signed in can't use up what others need, nor one
 * session what the database takes. API Gateway bounds the whole portal.
 */
export function createRateLimit(rates: Rates, now: () => number) {
  const buckets = new Map<string, { left: number; at: number }>();

  /** Takes one request of a kind; returns 0, or the whole seconds after which the next one is admitted. */
  return function take(kind: keyof Rates, session = ''): number {
    const { perSecond, burst } = rates[kind];
    const at = now();
    const bucket = buckets.get(kind + session) ?? { left: burst, at };
    const left = Math.min(burst, bucket.left + (Math.max(0, at - bucket.at) / 1000) * perSecond);
    const isAdmitted = left >= 1;
    if (buckets.size >= maxBuckets) buckets.clear();
    buckets.set(kind + session, { left: isAdmitted ? left - 1 : left, at });
    return isAdmitted ? 0 : Math.max(1, Math.ceil((1 - left) / perSecond));
  };
}
