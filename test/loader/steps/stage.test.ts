import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { crc32 } from 'node:zlib';
import { expect, it } from '@jest/globals';
import { storageSpool } from '../../../loader/steps/stage.ts';
import { folderStorage } from '../../../loader/storage/folder-storage.ts';

it('a kept copy of an inner zip is not taken for another one of equal name and size, where a server gives no version', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'spool-'));
  const version = { location: 'http://example.nl/BAGGEM0457L.zip', size: 100, etag: null, lastModified: null };
  const spool = storageSpool(folderStorage(folder), version);
  const keep = async (bytes: Buffer) => {
    const entry = { name: 'inner.zip', method: 'deflated', compressedSize: 9, size: 4, headerOffset: 0 } as const;
    const kept = await spool(Readable.from([bytes]), 'inner.zip', { ...entry, crc32: crc32(bytes) });
    return String(await kept.read(0, 4));
  };
  expect(await keep(Buffer.from('old!'))).toBe('old!');
  expect(await keep(Buffer.from('new!'))).toBe('new!');
  rmSync(folder, { recursive: true });
});
