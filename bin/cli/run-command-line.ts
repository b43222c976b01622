import { Command, CommanderError } from 'commander';
import { apiKeyPrefix } from '../../lambdas/shared/accounts/api-key.ts';
import { addAccountCommands } from './account.ts';
import { CommandError, type Terminal, UsageError } from './arguments.ts';
import { addDoctorCommand } from './doctor.ts';
import { explainError } from './explain-error.ts';
import { addKeyCommands } from './key.ts';
import { addLoadCommands } from './load.ts';
import { snakeCase } from './output.ts';
import { addPlanCommands } from './plan.ts';

/** Adds a group of commands to the command line. It loads what is slow to load only when a command runs. */
export type AddCommands = (program: Command, terminal: Terminal) => void;

/** All commands, in the order of the help. */
export const commands: AddCommands[] = [
  addPlanCommands,
  addAccountCommands,
  addKeyCommands,
  addLoadCommands,
  addDoctorCommand,
];

/** 0: done. 1: refused or failed, and nothing else was printed. 2: the command was written wrongly; nothing was tried. */
export type ExitCode = 0 | 1 | 2;

/** Runs one command and tells how it ended; never throws. An error is one line on standard error, without a key. */
export async function runCommandLine(args: string[], terminal: Terminal): Promise<ExitCode> {
  const json = args.includes('--json');
  try {
    await commandLine(terminal, json).parseAsync(args, { from: 'user' });
    return 0;
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) return 0; // --help
    const { code, message } = error instanceof CommanderError ? explainUsage(error) : explainError(error);
    const line = withoutKeys(message);
    const details = error instanceof CommandError ? (snakeCase(error.details) as object) : {};
    terminal.err(json ? JSON.stringify({ error: { code, message: line, ...details } }) : `bag-adres: ${line}`);
    return error instanceof CommanderError || error instanceof UsageError ? 2 : 1;
  }
}

function commandLine(terminal: Terminal, json: boolean): Command {
  const program = new Command('bag-adres')
    .usage('COMMAND [options]')
    .description('Plans, accounts and keys of the Dutch address service, and the loads of its register.')
    .addHelpText(
      'after',
      `
Exit codes: 0 done, 1 refused or failed, 2 written wrongly. Errors are one line on standard error.
In a script, use "npm run -s bag-adres -- ..." and --json.

Examples:
  npm run bag-adres -- plan put standard --limit minute=60 --limit day=5000 --local
  npm run bag-adres -- account create acme --plan standard --local
  npm run bag-adres -- key create --account acme --label webshop --local
  npm run bag-adres -- load status --stack bag-adres-prod`,
    )
    .exitOverride()
    .configureOutput({
      writeOut: (text) => terminal.out(text.trimEnd()),
      // Help that nobody asked for: a group without a command. In JSON mode the error says it all.
      writeErr: (text) => (json ? undefined : terminal.err(text.trimEnd())),
      outputError: () => undefined, // runCommandLine prints it
    });
  for (const add of commands) add(program, terminal);
  return program.hook('preAction', (_, command) => refuseEmpty(command));
}

/** An option without a value is a variable of a script that was not set: what it would mean is never what was meant. */
function refuseEmpty(command: Command): void {
  for (const option of command.options) {
    const isEmpty = command.getOptionValue(option.attributeName()) === '';
    if (isEmpty) throw new UsageError(`${option.long} is empty; give it a value, or leave it out.`);
  }
}

function explainUsage(error: CommanderError): { code: string; message: string } {
  if (error.code === 'commander.help') return { code: 'usage', message: 'Which command? See --help.' };
  const message = error.message
    .replace(/^error: /, '')
    .replace(/\s*\n\s*/g, ' ')
    .replace(/[.\s]+$/, '');
  return { code: 'usage', message: `${message.charAt(0).toUpperCase()}${message.slice(1)}. See --help.` };
}

/** People paste a key where its id belongs; it must not end up in a log or a ticket. */
function withoutKeys(message: string): string {
  return message
    .replace(/\s*\n\s*/g, ' ')
    .replaceAll(new RegExp(`${apiKeyPrefix}_[\\w.-]*`, 'g'), `${apiKeyPrefix}_...`);
}
