/** How many requests a visitor may send: so many a second, and so many at once above that. */
export type Rate = { perSecond: number; burst: number };

/**
 * How often a network comes back from the OpenID provider, and how often a session requests a page.
 */
export type Rates = { callback: Rate; session: Rate };

/**
 * Rates that people do not reach. Each visitor has their own, because a visitor could exhaust a
 * shared rate. The first page and the beginning of a sign-in have none, because they cost no more
 * than a refusal. A page counts as one request: API Gateway limits its style sheet and script
 * apart.
 */
export const defaultRates: Rates = {
  callback: { perSecond: 1, burst: 20 },
  session: { perSecond: 5, burst: 60 },
};

/** How many visitors an instance remembers. */
const maxBuckets = 10_000;

/**
 * Limits the requests that this instance answers, so that no visitor can use up the capacity of the
 * database and the OpenID provider. API Gateway bounds the whole portal.
 */
export function createRateLimit(rates: Rates, now: () => number) {
  const buckets = new Map<string, { left: number; at: number }>();

  /**
   * Takes one request of a visitor; returns 0, or the whole seconds until the next request is
   * admitted.
   */
  return function take(kind: keyof Rates, visitor: string): number {
    const { perSecond, burst } = rates[kind];
    const at = now();
    const bucket = buckets.get(kind + visitor) ?? { left: burst, at };
    const left = Math.min(burst, bucket.left + (Math.max(0, at - bucket.at) / 1000) * perSecond);
    const isAdmitted = left >= 1;
    if (buckets.size >= maxBuckets) buckets.clear();
    buckets.set(kind + visitor, { left: isAdmitted ? left - 1 : left, at });
    return isAdmitted ? 0 : Math.max(1, Math.ceil((1 - left) / perSecond));
  };
}

/**
 * The network of an IP address: the address itself, or the first 64 bits of IPv6, which one visitor
 * has all of.
 */
export function networkOf(address: string): string {
  if (!address.includes(':')) return address;
  const [head = [], tail = []] = address
    .split('::')
    .map((part) => part.split(':').filter((group) => group !== ''));
  const zeros = Array<string>(Math.max(0, 8 - head.length - tail.length)).fill('0');
  return [...head, ...zeros, ...tail].slice(0, 4).join(':');
}
