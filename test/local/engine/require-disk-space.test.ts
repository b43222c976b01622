import { execFile } from 'node:child_process';
import { tmpdir } from 'node:os';
import { promisify } from 'node:util';
import { describe, expect, it } from '@jest/globals';
import { requireDiskSpace } from '../../../local/engine/bulk-import.ts';

const country = 9_073_758;

describe('the room that an import takes', () => {
  it('is asked for beforehand: how much, where, and how to move it', async () => {
    await expect(requireDiskSpace('/home/me/.data', country, async () => 1_234_567_890)).rejects.toMatchObject({
      name: 'DiskSpaceError',
      message:
        'To import 9,073,758 addresses takes 5.81 GB of free disk in /home/me/.data while it runs: there are 1.23 GB. Make ' +
        'room and start again, which goes on from here, or keep the data on another disk with --data FOLDER.',
    });
  });

  it('is not asked for by more than what was measured: 677 bytes a line', async () => {
    await requireDiskSpace('/home/me/.data', country, async () => country * 677);
  });

  it('is looked for on the disk of the folder', async () => {
    const { stdout } = await promisify(execFile)('df', ['-kP', tmpdir()]);
    const kilobytes = Number(stdout.trim().split('\n').at(-1)?.trim().split(/\s+/)[3]);
    await requireDiskSpace(tmpdir(), Math.floor((kilobytes * 1024 * 0.5) / 640));
    await expect(requireDiskSpace(tmpdir(), Math.ceil((kilobytes * 1024 * 4) / 640))).rejects.toThrow(/free disk in/);
  });
});
