import type { Finding } from '../checks/doctor.ts';
import type { WrittenAddress } from '../checks/run-smoke.ts';
import { CommandError } from '../connect/errors.ts';
import type { CliCommand, Result } from './command.ts';
import { lines } from './terminal-text.ts';
import { writtenAddress } from './values.ts';

type DoctorOptions = { local?: true; data?: string; stage?: string; key?: string; address?: WrittenAddress };

/** `doctor`: checks everything that the service needs, and says how to fix problems. */
export function addDoctorCommand(program: CliCommand): void {
  program
    .command('doctor')
    .location('Target of the checks (default: the AWS account):')
    .option('--json', 'print JSON, for scripts: {"healthy", "checks": [{"check", "state", "found", "advice"}]}')
    .description('check credentials, account, stacks, tables, dataset and API, and say how to fix problems')
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
    .does((options: DoctorOptions) => doctor({ key: program.terminal.env.BAG_ADRES_KEY || undefined, ...options }));
}

async function doctor({ local, data, stage, ...lookup }: DoctorOptions): Promise<Result> {
  // Imported here because the AWS clients load slower than `--help` should print.
  const { examineLocal, examineStage } = await import('../checks/doctor.ts');
  const findings = local ? await examineLocal(data, lookup) : await examineStage(stage, lookup);
  const bad = findings.filter(({ state }) => state === 'failed');
  const message = `${bad.length} of ${findings.length} checks failed: ${bad.map(({ check }) => check).join(', ')}.`;
  return {
    json: { healthy: bad.length === 0, checks: findings },
    text: renderFindings(findings),
    failure: bad.length > 0 ? new CommandError('unhealthy', message) : undefined,
  };
}

/** One line for each finding, with its advice below it. */
function renderFindings(findings: readonly Finding[]): string {
  const widest = Math.max(...findings.map(({ check }) => check.length));
  return lines(
    findings.map(({ check, state, found, advice }) => [
      `${state.padEnd(7)}  ${check.padEnd(widest)}  ${found}`,
      advice !== null && `${' '.repeat(9 + widest)}  -> ${advice}`,
    ]),
  );
}
