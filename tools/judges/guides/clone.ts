import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { readyText } from '../../../test/support/start.ts';
import { root } from '../judge.ts';
import { withRefusedLoads, writeDeliveries } from './deliveries.ts';
import { confirmations, type Desk, openTerminal } from './desk.ts';
import { Reader, type Reading } from './reader.ts';

/** Follows pages in a clone of the last commit, with `npm start` at a terminal of its own. */
export async function inClone(desk: Desk, readings: readonly Reading[]): Promise<Reader> {
  const folder = join(desk.work, 'clone');
  execFileSync('git', ['-c', 'advice.detachedHead=false', 'clone', '--quiet', root, folder]);
  const deliveries = await writeDeliveries(folder);
  const service = await openTerminal(desk, folder, { name: 'service' });
  const terminal = await openTerminal(desk, folder, { answers: confirmations });
  const run = withRefusedLoads((shell) => terminal.run(shell), '--local');
  let isInstalled = false;
  let isRunning = false;
  const reader = new Reader({
    async run(shown) {
      const shell = isInstalled ? shown.replace(/\bnpm ci(?: && |$)/, '') : shown;
      isInstalled ||= shell.includes('npm ci');
      if (!/\bnpm start\b/.test(shell)) return run(shell);
      if (isRunning) await service.interrupt();
      isRunning = true;
      return service.run(shell, new RegExp(readyText));
    },
    placeholders: [
      ...deliveries,
      [/bagadres_demo_\.\.\./g, (printed) => /bagadres_demo_\w+/.exec(printed)?.[0] ?? ''],
    ],
  });
  for (const reading of readings) await reader.read(reading);
  return reader;
}
