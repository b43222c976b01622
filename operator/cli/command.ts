import { createWriteStream, existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Command, Help, Option } from 'commander';
import { settingsFileName } from '../../lib/config/deployment.ts';
import { isAdminError } from '../../packages/admin/accounts/admin-error.ts';
import { CommandError, UsageError } from '../deployment/errors.ts';
import type { ConnectionOptions, OpenAdmin } from '../deployment/find-tables.ts';
import type { LoadCommands, ProgressReporter } from '../deployment/open-loads.ts';
import { display, wrapped } from './terminal-text.ts';

/** The surroundings of every command, and the output for its result. */
export type Terminal = {
  /** Standard output: the result and nothing else. */
  out: (text: string) => void;
  /** Standard error: hints, progress and errors. */
  err: (text: string) => void;
  env: NodeJS.ProcessEnv;
  /**
   * Shows progress as one line when it is a terminal; without it progress is plain lines of `err`.
   */
  screen?: NodeJS.WriteStream;
  /** Asks the person at the terminal and returns the answer; absent where nobody could give one. */
  ask?: (question: string) => Promise<string>;
  /** Reads standard input to its end; absent if it is a terminal. */
  read?: () => Promise<string>;
  /** The folder of `cdk.json` and of the settings; the current one unless a test names another. */
  folder?: string;
};

export type Result =
  | {
      /** For scripts: printed with names in snake_case, as in the HTTP interface. */
      json: unknown;
      /** For people. Commands in double quotes, `"load run"`, are completed: see `pasteable`. */
      text: string;
      /** For people only, on standard error. */
      hint?: string | undefined;
      /** The command has failed all the same: thrown after the result is printed. */
      failure?: CommandError | undefined;
      /** Data of others: the names in `json` and the commands in `text` stay as they are. */
      isVerbatim?: boolean | undefined;
    }
  | {
      /** Printed as they come, so that any number fits into memory. */
      lines: AsyncIterable<string>;
      hint?: string | undefined;
    };

/** Prints a line about the progress on standard error; nothing for a script. */
export type Tell = (line: string) => void;

type Sources = { extract?: string; mutations?: readonly string[]; again?: true };
type Options = ConnectionOptions & Sources & { json?: true; plan?: true; yes?: true };

/**
 * The intent of a command, or the reason why it is impossible, which `work` then refuses in its own
 * words.
 */
export type Intent = string | { nothing: string };
type CommandAction = () => Promise<Result>;
export type CommandContext = Pick<CliCommand, 'tell' | 'carryOut' | 'target' | 'terminal'>;

/** How a person agrees to a replacement or deletion. */
export type Agreement =
  /** It asks on a terminal; elsewhere it needs `--yes`. */
  | 'asks'
  /** It shows its plan, and does it with `--yes`. */
  | 'plans';

/**
 * Every command that replaces or deletes what no other command brings back as it was. Each shows
 * the deployment, its account and its region before it changes anything, and can be run again after
 * it was interrupted anywhere.
 */
export const destructive: Readonly<Record<string, Agreement>> = {
  'account delete': 'asks',
  'key revoke': 'asks',
  'rotate-checksum-secret': 'asks',
  'usage close': 'asks',
  'load approve': 'asks',
  'load rollback': 'asks',
  'load repair': 'asks',
  'load discard': 'asks',
  'load unlock': 'asks',
  'person erase': 'plans',
  'restore carry-over': 'plans',
};

/** `key revoke`: the words of a command after the name of the program. */
export function pathOf(command: Command): string {
  const { parent } = command;
  return parent?.parent ? `${pathOf(parent)} ${command.name()}` : command.name();
}

/**
 * A command of `bag-adres`. Its result is printed here and nowhere else, so no command ends without
 * one.
 */
export class CliCommand extends Command {
  readonly terminal: Terminal;
  /** Whether one of the methods below has set its work. */
  hasResult = false;
  #check = (): void => undefined;
  #usualStage = async (): Promise<string | undefined> => undefined;
  #asksAws = true;

  constructor(terminal: Terminal, name?: string) {
    super(name);
    this.terminal = terminal;
    this.configureOutput({
      getOutHelpWidth: () => this.#helpWidth(),
      getErrHelpWidth: () => this.#helpWidth(),
    });
    this.configureHelp({
      minWidthToWrap: 20,
      // The longest term that leaves room for its description.
      padWidth: (command, help) => Math.min(28, Help.prototype.padWidth.call(help, command, help)),
      formatItem: (term, width, description, help) => {
        const item = (shown: string) =>
          Help.prototype.formatItem.call(help, shown, width, description, help);
        // A longer one has its description below.
        return term.length <= width ? item(term) : `  ${term}\n${item('')}`;
      },
    });
  }

