import { GetItemCommand } from '@aws-sdk/client-dynamodb';
import { describe, expect, it } from '@jest/globals';
import { comparePlaces } from '../../../core/place-fields.ts';
import { addressPart } from '../../../loader/addresses/lines.ts';
import type { AddressTable } from '../../../loader/storage/address-table.ts';
import { mutationsBetween, putDelivery } from '../../support/mutation-delivery.ts';
import { startForTests } from '../../support/start-for-tests.ts';
import { sweep } from '../../support/sweep.ts';
import { startLoadBench } from './load-bench.ts';
import { january, type Month, stateBetween, tableOf, voorkomensOf } from './months.ts';

const bench = startForTests(startLoadBench);

const numbers = Array.from({ length: 600 }, (_, index) => index + 1);

/** Every third address renamed, and every third gone or new. */
const before: Month = {
  peildatum: '2026-01-08',
  addresses: numbers.filter((n) => n % 3 !== 2).map((n) => [`1381AA ${n}`, 'Buitenveer', 'Weesp']),
};
const after: Month = {
  peildatum: '2026-02-08',
  addresses: numbers
    .filter((n) => n % 6 !== 1)
    .map((n) => [`1381AA ${n}`, n % 3 === 0 ? 'Binnenveer' : 'Buitenveer', 'Weesp']),
};

/** The same difference as a day of mutations. */
async function dayBetween(): Promise<string> {
  const groups = mutationsBetween(voorkomensOf(before), stateBetween(before, after));
  return putDelivery(bench.newFolder(), before.peildatum, after.peildatum, groups);
}

describe('a lookup while a load is applied', () => {
  const changes: [what: string, next: () => Promise<{ source?: string; mutations?: string[] }>][] =
    [
      ['an extract', async () => ({ source: await bench.extractOf(after) })],
      ['mutations', async () => ({ mutations: [await dayBetween()] })],
    ];
  it.each(sweep(changes, 1))(
    'of %s returns the old or the new address, never none, and never the old one after the new',
    async (_, next) => {
      const dataset = await bench.newDataset({ concurrency: 2, waiveSize: true });
      await dataset.load({ month: before });
      const sources = await next();

      const old = tableOf(before);
      const now = tableOf(after);
      const seenNew = new Set<string>();
      let lookups = 0;
      let applying = true;
      const hammer = async (offset: number) => {
        for (let turn = offset; applying; turn += 7) {
          const key = `1381AA#${numbers[turn % numbers.length]}#`;
          const { Item } = await bench.client.send(
            new GetItemCommand({
              TableName: dataset.table,
              Key: { address: { S: key } },
              ConsistentRead: true,
            }),
          );
          const straat = Item?.places?.L?.[0]?.M?.straat?.S;
          const was = old.get(key)?.sort(comparePlaces)[0]?.straat;
          const is = now.get(key)?.[0]?.straat;
          if (straat === is && was !== is) seenNew.add(key);
          else if (seenNew.has(key)) throw new Error(`${key} went back`);
          if (straat !== was && straat !== is) throw new Error(`${key} was ${straat}`);
          lookups++;
        }
      };
      const hammers = [0, 1, 2].map((offset) => hammer(offset));
      const report = await dataset.load(sources);
      applying = false;
      await Promise.all(hammers);

      expect(report).toMatchObject({
        outcome: 'published',
        changed: 200,
        added: 200,
        removed: 100,
      });
      expect(await dataset.served()).toEqual(now);
      expect(lookups).toBeGreaterThan(50);
    },
  );
});

describe('a load', () => {
  it('is not published when the table lost a write, and writes everything again', async () => {
    const dataset = await bench.newDataset();
    const { addresses } = dataset;
    const losing: AddressTable = {
      ...addresses,
      write: (writes, fence) => addresses.write(writes.slice(1), fence),
    };
    await expect(dataset.load({ month: january, addresses: losing })).rejects.toMatchObject({
      name: 'ReadBackError',
      message: expect.stringMatching(
        /^4 of 12 addresses read back differ .* among them 1012RJ#147#/,
      ),
    });
    expect(await addresses.dataset()).toBeNull();
    await dataset.load({ month: january });
    expect(await dataset.served()).toEqual(tableOf(january));
  });

  it('writes nothing after another load has taken its lock', async () => {
    // Each write carries the proof of its lock.
    const dataset = await bench.newDataset({ transactions: true });
    const { addresses } = dataset;
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
        written = writes.filter(
          (write) => 'put' in write && addressPart(write.put) !== null,
        ).length;
        await addresses.lock.release('slow');
        await addresses.lock.acquire('another', 60);
        taken.resolve();
      },
    };
    const load = dataset.load({ month: january, addresses: losing, owner: 'slow' });
    await expect(load).rejects.toMatchObject({ name: 'LockedError', owner: 'another' });
    // Any file may be the first; January has 12 addresses.
    expect(written).toBeLessThan(12);
    expect((await dataset.served()).size).toBe(written);
    expect(await addresses.dataset()).toBeNull();
  });
});
