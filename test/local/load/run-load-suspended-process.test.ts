import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { retryWithBackoff } from '../../../core/retry.ts';
import { LockedError } from '../../../loader/storage/lock.ts';
import { startLoadBench } from '../../loader/steps/load-bench.ts';
import type { LoadProcess } from '../../loader/steps/load-process.ts';
import { type Month, tableOf } from '../../loader/steps/months.ts';
import { startForTests } from '../../support/start-for-tests.ts';
import { sweep } from '../../support/sweep.ts';

const month: Month = {
  peildatum: '2026-01-08',
  // Eight files of 50 changes.
  addresses: Array.from({ length: 400 }, (_, index) => [
    `13${index % 8}1AA ${index + 1}`,
    'Buitenveer',
    'Weesp',
  ]),
};
const next: Month = {
  peildatum: '2026-02-08',
  addresses: [['2513AA 1', 'Binnenhof', '’s-Gravenhage']],
};
const lease = { seconds: 3, renewSeconds: 0.5, marginSeconds: 1 };
const elsewhere = { transactions: true, lease, owner: 'elsewhere:1:1:x' };

const bench = startForTests(startLoadBench);
/**
 * All begin at once, since each takes seconds until it is suspended, and its lock some more to
 * expire.
 */
let loads: Awaited<ReturnType<typeof suspendedLoad>>[];

beforeAll(async () => {
  loads = await Promise.all(sweep([1, 3, 6], 1).map(suspendedLoad));
});
afterAll(() => {
  for (const { child } of loads) child.kill('SIGKILL');
});

/**
 * A load in a process of its own, suspended when it has applied `files` of its 8 files of changes.
 */
async function suspendedLoad(files: number) {
  const storage = bench.newFolder();
  const dataset = await bench.newDataset({ storage });
  const { table } = dataset;
  const { endpoint } = bench;
  const work: LoadProcess = {
    endpoint,
    table,
    storage,
    source: await bench.extractOf(month),
    ...elsewhere,
  };
  const script = join(import.meta.dirname, '../../loader/steps/load-process.ts');
  const child = spawn(process.execPath, [script, JSON.stringify(work)], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const printed = text(child.stdout);
  const exited = once(child, 'exit');
  while (globSync(join(storage, 'loads/*/applied/*')).length < files) {
    if (child.exitCode !== null) {
      throw new Error(`the load ended by itself with ${child.exitCode}: ${await printed}`);
    }
    await sleep(20);
  }
  child.kill('SIGSTOP');
  return { dataset, child, exited, printed };
}

describe('a suspended load whose lock another load takes over and publishes with', () => {
  it('writes nothing when it resumes, and says why, wherever it was suspended', async () => {
    const resumed = loads.map(async ({ dataset, child, exited, printed }) => {
      try {
        await retryWithBackoff(() => dataset.load({ month: next, waiveSize: true }), {
          attempts: 30,
          firstPauseMilliseconds: 200,
          longestPauseMilliseconds: 200,
          retryIf: (error) => error instanceof LockedError,
        });
      } finally {
        child.kill('SIGCONT');
      }
      expect((await exited)[0]).toBe(1);
      expect(await printed).toMatch(
        /^LockedError: This load lost its lock .*, so it stopped writing/,
      );
      expect(await dataset.served()).toEqual(tableOf(next));
      expect(await dataset.load({ month: next })).toMatchObject({ outcome: 'unchanged' });
    });
    await Promise.all(resumed);
  });
});
