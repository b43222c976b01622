import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, symlink } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { acquireLock, LockHeldError } from '../../local/process-lock.ts';
import { isFullSweep } from '../support/sweep.ts';

let folder: string;
let file: string;
let holders: ChildProcess[] = [];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'lock-'));
  file = join(folder, 'lock');
});
afterEach(async () => {
  for (const child of holders) child.kill('SIGKILL');
  holders = [];
  await rm(folder, { recursive: true });
});

const lockModule = new URL('../../local/process-lock.ts', import.meta.url).href;

/**
 * Runs a command with process ids and a network of its own, as in a container; takes root's rights.
 */
const isolate = ['unshare', '--net', '--pid', '--fork', '--kill-child'];
const canIsolate = spawnSync('unshare', [...isolate.slice(1), 'true']).status === 0;

/**
 * Another process, started by way of `wrapper`, that tries to take the lock, says whether it has,
 * and keeps it.
 */
async function tryElsewhere(wrapper: string[] = []) {
  const script = `
    const { acquireLock } = await import('${lockModule}');
    await acquireLock(${JSON.stringify(file)}).then(() => console.log('held'), () => console.log('refused'));
    setInterval(() => {}, 1000);`;
  const run = [...wrapper, process.execPath, '--input-type=module', '--eval', script];
  const child = spawn(run[0] ?? '', run.slice(1));
  holders.push(child);
  const [said] = await once(child.stdout, 'data');
  return { child, said: String(said).trim() };
}

describe('a lock', () => {
  it('is acquired by exactly one of many concurrent callers, whatever path they take, and is free again once released', async () => {
    await mkdir(join(folder, 'real'));
    await symlink(join(folder, 'real'), join(folder, 'link'));
    const files = ['real', 'link'].map((name) => join(folder, name, 'lock'));
    for (let round = 0; round < (isFullSweep ? 20 : 4); round++) {
      const results = await Promise.allSettled(
        Array.from({ length: 25 }, () => files.map(acquireLock)).flat(),
      );
      const holders = results.flatMap((result) =>
        result.status === 'fulfilled' ? [result.value] : [],
      );
      expect(holders).toHaveLength(1);
      for (const result of results) {
        if (result.status === 'rejected') expect(result.reason).toBeInstanceOf(LockHeldError);
      }
      for (const path of files) {
        await expect(acquireLock(path)).rejects.toThrow(
          /lock is locked by process \d+ on .+, since .+ UTC$/,
        );
      }
      await holders[0]?.();
    }
  });

  it('is acquired by exactly one of several processes that start at the same time', async () => {
    const tried = await Promise.all([1, 2, 3, 4].map(() => tryElsewhere()));
    expect(tried.map(({ said }) => said).sort()).toEqual(['held', 'refused', 'refused', 'refused']);
  });

  (canIsolate ? it : it.skip)(
    'excludes a process in another container on the same volume',
    async () => {
      expect((await tryElsewhere(isolate)).said).toBe('held');
      await expect(acquireLock(file)).rejects.toThrow(/is locked by process \d+ on /);
    },
  );

  it('stays with a suspended holder, which is reported at once, and is free after it was killed', async () => {
    const { child: holder } = await tryElsewhere();
    holder.kill('SIGSTOP');
    const begun = performance.now();
    await expect(acquireLock(file)).rejects.toMatchObject({
      holder: expect.stringMatching(`^process ${holder.pid} on ${hostname()}, since .* UTC$`),
    });
    expect(performance.now() - begun).toBeLessThan(2_000);
    holder.kill('SIGKILL');
    await once(holder, 'exit');
    await (await acquireLock(file))();
  });
});
