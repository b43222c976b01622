import { describe, expect, it } from '@jest/globals';
import { lineOf } from '../../../loader/addresses/lines.ts';
import { type Dataset, startLoadBench } from '../../loader/steps/load-bench.ts';
import {
  february,
  january,
  type Month,
  tableOf,
  voorkomensOf,
  withObjecten,
} from '../../loader/steps/months.ts';
import { putDelivery } from '../../support/mutation-delivery.ts';
import { startForTests } from '../../support/start-for-tests.ts';

const bench = startForTests(() =>
  startLoadBench({ packing: { perFile: 5 }, state: (month) => withObjecten(voorkomensOf(month)) }),
);
const newDataset = () =>
  bench.newDataset({ owner: 'switch', sliceBytes: 1, changesPerFile: 2, transactions: true });

/**
 * The table has exactly the addresses of the month, each with its object or none of them with any.
 */
async function expectHolds(dataset: Dataset, month: Month, objecten: boolean): Promise<void> {
  const found = await dataset.served();
  const bare = new Map(
    [...found].map(
      ([key, places]) => [key, places.map(({ objecten: _, ...place }) => place)] as const,
    ),
  );
  expect(bare).toEqual(tableOf(month));
  for (const { nummeraanduidingen = [], objecten: objects = [] } of [...found.values()].flat()) {
    const ids = nummeraanduidingen.map((id) => id.replace('000020', '000001'));
    expect(objects.map(({ identificatie }) => identificatie)).toEqual(objecten ? ids : []);
  }
}

describe('a dataset whose objects are turned on or off', () => {
  it('has them, or has them no more, with the next load of the same extract, and is rolled back over the switch', async () => {
    const dataset = await newDataset();
    await dataset.load({ month: january, objecten: false });
    await expectHolds(dataset, january, false);
    let last = '';
    for (const objecten of [true, false]) {
      const switched = await dataset.load({ month: january, objecten });
      expect(switched).toMatchObject({ outcome: 'published', added: 0, changed: 0, removed: 0 });
      expect(switched.objecten?.live).toBe(objecten ? 13 : undefined);
      await expectHolds(dataset, january, objecten);
      expect((await dataset.load({ month: january, objecten })).outcome).toBe('unchanged');
      last = switched.load ?? '';
    }
    await dataset.load({ month: february, objecten: true });
    await dataset.load({ rollback: last });
    await expectHolds(dataset, january, false);
    // The switch is not made again by itself.
    const again = await dataset.load({ month: february, objecten: true });
    expect(again).toMatchObject({ outcome: 'unchanged', isSkipped: true });
    await dataset.load({ rollback: february.peildatum });
    await expectHolds(dataset, february, true);
  });

  it('keeps them while only days are applied, and says that days alone do not bring them', async () => {
    const dataset = await newDataset();
    await dataset.load({ month: january, objecten: false });
    const day = '2026-01-09';
    const next = '2026-01-10';
    const folder = bench.newFolder();
    await putDelivery(folder, january.peildatum, day);
    const report = await dataset.load({ mutations: [folder], objecten: true });
    expect(report).toMatchObject({
      peildatum: day,
      notes: [expect.stringContaining("mutations alone can't bring")],
    });
    await expectHolds(dataset, january, false);
    await dataset.load({ month: january, objecten: true });
    await expectHolds(dataset, january, true);
    await putDelivery(folder, day, next);
    await dataset.load({ mutations: [folder] });
    await expectHolds(dataset, january, true);
  });

  it('is repaired where the objects of an address in the table are not those of its snapshot', async () => {
    const dataset = await newDataset();
    await dataset.load({ month: january, objecten: true });
    const [[key, places] = ['', []]] = await dataset.served();
    await bench.putLines(dataset.table, [
      lineOf({ key, places: places.map((place) => ({ ...place, objecten: [] })) }),
    ]);
    const repaired = await dataset.repair();
    expect(repaired).toMatchObject({ outcome: 'repaired', changed: 1, unusable: [] });
    await expectHolds(dataset, january, true);
  });

  it('says of a rollback how many objects it changes, and how many it has after it', async () => {
    const dataset = await newDataset();
    await dataset.load({ month: january, objecten: true });
    const { VBO = [], ...state } = withObjecten(voorkomensOf(january));
    const larger = {
      ...state,
      VBO: VBO.map((one, i) => (i === 0 ? { ...one, oppervlakte: 999 } : one)),
    };
    const { objecten } = await dataset.load({
      source: await bench.extract(february.peildatum, larger),
      objecten: true,
    });
    const back = await dataset.load({ rollback: january.peildatum });
    expect(objecten?.changed).toBeGreaterThan(0);
    expect(back).toMatchObject({ added: 0, changed: 0, removed: 0, objecten });
  });
});
