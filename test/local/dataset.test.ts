import { existsSync } from 'node:fs';
import { copyFile, mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { PutItemCommand } from '@aws-sdk/client-dynamodb';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { keyItem } from '../../core/addresses/address-item.ts';
import { addressesTable, storedLayout } from '../../core/tables.ts';
import { hasObjecten } from '../../loader/dataset/load.ts';
import { noProgress } from '../../loader/steps/step.ts';
import { dynamoDbAddressTable, scanAddresses } from '../../loader/storage/address-table.ts';
import { folderStorage } from '../../loader/storage/files.ts';
import { readManifest } from '../../loader/storage/stored-loads.ts';
import { openDataFolder } from '../../local/data-folder.ts';
import {
  fillTables,
  followMutations,
  loadExtract,
  type ServedDataset,
} from '../../local/dataset.ts';
import { repairTable } from '../../local/load/repair.ts';
import { runLoad } from '../../local/load/run-load.ts';
import { greeting, startErrorText } from '../../local/messages.ts';
import { badExtracts, makeBadExtracts } from '../support/bad-extracts.ts';
import { createAddressesTable, startDynamoDb } from '../support/dynamodb.ts';
import { folderForNow } from '../support/folder-for-now.ts';
import { startHttpServer } from '../support/http-server.ts';
import { deliveryName, putDelivery } from '../support/mutation-delivery.ts';
import { startForTests } from '../support/start-for-tests.ts';
import { sweep } from '../support/sweep.ts';
import { streetsOf } from '../support/town.ts';
import { underLock } from '../support/under-lock.ts';
import { type Packing, writeExtract } from '../support/write-extract.ts';

const folder = folderForNow('dataset-');
const engine = startForTests(startDynamoDb);
let made = 0;

type Contents = Parameters<typeof streetsOf>[1] & Packing & { addresses?: number };

/** The path of an extract with addresses in two streets, each with an object. */
async function extract(
  peildatum: string,
  { addresses = 40, layout, ...more }: Contents = {},
): Promise<string> {
  const file = join(
    folder,
    `${[peildatum, addresses, layout, ...Object.values(more)].join('-')}.zip`,
  );
  const state = streetsOf(addresses, { streets: 2, ...more });
  if (!existsSync(file)) {
    await writeFile(file, await writeExtract(peildatum, state, { ...(layout && { layout }) }));
  }
  return file;
}

/** What is asked for: `place` is where its extract is, if that is not where it was before. */
type Asked = {
  of?: () => Promise<string> | null;
  place?: string;
  objecten?: boolean;
  mutations?: string;
};

const mutations = join(folder, 'mutations');
beforeAll(() =>
  Promise.all([makeBadExtracts(folder), putDelivery(mutations, '2026-01-08', '2026-01-09')]),
);

const usual = () => extract('2026-01-08');
const half = () => extract('2026-02-08', { addresses: 20 });
const place = 'other.zip';
const asked = {
  nothing: {},
  'the demo': {},
  'an extract': { of: usual },
  'an extract with objects': { of: usual, objecten: true },
  'an extract and days': { of: usual, mutations },
  'the same': { of: usual },
  'the same place, changed as in a month': { of: () => extract('2026-02-08', { addresses: 39 }) },
  'the same place, changed a lot': { of: half },
  'the same place, of an older date': { of: () => extract('2025-12-08') },
  "the same place, which can't be read": { of: () => null },
  'another place, changed a lot': { of: half, place },
  'another place, with half of the streets': {
    of: () => extract('2026-02-08', { known: 1 }),
    place,
  },
  'another place, without addresses': { of: () => extract('2026-02-08', { addresses: 0 }), place },
  'another place, of an older date': { of: () => extract('2025-12-08'), place },
  'another area': { of: () => extract('2026-02-08', { addresses: 39, layout: 'municipality' }) },
  'one address twice': { of: () => extract('2026-01-08', { addresses: 2, isNumbered: false }) },
  'the same, with objects': { of: usual, objecten: true },
  'the same, without objects': { of: usual },
  'the same, with mutations': { of: usual, mutations },
  'the same, without mutations': { of: usual },
} satisfies Record<string, Asked>;
type Name = keyof typeof asked;

/** An empty data folder and its table, what asks for an extract there, and what is live then. */
async function newServer() {
  const own = join(folder, `${made++}`);
  await mkdir(own);
  const table = `addresses-${made}`;
  await createAddressesTable(engine.client, table);
  const where = { storageFolder: join(own, 'loads'), demoFile: join(own, 'demo.zip') };
  const announced: string[] = [];
  const options = {
    ...where,
    client: engine.client,
    table,
    embedded: true,
    progress: noProgress,
    announce: (line: string) => void announced.push(line),
  };
  const storage = folderStorage(options.storageFolder);
  const source = async ({ of, place = 'extract.zip' }: Asked) => {
    const from = await of?.();
    const to = join(own, place);
    if (from) await copyFile(from, to);
    else {
      await rm(to, { force: true });
    }
    return of && to;
  };
  return {
    own,
    options,
    announced,
    async live() {
      const { published } = await readManifest(storage);
      if (!published) return null;
      const { addresses, peildatum, snapshot } = published;
      return { addresses, peildatum, objecten: hasObjecten(snapshot) };
    },
    async start(wanted: Asked) {
      const { objecten } = wanted;
      const dataset = await loadExtract({ ...options, extract: await source(wanted), objecten });
      if (wanted.mutations) {
        const { stop } = await followMutations({
          ...options,
          mutations,
          announce: () => undefined,
        });
        await stop();
      }
      return dataset;
    },
    async deployment(wanted: Asked) {
      const { objecten = false } = wanted;
      const days = wanted.mutations ? [wanted.mutations] : [];
      const request = {
        source: await source(wanted),
        mutations: days,
        objecten,
        storage,
        workers: 0,
      };
      const addresses = dynamoDbAddressTable(engine.client, options.table);
      await runLoad({ ...request, addresses }).catch((error: Error) => {
        if (!['RefusedLoadError', 'SourceError'].includes(error.name)) throw error;
      });
    },
  };
}

const dataFolder = '/home/me/.data';

/** What is printed of a service with this dataset. */
const greetingOf = (dataset: ServedDataset) => {
  const service = { baseUrl: 'http://127.0.0.1:3000', apiKey: 'key', dataset, objecten: false };
  return greeting(
    { ...service, engineEnded: Promise.resolve(), logError: () => undefined },
    dataFolder,
  );
};

/** The same, or the explanation of why it does not start. */
const textOf = (loading: Promise<ServedDataset>) =>
  loading.then(greetingOf, (error) =>
    startErrorText(error, { host: '127.0.0.1', port: 3000, endpoint: undefined, dataFolder }),
  );

describe('npm start', () => {
  const approve = String.raw`"npx bag-adres load approve 2026-02-08-\w+ --local --data ${dataFolder}"`;
  const plan = approve.replace(' --local', ' --plan --local');
  const refused = ' of 40 addresses have a problem';

  const said: [live: Name, wanted: Name, text: string][] = [
    [
      'an extract',
      'nothing',
      String.raw`^\nServing the data folder's dataset, from \S+extract\.zip\. .*--fresh discards it.*\n\nServing 40 addresses with peildatum 2026-01-08 on `,
    ],
    [
      'nothing',
      'one address twice',
      "1 addresses of 2 nummeraanduidingen, 1 with the address of another, 0 skipped[^]*Serving 1 addresses .* on [^]*postcode=1381AA&huisnummer=1'",
    ],
    ['an extract', 'another place, with half of the streets', `20${refused}[^]*${approve}`],
    ['an extract', 'another place, without addresses', `0 addresses[^]*${approve}`],
    [
      'an extract',
      'another place, of an older date',
      String.raw`older than the live dataset of 2026-01-08[^]*start with --fresh\.$`,
    ],
    [
      'an extract and days',
      'another place, of an older date',
      String.raw`other\.zip was not loaded: the extract of 2025-12-08 is older than the live dataset of 2026-01-09.* still holds the dataset of 2026-01-09\. .*--fresh`,
    ],
    [
      'an extract',
      'another place, changed a lot',
      String.raw`Read 20 BAG records: 20 addresses of 20 nummeraanduidingen, 0 skipped \(no postcode\), 0 faulty\nLoaded all the same, because this extract is not the one from before: it would remove 20 of the 40 addresses: 50%, over the limit of 10, such as 1381 AA 21: Straat 0, Weesp → -; 1381 AA 22: .*\n`,
    ],
    [
      'the demo',
      'another place, changed a lot',
      String.raw`^\nRead 20 BAG records: 20 addresses of 20 nummeraanduidingen, 0 skipped \(no postcode\), 0 faulty\n\nServing`,
    ],
    [
      'an extract',
      'the same place, changed a lot',
      `it would remove 20 of the 40 addresses: 50%[^]*${approve}[^]*The dataset from before is served\\.[^]*Serving 40 addresses with peildatum 2026-01-08`,
    ],
    // Commands need a service that runs.
    [
      'nothing',
      'another place, with half of the streets',
      `20${refused}[^]*${approve}[^]*${plan}[^]*No address is served until it is approved\\.[^]*Serving 0 addresses on http`,
    ],
  ];
  it.each(sweep(said, 3))(
    'says with %s live and %s requested what is served and what to do',
    async (live, wanted, text) => {
      const { start } = await newServer();
      if (live !== 'nothing') await start(asked[live]);
      expect(await textOf(start(asked[wanted]))).toMatch(new RegExp(text));
    },
  );

  it.each(sweep(badExtracts, 2))('refuses in one line: %s', async (_what, name, _code, message) => {
    const { options } = await newServer();
    const text = await textOf(loadExtract({ ...options, extract: resolve(folder, name) }));
    expect(text).toMatch(message);
    expect(text).not.toContain('\n');
  });
});

describe('npm start on data that a load or a rollback left half written', () => {
  const january = () => extract('2026-01-08');
  const february = () => extract('2026-02-08', { addresses: 39 });

  /** A table with January, and February or its undoing half written; each write is a death. */
  async function interrupted({ isUndone = false } = {}) {
    const server = await newServer();
    await server.start({ of: january });
    const { storageFolder: storage, client, table } = server.options;
    const addresses = dynamoDbAddressTable(client, table);
    const dies = { ...addresses, write: () => Promise.reject(new Error('killed')) };
    const given = { storage, workers: 0, owner: 'npm start', waiveSize: true };
    const left = { ...given, addresses: dies };
    await expect(runLoad({ ...left, source: await february() })).rejects.toThrow('killed');
    if (isUndone) {
      const scan = () => scanAddresses(client, table);
      await repairTable({ ...given, addresses, scan });
      await expect(runLoad({ ...left, rollback: '2026-01-08' })).rejects.toThrow('killed');
    }
    return server;
  }
  const restoreBackup = ({ options: { client, table } }: Awaited<ReturnType<typeof newServer>>) =>
    client.send(
      new PutItemCommand({
        TableName: table,
        Item: {
          ...keyItem(addressesTable.datasetKey),
          [addressesTable.datasetDate]: { S: '2025-12-08' },
          load: { S: 'another' },
        },
      }),
    );

  it('finishes the load, and says which', async () => {
    const { start, live, announced } = await interrupted();
    await start({});
    expect(await live()).toMatchObject({ peildatum: '2026-02-08', addresses: 39 });
    expect(announced).toEqual([
      expect.stringMatching(
        /^The load of 2026-02-08 \(.*\) was interrupted while it wrote: it is finished first\.$/,
      ),
    ]);
  });

  it('finishes the undoing of a load that had labelled the table', async () => {
    const { start, live, announced } = await interrupted({ isUndone: true });
    await start({});
    expect(await live()).toMatchObject({ peildatum: '2026-01-08', addresses: 40 });
    expect(announced).toEqual([
      expect.stringMatching(
        /^The rollback to 2026-01-08 \(.*\), which undoes load 2026-02-08-.*, was interrupted while it wrote/,
      ),
    ]);
  });

  it('repairs a table with another label, and a load whose work is gone, and says so', async () => {
    const server = await interrupted();
    await restoreBackup(server);
    await rm(join(server.own, 'loads/loads'), { recursive: true });
    await server.start({});
    expect(await server.live()).toMatchObject({ peildatum: '2026-02-08', addresses: 39 });
    expect(server.announced).toEqual([
      expect.stringMatching(
        /^The addresses table holds the snapshot of 2025-12-08 .* So the addresses were repaired to the snapshot of 2026-02-08: \d+ missing, \d+ changed, \d+ unexpected\.$/,
      ),
      expect.stringMatching(/is finished first\.$/),
    ]);
    await restoreBackup(server);
    expect(await textOf(server.start({}))).toContain('Serving 39 addresses');
    expect(server.announced.at(-1)).toMatch(/repaired to the snapshot of 2026-02-08: 0 missing/);
  });

  it('whose storage was removed names a way that keeps the accounts, and goes it', async () => {
    const server = await newServer();
    await server.start({ of: january });
    const { client, table, storageFolder } = server.options;
    await rm(storageFolder, { recursive: true });
    const text = await textOf(server.start({}));
    expect(text).toMatch(/Move \S+loads elsewhere and start with --extract FILE.* keys stay\.$/);
    expect(text).not.toContain('--fresh');

    const tables = { addresses: table, accounts: `accounts-of-${table}` };
    const filling = {
      client,
      tables,
      folder: await openDataFolder(server.own),
      identity: { layout: storedLayout, suffix: 'any' },
      embedded: undefined,
      discarded: undefined,
    };
    const resources = new AsyncDisposableStack();
    const fill = async (of: () => Promise<string>) =>
      fillTables({ ...server.options, extract: await of() }, filling, resources);
    // The first creates the accounts; the second finds both tables, and no storage.
    await fill(january);
    const { apiKey } = await fill(january);
    await rm(storageFolder, { recursive: true });
    const identity = { ...filling.identity, demoKey: apiKey };
    const filled = await fillTables(
      { ...server.options, extract: await february() },
      { ...filling, identity },
      resources,
    );
    expect(filled).toMatchObject({ apiKey, dataset: { report: { addresses: 39 } } });
    expect(server.announced.at(-1)).toMatch(/so they are loaded anew\.$/);
    await filling.folder.release();
  });
});

describe('npm start with mutations', () => {
  const loadedServer = async () => {
    const server = await newServer();
    await server.start(asked['an extract']);
    return server;
  };

  it('applies the available days at the start, then each new one, and reports a broken one once', async () => {
    const { own, options } = await loadedServer();
    const mutations = join(own, 'mutations');
    await mkdir(mutations);
    // Renamed into its place, as a check may come at any moment.
    const deliver = async (vanaf: string, tot: string, broken?: string) => {
      const file = await putDelivery(own, vanaf, tot);
      if (broken !== undefined) await writeFile(file, broken);
      await rename(file, join(mutations, deliveryName(vanaf, tot)));
    };
    await deliver('2026-01-08', '2026-01-09');
    const lines: string[] = [];
    const announce = (line: string) => lines.push(line);
    const { stop, report } = await followMutations({
      ...options,
      mutations,
      announce,
      pauseMilliseconds: 20,
    });
    expect(lines).toEqual([
      expect.stringMatching(/^Applied 1 day of mutations: .* The dataset is of 2026-01-09\.$/),
    ]);
    expect(report).toMatchObject({ peildatum: '2026-01-09' });
    await deliver('2026-01-09', '2026-01-10', '<!DOCTYPE html>');
    while (lines.length < 2) await sleep(20);
    expect(lines[1]).toMatch(
      /^Mutations could not be applied; the served dataset stays unchanged\. BAGNLDM-09012026-10012026\.zip: /,
    );
    await sleep(100); // for more checks, which find the same
    await deliver('2026-01-09', '2026-01-10');
    while (lines.length < 3) await sleep(20);
    await stop();
    expect(lines[2]).toMatch(/The dataset is of 2026-01-10\.$/);
    expect(lines).toHaveLength(3);
  });

  it('says what it is waiting for when a list does not respond', async () => {
    const server = await startHttpServer((_, response) =>
      setTimeout(() => response.writeHead(404).end(), 200),
    );
    const mutations = `${server.url}/bestanden.json`;
    const lines: string[] = [];
    const announce = (line: string) => lines.push(line);
    const { options } = await loadedServer();
    const { stop } = await followMutations({
      ...options,
      mutations,
      announce,
      silenceMilliseconds: 50,
    });
    await stop();
    await server.stop();
    expect(lines).toEqual([
      `Still reading mutations from ${mutations}; the service starts after that.`,
      expect.stringContaining('Mutations could not be applied'),
    ]);
  });
});

const kept = 'the live dataset';

/** The live dataset, the request, and what `npm start` and a deployment serve (docs/loading.md). */
const restarts: [live: Name | 'the demo', wanted: Name, start: string, deployment?: string][] = [
  ['nothing', 'nothing', 'the demo'],
  ['nothing', 'an extract', 'the request', 'the request'],
  ['the demo', 'nothing', 'the demo'],
  ['the demo', 'an extract', 'the request'],
  ['an extract', 'nothing', kept],
  ['an extract', 'the same', kept, kept],
  ['an extract', 'the same place, changed as in a month', 'the request', 'the request'],
  ['an extract', 'the same place, changed a lot', kept, kept],
  ['an extract', 'the same place, of an older date', kept, kept],
  ['an extract', "the same place, which can't be read", kept, kept],
  ['an extract', 'another place, changed a lot', 'the request', kept],
  ['an extract', 'another area', 'the request', kept],
  ['an extract', 'the same, with objects', `${kept}, with objects`, `${kept}, with objects`],
  [
    'an extract with objects',
    'the same, without objects',
    `${kept}, without objects`,
    `${kept}, without objects`,
  ],
  ['an extract', 'the same, with mutations', `${kept} and the days`, `${kept} and the days`],
  ['an extract and days', 'the same, without mutations', kept, kept],
  ['an extract and days', 'nothing', kept],
];
const cells = restarts.flatMap(([live, wanted, start, deployment]) => [
  ['start', live, wanted, start] as const,
  ...(deployment ? [['deployment', live, wanted, deployment] as const] : []),
]);

describe('what is served after a restart', () => {
  it.each(sweep(cells, 2))(
    'by a %s, with %s live and %s requested, is %s',
    async (by, live, wanted, served) => {
      const server = await newServer();
      const fresh = await newServer();
      if (live !== 'nothing') await server[by](live === 'the demo' ? {} : asked[live]);
      const before = await server.live();
      await server[by](asked[wanted]);
      const after = await server.live();
      const expected: Record<string, () => unknown> = {
        'the demo': () => ({ ...after, addresses: 484 }),
        'the request': async () => {
          await fresh[by](asked[wanted]);
          return fresh.live();
        },
        [kept]: () => before,
        [`${kept}, with objects`]: () => ({ ...before, objecten: true }),
        [`${kept}, without objects`]: () => ({ ...before, objecten: false }),
        [`${kept} and the days`]: () => ({ ...before, peildatum: '2026-01-09' }),
      };
      expect(after).not.toBeNull();
      expect(after).toEqual(await expected[served]?.());
    },
  );

  it.each(sweep(['an extract', 'nothing'] as const, 1))(
    'needs no lock, which a killed load may have left: %s',
    async (live) => {
      const server = await newServer();
      await server.start(asked[live]);
      const before = await server.live();
      const addresses = dynamoDbAddressTable(engine.client, server.options.table);
      await underLock(addresses, async () => {
        expect((await server.start(asked.nothing)).report.outcome).toBe('unchanged');
      });
      expect(await server.live()).toEqual(before);
    },
  );
});
