import assert, { AssertionError } from 'node:assert/strict';
import { NoAnswerError } from '../../lambdas/canary/call-api.ts';
import {
  type Check,
  createClient,
  inSection,
  Skip,
  type SmokeAnswer,
  type SmokeOptions,
  type SmokeRun,
  type WrittenAddress,
} from './smoke-check.ts';
import { lookupChecks } from './smoke-lookups.ts';
import { requestChecks } from './smoke-requests.ts';

/** In the register of the whole country and in the demo. */
export const buitenveer: WrittenAddress = { postcode: '1381AA', huisnummer: 9, toevoeging: '' };

/** Reports the first response that fails, and how many others do. */
function everyAnswer(examine: (answer: SmokeAnswer) => void): Check['run'] {
  return async ({ client }) => {
    const faults = client.answers.flatMap((answer) => {
      try {
        examine(answer);
        return [];
      } catch (error) {
        return [`${answer.asked}: ${(error as Error).message}`];
      }
    });
    assert(faults.length === 0, `${faults[0]}${faults.length > 1 ? `, and ${faults.length - 1} more` : ''}`);
  };
}

/** These examine each response that the other checks got. */
const everyAnswerChecks = inSection('every response', {
  'forbids caches, content sniffing and plain HTTP': everyAnswer(({ headers }) => {
    const { 'cache-control': cache = '', 'strict-transport-security': hsts = '' } = headers;
    assert.match(cache, /\bno-store\b/, `Cache-Control is ${cache}`);
    assert.equal(headers['x-content-type-options'], 'nosniff', 'X-Content-Type-Options is not nosniff');
    assert.match(hsts, /max-age=[1-9]/, `Strict-Transport-Security is ${hsts}`);
  }),
  'has the version of the API': everyAnswer(({ headers: { 'api-version': version = '' } }) => {
    assert.match(version, /^\d+\.\d+\.\d+$/, `API-Version is "${version}"`);
  }),
  'has no CORS headers': everyAnswer(({ headers }) => {
    const cors = Object.keys(headers).find((name) => name.startsWith('access-control-'));
    assert.equal(cors, undefined, `has ${cors}`);
  }),
  'reveals nothing of the inside': everyAnswer(({ status, headers }) => {
    assert(status < 500, `status ${status}`);
    assert.equal(headers['x-powered-by'], undefined, 'has X-Powered-By');
  }),
  'comes within five seconds': everyAnswer(({ milliseconds }) => {
    assert(milliseconds < 5_000, `took ${Math.round(milliseconds)} ms`);
  }),
  async 'has a request id of its own, which a problem repeats'({ client }) {
    const seen = new Set<string>();
    for (const { asked, headers, json } of client.answers) {
      const id = headers['x-request-id'] ?? '';
      assert(id !== '', `${asked}: no X-Request-Id`);
      assert(!seen.has(id), `${asked}: X-Request-Id ${id} is that of an earlier response`);
      assert.equal(json?.request_id ?? id, id, `${asked}: request_id differs from X-Request-Id`);
      seen.add(id);
    }
  },
  async 'never has the key'({ client, options }) {
    for (const { asked, headers, text } of client.answers)
      assert(!(text + JSON.stringify(headers)).includes(options.key), `${asked}: the response has the key`);
  },
});

/** All checks in order: first those that cost no quota, last those that examine every response of the others. */
export const checks: readonly Check[] = [...requestChecks, ...lookupChecks, ...everyAnswerChecks];

/** The result of a check. */
export type CheckResult = {
  section: string;
  title: string;
  state: 'passed' | 'failed' | 'skipped';
  reason: string | null;
};

/** The results of a run, and how many requests and lookups it made. */
export type SmokeReport = { results: CheckResult[]; requests: number; lookups: number };

/** Runs all or the chosen checks against an API. @throws NoAnswerError when the first request gets no response */
export async function runSmoke(baseUrl: string, options: SmokeOptions, chosen = checks): Promise<SmokeReport> {
  const client = createClient(baseUrl, options.key);
  const run: SmokeRun = { client, options, limits: null, left: null };
  const results: CheckResult[] = [];
  for (const check of chosen) results.push(await resultOf(check, run));
  return {
    results,
    requests: client.answers.length,
    lookups: client.answers.reduce((sum, answer) => sum + unitsOf(answer), 0),
  };
}

/** What a response counted: one for a lookup, one for each result of many. */
function unitsOf({ asked, status, json }: SmokeAnswer): number {
  if (status !== 200) return 0;
  if (asked.startsWith('GET /v1/address?')) return 1;
  return asked === 'POST /v1/addresses' && Array.isArray(json?.results) ? json.results.length : 0;
}

async function resultOf(check: Check, run: SmokeRun): Promise<CheckResult> {
  const { section, title } = check;
  try {
    await check.run(run);
    return { section, title, state: 'passed', reason: null };
  } catch (error) {
    if (error instanceof AssertionError) return { section, title, state: 'failed', reason: error.message };
    if (error instanceof Skip) return { section, title, state: 'skipped', reason: error.message };
    // Later a missing response is a failure like any other; at first there is nothing to test.
    if (!(error instanceof NoAnswerError) || run.client.answers.length === 0) throw error;
    return { section, title, state: 'failed', reason: `no answer to ${error.message}` };
  }
}
