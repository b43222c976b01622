#!/usr/bin/env node
import { Command, InvalidArgumentError } from 'commander';
import { callApi, NoAnswerError } from '../lambdas/canary/call-api.ts';
import { buitenveer, type CheckResult, runSmoke, type SmokeReport } from '../operator/checks/run-smoke.ts';
import type { SmokeOptions, WrittenAddress } from '../operator/checks/smoke-check.ts';
import { mostLookups } from '../operator/checks/smoke-lookups.ts';
import { table } from '../operator/cli/text-table.ts';

/** A table of the checks, the reason of each that did not pass, and the cost of the run. */
function renderSmoke({ results, requests, lookups }: SmokeReport): string {
  const rows = results.map(({ section, title, state }) => [state, section, title]);
  const others = results.filter(({ state }) => state !== 'passed');
  const count = (wanted: CheckResult['state']) => results.filter(({ state }) => state === wanted).length;
  return [
    table(['state', 'section', 'guarantee'], rows, process.stdout.isTTY ? process.stdout.columns : undefined),
    ...others.map(({ state, title, reason }) => `${state}: ${title}\n  ${reason}`),
    `${count('passed')} passed, ${count('failed')} failed, ${count('skipped')} skipped; ` +
      `${requests} requests; ${lookups} counted against the quota.`,
  ].join('\n');
}

type Options = {
  url: string;
  key?: string;
  address?: WrittenAddress;
  ambiguous?: WrittenAddress;
  lettered?: WrittenAddress;
  json?: true;
};

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
    .option('--address <text>', 'an address that exists (default: "1381AA 9")', anAddress)
    .option('--ambiguous <text>', 'an ambiguous address, such as "9999ZZ 1"', anAddress)
    .option('--lettered <text>', 'an address that exists and ends in a letter, such as "1381AA 9 a"', anAddress)
    .option('--json', 'print JSON: {"passed", "lookups", "requests", "results": [...]}')
    .addHelpText(
      'after',
      `
Makes at most ${mostLookups} lookups, which count against the quota of the key's account, and never uses up a quota. Use an account that
nobody else uses: one check compares the quota to the unit.
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
  const { address = buitenveer, ambiguous, lettered } = options;
  const known: SmokeOptions = { key, address, isGuess: options.address === undefined };
  if (!json) console.error(`Checking ${url} with at most ${mostLookups} lookups.`);
  try {
    // Without a valid key nearly every check fails, for this one reason.
    const { status } = await callApi(`${url.replace(/\/+$/, '')}/v1/auth/validate`, { key });
    if (status === 401)
      return end(
        1,
        `${url} refuses this key. Check that it was copied in full, is not revoked, and is of that deployment.`,
      );
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

function anAddress(text: string): WrittenAddress {
  const [, postcode, huisnummer, toevoeging = ''] =
    /^([1-9]\d{3} ?[a-z]{2}) +(\d{1,5})(?: +(\w{1,5}))?$/i.exec(text) ?? [];
  if (!postcode) throw new InvalidArgumentError('Write it as "1012RJ 147" or "1381AA 9 a".');
  return { postcode: postcode.replace(' ', '').toUpperCase(), huisnummer: Number(huisnummer), toevoeging };
}

// Started directly, or by local/launch.js, which imports this.
if (import.meta.main || process.argv[1] === import.meta.filename) await main();
