import type { Command } from 'commander';
import type { LoadReport, RefusedLoadError } from '../../loader/steps/load-report.ts';
import type { RefusedLoad } from '../../loader/steps/refused-loads.ts';
import type { LoadRequest } from '../../loader/steps/step.ts';
import { sourceLocation } from '../../loader/storage/source.ts';
import type { LoadDecision } from '../../packages/admin/load-views.ts';
import { CommandError, UsageError } from '../connect/errors.ts';
import type { LoadCommands } from '../connect/loads.ts';
import { callersPath, checkNewFile, type Result, type Terminal, withDataset, writeNewFile } from './command.ts';
import { addDatasetCommands, type LoadCommandOptions, useLoads } from './dataset.ts';
import { addExplain } from './explain.ts';

/**
 * `load plan`, `run`, `approve`, `reject`, `rollback`, `follow`, and the commands that show or remove existing loads.
 */
export function addLoadCommands(program: Command, terminal: Terminal): void {
  const load = program.command('load').description('the address dataset: load an extract, check it, roll back');
  addPlan(load, terminal);
  addRun(load, terminal);
  addApprove(load, terminal);
  addReject(load, terminal);
  addRollback(load, terminal);
  addFollow(load, terminal);
  addDatasetCommands(load, terminal);
  addExplain(load, terminal);
}

type ExtractOptions = LoadCommandOptions & { extract?: string; mutations?: string[]; again?: true };

function withExtract(command: Command): Command {
  return withDataset(command)
    .option(
      '--extract <where>',
      "the extract: a file, a URL or s3://BUCKET/KEY (default: the deployment's source, else the country from PDOK)",
    )
    .option(
      '--mutations <where...>',
      'days of mutations that follow: a list (bestanden.json), a folder or zips; without --extract nothing else is loaded',
    )
    .option('--again', 'also an extract or mutations that are live already, or were rolled back');
}

/** @throws UsageError */
function requestOf({ extract, mutations, again }: ExtractOptions, env: NodeJS.ProcessEnv): LoadRequest {
  const located = (option: string, named: string) => {
    const location = sourceLocation(named, callersPath('.', env));
    if (location !== null) return location;
    throw new UsageError(
      `${option} takes a ${option === '--extract' ? 'file' : 'file or folder'}, an http(s) URL or s3://BUCKET/KEY, not "${named}".`,
    );
  };
  return {
    ...(again && { again }),
    ...(extract !== undefined && { source: located('--extract', extract) }),
    ...(mutations && { mutations: mutations.map((named) => located('--mutations', named)) }),
  };
}

function addPlan(load: Command, terminal: Terminal): void {
  withExtract(load.command('plan'))
    .description('show what a load would change, with examples; changes nothing')
    .option('--csv <file>', 'write every change to this new file: key, before, after, BAG ids')
    .addHelpText(
      'after',
      `
Examples:
  npx bag-adres load plan --extract lvbag-extract-nl.zip --local
  npx bag-adres load plan --extract lvbag-extract-nl.zip --csv changes.csv --local`,
    )
    .action(async ({ csv, ...options }: ExtractOptions & { csv?: string }) => {
      const request = requestOf(options, terminal.env);
      const file = csv === undefined ? undefined : callersPath(csv, terminal.env);
      if (file !== undefined) checkNewFile(file);
      await useLoads(terminal, options, async (loads) => {
        const report = await loads.start({ ...request, planOnly: true });
        if (file !== undefined) await writeChanges(file, loads, report);
        return showPlan(loads, report);
      });
    });
}

/** Writes all changes of a plan as CSV. @throws CommandError */
async function writeChanges(file: string, { context }: LoadCommands, { outcome, load }: LoadReport): Promise<void> {
  const [{ differences }, { changesCsvHead, changesCsvLine }] = await Promise.all([
    import('../../loader/steps/refused-loads.ts'),
    import('../../loader/dataset/changes-csv.ts'),
  ]);
  async function* lines() {
    yield changesCsvHead;
    if (outcome !== 'planned' || load === null) return;
    for await (const change of differences(context.storage, load)) yield changesCsvLine(change);
  }
  await writeNewFile(file, lines());
}

async function showPlan({ where }: LoadCommands, report: LoadReport): Promise<Result> {
  const { renderReport } = await import('./render-load.ts');
  const result = { json: report, text: renderReport(report) };
  const { objections, approved, load } = report;
  if (objections.length === 0 || approved) return result;
  const reasons = objections.map(({ message }) => message).join('; ');
  return {
    ...result,
    hint: `"load run" would be refused: ${reasons}. "load approve ${load} ${where}" runs it anyway, "load reject" keeps it out.`,
  };
}