  override createCommand(name?: string): CliCommand {
    return new CliCommand(this.terminal, name);
  }

  /** A text below the options in the help. Lines that are indented stay as they are. */
  notes(text: string): this {
    const paragraph = text.replace(/(?<!:)\n(?! )/g, ' ');
    return this.addHelpText(
      'after',
      () => `\n${this.createHelp().boxWrap(paragraph, this.#helpWidth())}`,
    );
  }

  /** Examples in the help, without `npx bag-adres`. */
  examples(...lines: string[]): this {
    const title = lines.length === 1 ? 'Example:' : 'Examples:';
    return this.addHelpText('after', () => {
      const commands = lines.map((line) => `  ${continued(`npx bag-adres ${line}`)}`);
      return ['', title, ...commands].join('\n');
    });
  }

  /** That of the terminal; elsewhere a width that fits most. */
  #helpWidth(): number {
    return display.columns ?? 80;
  }

  /**
   * Looks at all arguments and options together, before anything is tried; `check` throws
   * `UsageError`.
   */
  checks(check: () => void): this {
    this.#check = check;
    return this;
  }

  /** Sets the work of a command without arguments: `work` receives its options. */
  does<Given>(work: (options: Given) => Result | Promise<Result>): this {
    return this.#act(async () => this.#print(await work(this.opts() as Given)));
  }

  /**
   * Sets the work on accounts, plans and keys: `work` receives the admin module for the tables that
   * options name.
   */
  onAccounts(work: (opened: OpenAdmin & CommandContext) => Promise<Result>): this {
    const table = new Option(
      '--accounts-table <name>',
      'this table (default: ACCOUNTS_TABLE in the environment)',
    );
    return this.location('Location of the tables:', table).#act(async () => {
      // Imported here because the AWS clients load slower than `--help` should print.
      const { openAdmin } = await import('../deployment/find-tables.ts');
      const { tell, carryOut, target, terminal } = this;
      const opened = await openAdmin(this.opts<Options>(), terminal.env);
      try {
        await this.#print(await work({ ...opened, tell, carryOut, target, terminal }));
      } catch (error) {
        if (!isAdminError(error)) throw error;
        const { withNextCommand } = await import('./hints.ts');
        throw await withNextCommand(error, opened.admin);
      }
    });
  }

  /** Sets the work on loads: `work` receives the loads of the dataset that options name. */
  onDataset(work: (loads: LoadCommands & CommandContext) => Promise<Result>): this {
    return this.location('Location of the dataset:').#act(async () => {
      const { openLoads } = await import('../deployment/open-loads.ts');
      const { leave, ...reporter } = await this.#progress();
      const { tell, carryOut, target, terminal } = this;
      const loads = await openLoads(this.opts<Options>(), reporter);
      try {
        await this.#print(await work({ ...loads, tell, carryOut, target, terminal }));
      } finally {
        leave?.();
      }
    });
  }

  /**
   * Adds the options that name the local run or a deployment, and `more`, under `heading` in the
   * help.
   */
  location(heading: string, ...more: Option[]): this {
    const local = new Option('--local', 'the running "npm start" on this machine').conflicts([
      'stage',
      'accountsTable',
    ]);
    const data = new Option('--data <dir>', 'with --local: the --data option of that "npm start"');
    const stage = new Option('--stage <name>', 'a deployed stage, like prod').conflicts(
      'accountsTable',
    );
    const options = [local, data, stage.argParser(stageName), ...more];
    return options.reduce((command, option) => command.addOption(option.helpGroup(heading)), this);
  }

  /** Adds `--stage` to a command on deployments alone; without it, the stage that `usual` gives. */
  deployed(description: string, usual: () => Promise<string>): this {
    this.#usualStage = usual;
    return this.option('--stage <name>', description, stageName);
  }

  /** Adds `--stage` to a command that reads its settings and asks nothing of AWS. */
  settingsOf(description: string): this {
    this.#asksAws = false;
    return this.option('--stage <name>', description);
  }

  /** Lets a person first see the change that the command would make with `carryOut`. */
  canPlan(): this {
    return this.option('--plan', 'only show the plan, and change nothing');
  }

  /** How a person agrees to the command, if it replaces or deletes something. */
  get #agreement(): Agreement | undefined {
    return destructive[pathOf(this)];
  }

  readonly tell: Tell = (line) => {
    if (!this.opts<Options>().json) this.terminal.err(line);
  };

  /** The place that the command changes. */
  readonly target = async (): Promise<string> => {
    const { targetOf } = await import('../deployment/target.ts');
    return targetOf(this.opts<Options>());
  };

  /**
   * Announces a change and its place, then makes it, unless the person at the terminal does not
   * agree to what can't be undone. With `--plan` it never calls `work`: it only announces the
   * change, or calls `preview`, which must change nothing.
   */
  readonly carryOut = async (
    intent: Intent,
    work: CommandAction,
    preview?: CommandAction,
  ): Promise<Result> => {
    const { plan, yes } = this.opts<Options>();
    const isPossible = typeof intent === 'string';
    if (!plan && !isPossible) return work();
    const into = await this.target();
    const what = isPossible ? intent : intent.nothing;
    const text = `Into: ${into}\n${what}`;
    if (plan && preview) {
      this.tell(text);
      return preview();
    }
    if (plan) {
      const hint = isPossible
        ? 'Nothing was changed. Leave out --plan to do it.'
        : 'Nothing was changed.';
      return {
        json: { into, plan: isPossible ? intent : null, ...(!isPossible && { reason: what }) },
        text,
        hint,
      };
    }
    const refusal = (why: string) => new CommandError('not_confirmed', `Nothing was changed${why}`);
    const { ask } = this.terminal;
    const asks = !yes && this.#agreement === 'asks';
    if (!asks || !ask) this.tell(text);
    if (asks && !ask) throw refusal(': nobody can answer here. To do it, add --yes.');
    if (asks && ask && !/^y(?:es)?$/i.test((await ask(`${text}\nDo it? [y/N] `)).trim())) {
      throw refusal('. To do it, answer "y", or add --yes.');
    }
    return work();
  };

  #act(work: () => Promise<void>): this {
    this.hasResult = true;
    const lacks = (option: string) => !this.options.some(({ long }) => long === option);
    if (this.#agreement === 'asks') {
      if (lacks('--plan')) this.canPlan();
      this.option('--yes', 'do it without asking; needed without a terminal');
    } else if (this.#agreement === 'plans') {
      this.option('--yes', 'carry it out; without it nothing is changed');
    }
    const json =
      'print JSON, for scripts; an error is {"error":{"code","message"}} on standard error';
    if (lacks('--json')) this.option('--json', json);
    return this.action(async () => {
      const { data, local, stage: named } = this.opts<Options>();
      if (data !== undefined && !local) {
        throw new UsageError('--data only applies to --local. Add --local.');
      }
      this.#check();
      const stage = named ?? (await this.#usualStage());
      if (stage !== undefined && this.#asksAws) await this.#goTo(stage);
      await work();
    });
  }

  /**
   * Uses the region in the settings of this folder: the deployment is there, whatever the
   * environment says. Refuses credentials of another account than theirs, and a stage that they do
   * not have.
   */
  async #goTo(stage: string): Promise<void> {
    const folder = folderOf(this.terminal);
    // The schema of the settings loads slower than most of what needs no settings.
    if (!existsSync(join(folder, settingsFileName))) return;
    const { placeOfStage } = await import('../config/settings.ts');
    const place = placeOfStage(folder, stage);
    if (!place) return;
    if ('stages' in place) {
      const missing = `${settingsFileName} has no stage ${stage}, only ${place.stages.join(', ')}.`;
      throw new UsageError(
        `${missing} Correct --stage, or run the command in a folder without that file.`,
      );
    }
    this.#useRegion(stage, place.region);
    if (place.account === undefined) return;
    // Imported here because the AWS clients load slower than `--help` should print.
    const { requireAccount } = await import('../deployment/target.ts');
    await requireAccount(stage, place.account);
  }

  #useRegion(stage: string, region: string): void {
    const { AWS_REGION: exported } = process.env;
    if (region === exported) return;
    process.env.AWS_REGION = region;
    if (exported) {
      this.tell(
        `${settingsFileName} has ${stage} in ${region}: AWS_REGION, ${exported}, is not used.`,
      );
    }
  }

  async #print(result: Result): Promise<void> {
    if (!result) throw new Error(`${this.name()} has no result`);
    const options = this.opts<Options>();
    const complete = (text: string) => pasteable(text, this, options);
    if ('lines' in result) for await (const line of result.lines) this.terminal.out(line);
    else if (options.json) {
      this.terminal.out(
        JSON.stringify(result.isVerbatim ? result.json : snakeCase(result.json), null, 2),
      );
    } else {
      this.terminal.out(result.isVerbatim ? result.text : complete(result.text));
    }
    if (result.hint !== undefined) this.tell(complete(result.hint));
    if ('lines' in result) return;
    if (result.failure) throw result.failure;
  }

  /** One line on a terminal, plain lines on standard error elsewhere, and nothing for a script. */
  async #progress(): Promise<ProgressReporter & { leave?: () => void }> {
    const { noProgress } = await import('../../loader/steps/step.ts');
    if (this.opts<Options>().json) return { progress: noProgress, print: this.tell };
    const { progressBars, progressLines } = await import('../../local/progress-text.ts');
    const { screen, err } = this.terminal;
    if (!screen?.isTTY) {
      return { progress: progressLines((line) => err(line.trimEnd())), print: err };
    }
    const progress = progressBars(screen);
    return {
      progress,
      print: (line) => progress.withoutLine(() => err(line)),
      leave: progress.leave,
    };
  }
}

