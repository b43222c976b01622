import { type Command, Option } from 'commander';
import type { Admin } from '../../lambdas/shared/accounts/admin.ts';
import {
  AdminError,
  checkAccountId,
  checkKeyId,
  checkLabel,
  checkOwnLimits,
  checkPerson,
  checkPlanCode,
  checkRole,
  checkShards,
  checkWindow,
  type Role,
} from '../../lambdas/shared/accounts/admin-error.ts';
import type { OwnLimitChanges } from '../../lambdas/shared/accounts/window-changes.ts';
import type { ConnectionOptions } from '../connect/admin.ts';
import { UsageError } from '../connect/errors.ts';
import { printResult, type Result, type Terminal } from './output.ts';

/** These return their argument if the admin module accepts it, and throw `UsageError` before anything is tried. */
export const accountId = checked(checkAccountId);
export const planCode = checked(checkPlanCode);
export const keyId = checked(checkKeyId);
export const label = checked(checkLabel);
export const person = checked(checkPerson);

/** Returns the role if there is one of that name. @throws UsageError */
export function memberRole(role: string): Role {
  checked((given: string) => checkRole(given))(role);
  return role as Role;
}

/** Reads a number of quota shards. */
export function shardCount(text: string): number {
  return checked(checkShards)(/^\d{1,3}$/.test(text) ? Number(text) : Number.NaN);
}

/** Collects the values of an option that may be given more than once. */
export function collect(value: string, previous: string[] = []): string[] {
  return [...previous, value];
}

/** Reads `['minute=60', 'month=unlimited']`; `day=plan` only for limits of an account. */
export function parseLimits(texts: string[], { plan }: { plan: boolean }): OwnLimitChanges {
  const limits: OwnLimitChanges = {};
  for (const text of texts) {
    const [, window, value] = /^([^=]*)=(.*)$/s.exec(text) ?? [];
    if (!window || !value) throw new UsageError(`--limit takes WINDOW=NUMBER, like day=5000, not "${text}".`);
    const name = checked((given: string) => checkWindow(given))(window) as keyof OwnLimitChanges;
    if (name in limits) throw new UsageError(`--limit ${name}=... is given twice. Give each window once.`);
    limits[name] = parseLimit(value, plan, text);
  }
  checked(checkOwnLimits)(limits);
  return limits;
}

function parseLimit(value: string, plan: boolean, text: string): number | null | 'plan' {
  if (value === 'unlimited') return null;
  if (value === 'plan' && plan) return 'plan';
  if (/^\d{1,15}$/.test(value)) return Number(value);
  const also = plan ? ', "unlimited", or "plan" for the limit of the plan' : ' or "unlimited"';
  throw new UsageError(`--limit ${text}: a limit is a whole number of requests${also}.`);
}

function checked<T>(check: (value: T) => void): (value: T) => T {
  return (value) => {
    try {
      check(value);
    } catch (error) {
      if (error instanceof AdminError) throw new UsageError(error.message, { cause: error });
      throw error;
    }
    return value;
  };
}

const jsonHelp = 'print JSON, for scripts; an error is {"error":{"code","message"}} on standard error';

/** Adds `--json` to `command`, and the options that name the local run or a deployment, under `heading` in its help. */
export function withDataset(command: Command, heading = 'Where the dataset is:', json = jsonHelp): Command {
  return command
    .option('--json', json)
    .addOption(
      new Option('--local', 'the running "npm start" on this machine')
        .helpGroup(heading)
        .conflicts(['stack', 'accountsTable']),
    )
    .addOption(new Option('--data <dir>', 'with --local: the --data option of that "npm start"').helpGroup(heading))
    .addOption(
      new Option('--stack <name>', 'a deployment, like bag-adres-prod, or any of its stacks')
        .helpGroup(heading)
        .conflicts('accountsTable'),
    );
}

/** Adds the options of every command on accounts, plans and keys. */
export function withAccounts(command: Command): Command {
  const heading = 'Where the tables are:';
  const name = new Option('--accounts-table <name>', 'this table (default: ACCOUNTS_TABLE in the environment)');
  return withDataset(command, heading).addOption(name.helpGroup(heading));
}

/** Refuses `--data` without `--local`. @throws UsageError */
export function checkLocation({ local, data }: ConnectionOptions): void {
  if (data !== undefined && !local) throw new UsageError('--data only applies to --local. Add --local.');
}

/** Options of a command on accounts, plans and keys. */
export type AccountsOptions = ConnectionOptions & { json?: true };

/** Opens the admin module on the tables that `options` name, prints the result of `work`, and closes it in any case. */
export async function useAdmin(
  terminal: Terminal,
  options: AccountsOptions,
  work: (admin: Admin) => Promise<Result>,
): Promise<void> {
  checkLocation(options);
  // Imported here because the AWS clients load slower than `--help` should print.
  const { openAdmin } = await import('../connect/admin.ts');
  const { admin, close } = await openAdmin(options, terminal.env);
  try {
    printResult(terminal, options, await work(admin));
  } finally {
    close();
  }
}

/** Reads a list of the admin module to its end. */
export async function allPages<Page extends { cursor: string | null }, T>(
  read: (options: { cursor?: string }) => Promise<Page>,
  itemsOf: (page: Page) => T[],
): Promise<T[]> {
  const items: T[] = [];
  let cursor: string | null = null;
  do {
    const page: Page = await read(cursor === null ? {} : { cursor });
    items.push(...itemsOf(page));
    cursor = page.cursor;
  } while (cursor !== null);
  return items;
}
