import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { openDataFolder } from '../../local/data-folder.ts';
import { folderForNow } from '../support/folder-for-now.ts';

const root = folderForNow('data-folder-');

const mode = async (path: string) => (await stat(path)).mode & 0o777;

describe('the data folder', () => {
  it('is created for its owner only', async () => {
    const folder = await openDataFolder(join(root, 'outer', 'inner'));
    expect(await mode(folder.path)).toBe(0o700);
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
});
