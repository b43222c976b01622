import type { Answer } from './api.ts';
import { type Check, demand, type Limits } from './check.ts';

const section = 'every answer';

/** Of each answer that any other check got: these come last. */
export const everyAnswerChecks: Check[] = [
  each('must not be stored, sniffed or fetched without TLS', ({ headers }) => {
    if (!/\bno-store\b/.test(headers['cache-control'] ?? '')) return `Cache-Control is ${headers['cache-control']}`;
    if (headers['x-content-type-options'] !== 'nosniff') return 'X-Content-Type-Options is not nosniff';
    const lasting = /max-age=[1-9]/.test(headers['strict-transport-security'] ?? '');
    return lasting ? null : `Strict-Transport-Security is ${headers['strict-transport-security']}`;
  }),
  each('names the version of the interface', ({ headers: { 'api-version': version = '' } }) =>
    /^\d+\.\d+\.\d+$/.test(version) ? null : `API-Version is "${version}"`,
  ),
  each('is for servers only: no CORS headers', ({ headers }) => {
    const cors = Object.keys(headers).find((name) => name.startsWith('access-control-'));
    return cors === undefined ? null : `has ${cors}`;
  }),
  each('keeps to itself what is inside', ({ status, headers }) => {
    if (status >= 500) return `status ${status}`;
    return headers['x-powered-by'] === undefined ? null : 'has X-Powered-By';
  }),
  each('comes within five seconds', ({ milliseconds }) =>
    milliseconds < 5_000 ? null : `took ${Math.round(milliseconds)} ms`,
  ),
  {
    section,
    title: 'has a request id of its own, which a problem repeats',
    async run({ api }) {
      const seen = new Set<string>();
      for (const { asked, headers, json } of api.answers) {
        const id = headers['x-request-id'] ?? '';
        demand(id !== '', `${asked}: no X-Request-Id`);
        demand(!seen.has(id), `${asked}: X-Request-Id ${id} was given before`);
        demand(
          json?.request_id === undefined || json.request_id === id,
          `${asked}: request_id is another than X-Request-Id`,
        );
        seen.add(id);
      }
    },
  },
  {
    section,
    title: 'never repeats the key',
    async run({ api, options }) {
      for (const { asked, headers, text } of api.answers) {
        demand(!(text + JSON.stringify(headers)).includes(options.key), `${asked}: the answer holds the key`);
      }
    },
  },
];

function each(title: string, fault: (answer: Answer) => string | null): Check {
  return {
    section,
    title,
    async run({ api }) {
      const faults = api.answers.flatMap((answer) => {
        const found = fault(answer);
        return found === null ? [] : [`${answer.asked}: ${found}`];
      });
      demand(faults.length === 0, `${faults[0]}${faults.length > 1 ? `, and ${faults.length - 1} more` : ''}`);
    },
  };
}

/** What `RateLimit` says of one window. */
export type Remaining = { window: string; left: number; resetSeconds: number };

/**
 * Reads the quota off an answered lookup: the policy names every finite window with its limit and length, and one of
 * them is the closest to exhaustion; `null` where no window is finite. @throws Disagreement
 */
export function readRateLimit({ asked, headers }: Answer, limits: Limits): Remaining | null {
  const finite = Object.entries(limits).flatMap(([name, limit]) => (limit === null ? [] : [{ name, limit }]));
  const { 'ratelimit-policy': policy, ratelimit } = headers;
  if (finite.length === 0) {
    demand(policy === undefined && ratelimit === undefined, `${asked}: an account without limits has RateLimit fields`);
    return null;
  }
  const at = new Date(headers.date ?? Date.now());
  const expected = finite.map(({ name, limit }) => `"${name}";q=${limit};w=${windowOf(name, at).seconds}`);
  const said = (policy ?? '').split(/, */);
  demand(
    said.toSorted().join() === expected.toSorted().join(),
    `${asked}: RateLimit-Policy is ${policy}, not ${expected.join(', ')}`,
  );
  const [, window = '', r, t] = /^"(\w+)";r=(\d+);t=(\d+)$/.exec(ratelimit ?? '') ?? [];
  const limit = finite.find(({ name }) => name === window)?.limit;
  demand(limit !== undefined, `${asked}: RateLimit is ${ratelimit}, of no window of the policy`);
  const remaining = { window, left: Number(r), resetSeconds: Number(t) };
  demand(
    remaining.left < limit,
    `${asked}: RateLimit is ${ratelimit} after a lookup; of ${limit} at most ${limit - 1} can be left`,
  );
  demandReset(asked, remaining, at);
  return remaining;
}

/** Clocks, and the way of the answer, take their time. */
const toleranceSeconds = 3;

function demandReset(asked: string, { window, resetSeconds }: Remaining, at: Date): void {
  const { seconds, left } = windowOf(window, at);
  // Just before a window ends, its end may lie just behind the one clock and just before the other.
  const off = Math.abs(resetSeconds - left);
  const near = Math.min(off, seconds - off) <= toleranceSeconds && resetSeconds <= seconds;
  demand(
    near,
    `${asked}: the ${window} is said to end in ${resetSeconds} s; by the clock and the calendar (UTC) in ${left} s`,
  );
}

/** How long the window at `at` is, and how much of it is left, in seconds; aligned to clock and calendar in UTC. */
function windowOf(name: string, at: Date): { seconds: number; left: number } {
  const now = Math.floor(at.getTime() / 1000);
  if (name === 'month') {
    const begin = Date.UTC(at.getUTCFullYear(), at.getUTCMonth()) / 1000;
    const end = Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + 1) / 1000;
    return { seconds: end - begin, left: end - now };
  }
  const seconds = { minute: 60, hour: 3600, day: 86_400 }[name] ?? 0;
  return { seconds, left: seconds - (now % seconds) };
}
