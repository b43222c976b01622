import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { lineOf } from '../../../loader/addresses/lines.ts';
import { dynamoDbAddressTable, scanAddresses } from '../../../loader/storage/address-table.ts';
import { repairTable } from '../../../local/load/repair.ts';
import { runLoad } from '../../../local/load/run-load.ts';
import { type LoadPlace, startLoadBench } from '../../loader/steps/load-bench.ts';
import { february, january, type Month, tableOf, voorkomensOf, withObjecten } from '../../loader/steps/months.ts';
import { watched } from '../../loader/steps/watched.ts';
import { inSweep } from '../../support/in-sweep.ts';
import { writeMutationDelivery } from '../../support/mutation-delivery.ts';
import { startForTests } from '../../support/start-for-tests.ts';
import { isFullSweep, sweep } from '../../support/sweep.ts';
import { writeExtract } from '../../support/write-extract.ts';

const bench = startForTests(startLoadBench);
const sources = new Map<Month, string>();

beforeAll(async () => {
  for (const month of [january, february]) {
    const file = join(bench.newFolder(), `${month.peildatum}.zip`);
    const state = withObjecten(voorkomensOf(month));
    await writeFile(file, await writeExtract(month.peildatum, state, { perFile: 5 }));
    sources.set(month, file);
  }
});

async function placeAt(held: LoadPlace) {
  const addresses = dynamoDbAddressTable(bench.client, held.table, { transactions: true });
  const storage = bench.storageIn(held.bucket);
  const options = { owner: 'switch', sliceBytes: 1, changesPerFile: 2, workers: 0, storage, addresses };
  return {
    held,
    storage,
    addresses,
    options,
    load: (month: Month, objecten: boolean) => runLoad({ ...options, source: sources.get(month), objecten }),
    /** The table has exactly the addresses of the month, each with its object or none of them with any. */
    async holds(month: Month, objecten: boolean) {
      const found = await bench.addressesIn(held.table);
      const bare = new Map(
        [...found].map(([key, places]) => [key, places.map(({ objecten: _, ...place }) => place)] as const),
      );
      expect(bare).toEqual(tableOf(month));
      for (const { nummeraanduidingen = [], objecten: objects = [] } of [...found.values()].flat()) {
        const ids = nummeraanduidingen.map((id) => id.replace('000020', '000001'));
        expect(objects.map(({ identificatie }) => identificatie)).toEqual(objecten ? ids : []);
      }
    },
  };
}

const newPlace = async () => placeAt(await bench.newPlace());

describe('a dataset whose objects are turned on or off', () => {
  it('has them, or has them no more, with the next load of the same extract', async () => {
    const { load, holds } = await newPlace();
    await load(january, false);
    await holds(january, false);
    const on = await load(january, true);
    expect(on).toMatchObject({ outcome: 'published', added: 0, changed: 0, removed: 0, objecten: { live: 13 } });
    await holds(january, true);
    expect((await load(january, true)).outcome).toBe('unchanged');
    const off = await load(january, false);
    expect(off).toMatchObject({ outcome: 'published', added: 0, changed: 0, removed: 0 });
    expect(off.objecten).toBeUndefined();
    await holds(january, false);
    expect((await load(january, false)).outcome).toBe('unchanged');
  });

  it('keeps them while only days are applied, and says that days alone do not bring them', async () => {
    const { options, load, holds } = await newPlace();
    await load(january, false);
    const [day, next] = ['2026-01-09', '2026-01-10'];
    const folder = bench.newFolder();
    const write = async (name: string, from: string, to: string) =>
      writeFile(join(folder, name), await writeMutationDelivery(from, to, []));
    await write('BAGNLDM-08012026-09012026.zip', january.peildatum, day);
    const report = await runLoad({ ...options, mutations: [folder], objecten: true });
    expect(report).toMatchObject({ peildatum: day, notes: [expect.stringContaining("mutations alone can't bring")] });
    await holds(january, false);
    await load(january, true);
    await holds(january, true);
    await write('BAGNLDM-09012026-10012026.zip', day, next);
    await runLoad({ ...options, mutations: [folder] });
    await holds(january, true);
  });

  it('is repaired where the objects of an address in the table are not those of its snapshot', async () => {
    const { held, options, load, holds } = await newPlace();
    await load(january, true);
    const [[key, places] = ['', []]] = await bench.addressesIn(held.table);
    await bench.putLines(held.table, [lineOf({ key, places: places.map((place) => ({ ...place, objecten: [] })) })]);
    const repaired = await repairTable({ ...options, scan: () => scanAddresses(bench.client, held.table) });
    expect(repaired).toMatchObject({ outcome: 'repaired', changed: 1, unusable: [] });
    await holds(january, true);
  });

  inSweep('is rolled back over the switch, and the switch is not made again by itself', async () => {
    const { options, load, holds } = await newPlace();
    await load(january, false);
    await load(february, true);
    await runLoad({ ...options, rollback: january.peildatum });
    await holds(january, false);
    expect(await load(february, true)).toMatchObject({ outcome: 'unchanged', isSkipped: true });
    await runLoad({ ...options, rollback: february.peildatum });
    await holds(february, true);
  });

  it.each(sweep([true, false], 1))(
    'ends as it should when the load dies anywhere and is repeated (on: %s)',
    async (objecten) => {
      const first = await newPlace();
      await first.load(january, !objecten);
      const left: LoadPlace[] = [];
      let deaths = 0;
      const ports = watched(first.storage, first.addresses, async ({ hasWritten }) => {
        if (hasWritten && (isFullSweep || deaths++ % 20 === 0)) left.push(await bench.copyPlace(first.held));
      });
      await runLoad({ ...first.options, ...ports, source: sources.get(february), objecten });
      expect(left.length).toBeGreaterThan(4);
      for (const held of left) {
        const { load, holds } = await placeAt(held);
        await load(february, objecten);
        await holds(february, objecten);
        expect((await load(february, objecten)).outcome).toBe('unchanged');
      }
    },
  );
});
