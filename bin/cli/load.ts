import type { Command } from 'commander';
import type { LoadReport, RefusedLoadError } from '../../loader/steps/load-report.ts';
import { sourceLocation } from '../../loader/storage/source.ts';
import type { ConnectionOptions } from '../connect/admin.ts';
import { CommandError, UsageError } from '../connect/errors.ts';
import type { LoadRequest, Loads, ProgressReporter, RefusedLoad } from '../connect/loads.ts';
import { checkLocation, withDataset } from './arguments.ts';
import { printResult, type Result, type Terminal } from './output.ts';

/** Options of every command on loads. */
export type LoadOptions = Pick<ConnectionOptions, 'local' | 'data' | 'stack'> & { json?: true };

/** `load plan`, `run`, `approve`, `rollback`, `follow`, `repair`, `status` and `history`. */
export function addLoadCommands(program: Command, terminal: Terminal): void {
  const load = program.command('load').description('the address dataset: load an extract, check it, roll back');
  addPlan(load, terminal);
  addRun(load, terminal);
  addApprove(load, terminal);
  addRollback(load, terminal);
  addFollow(load, terminal);
  addRepair(load, terminal);
  addStatus(load, terminal);
  addHistory(load, terminal);
}

/** Opens the loads of the dataset that `options` name, prints the result of `work`, and closes them in any case. */
async function useLoads(
  terminal: Terminal,
  options: LoadOptions,
  work: (loads: Loads) => Promise<Result>,
): Promise<void> {
  checkLocation(options);
  if (!options.local && options.stack === undefined) {
    throw new UsageError('Name the dataset: --local for the running "npm start", or --stack NAME for a deployment.');
  }
  // Imported here because the AWS clients load slower than `--help` should print.
  const { openLoads } = await import('../connect/open-loads.ts');
  const loads = await openLoads(options, await progressReporter(terminal, options));
  try {
    printResult(terminal, options, await work(loads));
  } finally {
    loads.close();
  }
}

/** Bars on a terminal, plain lines on standard error elsewhere, and nothing for a script. */
async function progressReporter({ err, screen }: Terminal, { json }: { json?: true }): Promise<ProgressReporter> {
  const { noProgress } = await import('../../loader/progress.ts');
  if (json) return { progress: noProgress, print: () => undefined };
  const { progressBars, progressLines } = await import('../../local/progress.ts');
  const progress = screen?.isTTY ? progressBars(screen) : progressLines((line) => err(line.trimEnd()));
  return { progress, print: err };
}

type ExtractOptions = LoadOptions & { extract?: string; again?: true };

function withExtract(command: Command): Command {
  return withDataset(command)
    .option(
      '--extract <where>',
      "the extract: a file, a URL or s3://BUCKET/KEY (default: the deployment's source, else the country from PDOK)",
    )
    .option('--again', 'also an extract that is live already, or was rolled back');
}

/** npm runs this in the root of the project; a relative path is relative to where npm was run. @throws UsageError */
function requestOf({ extract, again }: ExtractOptions, env: NodeJS.ProcessEnv): LoadRequest {
  const request: LoadRequest = again ? { again } : {};
  if (extract === undefined) return request;
  const source = sourceLocation(extract, env.INIT_CWD ?? process.cwd());
  if (source !== null) return { ...request, source };
  throw new UsageError(`--extract takes a file, an http(s) URL or s3://BUCKET/KEY, not "${extract}".`);
}

function addPlan(load: Command, terminal: Terminal): void {
  withExtract(load.command('plan'))
    .description('show what a load would change, with examples; changes nothing')
    .addHelpText('after', '\nExample:\n  npm run bag-adres -- load plan --extract lvbag-extract-nl.zip --local')
    .action(async (options: ExtractOptions) => {
      const request = requestOf(options, terminal.env);
      await useLoads(terminal, options, async (loads) =>
        showPlan(loads, await loads.start({ ...request, planOnly: true })),
      );
    });
}

async function showPlan({ where }: Loads, report: LoadReport): Promise<Result> {
  const { renderReport } = await import('./render-load.ts');
  const result = { json: report, text: renderReport(report) };
  const { objections, approved, load } = report;
  if (objections.length === 0 || approved) return result;
  const reasons = objections.map(({ message }) => message).join('; ');
  return {
    ...result,
    hint: `"load run" would be blocked: ${reasons}. "load approve ${load} ${where}" runs it anyway.`,
  };
}

function addRun(load: Command, terminal: Terminal): void {
  withExtract(load.command('run'))
    .description('sync the table to a BAG extract; only the difference is written')
    .addHelpText(
      'after',
      `
An interrupted load continues where it stopped when it is run again. A load that changes more than usual is blocked
before its first write (exit code 1, code "blocked"); "load approve" runs it anyway.

Example:
  npm run bag-adres -- load run --stack bag-adres-prod`,
    )
    .action(async (options: ExtractOptions) => {
      const request = requestOf(options, terminal.env);
      await useLoads(terminal, options, (loads) => run(terminal, options, loads, () => loads.start(request)));
    });
}

/**
 * Runs a load and returns its report.
 * @throws CommandError `blocked` with the reasons, after printing what the load would have changed
 */
async function run(
  terminal: Terminal,
  { json }: LoadOptions,
  { where }: Loads,
  start: () => Promise<LoadReport>,
): Promise<Result> {
  const { RefusedLoadError } = await import('../../loader/steps/load-report.ts');
  const { renderChanges, renderReport } = await import('./render-load.ts');
  try {
    const report = await start();
    return { json: report, text: renderReport(report) };
  } catch (error) {
    if (!(error instanceof RefusedLoadError)) throw error;
    if (!json) terminal.err(renderChanges(error.report));
    throw blocked(error, where);
  }
}

