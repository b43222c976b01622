import { type Command, Option } from 'commander';
import { sourceLocation } from '../../loader/storage/source.ts';
import type { Loads } from '../connect/loads.ts';
import { type Terminal, UsageError } from './arguments.ts';
import { approveLoad, planned, ran } from './load-run.ts';
import { printResult, type Result } from './output.ts';

/** Where a command finds the loads, and how it prints. */
export type LoadOptions = { json?: true; local?: true; data?: string; stack?: string };

/** Gives `command` the options that every command about loads has. */
export function withLoads(command: Command): Command {
  const where = (flags: string, description: string) =>
    new Option(flags, description).helpGroup('Where the register is loaded:');
  return command
    .option('--json', 'print JSON, for scripts; an error is {"error":{"code","message"}} on standard error')
    .addOption(where('--local', 'on this machine, for the running "npm start"').conflicts('stack'))
    .addOption(where('--data <dir>', 'with --local: the --data that "npm start" was given'))
    .addOption(
      where('--stack <name>', 'in the cloud, a deployment: any of its stacks, or what their names begin with'),
    );
}

/** Checks what can be seen without a look at the place. @throws UsageError */
export function checkPlace({ local, data, stack }: LoadOptions): void {
  if (data !== undefined && !local) throw new UsageError('--data says which --local run; add --local.');
  if (local || stack !== undefined) return;
  throw new UsageError('Say where: --local for the running "npm start", or --stack NAME for a deployment.');
}

/** An extract as it was given. npm runs us in the root of the project; a relative path is one of where npm was run. @throws UsageError */
export function sourceOf(extract: string, env: NodeJS.ProcessEnv): string {
  const location = sourceLocation(extract, env.INIT_CWD ?? process.cwd());
  if (location !== null) return location;
  throw new UsageError(`--extract takes a file, an http(s) URL or s3://BUCKET/KEY, not "${extract}".`);
}

/** Opens the loads where `options` say, prints the result of `work`, and closes them whatever happens. */
export async function useLoads(
  terminal: Terminal,
  options: LoadOptions,
  work: (loads: Loads) => Promise<Result>,
): Promise<void> {
  checkPlace(options);
  // Loaded here, since the AWS clients take longer to load than `--help` may take.
  const { openLoads } = await import('../connect/open-loads.ts');
  const { watcherOf } = await import('./watcher.ts');
  const loads = await openLoads(options, watcherOf(terminal, options));
  try {
    printResult(terminal, options, await work(loads));
  } finally {
    loads.close();
  }
}

/** `load status` and `load history`, which only look. */
export function addLoadLooks(load: Command, terminal: Terminal): void {
  withLoads(load.command('status'))
    .description('which state is served, how old it is, and whether something is waiting for you')
    .action(async (options: LoadOptions) => useLoads(terminal, options, status));

  withLoads(load.command('history'))
    .description('what was loaded and when, the newest first, and what can be gone back to')
    .action(async (options: LoadOptions) => useLoads(terminal, options, history));
}

async function status(loads: Loads): Promise<Result> {
  const { loadStatus } = await import('../../loader/steps/manifest.ts');
  const { refusedLoads } = await import('../connect/loads.ts');
  const { renderStatus } = await import('./render-load.ts');
  const [found, refused, running] = await Promise.all([
    loadStatus(loads.places),
    refusedLoads(loads.places.storage),
    loads.running(),
  ]);
  const blocked = refused.map(({ load, peildatum, objections }) => ({ load, peildatum, objections }));
  const shown = { ...found, running, blocked };
  return { json: shown, text: renderStatus(shown, loads.where) };
}

async function history({ places, where }: Loads): Promise<Result> {
  const { loadHistory } = await import('../../loader/steps/manifest.ts');
  const { renderHistory } = await import('./render-load.ts');
  const entries = await loadHistory(places);
  return { json: entries, text: renderHistory(entries, where) };
}

/** `load repair`. */
export function addRepair(load: Command, terminal: Terminal): void {
  withLoads(load.command('repair'))
    .description('compare every address that is served with the snapshot, and put right what differs')
    .option('--plan', 'only say what differs')
    .addHelpText(
      'after',
      `
For a table that something else has written to, or that was restored from a backup. It runs in this command, which reads
the whole table and the snapshot: with --stack some 1 GB and two minutes for the country. No load runs meanwhile.

Example:
  load repair --plan --stack bag-adres-prod`,
    )
    .action(async ({ plan, ...options }: LoadOptions & { plan?: true }) => {
      await useLoads(terminal, options, (loads) => repaired(loads, plan === true));
    });
}

