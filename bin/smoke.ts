#!/usr/bin/env node
import assert, { AssertionError } from 'node:assert/strict';
import { Command, InvalidArgumentError } from 'commander';
import { table } from './cli/table.ts';
import {
  type Check,
  createClient,
  NoAnswerError,
  type Run,
  Skip,
  type SmokeAddress,
  type SmokeAnswer,
  type SmokeOptions,
} from './smoke/check.ts';
import { batchChecks, batchLookups } from './smoke/check-batch.ts';
import { lookupChecks, mostSingleLookups } from './smoke/check-lookups.ts';
import { requestChecks } from './smoke/check-requests.ts';

/** Examines each response that the other checks got; these come last. */
const everyAnswerChecks: readonly Check[] = [
  everyAnswer('forbids caches, content sniffing and plain HTTP', ({ headers }) => {
    const { 'cache-control': cache = '', 'strict-transport-security': hsts = '' } = headers;
    assert.match(cache, /\bno-store\b/, `Cache-Control is ${cache}`);
    assert.equal(headers['x-content-type-options'], 'nosniff', 'X-Content-Type-Options is not nosniff');
    assert.match(hsts, /max-age=[1-9]/, `Strict-Transport-Security is ${hsts}`);
  }),
  everyAnswer('has the version of the API', ({ headers: { 'api-version': version = '' } }) => {
    assert.match(version, /^\d+\.\d+\.\d+$/, `API-Version is "${version}"`);
  }),
  everyAnswer('has no CORS headers', ({ headers }) => {
    const cors = Object.keys(headers).find((name) => name.startsWith('access-control-'));
    assert.equal(cors, undefined, `has ${cors}`);
  }),
  everyAnswer('reveals nothing of the inside', ({ status, headers }) => {
    assert(status < 500, `status ${status}`);
    assert.equal(headers['x-powered-by'], undefined, 'has X-Powered-By');
  }),
  everyAnswer('comes within five seconds', ({ milliseconds }) => {
    assert(milliseconds < 5_000, `took ${Math.round(milliseconds)} ms`);
  }),
  {
    section: 'every response',
    title: 'has a request id of its own, which a problem repeats',
    async run({ client }) {
      const seen = new Set<string>();
      for (const { asked, headers, json } of client.answers) {
        const id = headers['x-request-id'] ?? '';
        assert(id !== '', `${asked}: no X-Request-Id`);
        assert(!seen.has(id), `${asked}: X-Request-Id ${id} is that of an earlier response`);
        assert.equal(json?.request_id ?? id, id, `${asked}: request_id differs from X-Request-Id`);
        seen.add(id);
      }
    },
  },
  {
    section: 'every response',
    title: 'never has the key',
    async run({ client, options }) {
      for (const { asked, headers, text } of client.answers) {
        assert(!(text + JSON.stringify(headers)).includes(options.key), `${asked}: the response has the key`);
      }
    },
  },
];

/** Reports the first response that fails, and how many others do. */
function everyAnswer(title: string, examine: (answer: SmokeAnswer) => void): Check {
  return {
    section: 'every response',
    title,
    async run({ client }) {
      const faults = client.answers.flatMap((answer) => {
        try {
          examine(answer);
          return [];
        } catch (error) {
          return [`${answer.asked}: ${(error as Error).message}`];
        }
      });
      assert(faults.length === 0, `${faults[0]}${faults.length > 1 ? `, and ${faults.length - 1} more` : ''}`);
    },
  };
}

/** All checks in order: first those that cost no quota, last those that examine every response of the others. */
export const checks: readonly Check[] = [...requestChecks, ...lookupChecks, ...batchChecks, ...everyAnswerChecks];

/** The most lookups that a run makes. */
export const mostLookups = mostSingleLookups + batchLookups;

/** The result of a check. */
type CheckResult = {
  section: string;
  title: string;
  state: 'passed' | 'failed' | 'skipped';
  reason: string | null;
};

/** The results of a run, and how many requests and lookups it made. */
type SmokeReport = { results: CheckResult[]; requests: number; lookups: number };

/** Runs all or the chosen checks against an API. @throws NoAnswerError when the first request gets no response */
export async function runSmoke(baseUrl: string, options: SmokeOptions, chosen = checks): Promise<SmokeReport> {
  const client = createClient(baseUrl, options.key);
  const run: Run = { client, options, limits: null, left: null };
  const results: CheckResult[] = [];
  for (const check of chosen) results.push(await resultOf(check, run));
  return { results, requests: client.answers.length, lookups: client.lookups() };
}

