import type { LoadRunner } from '../../lambdas/shared/loads/loads.ts';
import { approveLoad } from '../../loader/run/run-load.ts';
import type { LoadReport } from '../../loader/steps/load-report.ts';
import type { AddressTable } from '../../loader/storage/address-table.ts';

export type LocalLoadRunnerOptions = {
  /** The loader's storage. */
  storageFolder: string;
  addresses: AddressTable;
  /** Called with how each load ended. */
  report: (text: string) => void;
};

/** Runs approved loads in this process. What it knows of them ends with it; a load that it began can be approved again. */
export function localLoadRunner({ storageFolder, addresses, report }: LocalLoadRunnerOptions) {
  const runs = new Map<string, { since: string; state: 'running' | 'done' | 'failed'; end: Promise<void> }>();

  async function run(load: string, end: (state: 'done' | 'failed') => void): Promise<void> {
    try {
      const { peildatum }: LoadReport = await approveLoad({ storage: storageFolder, addresses, load });
      end('done');
      report(`Load ${load} was approved in the portal: the snapshot of ${peildatum} is live.`);
    } catch (error) {
      end('failed');
      report(`Load ${load} was approved in the portal and failed: ${error instanceof Error ? error.message : error}`);
    }
  }

  const runner: LoadRunner = {
    running: async () =>
      [...runs].flatMap(([name, { since, state }]) => (state === 'running' ? [{ name, since }] : [])),
    async start(name, load) {
      if (runs.has(name)) return;
      const since = new Date().toISOString();
      const end = run(load, (state) => runs.set(name, { since, state, end }));
      runs.set(name, { since, state: 'running', end });
    },
    stateOf: async (name) => runs.get(name)?.state ?? 'none',
  };
  /** Waits until no load is running. */
  const settle = async () => void (await Promise.all([...runs.values()].map(({ end }) => end)));
  return { ...runner, settle };
}
