import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { packLineBytes, requireForm, unpackLines } from '../../../loader/register/stored-form.ts';
import { folderStorage } from '../../../loader/storage/files.ts';
import { s3Storage } from '../../../loader/storage/s3.ts';
import {
  getJson,
  getUnpacked,
  putJson,
  putPacked,
  type Storage,
} from '../../../loader/storage/storage.ts';
import { folderForNow } from '../../support/folder-for-now.ts';
import { MemoryS3 } from '../../support/memory-s3.ts';
import { startS3 } from '../../support/s3.ts';
import { startForTests } from '../../support/start-for-tests.ts';

const s3 = startForTests(startS3);
const memory = new MemoryS3();
const inMemory = memory.newClient();
const folder = folderForNow('bag-adres-storage-');

beforeAll(() => {
  s3.client.middlewareStack.add((next, { commandName }) => (args) => {
    const MaxKeys = commandName === 'ListObjectsV2Command' ? 5 : undefined;
    return next({ ...args, input: { ...args.input, MaxKeys } });
  });
  memory.createBucket('snapshots');
});

async function* pieces(bytes: Buffer, size: number): AsyncGenerator<Buffer> {
  for (let start = 0; start < bytes.length; start += size) {
    yield bytes.subarray(start, start + size);
  }
}

async function* broken(): AsyncGenerator<Buffer> {
  yield Buffer.alloc(11_000_000);
  throw new Error('cut');
}

/** Where, the storage, and a number of objects that takes more than one page of a listing. */
const storages: [string, () => Storage, number][] = [
  ['a folder', () => folderStorage(folder), 12],
  ['S3, in pages of five objects', () => s3Storage(s3.client, s3.bucket, 'below/'), 12],
  ['the in-memory S3 of the tests', () => s3Storage(inMemory, 'snapshots', 'below/'), 1005],
];

