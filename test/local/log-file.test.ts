import { existsSync } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { openLogFile, previousLogFile } from '../../local/log-file.ts';
import { folderForNow } from '../support/folder-for-now.ts';

const path = join(folderForNow('log-'), 'functions.log');

describe('a log file', () => {
  it('holds the lines, and is readable by its owner only', async () => {
    const log = openLogFile(path, () => undefined);
    log.write('one');
    log.write('two');
    log.close();
    expect(await readFile(path, 'utf8')).toBe('one\ntwo\n');
    expect((await stat(path)).mode & 0o077).toBe(0);
  });

  it('keeps the newest lines, and never takes up more than twice its limit', async () => {
    const log = openLogFile(path, () => undefined, 1_000);
    for (let line = 0; line < 1_000; line++) log.write(`line ${line}`);
    log.close();
    const text = (await readFile(previousLogFile(path), 'utf8')) + (await readFile(path, 'utf8'));
    expect(text.endsWith('line 998\nline 999\n')).toBe(true);
    expect(text.length).toBeLessThanOrEqual(2_000);
    expect(text.length).toBeGreaterThan(1_000);
  });

  (existsSync('/dev/full') ? it : it.skip)(
    'drops lines and says so once when the disk is full',
    () => {
      const messages: string[] = [];
      const log = openLogFile('/dev/full', (message) => messages.push(message), 1e9);
      log.write('lost');
      log.write('lost too');
      log.close();
      expect(messages).toEqual([
        expect.stringMatching(/^The log \/dev\/full can't be written, .*ENOSPC/),
      ]);
    },
  );
});
