import { existsSync } from 'node:fs';
import { copyFile, mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { hasObjecten } from '../../loader/dataset/load.ts';
import { noProgress } from '../../loader/steps/step.ts';
import { dynamoDbAddressTable } from '../../loader/storage/address-table.ts';
import { folderStorage } from '../../loader/storage/files.ts';
import { readManifest } from '../../loader/storage/stored-loads.ts';
import { followMutations, loadExtract, type ServedDataset } from '../../local/dataset.ts';
import { runLoad } from '../../local/load/run-load.ts';
import { greeting, startErrorText } from '../../local/messages.ts';
import { Random } from '../../tools/bench/generator/random.ts';
import { badExtracts, makeBadExtracts } from '../support/bad-extracts.ts';
import { createAddressesTable, startDynamoDb } from '../support/dynamodb.ts';
import { folderForNow } from '../support/folder-for-now.ts';
import { startHttpServer } from '../support/http-server.ts';
import { deliveryName, putDelivery, writeMutationDelivery } from '../support/mutation-delivery.ts';
import { firstState, laterDays, type RegisterDay } from '../support/register.ts';
import { startForTests } from '../support/start-for-tests.ts';
import { sweep } from '../support/sweep.ts';
import { streetsOf } from '../support/town.ts';
import { type Packing, writeExtract } from '../support/write-extract.ts';

const folder = folderForNow('dataset-');
const engine = startForTests(startDynamoDb);
let made = 0;

/** An empty data folder and its table. */
async function newPlace() {
  const own = join(folder, `${made++}`);
  await mkdir(own);
  const table = `addresses-${made}`;
  await createAddressesTable(engine.client, table);
  const where = { storageFolder: join(own, 'loads'), demoFile: join(own, 'demo.zip') };
  const options = { ...where, client: engine.client, table, embedded: true, progress: noProgress };
  const load = (extract?: string, objecten?: boolean) => loadExtract({ ...options, extract, objecten });
  return { own, options, load };
}

type Contents = Parameters<typeof streetsOf>[1] & Packing & { addresses?: number };

/** The path of an extract with addresses in two streets, each with an object. */
async function extract(peildatum: string, { addresses = 40, layout, ...more }: Contents = {}): Promise<string> {
  const file = join(folder, `${[peildatum, addresses, layout, ...Object.values(more)].join('-')}.zip`);
  const state = streetsOf(addresses, { streets: 2, ...more });
  if (!existsSync(file)) await writeFile(file, await writeExtract(peildatum, state, { ...(layout && { layout }) }));
  return file;
}

const where = { host: '127.0.0.1', port: 3000, endpoint: undefined, dataFolder: '/home/me/.data' };
const errorOf = (loading: Promise<unknown>) =>
  loading.then(
    () => 'loaded',
    (error) => startErrorText(error, where),
  );

/** What is printed of a service with this dataset. */
const greetingOf = (dataset: ServedDataset) => {
  const service = { baseUrl: 'http://127.0.0.1:3000', apiKey: 'key', dataset, objecten: false };
  return greeting({ ...service, engineEnded: Promise.resolve(), logError: () => undefined }, '/home/me/.data');
};

/** Holds 40 addresses, or what the last of these tests has loaded. */
let place: Awaited<ReturnType<typeof newPlace>>;
beforeAll(async () => {
  place = await newPlace();
  await place.load(await extract('2026-02-08'));
});

describe('a start without an extract', () => {
  it('serves what an earlier start has loaded, and not the demo', async () => {
    const dataset = await place.load();
    expect(dataset.report).toMatchObject({ outcome: 'unchanged', peildatum: '2026-02-08', addresses: 40 });
    expect(dataset.present).toBe(await extract('2026-02-08'));
    expect(dataset.example.postcode).toBe('1381AA');
    expect(greetingOf(dataset)).toMatch(
      /^\nServing the data folder's dataset, from .*2026-02-08-40-\.zip\. .*--fresh discards it.*\n\nServing 40 addresses with peildatum 2026-02-08 on /,
    );
  });
});

describe('an extract with only ambiguous addresses', () => {
  it('is loaded, with one of these as the lookup to try', async () => {
    const { load } = await newPlace();
    const { report, example } = await load(await extract('2026-01-08', { addresses: 2, isNumbered: false }));
    expect([report.addresses, example]).toEqual([1, { postcode: '1381AA', huisnummer: 1 }]);
  });
});

describe('a file that is not an extract', () => {
  beforeAll(() => makeBadExtracts(folder));

  it.each(sweep(badExtracts, 3))('is refused in one line: %s', async (_what, name, _code, message) => {
    const text = await errorOf(place.load(resolve(folder, name)));
    expect(text).toMatch(message);
    expect(text).not.toContain('\n');
  });
});

describe('an extract that replaces another one', () => {
  it.each([
    ['lacks a street', '2026-03-08', { known: 1 }, /20 of 40 addresses have a problem[\s\S]*load approve \S+ --local/],
    ['has no addresses', '2026-03-08', { addresses: 0 }, /0 addresses[\s\S]*load approve \S+ --local --data \S+"/],
    ['is older', '2026-01-08', {}, /older than the live dataset of 2026-02-08[\s\S]*start with --fresh\.$/],
  ])('is refused, with what to do, when it %s', async (_, peildatum, contents, message) => {
    expect(await errorOf(place.load(await extract(peildatum, contents)))).toMatch(message);
  });

  it('is loaded although it removes many addresses, with a message about that', async () => {
    const dataset = await place.load(await extract('2026-03-08', { addresses: 20 }));
    expect(dataset.report).toMatchObject({ outcome: 'published', addresses: 20, removed: 20 });
    expect(greetingOf(dataset)).toContain(
      'Read 20 BAG records: 20 addresses of 20 nummeraanduidingen, 0 skipped (no postcode), 0 faulty\n' +
        'Ignored because this extract is not the one from before: it would remove 20 addresses where 40 are live: 50%, over the limit of 5%, such as 1381 AA 21; 1381 AA 22; 1381 AA 23\n',
    );
  });
});

describe('the first extract of an empty folder', () => {
  it('has a way out if the guard refuses it: the service runs without addresses, with the commands for that load', async () => {
    const dataset = await (await newPlace()).load(await extract('2026-03-08', { known: 1 }));
    expect(dataset).toMatchObject({ report: { outcome: 'unchanged', addresses: 0 }, present: null });
    const text = greetingOf(dataset);
    const { load: id } = dataset.refused ?? {};
    expect(text).toContain('20 of 40 addresses have a problem');
    expect(text).toContain(`npx bag-adres load approve ${id} --local --data /home/me/.data"`);
    expect(text).toContain(`npx bag-adres load approve ${id} --plan --local --data /home/me/.data"`);
    expect(text).toContain('No address is served until it is approved.');
    expect(text).toContain('Serving 0 addresses on http');
  });
});

describe('the same extract as at the last start, after it lost half of the addresses', () => {
  it('is held back: what is there is served, with the command that accepts it', async () => {
    const { own, load } = await newPlace();
    const file = join(own, 'same.zip');
    await copyFile(await extract('2026-02-08'), file);
    await load(file);
    await copyFile(await extract('2026-03-08', { addresses: 20 }), file);
    const dataset = await load(file);
    const text = greetingOf(dataset);
    expect(text).toContain('it would remove 20 addresses where 40 are live');
    expect(text).toContain(`npx bag-adres load approve ${dataset.refused?.load} --local --data /home/me/.data"`);
    expect(text).toContain('The dataset from before is served.');
    expect(text).toContain('Serving 40 addresses with peildatum 2026-02-08');
  });
});

describe('npm start with mutations', () => {
  const random = new Random(5);
  const first = firstState(random, '2026-01-08');
  let loaded: typeof place & { file: string };
  const options = () => ({ ...loaded.options, extract: loaded.file });
  const extractOf = async (peildatum: string, state: typeof first) => {
    const file = join(folder, `${peildatum}.zip`);
    await writeFile(file, await writeExtract(peildatum, state));
    return file;
  };
  beforeAll(async () => {
    loaded = { ...(await newPlace()), file: await extractOf('2026-01-08', first) };
    await loaded.load(loaded.file);
  });

  it('applies the available days at the start, then each new one, and reports a broken one once', async () => {
    const days = [...laterDays(random, first, '2026-01-08', 2)] as [RegisterDay, RegisterDay];
    const mutations = join(loaded.own, 'mutations');
    await mkdir(mutations);
    // Renamed into its place, as a check may come at any moment.
    const put = async (name: string, bytes: Uint8Array | string) => {
      await writeFile(join(loaded.own, name), bytes);
      await rename(join(loaded.own, name), join(mutations, name));
    };
    const deliver = async (vanaf: string, tot: string, { groups }: RegisterDay) => {
      // Without a renamed street, which is more than the guard allows a day in so small a register.
      const ofNums = groups.filter(({ kind }) => kind === 'NUM');
      await put(deliveryName(vanaf, tot), await writeMutationDelivery(vanaf, tot, ofNums));
    };
    await deliver('2026-01-08', '2026-01-09', days[0]);
    const lines: string[] = [];
    const announce = (line: string) => lines.push(line);
    const { stop, report } = await followMutations({ ...options(), mutations, announce, pauseMilliseconds: 20 });
    expect(lines).toEqual([expect.stringMatching(/^Applied 1 day of mutations: .* The dataset is of 2026-01-09\.$/)]);
    expect(report).toMatchObject({ peildatum: '2026-01-09' });
    await put('BAGNLDM-09012026-10012026.zip', '<!DOCTYPE html>');
    while (lines.length < 2) await sleep(20);
    expect(lines[1]).toMatch(
      /^Mutations could not be applied; the served dataset stays unchanged\. BAGNLDM-09012026-10012026\.zip: /,
    );
    await deliver('2026-01-09', '2026-01-10', days[1]);
    while (lines.length < 3) await sleep(20);
    await stop();
    expect(lines[2]).toMatch(/The dataset is of 2026-01-10\.$/);
    expect(lines).toHaveLength(3);
  });

  it('ends with what to do when it is asked for an older extract of another area', async () => {
    const other = await extractOf('2026-01-05', firstState(new Random(6), '2026-01-05'));
    expect(await errorOf(loaded.load(other))).toMatch(
      /2026-01-05\.zip was not loaded: the extract of 2026-01-05 is older than the live dataset of 2026-01-10.* still holds the dataset of 2026-01-10\. .*--fresh/,
    );
  });

  it('says what it is waiting for when a list does not respond', async () => {
    const server = await startHttpServer((_, response) => setTimeout(() => response.writeHead(404).end(), 200));
    const mutations = `${server.url}/bestanden.json`;
    const lines: string[] = [];
    const announce = (line: string) => lines.push(line);
    const { stop } = await followMutations({ ...options(), mutations, announce, silenceMilliseconds: 50 });
    await stop();
    await server.stop();
    expect(lines).toEqual([
      `Still reading mutations from ${mutations}; the service starts after that.`,
      expect.stringContaining('Mutations could not be applied'),
    ]);
  });
});

/** What is asked for: `place` is where its extract is, if that is not where it was before. */
type Asked = { of?: () => Promise<string> | null; place?: string; objecten?: boolean; mutations?: string };

const mutations = join(folder, 'mutations');
const usual = () => extract('2026-01-08');
const asked: Record<string, Asked> = {
  nothing: {},
  'an extract': { of: usual },
  'an extract with objects': { of: usual, objecten: true },
  'an extract and days': { of: usual, mutations },
  'the demo': {},
  'the same': { of: usual },
  'the same place, changed as in a month': { of: () => extract('2026-02-08', { addresses: 39 }) },
  'the same place, changed a lot': { of: () => extract('2026-02-08', { addresses: 20 }) },
  'the same place, of an older date': { of: () => extract('2025-12-08') },
  "the same place, which can't be read": { of: () => null },
  'another place, changed a lot': { of: () => extract('2026-02-08', { addresses: 20 }), place: 'other.zip' },
  'another area': { of: () => extract('2026-02-08', { addresses: 39, layout: 'municipality' }) },
  'the same, with objects': { of: usual, objecten: true },
  'the same, without objects': { of: usual },
  'the same, with mutations': { of: usual, mutations },
  'the same, without mutations': { of: usual },
};

/** The live dataset, the request, and what `npm start` and a deployment serve (docs/loading.md). */
const table = `
| nothing | nothing | the demo | |
| nothing | an extract | the request | the request |
| the demo | nothing | the demo | |
| the demo | an extract | the request | |
| an extract | nothing | the live dataset | |
| an extract | the same | the live dataset | the live dataset |
| an extract | the same place, changed as in a month | the request | the request |
| an extract | the same place, changed a lot | the live dataset | the live dataset |
| an extract | the same place, of an older date | the live dataset | the live dataset |
| an extract | the same place, which can't be read | the live dataset | the live dataset |
| an extract | another place, changed a lot | the request | the live dataset |
| an extract | another area | the request | the live dataset |
| an extract | the same, with objects | the live dataset, with objects | the live dataset, with objects |
| an extract with objects | the same, without objects | the live dataset, without objects | the live dataset, without objects |
| an extract | the same, with mutations | the live dataset and the days | the live dataset and the days |
| an extract and days | the same, without mutations | the live dataset | the live dataset |
| an extract and days | nothing | the live dataset | |
`;
const rows = table
  .trim()
  .split('\n')
  .map(
    (row) =>
      row
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim()) as [string, string, string, string],
  );
const cells = rows.flatMap(([live, wanted, start, deployment]) => [
  ['npm start', live, wanted, start] as const,
  ...(deployment ? [['a deployment', live, wanted, deployment] as const] : []),
]);

/** An empty place, and what asks for an extract there; each returns what is live then. */
async function newServer() {
  const { own, options } = await newPlace();
  const storage = folderStorage(options.storageFolder);
  const live = async () => {
    const { published } = await readManifest(storage);
    if (!published) return null;
    const { addresses, peildatum, snapshot } = published;
    return { addresses, peildatum, objecten: hasObjecten(snapshot) };
  };
  const source = async ({ of, place = 'extract.zip' }: Asked) => {
    const [from, to] = [await of?.(), join(own, place)];
    if (from) await copyFile(from, to);
    else await rm(to, { force: true });
    return of && to;
  };
  return {
    async start(wanted: Asked) {
      await loadExtract({ ...options, extract: await source(wanted), objecten: wanted.objecten });
      if (wanted.mutations) {
        const { stop } = await followMutations({ ...options, mutations, announce: () => undefined });
        await stop();
      }
      return live();
    },
    async deployment(wanted: Asked) {
      const { objecten = false } = wanted;
      const days = wanted.mutations ? [wanted.mutations] : [];
      const request = { source: await source(wanted), mutations: days, objecten, storage, workers: 0 };
      const addresses = dynamoDbAddressTable(engine.client, options.table);
      await runLoad({ ...request, addresses }).catch((error: Error) => {
        if (!['RefusedLoadError', 'SourceError'].includes(error.name)) throw error;
      });
      return live();
    },
  };
}

describe('what is served after a restart', () => {
  beforeAll(() => putDelivery(mutations, '2026-01-08', '2026-01-09'));

  it('is in a table whose cells are all known', () => {
    expect(cells.length).toBe(29);
    const named = rows.flatMap((row) => row.slice(0, 2));
    expect(named.filter((text) => !asked[text])).toEqual([]);
  });

  it.each(sweep(cells, 5))('by %s, with %s live and %s requested, is %s', async (by, live, wanted, served) => {
    const place = await newServer();
    const ask = by === 'npm start' ? place.start : place.deployment;
    const before = live === 'nothing' ? null : await ask(asked[live] ?? {});
    const after = await ask(asked[wanted] ?? {});
    const fresh = await newServer();
    const alone = () => (by === 'npm start' ? fresh.start : fresh.deployment)(asked[wanted] ?? {});
    const expected: Record<string, () => unknown> = {
      'the demo': () => ({ ...after, addresses: 484 }),
      'the live dataset': () => before,
      'the request': alone,
      'the live dataset, with objects': () => ({ ...before, objecten: true }),
      'the live dataset, without objects': () => ({ ...before, objecten: false }),
      'the live dataset and the days': () => ({ ...before, peildatum: '2026-01-09' }),
    };
    expect(after).not.toBeNull();
    expect(after).toEqual(await expected[served]?.());
  });
});
