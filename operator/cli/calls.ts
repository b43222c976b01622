import { Argument, type Command, Option } from 'commander';
import type { OpenAdmin } from '../connect/find-tables.ts';
import type { CliCommand, Intent, Result, Surroundings, Terminal } from './command.ts';
import { accountId } from './values.ts';

/** The tools of a call: the admin module on the tables that the options name, and the surroundings of the command. */
export type CallTools = OpenAdmin & Surroundings & { terminal: Terminal };

/** An argument, `<id>`, or an option, `--label <text>`, which may be required. */
export type Taken = Argument | Option;

type Described = { description: string; takes?: readonly Taken[]; notes?: string; examples?: readonly string[] };

/** A command that makes one call of the admin module, by its name in the command line. */
export type Call<Given, Found> = Described & {
  /** Checks arguments and options together, before anything is tried. @throws UsageError */
  check?: (given: Given) => void;
  /** Describes the change before it is made; with `--plan` nothing else is done. */
  plan?: (tools: CallTools, given: Given) => Promise<Intent>;
  /** Returns the result for scripts. */
  call: (tools: CallTools, given: Given) => Promise<Found>;
  /** The result for people. */
  text: (found: Found, given: Given) => string;
  /** For people only, on standard error. */
  hint?: (found: Found, given: Given) => string;
};

/** A command with work of its own around the calls. */
export type Work<Given> = Described & {
  check?: (given: Given) => void;
  run: (tools: CallTools, given: Given) => Promise<Result>;
};

/** A row of the table of calls, without the types of its arguments and result. */
export type CommandRow = Work<never> & { plan?: unknown };

/** A row that makes a call. */
export function call<Given, Found>({ call, plan, text, hint, ...row }: Call<Given, Found>): CommandRow {
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

/** Adds the commands of a table: `list` to a group, or by itself. */
export function addCalls(parent: CliCommand, rows: Readonly<Record<string, CommandRow>>): void {
  for (const [name, { description, takes = [], notes, examples, check, plan, run }] of Object.entries(rows)) {
    const command = parent.command(name).description(description);
    for (const one of takes) {
      if (one instanceof Option) command.addOption(one);
      else command.addArgument(one);
    }
    if (plan) command.canPlan();
    if (notes !== undefined) command.notes(notes);
    if (examples) command.examples(...examples);
    if (check) command.checks(() => check(givenTo(command)));
    command.onAccounts((tools) => run({ ...tools, terminal: command.terminal }, givenTo(command)));
  }
}

/** Arguments and options by name: `<key-id>` is `keyId`. */
function givenTo(command: Command): never {
  const named = command.registeredArguments.map((one, index) => [camelCase(one.name()), command.processedArgs[index]]);
  return { ...(command.opts() as object), ...Object.fromEntries(named) } as never;
}

const camelCase = (name: string) => name.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase());

/** An argument that `read` reads; `[id]` is optional. */
export function argument(name: string, description: string, read?: (text: string) => unknown): Argument {
  const made = new Argument(name, description);
  return read ? made.argParser(read) : made;
}

/** An option that `read` reads. */
export function option(flags: string, description: string, read?: (text: string, before: never) => unknown): Option {
  const made = new Option(flags, description);
  return read ? made.argParser(read as (text: string) => unknown) : made;
}

/** A mandatory option. */
export const required = (...given: Parameters<typeof option>) => option(...given).makeOptionMandatory();

/** The account, as an argument or as an option. */
export const id = (description = 'the account') => argument('<id>', description, accountId);
export const ofAccount = (description = 'the account') => required('--account <id>', description, accountId);
export type OfAccount = { account: string };
