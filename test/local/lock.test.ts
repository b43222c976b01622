import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
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
  it('is held by one at a time, and free again once released', async () => {
    const release = await acquireLock(file);
    await expect(acquireLock(file)).rejects.toThrow(LockHeldError);
    await expect(acquireLock(file)).rejects.toMatchObject({ pid: process.pid });
    await release();
    await (await acquireLock(file))();
    expect(await readdir(folder)).toEqual([]);
  });

  it('goes to exactly one of many that want it at once, also when a stale one lies there', async () => {
    await writeFile(file, '999999999 1');
    const results = await Promise.allSettled(Array.from({ length: 50 }, () => acquireLock(file)));
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    for (const result of results) if (result.status === 'rejected') expect(result.reason).toBeInstanceOf(LockHeldError);
  });

  it('of a process that was killed is taken over', async () => {
    const url = new URL('../../local/lock.ts', import.meta.url);
    const script = `const { acquireLock } = await import('${url}'); await acquireLock(${JSON.stringify(file)}); console.log('held'); setInterval(() => {}, 1000);`;
    const holder = spawn(process.execPath, ['--input-type=module', '--eval', script]);
    await once(holder.stdout, 'data');
    await expect(acquireLock(file)).rejects.toMatchObject({ pid: holder.pid });
    holder.kill('SIGKILL');
    await once(holder, 'exit');
    await (await acquireLock(file))();
  });

  it.each(['', 'nonsense', `${process.pid} 1`, `${process.ppid} 1`])(
    'that says %j names no process that runs now, and is taken over',
    async (content) => {
      await writeFile(file, content);
      await (await acquireLock(file))();
    },
  );
});
