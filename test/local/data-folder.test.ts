import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { openDataFolder } from '../../local/data-folder.ts';
import { folderForNow } from '../support/folder-for-now.ts';

const root = folderForNow('data-folder-');

describe('the data folder', () => {
  it('is created for its owner only by one of two starts at once, and the other one is told that it is in use', async () => {
    for (let i = 0; i < 10; i++) {
      const path = join(root, `${i}`, 'data');
      const opened = await Promise.allSettled([openDataFolder(path), openDataFolder(path)]);
      for (const one of opened) {
        if (one.status === 'fulfilled') await one.value.release();
        else {
          expect(one.reason.message).toMatch(/^Another npm start is using/);
        }
      }
      for (const folder of [join(path, '..'), path]) {
        expect((await stat(folder)).mode & 0o777).toBe(0o700);
      }
      expect(opened.some(({ status }) => status === 'fulfilled')).toBe(true);
    }
  });
});