function addRun(load: Command, terminal: Terminal): void {
  withExtract(load.command('run'))
    .description('sync the table to a BAG extract; only the difference is written')
    .addHelpText(
      'after',
      `
An interrupted load continues where it stopped when it is run again. A load that changes more than usual is refused
before its first write (exit code 1, code "refused"); "load approve" runs it anyway.

Examples:
  npx bag-adres load run --stack bag-adres-prod
  npx bag-adres load run --mutations BAGNLDM-13112021-14112021.zip --local`,
    )
    .action(async (options: ExtractOptions) => {
      const request = requestOf(options, terminal.env);
      await useLoads(terminal, options, (loads) => run(terminal, options, loads, () => loads.start(request)));
    });
}

/**
 * Runs a load and returns its report.
 * @throws CommandError `refused` with the reasons, after printing what the load would have changed
 */
async function run(
  terminal: Terminal,
  { json }: LoadCommandOptions,
  { where }: LoadCommands,
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
    throw refused(error, where);
  }
}

function refused({ report }: RefusedLoadError, where: string): CommandError {
  const { peildatum, load, objections } = report;
  const reasons = objections.map(({ message }) => message).join('; ');
  return new CommandError(
    'refused',
    `The load of ${peildatum} is refused; nothing was written: ${reasons}. If this is right, run "load approve ${load} ${where}"; if it is wrong, "load reject ${load} ${where}".`,
    { details: { load, peildatum, objections } },
  );
}

function addApprove(load: Command, terminal: Terminal): void {
  withDataset(load.command('approve'))
    .description('approve a refused load and run it')
    .argument('[load]', 'the load, as its error names it (default: the only refused one)')
    .action(async (id: string | undefined, options: LoadCommandOptions) => {
      await useLoads(terminal, options, (loads) => decide(terminal, options, loads, { id, decision: 'approve' }));
    });
}

function addReject(load: Command, terminal: Terminal): void {
  withDataset(load.command('reject'))
    .description('reject a refused load: its extract or day of mutations is not loaded again')
    .argument('[load]', 'the load, as its error names it (default: the only refused one)')
    .addHelpText(
      'after',
      `
The live dataset stays as it is. A corrected day or a newer extract is loaded as usual; "load run --again" loads the
rejected one after all.

Example:
  npm run bag-adres -- load reject 2026-03-08-0123456789 --stack bag-adres-prod`,
    )
    .action(async (id: string | undefined, options: LoadCommandOptions) => {
      await useLoads(terminal, options, (loads) => decide(terminal, options, loads, { id, decision: 'reject' }));
    });
}

async function decide(
  terminal: Terminal,
  options: LoadCommandOptions,
  loads: LoadCommands,
  { id, decision }: { id: string | undefined; decision: LoadDecision },
): Promise<Result> {
  const { refusedLoads } = await import('../../loader/steps/refused-loads.ts');
  const { load } = choose(await refusedLoads(loads.context.storage), id, loads.where, decision);
  return run(terminal, options, loads, () => loads.start({ [decision]: load }));
}

/** The named load, or the only one. @throws CommandError */
function choose(refused: RefusedLoad[], id: string | undefined, where: string, decision: LoadDecision): RefusedLoad {
  const names = refused.map(({ load }) => load).join(', ');
  if (id !== undefined) {
    const named = refused.find(({ load }) => load === id);
    if (named) return named;
    const others = names === '' ? 'No load is refused' : `Refused loads: ${names}`;
    throw new CommandError('not_found', `Load "${id}" is not refused. ${others}. See "load status ${where}".`);
  }
  const [only, ...more] = refused;
  if (!only) throw new CommandError('not_found', `No load is refused; nothing to ${decision}.`);
  if (more.length > 0) throw new CommandError('ambiguous', `Several loads are refused. Name one of: ${names}.`);
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
  npx bag-adres load rollback 2026-01-08 --local`,
    )
    .action(async (rollback: string, options: LoadCommandOptions) => {
      await useLoads(terminal, options, (loads) => run(terminal, options, loads, () => loads.start({ rollback })));
    });
}

function addFollow(load: Command, terminal: Terminal): void {
  withDataset(load.command('follow'))
    .description('follow a running load of a deployment; Ctrl-C stops following, not the load')
    .argument('[execution]', 'the execution of the state machine (default: the running one)')
    .action(async (execution: string | undefined, options: LoadCommandOptions) => {
      await useLoads(terminal, options, (loads) => run(terminal, options, loads, () => loads.follow(execution)));
    });
}
