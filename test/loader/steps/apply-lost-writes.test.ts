import { beforeAll, describe, expect, it } from '@jest/globals';
import { addressPart } from '../../../loader/addresses/lines.ts';
import { type AddressTable, dynamoDbAddressTable } from '../../../loader/storage/address-table.ts';
import { runLoad } from '../../../local/load/run-load.ts';
import { startForTests } from '../../support/start-for-tests.ts';
import { startLoadBench } from './load-bench.ts';
import { january, tableOf } from './months.ts';

const bench = startForTests(startLoadBench);
let source: string;
beforeAll(async () => {
  source = await bench.extractOf(january);
});

async function newPlace() {
  const table = await bench.newTable();
  return { table, storage: bench.newFolder(), addresses: dynamoDbAddressTable(bench.client, table) };
}

describe('a load', () => {
  it('is not published when the table lost a write, and writes everything again', async () => {
    const { table, storage, addresses } = await newPlace();
    const losing: AddressTable = { ...addresses, write: (writes, fence) => addresses.write(writes.slice(1), fence) };
    await expect(runLoad({ source, storage, addresses: losing })).rejects.toMatchObject({
      name: 'ReadBackError',
      message: expect.stringMatching(/^4 of 12 addresses read back differ .* among them 1012RJ#147#/),
    });
    expect(await addresses.dataset()).toBeNull();
    await runLoad({ source, storage, addresses });
    expect(await bench.addressesIn(table)).toEqual(tableOf(january));
  });

  it('writes nothing after another load has taken its lock', async () => {
    const { table, storage } = await newPlace();
    // Each write carries the proof of its lock.
    const addresses = dynamoDbAddressTable(bench.client, table, { transactions: true });
    const taken = Promise.withResolvers<void>();
    let files = 0;
    let written = 0;
    const losing: AddressTable = {
      ...addresses,
      async write(writes, fence) {
        // The files that are applied beside the first one reach the table after the other load.
        const isFirst = ++files === 1;
        if (!isFirst) await taken.promise;
        await addresses.write(writes, fence);
        if (!isFirst) return;
        // A key with a list of toevoegingen alone is no address.
        written = writes.filter((write) => 'put' in write && addressPart(write.put) !== null).length;
        await addresses.lock.release('slow');
        await addresses.lock.acquire('another', 60);
        taken.resolve();
      },
    };
    const load = runLoad({ source, storage, addresses: losing, owner: 'slow' });
    await expect(load).rejects.toMatchObject({ name: 'LockedError', owner: 'another' });
    // Any file may be the first; January has 12 addresses.
    expect(written).toBeLessThan(12);
    expect((await bench.addressesIn(table)).size).toBe(written);
    expect(await addresses.dataset()).toBeNull();
  });
});
