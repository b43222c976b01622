import { type Command, Option } from 'commander';
import type { WantedAddress } from '../doctor/check-service.ts';
import type { Finding } from '../doctor/finding.ts';
import { CommandError, type Terminal, UsageError } from './arguments.ts';
import { printResult } from './output.ts';

type DoctorOptions = { json?: true; local?: true; data?: string; stack?: string; key?: string; address?: string };

/** `doctor`: looks at everything that the service needs, and says what to do where something is missing. */
export function addDoctorCommand(program: Command, terminal: Terminal): void {
  const where = (flags: string, description: string) => new Option(flags, description).helpGroup('What to look at:');
  program
    .command('doctor')
    .description('look at credentials, account, stacks, tables, register and interface, and say what to do')
    .option('--json', 'print JSON, for scripts: {"healthy", "checks": [{"check", "state", "found", "advice"}]}')
    .addOption(where('--local', 'the running "npm start" on this machine').conflicts('stack'))
    .addOption(where('--data <dir>', 'with --local: the --data that "npm start" was given'))
    .addOption(
      where(
        '--stack <name>',
        'a deployment: any of its stacks, or what their names begin with; without it only the account is looked at',
      ),
    )
    .option('--key <key>', 'for a live lookup (default: BAG_ADRES_KEY in the environment); it is charged one')
    .option('--address <text>', 'what to look up, like "1012RJ 147" (default: an address out of the table)')
    .addHelpText(
      'after',
      '\nEnds with 1 when a check failed; a warning is no failure.\n\nExample:\n  doctor --stack bag-adres-prod',
    )
    .action((options: DoctorOptions) => doctor(terminal, options));
}

async function doctor(terminal: Terminal, options: DoctorOptions): Promise<void> {
  const { local, data, stack, address } = options;
  if (data !== undefined && !local) throw new UsageError('--data says which --local run; add --local.');
  const key = options.key ?? (terminal.env.BAG_ADRES_KEY || undefined);
  const lookup = { key, address: address === undefined ? undefined : readAddress(address) };
  const findings = local
    ? await (await import('../doctor/examine-local.ts')).examineLocal(data, lookup)
    : await (await import('../doctor/examine-stack.ts')).examineStack(stack, lookup);
  const { renderFindings } = await import('./doctor.ts');
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
  throw new UsageError(
    `--address takes a postcode, a number and what is added to it, like "1012RJ 147", not "${text}".`,
  );
}

/** Findings for people: one line each, and what to do below it. */
export function renderFindings(findings: readonly Finding[]): string {
  const widest = Math.max(...findings.map(({ check }) => check.length));
  return findings
    .flatMap(({ check, state, found, advice }) => [
      `${state.padEnd(7)}  ${check.padEnd(widest)}  ${found}`,
      ...(advice === null ? [] : [`${' '.repeat(9)}${' '.repeat(widest)}  -> ${advice}`]),
    ])
    .join('\n');
}
