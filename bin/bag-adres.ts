import { type Command, CommanderError } from 'commander';
import { redactKeys } from '../core/accounts/api-key.ts';
import { packageVersion } from '../lib/config/deployment.ts';
import { addAccessCommands } from '../operator/cli/access-commands.ts';
import { addAccountCommands } from '../operator/cli/account-commands.ts';
import { addAuditCommands, addPersonCommands } from '../operator/cli/audit-commands.ts';
import { addBackupCommands, addRestoreCommands } from '../operator/cli/backup-commands.ts';
import { addCheckCommands } from '../operator/cli/check-commands.ts';
import {
  CliCommand,
  pasteable,
  pathOf,
  snakeCase,
  type Terminal,
} from '../operator/cli/command.ts';
import { addLoadCommands } from '../operator/cli/load-commands.ts';
import { addPlanCommands } from '../operator/cli/plan-commands.ts';
import { addSettingsCommands } from '../operator/cli/settings-commands.ts';
import { display, hasColours, painted } from '../operator/cli/terminal-text.ts';
import { addUsageCommands } from '../operator/cli/usage-commands.ts';
import {
  CommandError,
  type ErrorExplanation,
  explainError,
  UsageError,
} from '../operator/deployment/errors.ts';
import { AdminError } from '../packages/admin/accounts/admin-error.ts';

/** 0: done. 1: refused or failed. 2: usage error; nothing was tried. */
export type ExitCode = 0 | 1 | 2;

/**
 * Runs one command and returns its exit code; never throws. An error is one line on standard error,
 * without any key.
 */
export async function runCommandLine(args: string[], terminal: Terminal): Promise<ExitCode> {
  const json = args.includes('--json');
  const program = commandLine(terminal, json);
  let command = program;
  program.hook('preAction', (_, found) => {
    command = found as CliCommand;
  });
  try {
    refuseEmpty(args);
    await program.parseAsync(args, { from: 'user' });
    return 0;
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) return 0; // --help
    const { code, message } =
      error instanceof CommanderError
        ? explainUsage(error, program, args)
        : explainError(error, command.opts());
    // Each reason of a refusal has its line; every other error is one.
    const lines = json || code !== 'refused' ? message.replace(/\s*\n\s*/g, ' ') : message;
    const line = pasteable(redactKeys(lines), command, command.opts());
    const details = error instanceof CommandError ? (snakeCase(error.details) as object) : {};
    const told = `${painted('red', 'bag-adres:', 'err')} ${line}`;
    if (json) terminal.err(JSON.stringify({ error: { code, message: line, ...details } }));
    else if (!(error instanceof CommandError && error.isTold)) terminal.err(told);
    return isUsage(error) ? 2 : 1;
  }
}

/**
 * Whether the command can't be run as it was typed; what months there are is known only after a
 * look.
 */
function isUsage(error: unknown): boolean {
  if (error instanceof AdminError) return error.reason === 'month';
  return error instanceof CommanderError || error instanceof UsageError;
}

/**
 * The command line with all its commands. With `json` an error is not preceded by the help of a
 * group.
 */
export function commandLine(terminal: Terminal, json = false): CliCommand {
  const program = new CliCommand(terminal, 'bag-adres')
    .usage('COMMAND [options]')
    .version(packageVersion(), '--version', 'print the version')
    .description(
      'Manage plans, accounts and keys of the Dutch address service, and load its addresses.',
    )
    .notes(
      `Exit codes: 0 done, 1 refused or failed, 2 usage error, 141 the reader of the result has left, as "head" does.
Errors are one line on standard error; a refused load has a line for each reason.
In scripts, use --json.`,
    )
    .examples(
      'plan put standard --limit minute=60 --limit day=5000 --local',
      'account create acme --plan standard --local',
      'key create --account acme --label webshop --local',
      'load status --stage prod',
    )
    .exitOverride()
    .configureOutput({
      writeOut: (text) => terminal.out(text.trimEnd()),
      // The help of a group without a command. In JSON mode the error is enough.
      writeErr: (text) => (json ? undefined : terminal.err(text.trimEnd())),
      outputError: () => undefined, // runCommandLine prints it
    });
  addPlanCommands(program);
  addAccountCommands(program);
  addAccessCommands(program);
  addUsageCommands(program);
  addLoadCommands(program);
  addBackupCommands(program);
  addAuditCommands(program);
  addPersonCommands(program);
  addRestoreCommands(program);
  addCheckCommands(program);
  addSettingsCommands(program);
  return program;
}

/**
 * An empty option usually comes from an unset variable in a script, and would have an unintended
 * meaning.
 */
function refuseEmpty(args: string[]): void {
  for (const [i, arg] of args.entries()) {
    const isEmpty = /^--[a-z-]+=$/.test(arg) || (arg.startsWith('--') && args[i + 1] === '');
    if (isEmpty) {
      throw new UsageError(`${arg.replace('=', '')} is empty. Give it a value or leave it out.`);
    }
  }
}

/** The fault, and the help of the command that the arguments begin with. */
function explainUsage(
  error: CommanderError,
  program: Command,
  args: readonly string[],
): ErrorExplanation {
  let named = program;
  for (const word of args) {
    const next = named.commands.find((child) => child.name() === word);
    if (!next && !word.startsWith('-')) break;
    named = next ?? named;
  }
  const help = `See "npx ${['bag-adres', ...(named === program ? [] : [pathOf(named)]), '--help'].join(' ')}".`;
  if (error.code === 'commander.help') return { code: 'usage', message: `Name a command. ${help}` };
  const message = error.message
    .replace(/^error: /, '')
    .replace(/\s*\n\s*/g, ' ')
    .replace(/[.\s]+$/, '');
  return {
    code: 'usage',
    message: `${message.charAt(0).toUpperCase()}${message.slice(1)}. ${help}`,
  };
}

/** Asks on standard error, so that the result alone is on standard output. */
async function ask(question: string): Promise<string> {
  const { createInterface } = await import('node:readline/promises');
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  // Ctrl-C and the end of the input both close it.
  const ended = new Promise<never>((_, reject) => {
    lines.once('close', () =>
      reject(new CommandError('not_confirmed', 'Nothing was changed: there was no answer.')),
    );
  });
  try {
    return await Promise.race([lines.question(question), ended]);
  } finally {
    lines.close();
  }
}

// Started directly, or by local/launch.js, which imports this.
if (import.meta.main || process.argv[1] === import.meta.filename) {
  // Without its reader a command ends as others do of SIGPIPE, which Node ignores: a script must
  // not take it for done.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(141);
    process.stderr.write(
      `bag-adres: The command ran, but its result can't be written: ${error.message}.\n`,
    );
    process.exit(1);
  });
  // A caller that does not read the errors relies on the exit code.
  process.stderr.on('error', () => undefined);

  display.colours = {
    out: hasColours(process.stdout, process.env),
    err: hasColours(process.stderr, process.env),
  };
  if (process.stdout.isTTY) display.columns = process.stdout.columns || 80;
  process.exitCode = await runCommandLine(process.argv.slice(2), {
    out: (text) => process.stdout.write(`${text}\n`),
    err: (text) => process.stderr.write(`${text}\n`),
    env: process.env,
    screen: process.stderr,
    ...(process.stdin.isTTY && process.stderr.isTTY && { ask }),
    ...(!process.stdin.isTTY && {
      read: async () => (await import('node:stream/consumers')).text(process.stdin),
    }),
  });
}
