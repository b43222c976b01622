import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, it } from '@jest/globals';

const source = fileURLToPath(new URL('../../../local/load/young-generation.ts', import.meta.url));

/**
 * Prints the megabytes of the young generation before the work, usually during its second half, and
 * in that of the same work without limit. V8 exceeds the limit for moments where it can't collect
 * at once.
 */
const script = `
  import { getHeapSpaceStatistics } from 'node:v8';
  import { inSmallYoungGeneration } from ${JSON.stringify(source)};
  const size = () => getHeapSpaceStatistics().find((space) => space.space_name === 'new_space').space_size / 2 ** 20;
  const work = async () => {
    const [kept, sizes] = [[], []];
    for (let i = 0; i < 1_000_000; i++) {
      kept.push({ i });
      if (i > 500_000 && i % 20_000 === 0) sizes.push(size());
    }
    return sizes.sort((a, b) => a - b)[sizes.length >> 1];
  };
  const before = size();
  console.log(JSON.stringify([before, await inSmallYoungGeneration(work), await work()]));
`;

it('the young generation stays as small as it is during such work, and grows again after it', () => {
  const options = ['--max-semi-space-size=64', '--input-type=module-typescript', '--eval', script];
  const [before, during, after] = JSON.parse(
    execFileSync(process.execPath, options, { encoding: 'utf8' }),
  );
  // Both halves are counted as soon as both are used.
  expect(during).toBeLessThanOrEqual(2 * before);
  expect(after).toBeGreaterThan(4 * before);
});
