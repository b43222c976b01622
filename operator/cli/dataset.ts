import type { Command } from 'commander';
import { paths } from '../../loader/storage/storage.ts';
import type { RepairReport } from '../../local/load/repair.ts';
import type { ConnectionOptions } from '../connect/admin.ts';
import { CommandError, UsageError } from '../connect/errors.ts';
import type { LoadCommands, ProgressReporter } from '../connect/loads.ts';
import {
  carryOut,
  checkLocation,
  counted,
  type Planned,
  planOption,
  printResult,
  type Result,
  type Terminal,
  thousands,
  withDataset,
} from './command.ts';

/** Options of every command on loads. */
export type LoadCommandOptions = Pick<ConnectionOptions, 'local' | 'data' | 'stack'> & { json?: true };

/** Opens the loads of the dataset that `options` name, prints the result of `work`, and closes them in any case. */
export async function useLoads(
  terminal: Terminal,
  options: LoadCommandOptions,
  work: (loads: LoadCommands) => Promise<Result>,
): Promise<void> {
  checkLocation(options);
  if (!options.local && options.stack === undefined) {
    throw new UsageError('Name the dataset: --local for the running "npm start", or --stack NAME for a deployment.');
  }
  // Imported here because the AWS clients load slower than `--help` should print.
  const { openLoads } = await import('../connect/loads.ts');
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

/** `load status`, `history`, `check`, `repair`, `discard` and `unlock`: what the table and the storage hold. */
export function addDatasetCommands(load: Command, terminal: Terminal): void {
  addStatus(load, terminal);
  addHistory(load, terminal);
  addCheck(load, terminal);
  addRepair(load, terminal);
  addDiscard(load, terminal);
  addUnlock(load, terminal);
}

function addCheck(load: Command, terminal: Terminal): void {
  withDataset(load.command('check'))
    .description('compare every address in the table with the live snapshot; the exit code is 1 when they differ')
    .addHelpText(
      'after',
      `
Changes nothing; "load repair" does. It reads the whole table in this command: with --stack about 1 GB and two minutes
for the country. Loads wait until it ends.

Example:
  npx bag-adres load check --stack bag-adres-prod`,
    )
    .action(async (options: LoadCommandOptions) => {
      let differences = 0;
      let damaged: string[] = [];
      let unusable: string[] = [];
      await useLoads(terminal, options, async (loads) => {
        const report = await loads.repair({ planOnly: true });
        differences = report.added + report.changed + report.removed;
        ({ rebuilt: damaged, unusable } = report);
        return repairResult(report);
      });
      if (damaged.length > 0) {
        const message = `The snapshot is damaged in the segments ${damaged.join(', ')}. Rebuild them: "load repair".`;
        throw new CommandError('storage_damaged', message, { details: { differences, damaged } });
      }
      requireObjects(unusable);
      if (differences === 0) return;
      const message = `The table differs from the snapshot in ${counted(differences, 'lookup')}. Repair it: "load repair".`;
      throw new CommandError('differs', message, { details: { differences } });
    });
}

/**
 * @throws CommandError where objects behind the snapshot are damaged, which neither the table nor a repair can restore
 */
function requireObjects(unusable: readonly string[]): void {
  if (unusable.length === 0) return;
  throw new CommandError(
    'storage_damaged',
    `The addresses are right, but ${counted(unusable.length, 'object')} behind the snapshot can't be read, so no mutations can be ` +
      'applied. Load a full extract with "load run --again", which makes a new snapshot.',
    { details: { unusable } },
  );
}

async function repairResult(report: RepairReport): Promise<Result> {
  const { renderRepair } = await import('./render-load.ts');
  return { json: report, text: renderRepair(report) };
}

function addDiscard(load: Command, terminal: Terminal): void {
  withDataset(load.command('discard'))
    .description('remove the work of a load that was not published, such as a refused one')
    .argument('<load>', 'the load, as its error and "load status" name it')
    .addHelpText('after', '\nThe live dataset stays as it is. The next load of the same extract starts from scratch.')
    .option(...planOption)
    .action(async (id: string, { plan, ...options }: LoadCommandOptions & Planned) => {
      await useLoads(terminal, options, async (loads) => {
        const work = /^\d{4}-\d\d-\d\d-[0-9a-f]{10}$/.test(id)
          ? await loads.context.storage.list(paths.workOf(id))
          : [];
        const intent =
          work.length > 0 &&
          `Removes the work of load ${id}, ${counted(work.length, 'object')}. The addresses stay as they are; the next load of the same extract starts from scratch.`;
        return carryOut(terminal, { ...options, plan }, intent, async () => {
          const report = await loads.discard(id);
          const megabytes = `${thousands(Math.ceil(report.bytes / 1e6))} MB`;
          return {
            json: report,
            text: `Removed the work of ${id}: ${counted(report.objects, 'object')}, ${megabytes}.`,
          };
        });
      });
    });
}

function addUnlock(load: Command, terminal: Terminal): void {
  withDataset(load.command('unlock'))
    .description('remove the lock that an interrupted load left on the table')
    .option('--force', 'also of a load that may still be running; it stops before its next write')
    .option(...planOption)
    .action(async ({ force, plan, ...options }: LoadCommandOptions & Planned & { force?: true }) => {
      await useLoads(terminal, options, async (loads) => {
        const held = await loads.lockHolder({ force: force === true });
        const json = { owner: held?.owner ?? null };
        if (!held) return { json, text: 'The table is not locked.' };
        const effect = held.isGone
          ? 'That load has ended.'
          : 'That load may be running: it stops before its next write.';
        const until = new Date(held.untilSeconds * 1000).toISOString();
        const intent = `Removes the lock of ${held.owner}, which would end at ${until}. ${effect} Addresses stay as they are.`;
        return carryOut(terminal, { ...options, plan }, intent, async () => {
          await loads.unlock(held);
          return { json, text: `Removed the lock of ${held.owner}.` };
        });
      });
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
  npx bag-adres load repair --plan --stack bag-adres-prod`,
    )
    .action(async ({ plan, ...options }: LoadCommandOptions & { plan?: true }) => {
      let unusable: string[] = [];
      await useLoads(terminal, options, async (loads) => {
        const { report, result } = await repair(loads, plan === true);
        unusable = report.unusable;
        return result;
      });
      requireObjects(unusable);
    });
}

async function repair(loads: LoadCommands, planOnly: boolean): Promise<{ report: RepairReport; result: Result }> {
  const report = await loads.repair({ planOnly });
  const result = await repairResult(report);
  if (!report.pending || planOnly) return { report, result };
  return { report, result: { ...result, hint: `That load is not published yet: run "load run ${loads.where}" now.` } };
}

function addStatus(load: Command, terminal: Terminal): void {
  withDataset(load.command('status'))
    .description('show the live snapshot and its age, running loads, and loads that need your decision')
    .action(async (options: LoadCommandOptions) => useLoads(terminal, options, status));
}

async function status(loads: LoadCommands): Promise<Result> {
  const { loadStatus } = await import('../../loader/steps/manifest.ts');
  const { refusedLoads } = await import('../../loader/steps/refused-loads.ts');
  const { renderStatus } = await import('./render-load.ts');
  const { mutationStatus } = await import('../connect/loads.ts');
  const [found, refused, running] = await Promise.all([
    loadStatus(loads.context),
    refusedLoads(loads.context.storage),
    loads.running(),
  ]);
  const mutations = await mutationStatus(found.published, loads.mutations);
  const shown = { ...found, running, refused, mutations };
  return { json: shown, text: renderStatus(shown, loads.where) };
}

function addHistory(load: Command, terminal: Terminal): void {
  withDataset(load.command('history'))
    .description('list earlier loads, the newest first, and the snapshots that a rollback can use')
    .action(async (options: LoadCommandOptions) => useLoads(terminal, options, history));
}

async function history({ context, where }: LoadCommands): Promise<Result> {
  const { loadHistory } = await import('../../loader/steps/manifest.ts');
  const { renderHistory } = await import('./render-load.ts');
  const entries = await loadHistory(context);
  return { json: entries, text: renderHistory(entries, where) };
}
