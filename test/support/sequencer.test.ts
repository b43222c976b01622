import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import Sequencer, { longest } from './sequencer.ts';

const rootDir = resolve(import.meta.dirname, '../..');
const context = { config: { rootDir }, hasteFS: { getSize: () => 1_000 } };
const [first = '', second = '', third = ''] = longest;
const short = 'test/short.test.ts';

/** The order of these files when some of them took so many milliseconds before. */
async function order(files: string[], before: Record<string, number> = {}): Promise<string[]> {
  const fileOf = ({ path }: { path: string }) => path.slice(rootDir.length + 1);
  const known = { time: (test: { path: string }) => before[fileOf(test)], hasFailed: () => false };
  const sequencer = new Sequencer({} as never);
  Object.assign(sequencer, known);
  return (await sequencer.sort(files.map((file) => ({ path: join(rootDir, file), context })) as never)).map(fileOf);
}

describe('the order of the test files', () => {
  it('begins with the longest ones in a clean clone', async () => {
    expect(await order([short, third, first, second])).toEqual([first, second, third, short]);
  });

  it('follows the time that each file took before, where that is known', async () => {
    const before = { [first]: 10, [second]: 20, [short]: 30 };
    expect(await order([first, second, short], before)).toEqual([short, second, first]);
    expect(await order([first, short, third], before)).toEqual([third, short, first]);
  });

  it('names test files that exist', () => {
    for (const file of longest) expect([file, existsSync(join(rootDir, file))]).toEqual([file, true]);
  });
});
