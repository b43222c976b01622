import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { keyItem } from '../../../core/addresses/address-item.ts';
import { BlockFile } from '../../../loader/dataset/block-file.ts';
import { unpackSegment } from '../../../loader/dataset/line-segment.ts';
import { packLines } from '../../../loader/dataset/stored-form.ts';
import { readManifest } from '../../../loader/steps/manifest.ts';
import { dynamoDbAddressTable, scanAddresses } from '../../../loader/storage/address-table.ts';
import { getUnpacked, paths, putPacked, type Storage } from '../../../loader/storage/storage.ts';
import { writeMutationDelivery } from '../../../local/demo/write-extract.ts';
import { repairTable } from '../../../local/load/repair.ts';
import { rollbackLoad, runLoad } from '../../../local/load/run-load.ts';
import { type LoadBench, type LoadPlace, startLoadBench } from '../../loader/steps/load-bench.ts';
import { february, january, listsOf, type Month, tableOf } from '../../loader/steps/months.ts';

let bench: LoadBench;
let loaded: LoadPlace;
let place: LoadPlace;
let storage: Storage;

/** What earlier releases stored: lines of woonplaats and straat without a header, and items without ids. */
async function asEarlierRelease({ table, bucket }: LoadPlace): Promise<void> {
  const stored = bench.storageIn(bucket);
  const { published } = await readManifest(stored);
  const { id = '', segments = [] } = published?.snapshot ?? {};
  for (const segment of segments) {
    const lines = await getUnpacked(stored, paths.snapshot(id, segment), unpackSegment);
    const old = lines.map((line) => {
      const [key, list, ...texts] = line.split('\t');
      const places = Array.from({ length: texts.length / 3 }, (_, i) => `${texts[3 * i + 1]}\t${texts[3 * i]}`);
      return [key, ...places.sort(), ...(list ? [list] : [])].join('\t');
    });
    await putPacked(stored, paths.snapshot(id, segment), packLines(old));
  }
  for (const [key, places] of await bench.addressesIn(table)) {
    const names = places.map((_, i) => `places[${i}].ids`).join(', ');
    await bench.client.send(
      new UpdateItemCommand({ TableName: table, Key: keyItem(key), UpdateExpression: `REMOVE ${names}` }),
    );
  }
}

const withoutIds = (month: Month) =>
  new Map(
    [...tableOf(month)].map(([key, all]) => [key, all.map(({ straat, woonplaats }) => ({ straat, woonplaats }))]),
  );

const options = () => ({
  storage,
  addresses: dynamoDbAddressTable(bench.client, place.table),
  workers: 0,
  waiveSize: true,
});
const repair = () => repairTable({ ...options(), scan: () => scanAddresses(bench.client, place.table) });

beforeAll(async () => {
  bench = await startLoadBench();
  loaded = await bench.newPlace();
  const addresses = dynamoDbAddressTable(bench.client, loaded.table);
  const source = await bench.extractOf(january);
  await runLoad({ storage: bench.storageIn(loaded.bucket), addresses, workers: 0, source });
  await asEarlierRelease(loaded);
});
afterAll(() => bench.stop());
beforeEach(async () => {
  place = await bench.copyPlace(loaded);
  storage = bench.storageIn(place.bucket);
});

describe('a dataset that an earlier release loaded', () => {
  it('is what it was, for a repair too', async () => {
    expect(await bench.addressesIn(place.table)).toEqual(withoutIds(january));
    expect(await repair()).toMatchObject({ added: 0, changed: 0, removed: 0, listsChanged: 0 });
    expect(await bench.addressesIn(place.table)).toEqual(withoutIds(january));
  });

  it('gets its ids from the next extract, which counts as changes only what else differs', async () => {
    const report = await runLoad({ ...options(), waiveSize: false, source: await bench.extractOf(february) });
    expect(report).toMatchObject({ outcome: 'published', added: 1, changed: 3, removed: 1, upgraded: 7 });
    expect(await bench.addressesIn(place.table)).toEqual(tableOf(february));
    expect(await repair()).toMatchObject({ added: 0, changed: 0, removed: 0 });
  });

  it('gets its ids from the same extract once more', async () => {
    const report = await runLoad({ ...options(), source: await bench.extractOf(january), again: true });
    expect(report).toMatchObject({ outcome: 'published', added: 0, changed: 0, removed: 0, upgraded: 11 });
    expect(await bench.addressesIn(place.table)).toEqual(tableOf(january));
    expect(await bench.listsIn(place.table)).toEqual(listsOf(january));
  });

  it('gets its ids from a day of mutations, also where that day changes nothing', async () => {
    const file = join(bench.newFolder(), 'BAGNLDM-08012026-09012026.zip');
    await writeFile(file, await writeMutationDelivery(january.peildatum, '2026-01-09', []));
    const report = await runLoad({ ...options(), waiveSize: false, mutations: [file] });
    expect(report).toMatchObject({ outcome: 'published', added: 0, changed: 0, removed: 0, upgraded: 11 });
    expect(await bench.addressesIn(place.table)).toEqual(tableOf(january));
  });

  it('can be rolled back to, with the ids that its objects have', async () => {
    await runLoad({ ...options(), source: await bench.extractOf(february) });
    const report = await rollbackLoad({ ...options(), snapshot: january.peildatum });
    expect(report).toMatchObject({
      outcome: 'published',
      nummeraanduidingen: 13,
      added: 1,
      changed: 4,
      removed: 1,
      upgraded: 0,
    });
    expect(await bench.addressesIn(place.table)).toEqual(tableOf(january));
    expect(await repair()).toMatchObject({ added: 0, changed: 0, removed: 0 });
    await runLoad({ ...options(), source: await bench.extractOf(february), again: true });
    expect(await bench.addressesIn(place.table)).toEqual(tableOf(february));
  });

  it('can be rolled back to without ids where its objects are gone', async () => {
    const { published } = await readManifest(storage);
    await runLoad({ ...options(), source: await bench.extractOf(february) });
    await storage.delete([paths.snapshotReference(published?.snapshot.id ?? '')]);
    expect(await rollbackLoad({ ...options(), snapshot: january.peildatum })).toMatchObject({ outcome: 'published' });
    expect(await bench.addressesIn(place.table)).toEqual(withoutIds(january));
    expect(await repair()).toMatchObject({ added: 0, changed: 0, removed: 0 });
    await runLoad({ ...options(), source: await bench.extractOf(february), again: true });
    expect(await bench.addressesIn(place.table)).toEqual(tableOf(february));
  });

  it('is rebuilt from the table where a segment is damaged, and gets its ids from the next load', async () => {
    const { published } = await readManifest(storage);
    const key = paths.snapshot(published?.snapshot.id ?? '', '13');
    await storage.put(key, Buffer.from('junk'));
    expect(await repair()).toMatchObject({ rebuilt: ['13'], unexplained: 0 });
    expect((await getUnpacked(storage, key, (bytes) => new BlockFile(bytes))).form).toBe('#straat woonplaats');
    const report = await runLoad({ ...options(), waiveSize: false, source: await bench.extractOf(february) });
    expect(report).toMatchObject({ added: 1, changed: 3, removed: 1, upgraded: 7 });
    expect(await bench.addressesIn(place.table)).toEqual(tableOf(february));
  });
});