async function resultOf(check: Check, run: Run): Promise<CheckResult> {
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

/** A table of the checks, the reason of each that did not pass, and what the run cost. */
function renderSmoke({ results, requests, lookups }: SmokeReport): string {
  const rows = results.map(({ section, title, state }) => [state, section, title]);
  const others = results.filter(({ state }) => state !== 'passed');
  const count = (wanted: CheckResult['state']) => results.filter(({ state }) => state === wanted).length;
  return [
    table(['', 'section', 'guarantee'], rows),
    ...others.map(({ state, title, reason }) => `${state}: ${title}\n  ${reason}`),
    `${count('passed')} passed, ${count('failed')} failed, ${count('skipped')} skipped; ` +
      `${requests} requests, of which ${lookups} counted against the quota.`,
  ].join('\n');
}

type Options = {
  url: string;
  key?: string;
  address?: SmokeAddress;
  ambiguous?: SmokeAddress;
  lettered?: SmokeAddress;
  json?: true;
};

/** In the register of the whole country and in the demo data. */
export const palace: SmokeAddress = { postcode: '1012RJ', huisnummer: 147, toevoeging: '' };

/** The command: reads its options, runs all checks and prints the report. */
async function main(): Promise<void> {
  await new Command('npx bag-adres smoke')
    .description('Checks a deployment of the HTTP API from outside, with one API key.')
    .requiredOption(
      '--url <url>',
      'the base URL, such as https://adres.example.nl or http://127.0.0.1:3000',
      webAddress,
    )
    .option('--key <key>', 'a valid API key (default: BAG_ADRES_KEY in the environment)')
    .option('--address <text>', 'an address that exists (default: "1012RJ 147")', anAddress)
    .option('--ambiguous <text>', 'one that is ambiguous, such as "9999ZZ 1" in the demo data', anAddress)
    .option('--lettered <text>', 'one that exists and ends in a letter, such as "1381AA 9 a"', anAddress)
    .option('--json', 'print JSON: {"passed", "lookups", "requests", "results": [...]}')
    .addHelpText(
      'after',
      `
Makes at most ${mostLookups} lookups, which count against the quota of the key's account, and never uses up a quota. Use an account that
nobody else uses, without quota shards: one check compares the quota to the unit.
Exit codes: 0 no failure, 1 a failure, 2 usage error.`,
    )
    .allowExcessArguments(false)
    .exitOverride((error) => process.exit(error.exitCode === 0 ? 0 : 2))
    .action(smoke)
    .parseAsync();
}

async function smoke({ url, json, ...options }: Options): Promise<void> {
  const key = options.key ?? process.env.BAG_ADRES_KEY;
  if (!key) return end(2, 'No API key: pass --key or set BAG_ADRES_KEY.');
  if (!/^[!-~]+$/.test(key)) return end(2, 'The key has characters that no key has. Was it copied in full?');
  const { address = palace, ambiguous, lettered } = options;
  const known: SmokeOptions = { key, address, isGuess: options.address === undefined };
  if (!json) console.error(`Checking ${url} with at most ${mostLookups} lookups.`);
  try {
    const report = await runSmoke(url, { ...known, ...(ambiguous && { ambiguous }), ...(lettered && { lettered }) });
    const passed = report.results.every(({ state }) => state !== 'failed');
    console.log(json ? JSON.stringify({ passed, ...report }, null, 2) : renderSmoke(report));
    process.exitCode = passed ? 0 : 1;
  } catch (error) {
    if (!(error instanceof NoAnswerError)) throw error;
    end(1, `No answer from ${url}: ${error.message}`);
  }
}

function end(exitCode: number, line: string): void {
  console.error(line);
  process.exitCode = exitCode;
}

function webAddress(text: string): string {
  if (/^https?:\/\/./.test(text) && URL.canParse(text)) return text;
  throw new InvalidArgumentError('It must begin with http:// or https://.');
}

function anAddress(text: string): SmokeAddress {
  const [, postcode, huisnummer, toevoeging = ''] =
    /^([1-9]\d{3} ?[a-z]{2}) +(\d{1,5})(?: +(\w{1,5}))?$/i.exec(text) ?? [];
  if (!postcode) throw new InvalidArgumentError('Write it as "1012RJ 147" or "1381AA 9 a".');
  return { postcode: postcode.replace(' ', '').toUpperCase(), huisnummer: Number(huisnummer), toevoeging };
}

// Started directly, or by local/launch.js, which imports this.
if (import.meta.main || process.argv[1] === import.meta.filename) await main();
