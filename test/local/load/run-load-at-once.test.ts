import { expect, it } from '@jest/globals';
import { dynamoDbAddressTable } from '../../../loader/storage/address-table.ts';
import { runLoad } from '../../../local/load/run-load.ts';
import { startLoadBench } from '../../loader/steps/load-bench.ts';
import { january } from '../../loader/steps/months.ts';

/** A call goes on once so many have arrived. One after the other they fail, a little before the test would. */
function gathering(wanted: number) {
  const all = Promise.withResolvers<void>();
  let arrived = 0;
  return async () => {
    const waiting = setTimeout(() => all.reject(new Error(`only ${arrived} of ${wanted} came at once`)), 20_000);
    if (++arrived === wanted) all.resolve();
    await all.promise.finally(() => clearTimeout(waiting));
  };
}

it('a small load works on four segments at once, as each mostly waits for the disk or the database', async () => {
  const bench = await startLoadBench();
  const { table, bucket } = await bench.newPlace();
  const [storage, addresses] = [bench.storageIn(bucket), dynamoDbAddressTable(bench.client, table)];
  const [merged, written] = [gathering(4), gathering(4)];
  const put: typeof storage.put = async (key, ...rest) => {
    if (key.includes('/merged/')) await merged();
    await storage.put(key, ...rest);
  };
  const write: typeof addresses.write = async (...writes) => {
    await written();
    return addresses.write(...writes);
  };
  const options = { storage: { ...storage, put }, addresses: { ...addresses, write }, workers: 0 };
  const source = await bench.extractOf(january);
  const report = await runLoad({ ...options, source }).finally(() => bench.stop());
  expect(report.outcome).toBe('published');
});
