import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, it } from '@jest/globals';

const path = (relative: string) => JSON.stringify(new URL(relative, import.meta.url).href);

/** Allocates in a thread that may have 12 MB of young generation, and prints the most that it had, in MB. */
const program = (prepare: string) => `
import { Worker } from 'node:worker_threads';
import { sizeHeapsByThread } from ${path('../../local/thread-heaps.ts')};
${prepare}
const thread = new Worker(\`
  const { getHeapSpaceStatistics } = process.getBuiltinModule('node:v8');
  const youngBytes = () => getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space').space_size;
  let kept = [], most = 0;
  for (let count = 0; count < 300_000; count++) {
    kept.push({ count, text: 'x' + count });
    if (count % 10_000 === 0) {
      most = Math.max(most, youngBytes());
      kept = kept.slice(-20_000);
    }
  }
  console.log(most / 2 ** 20);
\`, { eval: true, resourceLimits: { maxYoungGenerationSizeMb: 12 } });
`;

async function mostYoungMegabytes(prepare: string): Promise<number> {
  const args = ['--max-semi-space-size=2', '--input-type=module', '--eval', program(prepare)];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  return Number(stdout);
}

it('a thread gets the young generation that it asks for, whatever the main thread is limited to', async () => {
  const [limited, own] = await Promise.all([mostYoungMegabytes(''), mostYoungMegabytes('sizeHeapsByThread();')]);
  expect(limited).toBeLessThan(6);
  expect(own).toBeGreaterThan(6);
});
