import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { GetItemCommand } from '@aws-sdk/client-dynamodb';
import { describe, expect, it } from '@jest/globals';
import { comparePlaces } from '../../../core/place-fields.ts';
import { dynamoDbAddressTable } from '../../../loader/storage/address-table.ts';
import { runLoad } from '../../../local/load/run-load.ts';
import { mutationsBetween, writeMutationDelivery } from '../../support/mutation-delivery.ts';
import type { NumStand, OprStand } from '../../support/stand-xml.ts';
import { startForTests } from '../../support/start-for-tests.ts';
import { sweep } from '../../support/sweep.ts';
import { startLoadBench } from './load-bench.ts';
import { idOf, type Month, tableOf, voorkomensOf } from './months.ts';

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
  const { NUM, OPR, WPL } = voorkomensOf(before);
  const [buitenveer] = OPR as [OprStand];
  const binnenveer = { ...buitenveer, identificatie: '0000300000000099', naam: 'Binnenveer' };
  const [first] = NUM as [NumStand];
  const ends = { eind: after.peildatum };
  const next = {
    WPL,
    OPR: [buitenveer, binnenveer],
    NUM: [
      ...NUM.flatMap((num) => {
        if (num.huisnummer % 6 === 1) return [{ ...num, ...ends }];
        if (num.huisnummer % 3 !== 0) return [num];
        const moved = { volgnummer: 2, begin: after.peildatum, openbareRuimte: binnenveer.identificatie };
        return [
          { ...num, ...ends },
          { ...num, ...moved },
        ];
      }),
      ...numbers
        .filter((n) => n % 3 === 2)
        .map((n) => ({ ...first, identificatie: idOf(`1381AA ${n}`), huisnummer: n })),
    ],
  };
  const file = join(bench.newFolder(), 'BAGNLDM-08012026-08022026.zip');
  const groups = mutationsBetween({ NUM, OPR, WPL }, next);
  await writeFile(file, await writeMutationDelivery(before.peildatum, after.peildatum, groups));
  return file;
}

describe('a lookup while a load is applied', () => {
  const changes: [what: string, next: () => Promise<{ source?: string; mutations?: string[] }>][] = [
    ['an extract', async () => ({ source: await bench.extractOf(after) })],
    ['mutations', async () => ({ mutations: [await dayBetween()] })],
  ];
  it.each(sweep(changes, 1))(
    'of %s returns the old or the new address, never none, and never the old one after the new',
    async (_, next) => {
      const table = await bench.newTable();
      const addresses = dynamoDbAddressTable(bench.client, table, { concurrency: 2 });
      const options = { storage: bench.newFolder(), addresses, workers: 0, waiveSize: true };
      await runLoad({ ...options, source: await bench.extractOf(before) });
      const sources = await next();

      const [old, now] = [tableOf(before), tableOf(after)];
      const seenNew = new Set<string>();
      let lookups = 0;
      let applying = true;
      const hammer = async (offset: number) => {
        for (let turn = offset; applying; turn += 7) {
          const key = `1381AA#${numbers[turn % numbers.length]}#`;
          const { Item } = await bench.client.send(
            new GetItemCommand({ TableName: table, Key: { address: { S: key } }, ConsistentRead: true }),
          );
          const straat = Item?.places?.L?.[0]?.M?.straat?.S;
          const [was, is] = [old.get(key)?.sort(comparePlaces)[0]?.straat, now.get(key)?.[0]?.straat];
          if (straat === is && was !== is) seenNew.add(key);
          else if (seenNew.has(key)) throw new Error(`${key} went back`);
          if (straat !== was && straat !== is) throw new Error(`${key} was ${straat}`);
          lookups++;
        }
      };
      const hammers = [0, 1, 2].map((offset) => hammer(offset));
      const report = await runLoad({ ...options, ...sources });
      applying = false;
      await Promise.all(hammers);

      expect(report).toMatchObject({ outcome: 'published', changed: 200, added: 200, removed: 100 });
      expect(await bench.addressesIn(table)).toEqual(now);
      expect(lookups).toBeGreaterThan(50);
    },
  );
});
