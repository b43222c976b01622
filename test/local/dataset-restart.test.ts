import { existsSync } from 'node:fs';
import { copyFile, mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { hasObjecten } from '../../loader/dataset/load.ts';
import { noProgress } from '../../loader/steps/step.ts';
import { dynamoDbAddressTable } from '../../loader/storage/address-table.ts';
import { openStorage } from '../../loader/storage/open.ts';
import { readManifest } from '../../loader/storage/stored-loads.ts';
import { followMutations, loadExtract } from '../../local/dataset.ts';
import { runLoad } from '../../local/load/run-load.ts';
import { createAddressesTable, startDynamoDb } from '../support/dynamodb.ts';
import { folderForNow } from '../support/folder-for-now.ts';
import { writeMutationDelivery } from '../support/mutation-delivery.ts';
import type { Voorkomens } from '../support/stand-xml.ts';
import { startForTests } from '../support/start-for-tests.ts';
import { sweep } from '../support/sweep.ts';
import { type Packing, writeExtract } from '../support/write-extract.ts';

const folder = folderForNow('restart-');
const mutations = join(folder, 'mutations');
const engine = startForTests(startDynamoDb);

beforeAll(async () => {
  await mkdir(mutations);
  const day = await writeMutationDelivery('2026-01-08', '2026-01-09', []);
  await writeFile(join(mutations, 'BAGNLDM-08012026-09012026.zip'), day);
});

/** Writes an extract of a street, with an object for each address, and returns its path. */
async function extract(peildatum: string, count: number, packing: Packing = {}): Promise<string> {
  const file = join(folder, `${peildatum}-${count}-${packing.layout}.zip`);
  if (existsSync(file)) return file;
  const [begin, openbareRuimte] = ['2010-01-01', '0457300000000001'];
  const ids = Array.from({ length: count }, (_, index) => String(index).padStart(10, '0'));
  const voorkomens: Voorkomens = {
    WPL: [{ identificatie: '3631', naam: 'Weesp', begin }],
    OPR: [{ identificatie: openbareRuimte, naam: 'Buitenveer', woonplaats: '3631', begin }],
    NUM: ids.map((id, index) => {
      return { identificatie: `045720${id}`, huisnummer: index + 1, postcode: '1381AA', openbareRuimte, begin };
    }),
    VBO: ids.map((id) => {
      const found = { identificatie: `045701${id}`, hoofdadres: `045720${id}`, punt: '131234.5 480123.4', begin };
      return { ...found, oppervlakte: 85, gebruiksdoelen: ['woonfunctie'] };
    }),
    LIG: [],
    STA: [],
  };
  await writeFile(file, await writeExtract(peildatum, voorkomens, packing));
  return file;
}

/** What is asked for: `place` is where its extract is, if that is not where it was before. */
type Asked = { of?: () => Promise<string> | null; place?: string; objecten?: boolean; mutations?: string };

const usual = () => extract('2026-01-08', 40);
const asked: Record<string, Asked> = {
  nothing: {},
  'an extract': { of: usual },
  'an extract with objects': { of: usual, objecten: true },
  'an extract and days': { of: usual, mutations },
  'the demo': {},
  'the same': { of: usual },
  'the same place, changed as in a month': { of: () => extract('2026-02-08', 39) },
  'the same place, changed a lot': { of: () => extract('2026-02-08', 20) },
  'the same place, of an older date': { of: () => extract('2025-12-08', 40) },
  "the same place, which can't be read": { of: () => null },
  'another place, changed a lot': { of: () => extract('2026-02-08', 20), place: 'other.zip' },
  'another area': { of: () => extract('2026-02-08', 39, { layout: 'municipality' }) },
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

let made = 0;

/** An empty place, and what asks for an extract there; each returns what is live then. */
async function newPlace() {
  const own = join(folder, `${made++}`);
  await mkdir(own);
  const name = `addresses-${made}`;
  await createAddressesTable(engine.client, name);
  const storageFolder = join(own, 'loads');
  const live = async () => {
    const { published } = await readManifest(await openStorage(storageFolder));
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
      const where = { storageFolder, demoFile: join(own, 'demo.zip'), progress: noProgress };
      const options = { ...where, client: engine.client, table: name, embedded: true };
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
      const request = { source: await source(wanted), mutations: days, objecten, storage: storageFolder, workers: 0 };
      const refused = ['RefusedLoadError', 'SourceError'];
      await runLoad({ ...request, addresses: dynamoDbAddressTable(engine.client, name) }).catch((error: Error) => {
        if (!refused.includes(error.name)) throw error;
      });
      return live();
    },
  };
}

describe('what is served after a restart', () => {
  it('is in a table whose cells are all known', () => {
    expect(cells.length).toBe(29);
    const named = rows.flatMap((row) => row.slice(0, 2));
    expect(named.filter((text) => !asked[text])).toEqual([]);
  });

  it.each(sweep(cells, 5))('by %s, with %s live and %s requested, is %s', async (by, live, wanted, served) => {
    const place = await newPlace();
    const ask = by === 'npm start' ? place.start : place.deployment;
    const before = live === 'nothing' ? null : await ask(asked[live] ?? {});
    const after = await ask(asked[wanted] ?? {});
    const fresh = await newPlace();
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
