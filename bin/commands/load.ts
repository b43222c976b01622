import type { Command } from 'commander';
import { addLoadLooks } from './load-look.ts';
import { type LoadOptions, sourceOf, withLoads } from './load-options.ts';
import { addRepair } from './load-repair.ts';
import { approveLoad, planned, ran } from './load-run.ts';
import type { Terminal } from './terminal.ts';
import { useLoads } from './use-loads.ts';

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
    .argument('<state>', 'the date of the state, like 2026-01-08, or a load; "load history" shows those that are kept')
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