/**
 * Completes the commands that a text has in double quotes, so that they can be pasted: `"load run"`
 * becomes `"npx bag-adres load run --local"`, with what of the present run that command takes too.
 */
export function pasteable(
  text: string,
  command: Command,
  options: ConnectionOptions & Sources,
): string {
  let program = command;
  while (program.parent) program = program.parent;
  return text.replace(
    /"(npx bag-adres )?([a-z][a-z-]*(?: [^"]+)?)"/g,
    (quoted, prefix = '', line: string) => {
      let named = program;
      for (const word of line.split(' ')) {
        named = named.commands.find((child) => child.name() === word) ?? named;
      }
      // A single word may as well be the name of an account.
      if (named === program || named.commands.length > 0 || !(prefix || line.includes(' '))) {
        return quoted;
      }
      // It names its sources, and needs nothing else.
      const { extract: _, mutations: __, again: ___, ...place } = options;
      const carried = carriedOptions(/ --(?:finish|extract)\b/.test(line) ? place : options).filter(
        ({ option }) => !line.includes(option) && named.options.some(({ long }) => long === option),
      );
      return `"npx bag-adres ${[line, ...carried.map(({ text }) => text)].join(' ')}"`;
    },
  );
}

/** Reads the name of a stage. @throws UsageError */
export function stageName(text: string): string {
  const [, stage] =
    /^bag-adres-([a-z0-9-]+?)(?:-(?:data|service|loader|portal))?$/.exec(text) ?? [];
  if (stage) throw new UsageError(`--stage takes the name of a stage alone: --stage ${stage}.`);
  if (/^[a-z][a-z0-9-]{0,15}$/.test(text)) return text;
  throw new UsageError(
    `--stage takes the name of a stage in bag-adres.json, like prod, not "${text}".`,
  );
}

