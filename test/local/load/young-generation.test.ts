import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, it } from '@jest/globals';

const source = fileURLToPath(new URL('../../../local/load/young-generation.ts', import.meta.url));

/** Prints the megabytes of the young generation before the work, after it, and after the same work without limit. */
const script = `
  import { getHeapSpaceStatistics } from 'node:v8';
  import { inSmallYoungGeneration } from ${JSON.stringify(source)};
  const size = () => getHeapSpaceStatistics().find((space) => space.space_name === 'new_space').space_size / 2 ** 20;
  const work = async () => {
    const kept = [];
    for (let i = 0; i < 1_000_000; i++) kept.push({ i });
    return size();
  };
  const before = size();
  console.log(JSON.stringify([before, await inSmallYoungGeneration(work), await work()]));
`;

it('the young generation stays as small as it is during such work, and grows again after it', () => {
  const options = ['--max-semi-space-size=64', '--input-type=module-typescript', '--eval', script];
  const [before, during, after] = JSON.parse(execFileSync(process.execPath, options, { encoding: 'utf8' }));
  // Both halves are counted as soon as both are used.
  expect(during).toBeLessThanOrEqual(2 * before);
  expect(after).toBeGreaterThan(4 * before);
});
