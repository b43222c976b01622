import { type Command, Option } from 'commander';

/** Where a command finds its tables, and how it prints. */
export type ConnectionOptions = {
  json?: true;
  local?: true;
  data?: string;
  stack?: string;
  accountsTable?: string;
};

/** Gives `command` the options that every command has. */
export function withConnection(command: Command): Command {
  const where = (flags: string, description: string) =>
    new Option(flags, description).helpGroup('Where the tables are:');
  return command
    .option('--json', 'print JSON, for scripts; an error is {"error":{"code","message"}} on standard error')
    .addOption(where('--local', 'the running "npm start" on this machine').conflicts(['stack', 'accountsTable']))
    .addOption(where('--data <dir>', 'with --local: the --data that "npm start" was given'))
    .addOption(
      where('--stack <name>', 'a deployment: any of its stacks, or what their names begin with').conflicts(
        'accountsTable',
      ),
    )
    .addOption(where('--accounts-table <name>', 'this table (default: ACCOUNTS_TABLE in the environment)'));
}
