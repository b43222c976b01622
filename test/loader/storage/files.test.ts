import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { fileSource } from '../../../loader/storage/files.ts';

let folder: string;
let file: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'file-source-'));
  file = join(folder, 'extract.zip');
  await writeFile(file, 'bytes of an extract');
});
afterEach(() => rm(folder, { recursive: true }));

/** Root may read everything, so it looks with the eyes of nobody. */
async function withoutRights<T>(work: () => Promise<T>): Promise<T> {
  const isRoot = process.geteuid?.() === 0;
  if (isRoot) process.seteuid?.('nobody');
  try {
    return await work();
  } finally {
    if (isRoot) process.seteuid?.(0);
  }
}

describe('an extract in a file', () => {
  it('is read by range, and is not opened while it is unchanged', async () => {
    const source = await fileSource(file);
    expect(String(await source?.access?.read(9, 2))).toBe('an');
    expect(await fileSource(file, source?.version)).toBeNull();
    await source?.close();
  });

  it('that is overwritten counts as another one, also during a read', async () => {
    const source = await fileSource(file);
    await writeFile(file, 'another extract');
    await expect(source?.access?.read(0, 2)).rejects.toMatchObject({ name: 'SourceChangedError' });
    const other = await fileSource(file, source?.version);
    expect(other?.version.size).toBe(15);
    await source?.close();
    await other?.close();
  });

  it.each([
    ['the file', async () => chmod(file, 0o000)],
    ['the folder that it is in', async () => chmod(folder, 0o000)],
  ])('without read permission fails with what to do: %s', async (_, forbid) => {
    await chmod(folder, 0o755);
    await forbid();
    await withoutRights(async () => {
      await expect(fileSource(file)).rejects.toMatchObject({
        name: 'SourceError',
        message: `${file} can't be read: permission denied. Make it readable (chmod u+r), or copy it to a place where you can read it.`,
      });
    });
    await chmod(folder, 0o755);
  });

  it('below a path that is not a folder does not exist', async () => {
    await expect(fileSource(join(file, 'x.zip'))).rejects.toMatchObject({
      name: 'SourceError',
      message: expect.stringMatching(/x\.zip can't be read \(ENOTDIR.*\)\. Check the path\.$/),
    });
  });
});
