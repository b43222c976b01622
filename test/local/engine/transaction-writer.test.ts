import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Place } from '../../../lambdas/shared/addresses/address-item.ts';
import { placeText } from '../../../loader/dataset/lines.ts';
import { dynamoDbAddressTable } from '../../../loader/storage/dynamodb-address-table.ts';
import { transactionWriter } from '../../../local/engine/tables.ts';
import { createTables, startDynamoDb, type TestDynamoDb } from '../../support/dynamodb.ts';

const formatLine = (key: string, places: Place[]) => [key, ...places.map(placeText)].join('\t');

describe('writing an extract in transactions', () => {
  let dynamoDb: TestDynamoDb;
  beforeAll(async () => {
    dynamoDb = await startDynamoDb();
    await createTables(dynamoDb.client, { addresses: 'addresses', accounts: 'accounts' });
  });
  afterAll(() => dynamoDb.stop());

  it('writes the same as batches do, for any number of writes, and reports its progress', async () => {
    const writer = transactionWriter(dynamoDb.client, 'addresses');
    const table = dynamoDbAddressTable(dynamoDb.client, 'addresses');
    const keys = Array.from({ length: 250 }, (_, index) => `1381AA#${index + 1}#`);
    const places = [{ straat: "'t Nauwe Steegje", woonplaats: 'Weesp' }];
    let told = 0;
    const tell = (count: number) => {
      told += count;
    };
    await writer.write(
      keys.map((key) => ({ put: formatLine(key, places) })),
      tell,
    );
    expect(told).toBe(250);
    expect(await table.read(keys)).toEqual(new Map(keys.map((key) => [key, places])));

    const changed = [{ straat: 'Kerkstraat', woonplaats: 'Muiden' }, ...places];
    await writer.write([{ put: formatLine('1381AA#1#', changed) }, ...keys.slice(2).map((remove) => ({ remove }))]);
    expect(await table.read(keys)).toEqual(
      new Map([
        ['1381AA#1#', changed],
        ['1381AA#2#', places],
      ]),
    );
    await writer.write([]);
  });
});
