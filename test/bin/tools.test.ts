import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';

const root = join(import.meta.dirname, '../..');

/** Starts a tool as its npm script does. */
function run(...args: string[]): Promise<{ code: number; out: string; error: string }> {
  return new Promise((resolve) => {
    execFile(process.execPath, ['local/launch.js', ...args], { cwd: root }, (failure, out, error) => {
      resolve({ code: failure ? Number(failure.code) : 0, out, error });
    });
  });
}

describe('a tool that is called wrongly exits with 2, says what is wrong and does nothing', () => {
  const calls = [
    ['bin/smoke.ts', '--url', 'example.nl'],
    ['bin/stack-trace.ts', 'Nope'],
    ['test/bench/bench.ts', 'nope'],
    ['test/bench/bench.ts', 'read', '--scale', '7'],
    ['test/mutants/mutants.ts', '--nope'],
    ['test/soak/soak.ts', '--minutes', 'x'],
    ['test/rehearsal/rehearse.ts', '--nope'],
    ['test/generators/check-generators.ts', '--nope'],
  ];

  it.each(calls.map((args) => ({ args, line: args.join(' ') })))('$line', async ({ args }) => {
    const { code, out, error } = await run(...args);
    expect([code, out]).toEqual([2, '']);
    expect(error).toMatch(/error: .+|^Usage: .+|^There is no benchmark/);
  });
});
