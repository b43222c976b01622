import { UsageError } from '../cli/arguments.ts';
import type { LoadOptions } from '../cli/load.ts';
import type { Watcher } from '../cli/watcher.ts';
import type { Loads } from './loads.ts';

/** The loads of the place that `options` say. Throws `UsageError`, `CommandError`, `NotRunningError`. */
export async function openLoads(options: LoadOptions, watcher: Watcher): Promise<Loads> {
  if (options.local) {
    const { localLoads } = await import('./local-loads.ts');
    return localLoads(options.data, watcher.progress);
  }
  if (options.stack !== undefined) {
    const { stackLoads } = await import('./stack-loads.ts');
    return stackLoads(options.stack, watcher);
  }
  throw new UsageError('Say where the register is loaded: --local or --stack NAME.');
}
