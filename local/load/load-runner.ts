import type { LoadReport } from '../../loader/guard/load-report.ts';
import type { LoadRunner } from '../../packages/admin/load-approvals.ts';
import { runLoad } from './run-load.ts';
import type { LoadOptions } from './session.ts';

type Run = { since: string; state: 'running' | 'done' | 'failed'; report: Promise<LoadReport> };

/**
 * Runs approved loads in this process and forgets them when it ends; a load that it began can be
 * approved again.
 */
export function localLoadRunner(options: LoadOptions) {
  const runs = new Map<string, Run>();
  const runner: LoadRunner = {
    running: async () =>
      [...runs].flatMap(([name, { since, state }]) =>
        state === 'running' ? [{ name, since }] : [],
      ),
    async start(name, load, decision) {
      if (runs.has(name)) return;
      const report = runLoad({ ...options, [decision]: load });
      const run: Run = { since: new Date().toISOString(), state: 'running', report };
      runs.set(name, run);
      const end = (state: Run['state']) => () => {
        run.state = state;
      };
      report.then(end('done'), end('failed'));
    },
    stateOf: async (name) => runs.get(name)?.state ?? 'none',
  };
  return {
    ...runner,
    /** The report of a run of this process, at its end. @throws what its load throws */
    reportOf: (name: string): Promise<LoadReport> | undefined => runs.get(name)?.report,
    /** Waits until no load is running. */
    settle: async () =>
      void (await Promise.allSettled([...runs.values()].map(({ report }) => report))),
  };
}