function blocked({ report }: RefusedLoadError, where: string): CommandError {
  const { peildatum, load, objections } = report;
  const reasons = objections.map(({ message }) => message).join('; ');
  return new CommandError(
    'blocked',
    `The load of ${peildatum} is blocked; nothing was written: ${reasons}. If this is right, run "load approve ${load} ${where}".`,
    { details: { load, peildatum, objections } },
  );
}

function addApprove(load: Command, terminal: Terminal): void {
  withDataset(load.command('approve'))
    .description('approve a blocked load and run it')
    .argument('[load]', 'the load, as its error names it (default: the only blocked one)')
    .action(async (id: string | undefined, options: LoadOptions) => {
      await useLoads(terminal, options, (loads) => approve(terminal, options, loads, id));
    });
}

async function approve(
  terminal: Terminal,
  options: LoadOptions,
  loads: Loads,
  id: string | undefined,
): Promise<Result> {
  const { refusedLoads } = await import('../connect/loads.ts');
  const { load } = choose(await refusedLoads(loads.context.storage), id, loads.where);
  return run(terminal, options, loads, () => loads.start({ approve: load }));
}

/** The named load, or the only one. @throws CommandError */
function choose(refused: RefusedLoad[], id: string | undefined, where: string): RefusedLoad {
  const names = refused.map(({ load }) => load).join(', ');
  if (id !== undefined) {
    const named = refused.find(({ load }) => load === id);
    if (named) return named;
    const others = names === '' ? 'No load is blocked' : `Blocked loads: ${names}`;
    throw new CommandError('not_found', `Load "${id}" is not blocked. ${others}. See "load status ${where}".`);
  }
  const [only, ...more] = refused;
  if (!only) throw new CommandError('not_found', 'No load is blocked; nothing to approve.');
  if (more.length > 0) throw new CommandError('ambiguous', `Several loads are blocked. Name one of: ${names}.`);
  return only;
}

function addRollback(load: Command, terminal: Terminal): void {
  withDataset(load.command('rollback'))
    .description('make an earlier snapshot live again; only the difference is written')
    .argument('<snapshot>', 'its date, like 2026-01-08, or its load; "load history" lists the snapshots')
    .addHelpText(
      'after',
      `
The daily check does not load the rolled-back extract again; "load run --again" does.

Example:
  npm run bag-adres -- load rollback 2026-01-08 --local`,
    )
    .action(async (rollback: string, options: LoadOptions) => {
      await useLoads(terminal, options, (loads) => run(terminal, options, loads, () => loads.start({ rollback })));
    });
}

function addFollow(load: Command, terminal: Terminal): void {
  withDataset(load.command('follow'))
    .description('follow a running load of a deployment; Ctrl-C stops following, not the load')
    .argument('[execution]', 'the execution of the state machine (default: the running one)')
    .action(async (execution: string | undefined, options: LoadOptions) => {
      await useLoads(terminal, options, (loads) => run(terminal, options, loads, () => loads.follow(execution)));
    });
}

function addRepair(load: Command, terminal: Terminal): void {
  withDataset(load.command('repair'))
    .description('compare every address in the table with the live snapshot and repair the differences')
    .option('--plan', 'only show the differences')
    .addHelpText(
      'after',
      `
For a table that something else has written to, or that was restored from a backup. It runs in this command, which reads
the whole table and the snapshot: with --stack about 1 GB and two minutes for the country. Loads wait until it ends.

Example:
  npm run bag-adres -- load repair --plan --stack bag-adres-prod`,
    )
    .action(async ({ plan, ...options }: LoadOptions & { plan?: true }) => {
      await useLoads(terminal, options, (loads) => repair(loads, plan === true));
    });
}

async function repair(loads: Loads, planOnly: boolean): Promise<Result> {
  const { renderRepair } = await import('./render-load.ts');
  const report = await loads.repair({ planOnly });
  const result = { json: report, text: renderRepair(report) };
  if (!report.pending || planOnly) return result;
  return { ...result, hint: `That load is not published yet: run "load run ${loads.where}" now.` };
}

function addStatus(load: Command, terminal: Terminal): void {
  withDataset(load.command('status'))
    .description('show the live snapshot and its age, running loads, and loads that need your decision')
    .action(async (options: LoadOptions) => useLoads(terminal, options, status));
}

async function status(loads: Loads): Promise<Result> {
  const { loadStatus } = await import('../../loader/steps/manifest.ts');
  const { refusedLoads } = await import('../connect/loads.ts');
  const { renderStatus } = await import('./render-load.ts');
  const [found, refused, running] = await Promise.all([
    loadStatus(loads.context),
    refusedLoads(loads.context.storage),
    loads.running(),
  ]);
  const blocked = refused.map(({ load, peildatum, objections }) => ({ load, peildatum, objections }));
  const shown = { ...found, running, blocked };
  return { json: shown, text: renderStatus(shown, loads.where) };
}

function addHistory(load: Command, terminal: Terminal): void {
  withDataset(load.command('history'))
    .description('list earlier loads, the newest first, and the snapshots that a rollback can use')
    .action(async (options: LoadOptions) => useLoads(terminal, options, history));
}

async function history({ context, where }: Loads): Promise<Result> {
  const { loadHistory } = await import('../../loader/steps/manifest.ts');
  const { renderHistory } = await import('./render-load.ts');
  const entries = await loadHistory(context);
  return { json: entries, text: renderHistory(entries, where) };
}
