import { Option } from 'commander';
import type { RowResult, SmokeAnswer, SmokeOptions, WrittenAddress } from '../checks/run-smoke.ts';
import { CommandError, UsageError } from '../deployment/errors.ts';
import type { CliCommand, Result, Terminal } from './command.ts';
import { lines, table } from './terminal-text.ts';
import { writtenAddress } from './values.ts';

type SmokeCommandOptions = Pick<SmokeOptions, 'address'> & { url: string; key?: string };
type DoctorOptions = {
  local?: true;
  data?: string;
  stage?: string;
  key?: string;
  address?: WrittenAddress;
};

/**
 * `doctor` checks everything that the service needs, `smoke` the HTTP API of a deployment against
 * its contract.
 */
export function addCheckCommands(program: CliCommand): void {
  const { env } = program.terminal;
  program
    .command('doctor')
    .location('Target of the checks (default: the AWS account):')
    .option(
      '--json',
      'print JSON, for scripts: {"healthy", "checks": [{"check", "state", "found", "advice"}]}',
    )
    .description(
      'check credentials, account, stacks, tables, dataset and API, and say how to fix problems',
    )
    .option(
      '--key <key>',
      "for a live lookup (default: BAG_ADRES_KEY in the environment); it counts against the key's quota",
    )
    .option(
      '--address <text>',
      'the address to look up, like "1012RJ 147" (default: one from the table)',
      writtenAddress,
    )
    .notes('The exit code is 1 when a check failed; a warning is not a failure.')
    .examples('doctor --stage prod')
    .does((options: DoctorOptions) => doctor({ key: env.BAG_ADRES_KEY || undefined, ...options }));
  program
    .command('smoke')
    .description(
      'hold the HTTP API of a deployment against its contract from outside, with one key',
    )
    .requiredOption(
      '--url <url>',
      'the base URL, like https://adres.example.nl or http://127.0.0.1:3000',
      webAddress,
    )
    .option('--key <key>', 'a valid API key (default: BAG_ADRES_KEY in the environment)')
    .addOption(
      new Option('--address <text>', 'an address that exists')
        .argParser(writtenAddress)
        .default({ postcode: '1381AA', huisnummer: 9, toevoeging: '' }, '"1381AA 9"'),
    )
    .option(
      '--json',
      'print JSON: {"passed", "lookups", "requests", "results": [{"title", "state", "reason"}]}',
    )
    .notes(
      `Says first how many lookups it makes at most; they count against the quota of the key's account. Never uses up a quota. Use an
account that nobody else uses: one check compares the quota to the unit. The exit code is 1 when a check failed.`,
    )
    .examples('smoke --url http://127.0.0.1:3000 --key bagadres_demo_...')
    .does(({ url, address, key = env.BAG_ADRES_KEY }: SmokeCommandOptions) => {
      if (!key) throw new UsageError('No API key: give --key, or set BAG_ADRES_KEY.');
      if (!/^[!-~]+$/.test(key)) {
        throw new UsageError('The key has characters that no key has. Copy it in full.');
      }
      return smoke(program.terminal, url, { key, address });
    });
}

async function doctor({ local, data, stage, ...lookup }: DoctorOptions): Promise<Result> {
  // Imported here because the AWS clients load slower than `--help` should print.
  const { examineLocal, examineStage } = await import('../checks/doctor.ts');
  const findings = local ? await examineLocal(data, lookup) : await examineStage(stage, lookup);
  const bad = findings.filter(({ state }) => state === 'failed');
  const message = `${bad.length} of ${findings.length} checks failed: ${bad.map(({ check }) => check).join(', ')}.`;
  const widest = Math.max(...findings.map(({ check }) => check.length));
  const text = findings.map(({ check, state, found, advice }) => [
    `${state.padEnd(7)}  ${check.padEnd(widest)}  ${found}`,
    advice !== null && `${' '.repeat(9 + widest)}  -> ${advice}`,
  ]);
  return {
    json: { healthy: bad.length === 0, checks: findings },
    text: lines(text),
    failure: bad.length > 0 ? new CommandError('unhealthy', message) : undefined,
  };
}

async function smoke({ err }: Terminal, url: string, options: SmokeOptions): Promise<Result> {
  const { mostLookups, runSmoke } = await import('../checks/run-smoke.ts');
  err(`Checking ${url} with at most ${mostLookups} lookups.`);
  const { results, answers } = await runSmoke(url, options).catch((error: Error) => {
    throw error.name === 'NoAnswerError'
      ? new CommandError('unreachable', `${url}: ${error.message}`)
      : error;
  });
  const number = (wanted: RowResult['state']) =>
    results.filter(({ state }) => state === wanted).length;
  const failed = number('failed');
  const lookups = answers.reduce((sum, answer) => sum + unitsOf(answer), 0);
  const refused = `${url} refuses this key. Check that it was copied in full, is not revoked, and is of that deployment.`;
  const message =
    answers[0]?.status === 401 ? refused : `${failed} of ${results.length} checks failed.`;
  return {
    json: { passed: failed === 0, lookups, requests: answers.length, results },
    text: lines(
      table(['state', 'guarantee'], results, ({ state, title }) => [state, title]),
      results.map(
        ({ state, title, reason }) => state !== 'passed' && [`${state}: ${title}`, `  ${reason}`],
      ),
      `${number('passed')} passed, ${failed} failed, ${number('skipped')} skipped; ${answers.length} requests; ${lookups} counted against the quota.`,
    ),
    failure: failed === 0 ? undefined : new CommandError('broken', message),
  };
}

/** The units of a response: one for a lookup, one for each result of a batch. */
function unitsOf({ asked, status, json }: SmokeAnswer): number {
  if (status !== 200) return 0;
  if (asked.startsWith('GET /v1/address?')) return 1;
  return Array.isArray(json?.results) ? json.results.length : 0;
}

function webAddress(text: string): string {
  if (/^https?:\/\/./.test(text) && URL.canParse(text)) return text;
  throw new UsageError(`--url must begin with http:// or https://, not "${text}".`);
}
