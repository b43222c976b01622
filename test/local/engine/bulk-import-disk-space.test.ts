import { execFile } from 'node:child_process';
import { tmpdir } from 'node:os';
import { promisify } from 'node:util';
import { describe, expect, it } from '@jest/globals';
import { requireDiskSpace } from '../../../local/engine/bulk-import.ts';

const country = 9_073_758;

describe('the disk space for an import', () => {
  it('is checked in advance, and the error says how much is needed, where, and how to use another disk', async () => {
    await expect(requireDiskSpace('/home/me/.data', country, async () => 1_234_567_890)).rejects.toMatchObject({
      name: 'DiskSpaceError',
      message:
        'Importing 9,073,758 addresses needs 5.81 GB of free disk space in /home/me/.data; 1.23 GB is available. Free some ' +
        'space and start again to continue, or choose a folder on another disk with --data FOLDER.',
    });
  });

  it('is required at the measured 677 bytes per line, and no more', async () => {
    await requireDiskSpace('/home/me/.data', country, async () => country * 677);
  });

  it('is that of the disk with the folder', async () => {
    const { stdout } = await promisify(execFile)('df', ['-kP', tmpdir()]);
    const kilobytes = Number(stdout.trim().split('\n').at(-1)?.trim().split(/\s+/)[3]);
    await requireDiskSpace(tmpdir(), Math.floor((kilobytes * 1024 * 0.5) / 640));
    await expect(requireDiskSpace(tmpdir(), Math.ceil((kilobytes * 1024 * 4) / 640))).rejects.toThrow(
      /free disk space in/,
    );
  });
});
