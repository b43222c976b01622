import type { Loads } from '../connect/loads.ts';
import { printResult, type Result } from '../output/print-result.ts';
import { checkPlace, type LoadOptions } from './load-options.ts';
import type { Terminal } from './terminal.ts';

/** Opens the loads where `options` say, prints the result of `work`, and closes them whatever happens. */
export async function useLoads(
  terminal: Terminal,
  options: LoadOptions,
  work: (loads: Loads) => Promise<Result>,
): Promise<void> {
  checkPlace(options);
  // Loaded here, since the AWS clients take longer to load than `--help` may take.
  const { openLoads } = await import('../connect/open-loads.ts');
  const { watcherOf } = await import('../output/watcher.ts');
  const loads = await openLoads(options, watcherOf(terminal, options));
  try {
    printResult(terminal, options, await work(loads));
  } finally {
    loads.close();
  }
}
