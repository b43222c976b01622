import { type Command, Option } from 'commander';
import {
  AdminError,
  checkAccountId,
  checkKeyId,
  checkLabel,
  checkOwnLimits,
  checkPlanCode,
  checkShards,
  checkWindow,
} from '../../lambdas/shared/accounts/admin-error.ts';
import type { OwnLimitChanges } from '../../lambdas/shared/accounts/window-changes.ts';

/** The command failed; `code` is stable for scripts, the message is one line and says what to do. */
export class CommandError extends Error {
  override name = 'CommandError';
  readonly code: string;
  /** More that a script may want to know, beside code and message in the JSON of the error. */
  readonly details: Record<string, unknown>;

  constructor(code: string, message: string, options: ErrorOptions & { details?: Record<string, unknown> } = {}) {
    super(message, options);
    this.code = code;
    this.details = options.details ?? {};
  }
}

/** The command was written wrongly: nothing was tried, and the exit code is 2. */
export class UsageError extends CommandError {
  override name = 'UsageError';

  constructor(message: string, options?: ErrorOptions) {
    super('usage', message, options);
  }
}

/** These give their argument back when the admin module could take it, and throw `UsageError` before anything is tried. */
export const accountId = checked(checkAccountId);
export const planCode = checked(checkPlanCode);
export const keyId = checked(checkKeyId);
export const label = checked(checkLabel);

/** Reads a number of quota shards. */
export function shardCount(text: string): number {
  return checked(checkShards)(/^\d{1,3}$/.test(text) ? Number(text) : Number.NaN);
}

/** Gathers an option that may be given many times. */
export function collect(value: string, previous: string[] = []): string[] {
  return [...previous, value];
}

/** Reads how many are wanted, 1 to 10,000. */
export function count(text: string): number {
  if (/^[1-9]\d{0,3}$|^10000$/.test(text)) return Number(text);
  throw new UsageError('--last takes a number, 1 to 10000.');
}

/** Reads `['minute=60', 'month=unlimited']`; `day=plan` only where an account's own limits are meant. */
export function parseLimits(texts: string[], { plan }: { plan: boolean }): OwnLimitChanges {
  const limits: OwnLimitChanges = {};
  for (const text of texts) {
    const [, window, value] = /^([^=]*)=(.*)$/s.exec(text) ?? [];
    if (!window || !value) throw new UsageError(`--limit takes WINDOW=NUMBER, like day=5000, not "${text}".`);
    const name = checked((given: string) => checkWindow(given))(window) as keyof OwnLimitChanges;
    if (name in limits) throw new UsageError(`--limit ${name}=... is given twice; which of the two is meant?`);
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

/** Where a command writes and what it reads of its surroundings. */
export type Terminal = {
  /** Standard output: the result and nothing else. */
  out: (text: string) => void;
  /** Standard error: hints and errors. */
  err: (text: string) => void;
  env: NodeJS.ProcessEnv;
  /** Where a person may be watching how far a command is; without it progress is plain lines of `err`. */
  screen?: NodeJS.WriteStream;
};
