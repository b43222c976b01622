import type { Command } from 'commander';
import type { Loads } from '../connect/loads.ts';
import type { Result } from '../output/print-result.ts';
import { type LoadOptions, withLoads } from './load-options.ts';
import type { Terminal } from './terminal.ts';
import { useLoads } from './use-loads.ts';

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
  const { loadStatus } = await import('../../loader/load-history.ts');
  const { refusedLoads } = await import('../connect/refused-loads.ts');
  const { renderStatus } = await import('../output/render-load-status.ts');
  const [found, refused, running] = await Promise.all([
    loadStatus(loads.places),
    refusedLoads(loads.places.storage),
    loads.running(),
  ]);
  const blocked = refused.map(({ load, state, objections }) => ({ load, state, objections }));
  const shown = { ...found, running, blocked };
  return { json: shown, text: renderStatus(shown, loads.where) };
}

async function history({ places, where }: Loads): Promise<Result> {
  const { loadHistory } = await import('../../loader/load-history.ts');
  const { renderHistory } = await import('../output/render-load-history.ts');
  const entries = await loadHistory(places);
  return { json: entries, text: renderHistory(entries, where) };
}