async function repaired(loads: Loads, planOnly: boolean): Promise<Result> {
  const { renderRepair } = await import('./render-load.ts');
  const report = await loads.repair({ planOnly });
  const result = { json: report, text: renderRepair(report) };
  if (!report.pending || planOnly) return result;
  return { ...result, hint: `That load is not published yet: run "load run ${loads.where}" now.` };
}

type ExtractOptions = LoadOptions & { extract?: string; again?: true };

const extractHelp =
  "the extract: a file, a URL or s3://BUCKET/KEY (default: what the deployment loads, else PDOK's of the country)";

/** `load plan`, `run`, `approve`, `rollback`, `follow`, `repair`, `status` and `history`. */
export function addLoadCommands(program: Command, terminal: Terminal): void {
  const load = program.command('load').description('the register: load an extract, look at what is served, go back');
  addPlan(load, terminal);
  addRun(load, terminal);
  addApprove(load, terminal);
  addRollback(load, terminal);
  addFollow(load, terminal);
  addRepair(load, terminal);
  addLoadLooks(load, terminal);
}

function addPlan(load: Command, terminal: Terminal): void {
  withLoads(load.command('plan'))
    .description('say what a load would change, with examples, and change nothing')
    .option('--extract <where>', extractHelp)
    .option('--again', 'also of an extract that is served already, or was gone back from')
    .addHelpText('after', '\nExample:\n  load plan --extract lvbag-extract-nl.zip --local')
    .action(async ({ extract, again, ...options }: ExtractOptions) => {
      const source = extract === undefined ? {} : { source: sourceOf(extract, terminal.env) };
      await useLoads(terminal, options, async (loads) =>
        planned(loads, await loads.start({ ...source, ...(again && { again }), planOnly: true })),
      );
    });
}

function addRun(load: Command, terminal: Terminal): void {
  withLoads(load.command('run'))
    .description('make what is served equal to an extract; only the difference is written')
    .option('--extract <where>', extractHelp)
    .option('--again', 'also of an extract that is served already, or was gone back from')
    .addHelpText(
      'after',
      `
A load that stopped, whatever the reason, goes on where it stopped when it is run again. One that changes more than usual
is blocked before its first write (exit code 1, code "blocked"); "load approve" lets it go on.

Example:
  load run --stack bag-adres-prod`,
    )
    .action(async ({ extract, again, ...options }: ExtractOptions) => {
      const source = extract === undefined ? {} : { source: sourceOf(extract, terminal.env) };
      const request = { ...source, ...(again && { again }) };
      await useLoads(terminal, options, (loads) => ran(terminal, options, loads, request));
    });
}

function addApprove(load: Command, terminal: Terminal): void {
  withLoads(load.command('approve'))
    .description('let a load go on that was blocked, and run it')
    .argument('[load]', 'the load, as its error names it; may be left out while there is one')
    .action(async (id: string | undefined, options: LoadOptions) => {
      await useLoads(terminal, options, (loads) => approveLoad(terminal, options, loads, id));
    });
}

function addRollback(load: Command, terminal: Terminal): void {
  withLoads(load.command('rollback'))
    .description('serve an earlier state again; only the difference is written')
    .argument('<snapshot>', 'its snapshot date, like 2026-01-08, or a load; "load history" shows those that are kept')
    .addHelpText(
      'after',
      '\nWhat was gone back from is not loaded again by itself: "load run --again" does.\n\n' +
        'Example:\n  load rollback 2026-01-08 --local',
    )
    .action(async (rollback: string, options: LoadOptions) => {
      await useLoads(terminal, options, (loads) => ran(terminal, options, loads, { rollback }));
    });
}

function addFollow(load: Command, terminal: Terminal): void {
  withLoads(load.command('follow'))
    .description('watch a load in the cloud that is under way; Ctrl-C ends the watching only')
    .argument('[execution]', 'the execution of the state machine (default: the one under way)')
    .action(async (execution: string | undefined, options: LoadOptions) => {
      await useLoads(terminal, options, async (loads) => {
        const follow = () => loads.follow(execution);
        return ran(terminal, options, loads, follow);
      });
    });
}
