import { chmod, mkdir, mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { openDataFolder, readFolderIdentity } from '../../local/data-folder.ts';

let root: string;
let data: string;

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'data-folder-'));
  data = join(root, 'data');
});
afterEach(() => rm(root, { recursive: true }));

const mode = async (path: string) => (await stat(path)).mode & 0o777;

describe('the data folder', () => {
  it('is created for its owner only', async () => {
    const folder = await openDataFolder(join(data, 'inner'));
    expect(await mode(join(data, 'inner'))).toBe(0o700);
    await folder.release();
  });

  it('is created by one of two starts at once, and the other one is told that it is in use', async () => {
    for (let i = 0; i < 10; i++) {
      const path = join(root, `${i}`, 'data');
      const opened = await Promise.allSettled([openDataFolder(path), openDataFolder(path)]);
      for (const one of opened) {
        if (one.status === 'fulfilled') await one.value.release();
        else expect(one.reason.message).toMatch(/^Another npm start is using/);
      }
      expect(opened.some(({ status }) => status === 'fulfilled')).toBe(true);
    }
  });

  it('is closed to others when an earlier version created it', async () => {
    const first = await openDataFolder(data);
    await readFolderIdentity(first);
    await first.release();
    await chmod(data, 0o755);
    await (await openDataFolder(data)).release();
    expect(await mode(data)).toBe(0o700);
  });

  it('keeps its permissions when it holds something else', async () => {
    await mkdir(data, { mode: 0o755 });
    await chmod(data, 0o755);
    await writeFile(join(data, 'mine.txt'), '');
    await (await openDataFolder(data)).release();
    expect(await mode(data)).toBe(0o755);
  });
});
