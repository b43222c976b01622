import { execFile } from 'node:child_process';
import { mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { sweep } from '../support/sweep.ts';

const root = join(import.meta.dirname, '../..');

type Ended = { code: number; out: string; error: string };

function runNode(...args: string[]): Promise<Ended> {
  return new Promise((resolve) => {
    execFile(process.execPath, args, { cwd: root }, (failure, out, error) => {
      resolve({ code: failure ? Number(failure.code) : 0, out, error });
    });
  });
}

/** Starts a tool as its npm script does. */
function run(...args: string[]): Promise<Ended> {
  return runNode('local/launch.js', ...args);
}

describe('a tool that is called wrongly exits with 2, says what is wrong and does nothing', () => {
  const calls = [
    ['tools/stack-trace.ts', 'Nope'],
    ['tools/bench/bench.ts', 'nope'],
    ['tools/bench/bench.ts', 'read', '--scale', '7'],
    ['tools/mutants/mutants.ts', '--nope'],
    ['tools/rehearsal/rehearse.ts', '--nope'],
    ['tools/generators/check-generators.ts', '--nope'],
  ];

  it.each(sweep(calls, 3).map((args) => ({ args, line: args.join(' ') })))(
    '$line',
    async ({ args }) => {
      const { code, out, error } = await run(...args);
      expect([code, out]).toEqual([2, '']);
      expect(error).toMatch(/error: .+|^Usage: .+|^There is no benchmark/);
    },
  );
});

describe('a tool that is started directly, by a path through a link to the project', () => {
  it.each(['bin/bag-adres.ts', 'tools/stack-trace.ts'])('runs: %s', async (tool) => {
    const folder = await mkdtemp(join(tmpdir(), 'bag-adres-'));
    try {
      await symlink(root, join(folder, 'link'));
      const { code, error } = await runNode(join(folder, 'link', tool), '--nope');
      expect(code).toBe(2);
      expect(error).toMatch(/--nope|^error: .+|^Usage: .+/);
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});
