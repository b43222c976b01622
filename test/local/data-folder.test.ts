import { mkdir, mkdtemp, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { storedLayout } from '../../core/tables.ts';
import {
  DataFolderError,
  emptyDataFolder,
  openDataFolder,
  readFolderIdentity,
  readLocalState,
  requireOwnTables,
  stateFile,
  writeLocalState,
} from '../../local/data-folder.ts';
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

/** A folder with these files, by their path. */
async function folderWith(files: Record<string, string>): Promise<string> {
  const path = await mkdtemp(join(root, 'with-'));
  for (const [name, text] of Object.entries(files)) {
    await mkdir(join(path, name, '..'), { recursive: true });
    await writeFile(join(path, name), text);
  }
  return path;
}

async function filesIn(path: string): Promise<Record<string, string>> {
  const found = await readdir(path, { recursive: true, withFileTypes: true });
  const files = found.filter((one) => one.isFile() && !one.name.startsWith('folder.lock'));
  return Object.fromEntries(
    await Promise.all(
      files.map(async ({ parentPath, name }) => {
        const file = join(parentPath, name);
        return [file.slice(path.length + 1), await readFile(file, 'utf8')] as const;
      }),
    ),
  );
}

/** Opens the folder, and releases it after `work`. */
async function inFolder<T>(
  path: string,
  work: (folder: Awaited<ReturnType<typeof openDataFolder>>) => Promise<T>,
): Promise<T> {
  const folder = await openDataFolder(path);
  return work(folder).finally(folder.release);
}

describe('the data of another layout', () => {
  const data = { 'dynamodb.db': 'accounts', 'loads/manifest.json': '{}' };
  const identity = (value: object) => ({ ...data, 'identity.json': JSON.stringify(value) });
  const none = 'no layout number';
  it.each<[string, Record<string, string>, string]>([
    ['a version without numbers', identity({ checksumSecret: '00', suffix: 'e66200' }), none],
    ['the next layout', identity({ layout: storedLayout + 1, tables: [] }), 'layout 2'],
    ['a number that is text', identity({ layout: '1', suffix: 'e66200' }), 'layout "1"'],
    ['a database alone', { 'dynamodb.db': 'accounts' }, none],
    ['a database that an import has written', { 'dynamodb.db.imported': 'accounts' }, none],
    ['files of loads alone', { 'loads/manifest.json': '{}' }, none],
    ['statements alone', { 'statements/2026-10/acme.json': '{}' }, none],
  ])('of %s is refused in one sentence, and nothing is written', async (_, files, what) => {
    const path = await folderWith(files);
    await inFolder(path, async (folder) => {
      await expect(readFolderIdentity(folder)).rejects.toThrow(
        new DataFolderError(
          `The data in ${path} has ${what}, but this version of bag-adres reads and writes layout ${storedLayout}: start with --fresh, which discards it, or with the version of bag-adres that stored it.`,
        ),
      );
    });
    expect(await filesIn(path)).toEqual(files);
  });

  it('is discarded on request with the names of its tables told, and then the folder is a new one', async () => {
    const path = await folderWith({ ...identity({ suffix: 'e66200' }), 'mine.txt': 'mine' });
    await inFolder(path, async (folder) => {
      expect(await emptyDataFolder(folder)).toBe('e66200');
      expect(await filesIn(path)).toEqual({ 'mine.txt': 'mine' });
      const created = await readFolderIdentity(folder);
      expect(created).toEqual({ layout: storedLayout, suffix: expect.stringMatching(/^\w{6}$/) });
      expect(await readFolderIdentity(folder)).toEqual(created);
    });
  });

  it.each(['no JSON', '[1', '5'])(
    'is discarded on request with an identity that is damaged (%s), which is refused before',
    async (text) => {
      const path = await folderWith({ ...data, 'identity.json': text });
      await inFolder(path, async (folder) => {
        await expect(readFolderIdentity(folder)).rejects.toThrow(/is damaged. Start with --fresh/);
        expect(await emptyDataFolder(folder)).toBeUndefined();
        expect(await readFolderIdentity(folder)).toMatchObject({ layout: storedLayout });
      });
    },
  );

  it('of a running npm start is refused to every command, which gets the data of this layout', async () => {
    const path = await folderWith({});
    const connection = {
      pid: process.pid,
      baseUrl: 'http://127.0.0.1:1',
      endpoint: 'http://127.0.0.1:2',
      addressesTable: 'addresses',
      accountsTable: 'accounts',
      storageFolder: path,
    };
    await writeLocalState(path, connection);
    expect(await readLocalState(path)).toEqual({ layout: storedLayout, ...connection });
    for (const layout of [undefined, storedLayout + 1]) {
      await writeFile(stateFile(path), JSON.stringify({ ...connection, layout }));
      await expect(readLocalState(path)).rejects.toThrow(
        /^The data of the "npm start" on .* has (no layout number|layout 2), .*: use the version of bag-adres that runs there\.$/,
      );
    }
  });
});

describe('the tables of a folder', () => {
  const wanted = ['addresses-a', 'accounts-a'];
  it.each([[[]], [wanted], [['accounts-a']], [[...wanted, 'mine']]])(
    'may be %j: none yet, some after an interrupted start, or more',
    async (existing) => {
      const check = async (folder: Parameters<typeof requireOwnTables>[0]) =>
        requireOwnTables(folder, wanted, existing);
      await expect(inFolder(await folderWith({}), check)).resolves.toBeUndefined();
    },
  );

  it.each([[['Addresses02DFC07F-a', 'AccountsBE8A900E-a']], [['addresses-a', 'keys-a']]])(
    'are refused as %j: new ones beside them would hide the accounts',
    async (existing) => {
      const check = async (folder: Parameters<typeof requireOwnTables>[0]) =>
        requireOwnTables(folder, wanted, existing);
      await expect(inFolder(await folderWith({}), check)).rejects.toThrow(
        /is in the tables .*-a.*, but this version of bag-adres uses addresses-a and accounts-a: start with --fresh/,
      );
    },
  );
});
