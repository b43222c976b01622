#!/usr/bin/env node
import { Command, InvalidArgumentError } from 'commander';
import { NoAnswerError } from './smoke/api.ts';
import type { SmokeAddress, SmokeOptions } from './smoke/check.ts';
import { mostLookups } from './smoke/check-lookups.ts';
import { renderSmoke, runSmoke } from './smoke/run-smoke.ts';

type Options = {
  url: string;
  key?: string;
  address?: SmokeAddress;
  ambiguous?: SmokeAddress;
  lettered?: SmokeAddress;
  json?: true;
};

/** In the register of the country and in the demo extract. */
const palace: SmokeAddress = { postcode: '1012RJ', huisnummer: 147, toevoeging: '' };

await new Command('npm run smoke --')
  .description('Checks the whole HTTP interface from outside, with one key, against any base address.')
  .requiredOption('--url <url>', 'the base address, like https://adres.example.nl or http://127.0.0.1:3000', webAddress)
  .option('--key <key>', 'a key that works (default: BAG_ADRES_KEY in the environment)')
  .option('--address <text>', 'an address that is found (default: "1012RJ 147")', anAddress)
  .option('--ambiguous <text>', 'one that is ambiguous, like "9999ZZ 1" of the demo', anAddress)
  .option('--lettered <text>', 'one that is found and ends in a letter, like "1381AA 9 a"', anAddress)
  .option('--json', 'print JSON: {"passed", "lookups", "requests", "results": [...]}')
  .addHelpText(
    'after',
    `
It charges ${mostLookups} lookups at most to the account of the key, mostly fewer, and says how many; it never uses a quota up. Take an
account that nobody else uses, without quota shards: the arithmetic of the quota is checked to the unit.
Ends with 0 when nothing failed, 1 when something did, 2 when it was called wrongly.`,
  )
  .allowExcessArguments(false)
  .exitOverride((error) => process.exit(error.exitCode === 0 ? 0 : 2))
  .action(smoke)
  .parseAsync();

async function smoke({ url, json, ...options }: Options): Promise<void> {
  const key = options.key ?? process.env.BAG_ADRES_KEY;
  if (!key) return end(2, 'There is no key: give --key, or BAG_ADRES_KEY in the environment.');
  if (!/^[!-~]+$/.test(key)) return end(2, 'The key holds characters that no key has; was it copied in full?');
  const { address = palace, ambiguous, lettered } = options;
  const known: SmokeOptions = { key, address, isGuess: options.address === undefined };
  if (!json) console.error(`Checking ${url}; this charges ${mostLookups} lookups at most.`);
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
  throw new InvalidArgumentError('It begins with http:// or https://.');
}

function anAddress(text: string): SmokeAddress {
  const [, postcode, huisnummer, toevoeging = ''] =
    /^([1-9]\d{3} ?[a-z]{2}) +(\d{1,5})(?: +(\w{1,5}))?$/i.exec(text) ?? [];
  if (!postcode) throw new InvalidArgumentError('It reads like "1012RJ 147" or "1381AA 9 a".');
  return { postcode: postcode.replace(' ', '').toUpperCase(), huisnummer: Number(huisnummer), toevoeging };
}
