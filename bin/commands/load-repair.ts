import type { Command } from 'commander';
import type { Loads } from '../connect/loads.ts';
import type { Result } from '../output/print-result.ts';
import { type LoadOptions, withLoads } from './load-options.ts';
import type { Terminal } from './terminal.ts';
import { useLoads } from './use-loads.ts';

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
  const { renderRepair } = await import('../output/render-repair.ts');
  const report = await loads.repair({ planOnly });
  const result = { json: report, text: renderRepair(report) };
  if (!report.pending || planOnly) return result;
  return { ...result, hint: `That load is not published yet: run "load run ${loads.where}" now.` };
}
