import { Argument, type Command, Option } from 'commander';
import type { OpenAdmin } from '../deployment/find-tables.ts';
import type { LoadCommands } from '../deployment/open-loads.ts';
import type { CliCommand, CommandContext, Intent, Result } from './command.ts';
import { accountId } from './values.ts';

/**
 * The tools of a call: the admin module on the tables that the options name, and the surroundings
 * of the command.
 */
export type CallTools = OpenAdmin & CommandContext;

/**
 * The tools of a command on loads: the loads of the dataset that the options name, and the
 * surroundings.
 */
export type LoadTools = LoadCommands & CommandContext;

/** An argument, `<id>`, or an option, `--label <text>`, which may be required. */
export type Taken = Argument | Option;

/**
 * A command by its name in the command line. `check` checks all that is given, before anything is
 * tried.
 */
type Described<Given> = {
  description: string;
  takes?: readonly Taken[];
  notes?: string;
  examples?: readonly string[];
  /** @throws UsageError */
  check?: (given: Given) => void;
};

/** A command that makes one call of the admin module, or of the loads. */
export type Call<Given, Found, Tools> = Described<Given> & {
  /** Describes the change before it is made; with `--plan` nothing else is done. */
  plan?: (tools: Tools, given: Given) => Promise<Intent>;
  /** Returns the result for scripts. */
  call: (tools: Tools, given: Given) => Promise<Found>;
  /** The result for people. */
  text: (found: Found, given: Given) => string;
  /** For people only, on standard error. */
  hint?: (found: Found, given: Given) => string;
};

/**
 * A command with work of its own around the calls, without the types of its arguments and result.
 */
export type CommandRow<Tools = CallTools> = Described<never> & {
  run: (tools: Tools, given: never) => Promise<Result>;
  plan?: unknown;
};

/** Commands by the last word of their names. */
export type CommandRows<Tools = CallTools> = Readonly<Record<string, CommandRow<Tools>>>;

/** A row that makes a call. */
export function call<Given, Found, Tools extends CommandContext = CallTools>({
  call,
  plan,
  text,
  hint,
  ...row
}: Call<Given, Found, Tools>): CommandRow<Tools> {
  return {
    ...row,
    plan,
    async run(tools, given) {
      const work = async () => {
        const found = await call(tools, given);
        return { json: found, text: text(found, given), hint: hint?.(found, given) };
      };
      return plan ? tools.carryOut(await plan(tools, given), work) : work();
    },
  };
}

/** Adds the commands of a table, on accounts, plans and keys: `list` to a group, or by itself. */
export const addCalls = adding<CallTools>((command, work) => command.onAccounts(work));

export const addLoadCalls = adding<LoadTools>((command, work) => command.onDataset(work));

function adding<Tools>(
  set: (command: CliCommand, work: (tools: Tools) => Promise<Result>) => void,
) {
  return (parent: CliCommand, rows: CommandRows<Tools>): void => {
    for (const [
      name,
      { description, takes = [], notes, examples, check, plan, run },
    ] of Object.entries(rows)) {
      const command = parent.command(name).description(description);
      for (const input of takes) {
        if (input instanceof Option) command.addOption(input);
        else {
          command.addArgument(input);
        }
      }
      if (plan) command.canPlan();
      if (notes !== undefined) command.notes(notes);
      if (examples) command.examples(...examples);
      if (check) command.checks(() => check(givenTo(command)));
      set(command, (tools) => run(tools, givenTo(command)));
    }
  };
}

/** Arguments and options by name: `<key-id>` is `keyId`. */
function givenTo(command: Command): never {
  const camelCase = (name: string) =>
    name.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
  const named = command.registeredArguments.map((argument, index) => [
    camelCase(argument.name()),
    command.processedArgs[index],
  ]);
  return { ...(command.opts() as object), ...Object.fromEntries(named) } as never;
}

/** An argument that `read` reads; `[id]` is optional. */
export function argument(
  name: string,
  description: string,
  read?: (text: string) => unknown,
): Argument {
  const made = new Argument(name, description);
  return read ? made.argParser(read) : made;
}

/** An option that `read` reads. */
export function option(
  flags: string,
  description: string,
  read?: (text: string, before: never) => unknown,
): Option {
  const made = new Option(flags, description);
  return read ? made.argParser(read as (text: string) => unknown) : made;
}

export const required = (...given: Parameters<typeof option>) =>
  option(...given).makeOptionMandatory();

export const id = (description = 'the account') => argument('<id>', description, accountId);
export const ofAccount = (description = 'the account') =>
  required('--account <id>', description, accountId);
export type OfAccount = { account: string };
