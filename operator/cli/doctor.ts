import type { Command } from 'commander';
import type { Finding, WantedAddress } from '../checks/doctor.ts';
import { CommandError, UsageError } from '../connect/errors.ts';
import { checkLocation, printResult, type Terminal, withDataset } from './command.ts';

type DoctorOptions = { json?: true; local?: true; data?: string; stack?: string; key?: string; address?: string };

/** `doctor`: checks everything that the service needs, and says how to fix problems. */
export function addDoctorCommand(program: Command, terminal: Terminal): void {
  const json = 'print JSON, for scripts: {"healthy", "checks": [{"check", "state", "found", "advice"}]}';
  withDataset(program.command('doctor'), 'What to check (the AWS account, if none is given):', json)
    .description('check credentials, account, stacks, tables, dataset and API, and say how to fix problems')
    .option(
      '--key <key>',
      "for a live lookup (default: BAG_ADRES_KEY in the environment); it counts against the key's quota",
    )
    .option('--address <text>', 'the address to look up, like "1012RJ 147" (default: one from the table)')
    .addHelpText(
      'after',
      `
The exit code is 1 when a check failed; a warning is not a failure.

Example:
  npx bag-adres doctor --stack bag-adres-prod`,
    )
    .action((options: DoctorOptions) => doctor(terminal, options));
}

async function doctor(terminal: Terminal, options: DoctorOptions): Promise<void> {
  checkLocation(options);
  const { local, data, stack, address } = options;
  const key = options.key ?? (terminal.env.BAG_ADRES_KEY || undefined);
  const lookup = { key, address: address === undefined ? undefined : readAddress(address) };
  // Imported here because the AWS clients load slower than `--help` should print.
  const { examineLocal, examineStack } = await import('../checks/doctor.ts');
  const findings = local ? await examineLocal(data, lookup) : await examineStack(stack, lookup);
  const bad = findings.filter(({ state }) => state === 'failed');
  printResult(terminal, options, {
    json: { healthy: bad.length === 0, checks: findings },
    text: renderFindings(findings),
  });
  if (bad.length === 0) return;
  const checks = bad.map(({ check }) => check).join(', ');
  throw new CommandError('unhealthy', `${bad.length} of ${findings.length} checks failed: ${checks}.`);
}

function readAddress(text: string): WantedAddress {
  const [, postcode, huisnummer, toevoeging = ''] =
    /^(\d{4} ?[a-z]{2}) +(\d{1,5})(?: *(\w{1,5}))?$/i.exec(text.trim()) ?? [];
  if (postcode && huisnummer) return { postcode, huisnummer, toevoeging };
  throw new UsageError(`--address takes a postcode, huisnummer and toevoeging, like "1012RJ 147", not "${text}".`);
}

/** One line for each finding, with its advice below it. */
function renderFindings(findings: readonly Finding[]): string {
  const widest = Math.max(...findings.map(({ check }) => check.length));
  return findings
    .flatMap(({ check, state, found, advice }) => [
      `${state.padEnd(7)}  ${check.padEnd(widest)}  ${found}`,
      ...(advice === null ? [] : [`${' '.repeat(9)}${' '.repeat(widest)}  -> ${advice}`]),
    ])
    .join('\n');
}
