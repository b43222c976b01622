import { describe, expect, it } from '@jest/globals';
import { type LoadReport, RefusedLoadError } from '../../loader/guard/load-report.ts';
import { LoadError } from '../../loader/load-error.ts';
import { DamagedObjectError } from '../../loader/storage/storage.ts';
import { DataFolderError, defaultDataFolder } from '../../local/data-folder.ts';
import { EngineError } from '../../local/engine/engine.ts';
import { startErrorText } from '../../local/messages.ts';
import { explainError } from '../../operator/deployment/errors.ts';

const place = { host: '127.0.0.1', port: 3000, endpoint: undefined, dataFolder: '/home/me/.data' };
const coded = (code: string, message: string) =>
  Object.assign(new Error(message), { code, path: '/home/me/.data/x' });

describe('a full disk', () => {
  it.each([
    ['by Node', coded('ENOSPC', 'ENOSPC: no space left on device, write')],
    ['by the quota of the user', coded('EDQUOT', 'EDQUOT: disk quota exceeded, write')],
    ['by the embedded engine', new Error('Internal error: database or disk is full')],
    [
      'by its start',
      new EngineError('The engine did not start: error: Internal error: database or disk is full'),
    ],
    [
      'by the data folder',
      new DataFolderError("/d can't be used: ENOSPC: no space left on device. Choose another."),
    ],
  ])('reported %s, gets an explanation of what to do', (_, error) => {
    expect(startErrorText(error, place)).toBe(
      'The disk of /home/me/.data is full. Free some space and start again to continue, or choose a folder on another ' +
        'disk with --data FOLDER.',
    );
    expect(explainError(error)).toEqual({
      code: 'disk_full',
      message: expect.stringMatching(/^The disk is full\. Free/),
    });
  });

  it('is not confused with other file errors, nor are those taken for network errors', () => {
    const error = coded('EACCES', "EACCES: permission denied, open '/home/me/.data/x'");
    expect(startErrorText(error, place)).toContain('permission denied');
    expect(explainError(error)).toEqual({
      code: 'no_file_access',
      message: expect.stringMatching(
        /^\/home\/me\/\.data\/x can't be read or written by you \(EACCES\)\./,
      ),
    });
  });
});

describe('a load that the guard refused', () => {
  const refused = (code: string) =>
    new RefusedLoadError({
      load: 'abc',
      peildatum: '2026-03-08',
      objections: [{ code, message: 'why' }],
    } as unknown as LoadReport);

  it.each([
    [defaultDataFolder, ''],
    ["/home/me/it's", String.raw` --data '/home/me/it'\''s'`],
  ])(
    'gets commands that find its folder, and one that starts the service on it: %s',
    (dataFolder, option) => {
      const text = startErrorText(refused('too_many_removed'), { ...place, dataFolder });
      for (const decision of ['approve', 'reject']) {
        expect(text).toContain(`"npx bag-adres load ${decision} abc --local${option}"`);
      }
      expect(text).toContain(`Start with "npm start${option && ` --${option}`}",`);
    },
  );
});

describe('data that a start can’t use', () => {
  it('such as a damaged database is not left to commands that need a running service', () => {
    const error = Object.assign(new Error('backend: database is malformed'), {
      name: 'InternalServerError',
    });
    const text = startErrorText(error, place);
    expect(text.startsWith(`${error.message}\n`)).toBe(true);
    expect(text).toMatch(/start with --fresh, which discards /);
  });

  it.each([
    ['a storage of another table', new LoadError('ForeignStorageError', 'Run "load repair".')],
    ['a damaged manifest', new DamagedObjectError('manifest.json')],
  ])('such as %s is loaded anew, with the accounts that are there', (_, error) => {
    const text = startErrorText(error, place);
    expect(text.startsWith(`${error.message}\n`)).toBe(true);
    expect(text).toMatch(/Move .*\/loads elsewhere and start with --extract FILE/);
    expect(text).not.toContain('--fresh');
  });

  it('is not suspected behind a fault of another engine', () => {
    const error = Object.assign(new Error('busy'), { name: 'InternalServerError' });
    expect(startErrorText(error, { ...place, endpoint: 'http://127.0.0.1:8000' })).not.toContain(
      '--fresh',
    );
  });
});
