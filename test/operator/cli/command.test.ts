import { spawn } from 'node:child_process';
import { existsSync, openSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from '@jest/globals';

const program = 'bin/bag-adres.ts';

describe('output that can not be written', () => {
  const onFullDisk = existsSync('/dev/full') ? it : it.skip;

  onFullDisk('is an error of one line, and no success', async () => {
    const full = openSync('/dev/full', 'w');
    const child = spawn(process.execPath, [program, '--help'], { stdio: ['ignore', full, 'pipe'] });
    const ended = new Promise((resolve) => child.on('close', resolve));
    const err = child.stderr ? await text(child.stderr) : '';
    expect([await ended, err]).toEqual([1, expect.stringMatching(/^bag-adres: .*no space left on device.*\n$/)]);
  });

  it.each(['stdout', 'stderr'] as const)('keeps the exit code of a command when %s is not read', async (unread) => {
    const args = unread === 'stdout' ? ['--help'] : ['nonsense'];
    const child = spawn(process.execPath, [program, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
    const ended = new Promise((resolve) => child.on('close', resolve));
    child[unread].destroy();
    child.stdout.resume();
    child.stderr.resume();
    expect(await ended).toBe(unread === 'stdout' ? 0 : 2);
  });
});
