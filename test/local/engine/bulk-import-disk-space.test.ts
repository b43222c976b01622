import { execFile } from 'node:child_process';
import { tmpdir } from 'node:os';
import { promisify } from 'node:util';
import { describe, expect, it } from '@jest/globals';
import { requireDiskSpace } from '../../../local/engine/bulk-import.ts';

const country = 9_073_758;

describe('the disk space for an import', () => {
  it('is checked in advance, and the error says how much is needed, where, and how to use another disk', async () => {
    await expect(
      requireDiskSpace('/home/me/.data', { lines: country, by: 'engine' }, async () => 1_234_567_890),
    ).rejects.toMatchObject({
      name: 'DiskSpaceError',
      message:
        'Importing 9,073,758 addresses needs 5.81 GB of free disk space in /home/me/.data; 1.23 GB is available. Free some ' +
        'space and start again to continue, or choose a folder on another disk with --data FOLDER.',
    });
  });

  it.each([
    ['rows', 203],
    ['engine', 677],
  ] as const)('is required for %s at the measured %i bytes per line, and no more', async (by, bytes) => {
    await requireDiskSpace('/home/me/.data', { lines: country, by }, async () => country * bytes);
  });

  it('is that of the disk with the folder', async () => {
    const { stdout } = await promisify(execFile)('df', ['-kP', tmpdir()]);
    const kilobytes = Number(stdout.trim().split('\n').at(-1)?.trim().split(/\s+/)[3]);
    await requireDiskSpace(tmpdir(), { lines: Math.floor((kilobytes * 1024 * 0.5) / 640), by: 'engine' });
    await expect(
      requireDiskSpace(tmpdir(), { lines: Math.ceil((kilobytes * 1024 * 4) / 640), by: 'engine' }),
    ).rejects.toThrow(/free disk space in/);
  });
});
