import { hostileKinds } from '../../test/support/hostile-requests.ts';
import { stubbedRoute, validBody } from '../../test/support/stubbed-route.ts';
import type { Benchmark } from './benchmark.ts';
import { cpuMilliseconds, median, rounded } from './measure.ts';

/** The budget of refused work: CPU beyond a valid batch of 100, its growth, and the answer. */
const budget = { beyond_ms: 50, growth: 2.5, answer_bytes: 64 * 1024 };

/** Below this, growth is noise. */
const leastForGrowthMilliseconds = 5;

const runs = 20;

/**
 * A kind over the budget is measured again: other processes add to its cost, and never subtract.
 */
const tries = 3;

/** The costliest are shown, and all that are over the budget. */
const mostRows = 40;

type Row = {
  kind: string;
  with_key: boolean;
  status: number;
  beyond_ms: number;
  growth: number | null;
  answer_bytes: number;
};

/**
 * The cost of refusing hostile requests of every kind, each through the route over stores that
 * answer at once: 64 KB of body, or what the gateway accepts of a query and headers.
 */
export const benchmark: Benchmark = {
  async run() {
    const { key, send } = stubbedRoute({
      write: () => undefined,
      namespace: '',
      everyOutcome: true,
    });

    type Request = { url: string; request: Parameters<typeof send>[1] };

    /** The median cost of each request. They take turns, so that a busy time meets them all. */
    async function cpuOfMedian(...requests: Request[]): Promise<number[]> {
      const costs = requests.map((): number[] => []);
      for (let i = 0; i < runs; i++) {
        for (const [at, { url, request }] of requests.entries()) {
          const before = cpuMilliseconds();
          await send(url, request);
          costs[at]?.push(cpuMilliseconds() - before);
        }
      }
      return costs.map(median);
    }

    async function measure(whole: Request, half: Request, valid_ms: number) {
      let least = { beyond_ms: Infinity, growth: Infinity };
      for (let i = 0; i < tries; i++) {
        const [cost = 0, costOfHalf = 0] = await cpuOfMedian(whole, half);
        least = {
          beyond_ms: Math.min(least.beyond_ms, Math.max(0, cost - valid_ms)),
          growth: Math.min(least.growth, cost > leastForGrowthMilliseconds ? cost / costOfHalf : 0),
        };
        if (least.beyond_ms <= budget.beyond_ms && least.growth <= budget.growth) break;
      }
      return { beyond_ms: rounded(least.beyond_ms, 3), growth: rounded(least.growth, 2) || null };
    }

    const headers = { 'content-type': 'application/json', 'x-api-key': key };
    const request = { method: 'POST', headers, body: validBody() };
    const valid = { url: '/v1/addresses', request };
    await cpuOfMedian(valid);
    const [valid_batch_ms = 0] = await cpuOfMedian(valid);
    const rows: Row[] = [];
    for (const { name, mostBytes, make } of hostileKinds) {
      for (const with_key of [true, false]) {
        const kindWith = (bytes: number) => {
          const { url, request } = make(bytes);
          const headers: Record<string, string> = { ...(with_key && { 'x-api-key': key }) };
          return { url, request: { ...request, headers: { ...headers, ...request.headers } } };
        };
        const whole = kindWith(mostBytes);
        const { statusCode = 0, body = '' } = await send(whole.url, whole.request);
        rows.push({
          kind: name,
          with_key,
          status: statusCode,
          ...(await measure(whole, kindWith(mostBytes / 2), valid_batch_ms)),
          answer_bytes: Buffer.byteLength(body),
        });
      }
    }
    const most = (figure: (row: Row) => number) => Math.max(...rows.map(figure));
    return {
      budget,
      runs,
      valid_batch_ms: rounded(valid_batch_ms, 3),
      kinds: hostileKinds.length,
      server_errors: rows.filter(({ status }) => status >= 500).length,
      most: {
        beyond_ms: most(({ beyond_ms }) => beyond_ms),
        growth: most(({ growth }) => growth ?? 0),
        answer_bytes: most(({ answer_bytes }) => answer_bytes),
      },
      rows: rows
        .toSorted((a, b) => b.beyond_ms - a.beyond_ms)
        .filter((row, index) => index < mostRows || faultsOf(row).length > 0),
    };
  },
  table: ({ rows }) => rows as Row[],
  broken: ({ rows }) => (rows as Row[]).flatMap(faultsOf),
};

/** How a row is over the budget. */
function faultsOf({ kind, status, beyond_ms, growth, answer_bytes }: Row): string[] {
  return [
    ...(status >= 500 ? [`${kind}: status ${status}.`] : []),
    ...(beyond_ms > budget.beyond_ms ? [`${kind}: ${beyond_ms} ms beyond a valid batch.`] : []),
    ...((growth ?? 0) > budget.growth ? [`${kind}: twice the size costs ${growth} times.`] : []),
    ...(answer_bytes > budget.answer_bytes ? [`${kind}: ${answer_bytes} bytes of answer.`] : []),
  ];
}