describe.each(storages)('a storage in %s', (_, storage, manyObjects) => {
  it('returns what was stored, and replaces it', async () => {
    await storage().put('a/b', Buffer.from('first'));
    await storage().put('a/b', Buffer.from('second'));
    expect(String(await storage().get('a/b'))).toBe('second');
  });

  it('reports a missing object', async () => {
    expect(await storage().get('a/missing')).toBeNull();
    expect(await storage().open('a/missing')).toBeNull();
    await expect(getJson(storage(), 'a/missing')).rejects.toThrow(/The storage has no a\/missing/);
  });

  it('replaces an object only if it is the expected one, or if none is expected and there is none', async () => {
    const first = Buffer.from('first');
    const second = Buffer.from('second');
    await storage().put('a/expected', first, null);
    for (const expected of [null, second]) {
      await expect(storage().put('a/expected', second, expected)).rejects.toMatchObject({
        name: 'ObjectChangedError',
      });
    }
    await expect(storage().put('a/none', second, first)).rejects.toMatchObject({
      name: 'ObjectChangedError',
    });
    expect(String(await storage().get('a/expected'))).toBe('first');
    expect(await storage().get('a/none')).toBeNull();
    await storage().put('a/expected', second, first);
    expect(String(await storage().get('a/expected'))).toBe('second');
  });

  it('treats an object that was copied from another key or truncated as damaged', async () => {
    await putJson(storage(), 'loads/a/one.json', { one: 1 });
    await putPacked(
      storage(),
      'loads/a/two',
      packLineBytes(Buffer.from('1381AA#7#\tWeesp\tBuitenveer')),
    );
    expect(await getJson(storage(), 'loads/a/one.json')).toEqual({ one: 1 });
    expect(await getUnpacked(storage(), 'loads/a/two', unpackLines)).toEqual([
      '1381AA#7#\tWeesp\tBuitenveer',
    ]);
    for (const [from, to, cut] of [
      ['one.json', 'other.json', 0],
      ['two', 'other', 0],
      ['two', 'two', 14],
    ] as const) {
      const bytes = (await storage().get(`loads/a/${from}`)) ?? Buffer.alloc(0);
      const key = `loads/a/${to}`;
      await storage().put(key, bytes.subarray(0, bytes.length - cut));
      const read = to.endsWith('.json')
        ? getJson(storage(), key)
        : getUnpacked(storage(), key, unpackLines);
      await expect(read).rejects.toMatchObject({ name: 'DamagedObjectError', key });
      await storage().put(`loads/a/${from}`, bytes);
    }
  });

  it('says of an object in the form of another version that this one does not read it', async () => {
    await putPacked(storage(), 'snapshots/a/13', packLineBytes(Buffer.from('lines 2')));
    const read = getUnpacked(storage(), 'snapshots/a/13', (bytes) =>
      requireForm(String(unpackLines(bytes)), 'lines 1'),
    );
    await expect(read).rejects.toThrow(
      "Another version of bag-adres stored snapshots/a/13: its form is 'lines 2', and this version reads 'lines 1'. Use " +
        'that version, or: If that snapshot is live, run "load repair"',
    );
  });

  it('reads by range, and not past the end', async () => {
    await storage().put('range', Buffer.from('0123456789'));
    const access = await storage().open('range');
    expect(access?.size).toBe(10);
    expect(String(await access?.read(3, 4))).toBe('3456');
    expect(String(await access?.read(9, 1))).toBe('9');
    await expect(access?.read(8, 4)).rejects.toThrow();
  });

  it.each([
    ['nothing', 0],
    ['less than a part', 100_000],
    ['exactly one part', 10 * 1024 * 1024],
    ['several parts', 12_000_000],
  ])('stores a stream of %s', async (_, size) => {
    const bytes = Buffer.alloc(size, 'bag-adres');
    await storage().putStream('stream', pieces(bytes, 3_000_000));
    expect((await storage().get('stream'))?.equals(bytes)).toBe(true);
  });

  it('keeps nothing of a broken stream', async () => {
    await expect(storage().putStream('broken', broken())).rejects.toThrow('cut');
    expect(await storage().open('broken')).toBeNull();
  });

  it('lists by prefix and in order, and deletes', async () => {
    for (const key of ['list/2', 'list/1/x', 'list/10', 'other']) {
      await storage().put(key, Buffer.from(key));
    }
    expect(await storage().list('list/1')).toEqual(['list/1/x', 'list/10']);
    await storage().delete(['list/2', 'list/10', 'list/gone']);
    expect(await storage().list('list/')).toEqual(['list/1/x']);
    expect(await storage().list('nothing/')).toEqual([]);
  });

  it('lists more than a page', async () => {
    const keys = Array.from(
      { length: manyObjects },
      (_, index) => `many/${String(index).padStart(4, '0')}`,
    );
    await Promise.all(keys.map((key) => putJson(storage(), key, 1)));
    expect(await storage().list('many/')).toEqual(keys);
    await storage().delete(keys);
    expect(await storage().list('many/')).toEqual([]);
  });
});

describe.each(storages.slice(1))('a storage in %s', (_, storage) => {
  it('reads nothing of an object that was replaced since it was opened', async () => {
    await storage().put('opened', Buffer.from('first'));
    const access = await storage().open('opened');
    expect(String(await access?.read(0, 5))).toBe('first');
    await storage().put('opened', Buffer.from('other'));
    await expect(access?.read(0, 5)).rejects.toMatchObject({ name: 'SourceChangedError' });
  });
});

describe('a storage in a folder', () => {
  it('lists no unfinished file, and removes those of dead processes with the objects beside them', async () => {
    const storage = folderStorage(join(folder, 'own'));
    await storage.putStream('x/broken', broken()).catch(() => undefined);
    await storage.put('x/new', Buffer.from('new'), null);
    expect(readdirSync(join(folder, 'own', 'x'))).toEqual(['new']);
    const dead = spawnSync(process.execPath, ['--version']).pid;
    for (const pid of [dead, process.pid]) {
      await storage.put(
        `snapshots/x/objects/13.${pid}.00000000-0000-0000-0000-000000000000.part`,
        Buffer.from('half'),
      );
    }
    await storage.put('snapshots/x/13', Buffer.from('whole'));
    expect(await storage.list('snapshots/')).toEqual(['snapshots/x/13']);
    await storage.delete(['snapshots/x/13']);
    expect(readdirSync(join(folder, 'own', 'snapshots', 'x', 'objects'))).toEqual([
      `13.${process.pid}.00000000-0000-0000-0000-000000000000.part`,
    ]);
  });

  it('writes nothing outside the folder', async () => {
    await expect(
      folderStorage(join(folder, 'own')).put('../outside', Buffer.from('')),
    ).rejects.toThrow('not a valid storage key');
  });
});
