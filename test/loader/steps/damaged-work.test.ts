import { cpSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { repairTable } from '../../../loader/run/repair.ts';
import { planLoad, runLoad } from '../../../loader/run/run-load.ts';
import { WorkGoneError } from '../../../loader/steps/manifest.ts';
import { dynamoDbAddressTable, scanAddresses } from '../../../loader/storage/dynamodb-address-table.ts';
import { folderStorage } from '../../../loader/storage/folder-storage.ts';
import { type LoadBench, startLoadBench } from './load-bench.ts';
import { february, january, tableOf } from './months.ts';

let bench: LoadBench;
let source: string;
let start: { table: string; storage: string };
const optionsOf = ({ table, storage }: typeof start) => ({
  storage,
  addresses: dynamoDbAddressTable(bench.client, table),
  workers: 0,
});

beforeAll(async () => {
  bench = await startLoadBench();
  start = { table: await bench.newTable(), storage: bench.newFolder() };
  await runLoad({ ...optionsOf(start), source: await bench.extractOf(january) });
  source = await bench.extractOf(february);
  await planLoad({ ...optionsOf(start), source });
});
afterAll(() => bench.stop());

async function copy(): Promise<typeof start> {
  const place = { table: await bench.copyTable(start.table), storage: bench.newFolder() };
  cpSync(start.storage, place.storage, { recursive: true });
  return place;
}

describe('a stored object that is damaged', () => {
  it.each([
    ['empty', (file: string) => writeFileSync(file, '')],
    ['half', (file: string) => truncateSync(file, Math.floor(readFileSync(file).length / 2))],
  ])(
    'costs no address where it is the work of a load, which is made anew: %s',
    async (_, damage) => {
      const all = (await folderStorage(start.storage).list('loads/')).map(({ key }) => key);
      const work = all.filter((key) => key.endsWith('.json') || key.includes('/changes/'));
      expect(work.length).toBeGreaterThan(5);
      for (const key of work) {
        const place = await copy();
        damage(join(place.storage, key));
        const run = () => runLoad({ ...optionsOf(place), source }).catch((error: Error) => error);
        let end = await run();
        if (end instanceof WorkGoneError) {
          // Found when the load was being applied already: a repair needs the snapshot alone.
          await repairTable({ ...optionsOf(place), scan: () => scanAddresses(bench.client, place.table) });
          end = await run();
        }
        expect([key, end]).toEqual([key, expect.objectContaining({ outcome: 'published' })]);
        expect(await bench.addressesIn(place.table)).toEqual(tableOf(february));
      }
    },
    60_000,
  );

  it.each(['manifest.json', 'snapshots/'])('is named, with what to do, where it is not: %s', async (prefix) => {
    const place = await copy();
    const [object] = await folderStorage(place.storage).list(prefix);
    const file = join(place.storage, object?.key ?? '');
    truncateSync(file, Math.floor(readFileSync(file).length / 2));
    const other = await bench.extractOf({ ...february, peildatum: '2026-03-08' });
    await expect(runLoad({ ...optionsOf(place), source: other })).rejects.toMatchObject({
      name: 'DamagedObjectError',
      message: expect.stringContaining(object?.key ?? ''),
    });
    expect(await bench.addressesIn(place.table)).toEqual(tableOf(january));
  });
});