/**
 * The options of a command that also apply to the next one: its location, and the extract and
 * mutations to load.
 */
function carriedOptions(options: ConnectionOptions & Sources): { option: string; text: string }[] {
  const { local, data, stage, accountsTable, extract, mutations, again } = options;
  const given = {
    '--extract': extract,
    '--mutations': mutations,
    '--again': again && [],
    '--local': local && [],
    '--data': data,
    '--stage': stage,
    '--accounts-table': accountsTable,
  };
  return Object.entries(given).flatMap(([option, value]) => {
    if (value === undefined) return [];
    const words = [value]
      .flat()
      .map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`));
    return [{ option, text: [option, ...words].join(' ') }];
  });
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

/** A command line in lines that fit the terminal, broken before options; it can still be pasted. */
function continued(line: string): string {
  // Two of the indent, two of the backslash.
  return wrapped(line.split(/ (?=--)/), (display.columns ?? Number.POSITIVE_INFINITY) - 4).join(
    ' \\\n    ',
  );
}

/**
 * The folder that a command on settings works in: npm and npx run us in the folder of
 * `package.json`.
 */
export function folderOf({ folder }: Terminal): string {
  return folder ?? process.cwd();
}

/** npm runs us in the root of the project; a relative path is relative to where npm was run. */
export function callersPath(path: string, env: NodeJS.ProcessEnv): string {
  return resolve(env.INIT_CWD ?? process.cwd(), path);
}

/** Refuses a path that exists, before the work whose result would go there. @throws CommandError */
export function checkNewFile(file: string): void {
  if (existsSync(file)) throw new CommandError('exists', `${file} exists; name a new file.`);
}

/**
 * Writes a new file that only its owner can read, completely or not at all. @throws CommandError
 */
export async function writeNewFile(
  file: string,
  lines: Iterable<string> | AsyncIterable<string>,
): Promise<void> {
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
