import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { Place } from '../../../core/place-fields.ts';
import { lineOf } from '../../../loader/addresses/lines.ts';
import { type AddressTable, dynamoDbAddressTable } from '../../../loader/storage/address-table.ts';
import { Lease } from '../../../loader/storage/lock.ts';
import { createAddressesTable, startDynamoDb, type TestDynamoDb } from '../../support/dynamodb.ts';
import { underLock } from '../../support/under-lock.ts';

const formatLine = (key: string, places: Place[]) => lineOf({ key, places });
const places = [{ straat: "'t Nauwe Steegje", woonplaats: 'Weesp' }];
const keys = Array.from({ length: 250 }, (_, index) => `1381AA#${index + 1}#`);
const puts = keys.map((key) => ({ put: formatLine(key, places) }));

describe('writing in transactions', () => {
  let dynamoDb: TestDynamoDb;
  let table: AddressTable;
  let made = 0;
  beforeAll(async () => {
    dynamoDb = await startDynamoDb();
  });
  beforeEach(async () => {
    made++;
    await createAddressesTable(dynamoDb.client, `addresses-${made}`);
    table = dynamoDbAddressTable(dynamoDb.client, `addresses-${made}`, { transactions: true });
  });
  afterAll(() => dynamoDb.stop());

  it('writes the same as batches, for any number of writes, and reports progress', async () => {
    await underLock(table, async (fence) => {
      let told = 0;
      await table.write(puts, fence, (count) => {
        told += count;
      });
      expect(told).toBe(250);
      expect(await table.read(keys)).toEqual(new Map(keys.map((key) => [key, { key, places }])));

      const changed = [{ straat: 'Kerkstraat', woonplaats: 'Muiden' }, ...places];
      const removes = keys.slice(2).map((remove) => ({ remove }));
      await table.write([{ put: formatLine('1381AA#1#', changed) }, ...removes], fence);
      expect(await table.read(keys)).toEqual(
        new Map([
          ['1381AA#1#', { key: '1381AA#1#', places: changed }],
          ['1381AA#2#', { key: '1381AA#2#', places }],
        ]),
      );
      await table.write([], fence);
    });
  });

  it.each([
    ['another load', 'next'],
    ['a later start of the same owner', 'first'],
  ])(
    'writes nothing, not even the dataset item, once %s has the lock, also if this process does not know it yet',
    async (_, next) => {
      const held = await table.lock.acquire('first', 60);
      const fence = { ...everSure, held };
      await table.write(puts.slice(0, 5), fence);
      await table.lock.release('first');
      await table.lock.acquire(next, 60);
      await expect(table.write(puts, fence)).rejects.toMatchObject({ name: 'LockedError' });
      const dataset = { peildatum: '2026-01-08', load: 'x' };
      await expect(table.setDataset(dataset, fence)).rejects.toMatchObject({ name: 'LockedError' });
      expect((await table.read(keys)).size).toBe(5);
      expect(await table.dataset()).toBeNull();
    },
  );

  it('with an expired lease sends nothing', async () => {
    await table.lock.acquire('execution', 60);
    const fence = await Lease.ofOwner(table.lock, 'execution', 0);
    await expect(table.write(puts, fence)).rejects.toThrow(/stopped writing/);
    expect((await table.read(keys)).size).toBe(0);
  });
});

/** A process that was asleep between its last look at the lock and its write. */
const everSure = {
  signal: new AbortController().signal,
  confirm: async () => undefined,
  assertHeld: () => undefined,
};
