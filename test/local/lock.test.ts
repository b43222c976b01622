import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { acquireLock, LockHeldError } from '../../local/lock.ts';

let folder: string;
let file: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'lock-'));
  file = join(folder, 'lock');
});
afterEach(() => rm(folder, { recursive: true }));

describe('a lock', () => {
  it('has one holder at a time, and is free again once released', async () => {
    const release = await acquireLock(file);
    await expect(acquireLock(file)).rejects.toThrow(LockHeldError);
    await expect(acquireLock(file)).rejects.toMatchObject({ pid: process.pid });
    await release();
    await (await acquireLock(file))();
  });

  it('goes to exactly one of many concurrent callers, every time', async () => {
    for (let round = 0; round < 20; round++) {
      const results = await Promise.allSettled(Array.from({ length: 50 }, () => acquireLock(file)));
      const holders = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
      expect(holders).toHaveLength(1);
      for (const result of results) {
        if (result.status === 'rejected') expect(result.reason).toBeInstanceOf(LockHeldError);
      }
      await holders[0]?.();
    }
  });

  it('is independent of the locks of other paths', async () => {
    const [one, other] = [await acquireLock(file), await acquireLock(`${file}2`)];
    await Promise.all([one(), other()]);
  });

  it('is free after its holder was killed', async () => {
    const url = new URL('../../local/lock.ts', import.meta.url);
    const script = `const { acquireLock } = await import('${url}'); await acquireLock(${JSON.stringify(file)}); console.log('held'); setInterval(() => {}, 1000);`;
    const holder = spawn(process.execPath, ['--input-type=module', '--eval', script]);
    await once(holder.stdout, 'data');
    await expect(acquireLock(file)).rejects.toMatchObject({ pid: holder.pid });
    holder.kill('SIGKILL');
    await once(holder, 'exit');
    await (await acquireLock(file))();
  });
});
