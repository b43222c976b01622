import { createWriteStream, existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { resolve } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type Command, Option } from 'commander';
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
} from '../../core/accounts/admin/admin-error.ts';
import { checkDetails } from '../../core/accounts/admin/details.ts';
import type { OwnLimitChanges } from '../../core/accounts/admin/window-changes.ts';
import type { Admin } from '../../packages/admin/admin.ts';
import type { ConnectionOptions, OpenAdmin } from '../connect/admin.ts';
import { CommandError, UsageError } from '../connect/errors.ts';

/** What every command gets: its surroundings, and where it writes its result. */
export type Terminal = {
  /** Standard output: the result and nothing else. */
  out: (text: string) => void;
  /** Standard error: hints, progress and errors. */
  err: (text: string) => void;
  env: NodeJS.ProcessEnv;
  /** Draws progress bars when it is a terminal; without it progress is plain lines of `err`. */
  screen?: NodeJS.WriteStream;
  /** How many columns standard output has when it is a terminal; results are then drawn for people. */
  columns?: number;
  /** The folder of `cdk.json` and of the settings; the current one unless a test names another. */
  folder?: string;
};

/** The folder that a command on settings works in: npm and npx run us in the folder of `package.json`. */
export function folderOf({ folder }: Terminal): string {
  return folder ?? process.cwd();
}

/** The same value with the names of all members in snake_case, as in the HTTP interface. */
export function snakeCase(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(snakeCase);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [
      name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
      snakeCase(member),
    ]),
  );
}

/** The result of a command: `json` for scripts, `text` for people, `hint` for people only, on standard error. */
export type Result = { json: unknown; text: string; hint?: string };

/** Prints a result: with `--json` as JSON in snake_case, else as text. */
export function printResult(terminal: Terminal, { json }: { json?: true }, result: Result): void {
  terminal.out(json ? JSON.stringify(snakeCase(result.json), null, 2) : result.text);
  if (result.hint && !json) terminal.err(result.hint);
}

/** The option of a command that says what it is about to do. */
export const planOption = ['--plan', 'only say what it would do, and change nothing'] as const;
export type Planned = { plan?: true | undefined };

/**
 * Says what a command is about to do, and does it, unless it was asked for the plan only. Without an intent, as it
 * can't be done, `work` says why.
 */
export async function carryOut(
  terminal: Terminal,
  { json, plan }: Planned & { json?: true },
  intent: string | false,
  work: () => Promise<Result>,
): Promise<Result> {
  if (plan && intent !== false)
    return { json: { plan: intent }, text: intent, hint: 'Nothing was changed. Leave out --plan to do it.' };
  if (!json && intent !== false) terminal.err(intent);
  return work();
}

/** `12,345`. */
export function thousands(number: number): string {
  return number.toLocaleString('en');
}

/** `1 day`, `12,345 days`. */
export function counted(number: number, noun: string): string {
  return `${thousands(number)} ${noun}${number === 1 ? '' : 's'}`;
}

/** These return their argument if the admin module accepts it, and throw `UsageError` before anything is tried. */
export const accountId = checked(checkAccountId);
export const planCode = checked(checkPlanCode);
export const keyId = checked(checkKeyId);
export const label = checked(checkLabel);
export const person = checked(checkPerson);
export const details = checked(checkDetails);

/** Returns the role if there is one of that name. @throws UsageError */
export function memberRole(role: string): Role {
  checked((given: string) => checkRole(given))(role);
  return role as Role;
}

/** Reads a number of quota shards. */
export function shardCount(text: string): number {
  return checked(checkShards)(/^\d{1,3}$/.test(text) ? Number(text) : Number.NaN);
}

/** Reads `2027-01-31` or `2027-01-31T12:00:00Z`. @throws UsageError */
export function parseInstant(text: string, option = '--expires'): Date {
  const date = new Date(/^\d{4}-\d\d-\d\d$/.test(text) ? `${text}T00:00:00Z` : text);
  const written = Number.isNaN(date.getTime()) ? '' : date.toISOString().replace('.000Z', 'Z');
  if (written === text || written === `${text}T00:00:00Z`) return date;
  throw new UsageError(`${option} takes a date in UTC, 2027-01-31 or 2027-01-31T12:00:00Z, not "${text}".`);
}

/** Collects the values of an option that may be given more than once. */
export function collectValues(value: string, previous: string[] = []): string[] {
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

/**
 * Opens the admin module on the tables that `options` name, prints the result of `work`, unless it has printed it
 * itself, and closes it in any case.
 */
export async function useAdmin(
  terminal: Terminal,
  options: AccountsOptions,
  work: (admin: Admin, open: OpenAdmin) => Promise<Result | undefined>,
): Promise<void> {
  checkLocation(options);
  // Imported here because the AWS clients load slower than `--help` should print.
  const { openAdmin } = await import('../connect/admin.ts');
  const { close, ...open } = await openAdmin(options, terminal.env);
  try {
    const result = await work(open.admin, open);
    if (result) printResult(terminal, options, result);
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

/** npm runs us in the root of the project; a relative path is relative to where npm was run. */
export function callersPath(path: string, env: NodeJS.ProcessEnv): string {
  return resolve(env.INIT_CWD ?? process.cwd(), path);
}

/** Refuses a path that exists, before the work whose result would go there. @throws CommandError */
export function checkNewFile(file: string): void {
  if (existsSync(file)) throw new CommandError('exists', `${file} exists; name a new file.`);
}

/** Writes a new file that only its owner can read, completely or not at all. @throws CommandError */
export async function writeNewFile(file: string, lines: Iterable<string> | AsyncIterable<string>): Promise<void> {
  checkNewFile(file);
  try {
    await pipeline(Readable.from(lines), createWriteStream(file, { flags: 'wx', mode: 0o600 }));
  } catch (error) {
    const { code, path, message } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST') return checkNewFile(file);
    await rm(file, { force: true });
    if (path !== file && code !== 'ENOSPC') throw error; // of the lines
    throw new CommandError('file', `Can't write ${file}: ${message}`, { cause: error });
  }
}
