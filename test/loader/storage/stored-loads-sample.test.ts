import { truncateSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { lineOf } from '../../../loader/addresses/lines.ts';
import { dynamoDbAddressTable, scanAddresses } from '../../../loader/storage/address-table.ts';
import { folderStorage } from '../../../loader/storage/files.ts';
import { sampleTable } from '../../../loader/storage/stored-loads.ts';
import { repairTable } from '../../../local/load/repair.ts';
import { runLoad } from '../../../local/load/run-load.ts';
import { startForTests } from '../../support/start-for-tests.ts';
import { startLoadBench } from '../steps/load-bench.ts';
import { january } from '../steps/months.ts';

const bench = startForTests(startLoadBench);
let source: string;
let folder: string;
let table: string;
beforeAll(async () => {
  source = await bench.extractOf(january);
});
beforeEach(async () => {
  folder = bench.newFolder();
  table = await bench.newTable();
});

const options = () => ({ storage: folder, addresses: dynamoDbAddressTable(bench.client, table), workers: 0 });
const sample = () => sampleTable({ ...options(), storage: folderStorage(folder) });

describe('the sample of the table', () => {
  it('has nothing to compare before the first load', async () => {
    expect(await sample()).toBeNull();
  });

  it('finds no difference after a load, and every difference that something else wrote', async () => {
    await runLoad({ ...options(), source });
    expect(await sample()).toMatchObject({ differing: [], damaged: [] });
    expect((await sample())?.addresses).toBeGreaterThan(10);
    await bench.putLines(table, [
      lineOf({ key: '1381AA#7#', places: [{ straat: 'Kerkstraat', woonplaats: 'Weesp' }] }),
    ]);
    expect(await sample()).toMatchObject({ differing: ['1381AA#7#'] });
    await repairTable({ ...options(), scan: () => scanAddresses(bench.client, table) });
    expect(await sample()).toMatchObject({ differing: [] });
  });

  it('names a damaged part of the snapshot, and compares the rest', async () => {
    const { load } = await runLoad({ ...options(), source });
    truncateSync(join(folder, `snapshots/${load}/13`), 10);
    const found = await sample();
    expect(found).toMatchObject({ differing: [], damaged: [`snapshots/${load}/13`] });
    expect(found?.addresses).toBeGreaterThan(0);
  });
});
