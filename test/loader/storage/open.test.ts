import { appendFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { openFirst, openSource } from '../../../loader/storage/open.ts';
import { SourceError, SourceUnavailableError } from '../../../loader/storage/source.ts';
import { folderForNow } from '../../support/folder-for-now.ts';

describe('several locations of one extract', () => {
  const opening = (answers: Record<string, unknown>) => async (location: string) => {
    const answer = answers[location];
    if (answer instanceof Error) throw answer;
    return answer;
  };

  it('are tried in turn while the extract is not there', async () => {
    const moved = new SourceError('moved');
    expect(await openFirst(['a', 'b', 'c'], opening({ a: moved, b: 'found', c: 'other' }))).toBe(
      'found',
    );
    await expect(
      openFirst(['a', 'b'], opening({ a: moved, b: new SourceError('gone') })),
    ).rejects.toBe(moved);
  });

  it('are not skipped while a server is unavailable, because the next may have an older file', async () => {
    const unavailable = new SourceUnavailableError('busy');
    await expect(openFirst(['a', 'b'], opening({ a: unavailable, b: 'older' }))).rejects.toBe(
      unavailable,
    );
    const unchanged = await openFirst<unknown>(['a', 'b'], opening({ a: null, b: 'older' }));
    expect(unchanged).toBeNull();
  });
});

describe('a file', () => {
  const folder = folderForNow('bag-adres-open-');

  it('is opened again only if it has changed since its known version', async () => {
    const file = join(folder, 'extract.zip');
    await writeFile(file, 'BAG');
    const source = await openSource(file);
    await source?.close();
    expect(await openSource(file, source?.version)).toBeNull();
    await appendFile(file, ', and more');
    const changed = await openSource(file, source?.version);
    await changed?.close();
    expect(changed).not.toBeNull();
  });
});
