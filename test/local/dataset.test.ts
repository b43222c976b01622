import { copyFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { noProgress } from '../../loader/steps/step.ts';
import { loadExtract, type ServedDataset } from '../../local/dataset.ts';
import { greeting, startErrorText } from '../../local/messages.ts';
import { badExtracts, makeBadExtracts } from '../support/bad-extracts.ts';
import { createTables, startDynamoDb } from '../support/dynamodb.ts';
import { folderForNow } from '../support/folder-for-now.ts';
import { startForTests } from '../support/start-for-tests.ts';
import { writeExtract } from '../support/write-extract.ts';

const folder = folderForNow('load-extract-');
const engine = startForTests(startDynamoDb);

beforeAll(async () => {
  await createTables(engine.client, { addresses: 'addresses', accounts: 'accounts' });
  await load(await extract('2026-02-08', {}));
});

/** Writes an extract with 40 addresses in two streets, unless it is told to leave some out or to number none. */
async function extract(peildatum: string, { addresses = 40, streets = 2, isNumbered = true }): Promise<string> {
  const begin = '2010-01-01';
  const street = (index: number) => `000030000000000${index % 2}`;
  const voorkomens = {
    NUM: Array.from({ length: addresses }, (_, index) => {
      const identificatie = `00002000000000${String(index).padStart(2, '0')}`;
      const huisnummer = isNumbered ? index + 1 : 1;
      return { identificatie, huisnummer, postcode: '9999ZZ', openbareRuimte: street(index), begin };
    }),
    OPR: Array.from({ length: streets }, (_, index) => {
      return { identificatie: street(index), naam: `Straat ${index}`, woonplaats: '1000', begin };
    }),
    WPL: [{ identificatie: '1000', naam: 'Plaats', begin }],
  };
  const file = join(folder, `${peildatum}-${addresses}-${streets}.zip`);
  await writeFile(file, await writeExtract(peildatum, voorkomens));
  return file;
}

/** Loads an extract, into a table of its own if `apart` names one. */
const load = (file: string | undefined, apart = ''): Promise<ServedDataset> =>
  loadExtract({
    client: engine.client,
    table: `${apart}addresses`,
    embedded: true,
    storageFolder: join(folder, `${apart}loads`),
    demoFile: join(folder, `${apart}demo.zip`),
    extract: file,
    progress: noProgress,
  });

const place = { host: '127.0.0.1', port: 3000, endpoint: undefined, dataFolder: '/home/me/.data' };
const errorOf = (file: string) =>
  load(file).then(
    () => 'loaded',
    (error) => startErrorText(error, place),
  );

/** What is printed of a service with this dataset. */
const serviceOf = (dataset: ServedDataset) => ({
  ...{ baseUrl: 'http://127.0.0.1:3000', apiKey: 'key', dataset, objecten: false },
  engineEnded: Promise.resolve(),
  logError: () => undefined,
});

describe('a start without an extract', () => {
  it('serves what an earlier start has loaded, and not the demo', async () => {
    const dataset = await load(undefined);
    expect(dataset.report).toMatchObject({ outcome: 'unchanged', peildatum: '2026-02-08', addresses: 40 });
    expect(dataset.present).toBe(join(folder, '2026-02-08-40-2.zip'));
    expect(dataset.example.postcode).toBe('9999ZZ');
    const service = serviceOf(dataset);
    expect(greeting(service, '/home/me/.data')).toMatch(
      /^\nServing the data folder's dataset, from .*2026-02-08-40-2\.zip\. .*--fresh discards it.*\n\nServing 40 addresses with peildatum 2026-02-08 on /,
    );
  });

  it('serves the demo from an empty folder, and again after that', async () => {
    await createTables(engine.client, { addresses: 'empty-addresses', accounts: 'empty-accounts' });
    const start = () => load(undefined, 'empty-');
    expect(await start()).toMatchObject({ report: { outcome: 'published', addresses: 484 }, present: null });
    expect(await start()).toMatchObject({ report: { outcome: 'unchanged', addresses: 484 }, present: null });
  });
});

describe('an extract with only ambiguous addresses', () => {
  it('is loaded, with one of these as the lookup to try', async () => {
    await createTables(engine.client, { addresses: 'odd-addresses', accounts: 'odd-accounts' });
    const { report, example } = await load(await extract('2026-01-08', { addresses: 2, isNumbered: false }), 'odd-');
    expect([report.addresses, example]).toEqual([1, { postcode: '9999ZZ', huisnummer: 1 }]);
  });
});

describe('a file that is not an extract', () => {
  beforeAll(() => makeBadExtracts(folder));

  it.each(badExtracts)('is refused in one line: %s', async (_what, name, _code, message) => {
    const text = await errorOf(resolve(folder, name));
    expect(text).toMatch(message);
    expect(text).not.toContain('\n');
  });
});

describe('an extract that replaces another one', () => {
  it.each([
    [
      'lacks half the streets',
      '2026-03-08',
      { streets: 1 },
      /20 of 40 addresses have a problem[\s\S]*load approve \S+ --local --data \S+"/,
    ],
    ['has no addresses', '2026-03-08', { addresses: 0 }, /0 addresses[\s\S]*load approve \S+ --local --data \S+"/],
    ['is older', '2026-01-08', {}, /older than the live dataset of 2026-02-08[\s\S]*start with --fresh\.$/],
  ])('is refused, with what to do, when it %s', async (_, peildatum, contents, message) => {
    expect(await errorOf(await extract(peildatum, contents))).toMatch(message);
  });

  it('is loaded although it removes many addresses, with a message about that', async () => {
    const dataset = await load(await extract('2026-03-08', { addresses: 20 }));
    expect(dataset.report).toMatchObject({ outcome: 'published', addresses: 20, removed: 20 });
    const service = serviceOf(dataset);
    expect(greeting(service, '/home/me/.data')).toContain(
      'Read 20 BAG records: 20 addresses of 20 nummeraanduidingen, 0 skipped (no postcode), 0 faulty\n' +
        'Ignored because this extract is not the one from before: it would remove 20 addresses where 40 are live: 50%, over the limit of 5%, such as 9999 ZZ 21; 9999 ZZ 22; 9999 ZZ 23\n',
    );
  });
});

describe('the first extract of an empty folder', () => {
  it('has a way out if the guard refuses it: the service runs without addresses, with the commands for that load', async () => {
    await createTables(engine.client, { addresses: 'first-addresses', accounts: 'first-accounts' });
    const dataset = await load(await extract('2026-03-08', { streets: 1 }), 'first-');
    expect(dataset).toMatchObject({ report: { outcome: 'unchanged', addresses: 0 }, present: null });
    const text = greeting(serviceOf(dataset), '/home/me/.data');
    const { load: id } = dataset.refused ?? {};
    expect(text).toContain('20 of 40 addresses have a problem');
    expect(text).toContain(`npx bag-adres load approve ${id} --local --data /home/me/.data"`);
    expect(text).toContain(`npx bag-adres load approve ${id} --plan --local --data /home/me/.data"`);
    expect(text).toContain('No address is served until it is approved.');
    expect(text).toContain('Serving 0 addresses on http');
  });
});

describe('the same extract as at the last start, with other contents', () => {
  const start = async (peildatum: string, contents: { addresses?: number; streets?: number }) => {
    const file = join(folder, 'same.zip');
    await copyFile(await extract(peildatum, contents), file);
    return load(file, 'same-');
  };
  beforeAll(async () => {
    await createTables(engine.client, { addresses: 'same-addresses', accounts: 'same-accounts' });
    await start('2026-02-08', {});
  });

  it.each([
    ['it lost half the addresses', '2026-03-08', { addresses: 20 }, 'it would remove 20 addresses where 40 are live'],
    ['it lost a street', '2026-03-08', { streets: 1 }, '20 of 40 addresses have a problem'],
    ['it is older', '2026-01-08', {}, 'older than the live dataset of 2026-02-08'],
  ])(
    'is held back where %s: what is there is served, with the command that accepts it',
    async (_, peildatum, contents, why) => {
      const dataset = await start(peildatum, contents);
      expect(dataset.report).toMatchObject({ outcome: 'unchanged', peildatum: '2026-02-08', addresses: 40 });
      const service = serviceOf(dataset);
      const text = greeting(service, '/home/me/.data');
      expect(text).toContain(why);
      expect(text).toContain(`npx bag-adres load approve ${dataset.refused?.load} --local --data /home/me/.data"`);
      expect(text).toContain('The dataset from before is served.');
      expect(text).toContain('Serving 40 addresses with peildatum 2026-02-08');
    },
  );
});
