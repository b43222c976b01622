import type { GetItemCommand } from '@aws-sdk/client-dynamodb';
import { DeleteCommand, DynamoDBDocumentClient, PutCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { addressItem, type StoredAddress, type Toevoeging } from '../../../core/addresses/address-item.ts';
import { createAddressStore, createDatasetDate, findTestAddress } from '../../../core/addresses/address-store.ts';
import type { StoreClient } from '../../../core/dynamodb.ts';
import { addressesTable } from '../../../core/names.ts';
import { localDynamoDb } from '../../../local/engine/client.ts';
import { createTables, startDynamoDb, type TestDynamoDb } from '../../support/dynamodb.ts';

let engine: TestDynamoDb;
let client: DynamoDBDocumentClient;
let asked = 0;
let now = 0;

beforeAll(async () => {
  engine = await startDynamoDb();
  await createTables(engine.client, { addresses: 'addresses', accounts: 'accounts' });
  client = DynamoDBDocumentClient.from(engine.client);
  client.middlewareStack.add(
    (next) => (args) => {
      asked++;
      return next(args);
    },
    { step: 'initialize', name: 'count' },
  );
});
afterAll(() => engine.stop());
beforeEach(() => {
  asked = 0;
  now = 1_000_000;
});

async function publish(date: string): Promise<void> {
  const Item = { [addressesTable.partitionKey]: addressesTable.datasetKey, [addressesTable.datasetDate]: date };
  // Of its own: clients over one share what is counted.
  const other = localDynamoDb(engine.endpoint);
  await DynamoDBDocumentClient.from(other).send(new PutCommand({ TableName: 'addresses', Item }));
  other.destroy();
}

it('is unknown before the first load, and known to the next lookup after it', async () => {
  const date = createDatasetDate(client, 'addresses', () => now);
  expect(await date()).toBeUndefined();
  await publish('2021-10-15');
  now += 1000;
  expect(await date()).toBeUndefined();
  now += 1;
  expect(await date()).toBe('2021-10-15');
});

it('is read once in five minutes, and then refreshed without delaying a lookup', async () => {
  const date = createDatasetDate(client, 'addresses', () => now);
  for (let i = 0; i < 100; i++) expect(await date()).toBe('2021-10-15');
  expect(asked).toBe(1);
  await publish('2021-11-15');
  now += 5 * 60_000;
  expect(await date()).toBe('2021-10-15');
  expect(asked).toBe(1);
  now += 1;
  expect(await date()).toBe('2021-10-15');
  await new Promise((resolve) => setTimeout(resolve, 200));
  expect(await date()).toBe('2021-11-15');
  expect(asked).toBe(2);
});

it('is read when the instance starts, before its first lookup', async () => {
  createDatasetDate(client, 'addresses', () => now);
  expect(asked).toBe(1);
});

it('keeps its value when the table no longer has one, as during a repair', async () => {
  await publish('2021-12-15');
  const date = createDatasetDate(client, 'addresses', () => now);
  expect(await date()).toBe('2021-12-15');
  const Key = { [addressesTable.partitionKey]: addressesTable.datasetKey };
  await client.send(new DeleteCommand({ TableName: 'addresses', Key }));
  now += 5 * 60_000 + 1;
  await date();
  await new Promise((resolve) => setTimeout(resolve, 200));
  expect(await date()).toBe('2021-12-15');
});

it('never fails a lookup when the store is unavailable, and is retried later', async () => {
  const gone = DynamoDBDocumentClient.from(localDynamoDb('http://127.0.0.1:1'));
  const date = createDatasetDate(gone, 'addresses', () => now);
  expect(await date()).toBeUndefined();
});

describe('the find of an address', () => {
  const places = [{ straat: 'Nieuwstraat', woonplaats: 'Weesp' }];
  const stored: StoredAddress[] = [
    { key: '1381AA#1#', places },
    { key: '1381AA#2#', places: [], toevoegingen: ['A', 'B'] },
    { key: '1381AA#2#A', places },
    { key: '1381AA#3#', places, toevoegingen: [null, 'A'] },
    { key: '1381AA#3#A', places },
  ];
  /** The store, and the keys that it reads. */
  function storeOf() {
    const read: string[] = [];
    const send = async ({ input }: GetItemCommand) => {
      const key = input.Key?.[addressesTable.partitionKey]?.S ?? '';
      read.push(key);
      const found = stored.find((address) => address.key === key);
      return { Item: found && addressItem(found) };
    };
    return { read, store: createAddressStore({ send } as unknown as StoreClient, 'addresses') };
  }

  it.each<[number, Toevoeging, boolean, Toevoeging[], string[]]>([
    [1, null, true, [], ['1381AA#1#']],
    [1, 'A', false, [null], ['1381AA#1#A', '1381AA#1#']],
    [2, null, false, ['A', 'B'], ['1381AA#2#']],
    [2, 'a', true, [], ['1381AA#2#A']],
    [2, 'b', false, ['A'], ['1381AA#2#B', '1381AA#2#']],
    [2, 'C', false, ['A', 'B'], ['1381AA#2#C', '1381AA#2#']],
    [3, null, true, [], ['1381AA#3#']],
    [3, 'C', false, [null, 'A'], ['1381AA#3#C', '1381AA#3#']],
    [4, null, false, [], ['1381AA#4#']],
    [4, 'A', false, [], ['1381AA#4#A', '1381AA#4#']],
  ])('with huisnummer %i and toevoeging %p: found %p, other toevoegingen %j, after reading %j', async (...row) => {
    const [huisnummer, toevoeging, isFound, toevoegingen, keys] = row;
    const { store, read } = storeOf();
    const request = { postcode: '1381AA', huisnummer, toevoeging };
    const found = await store.find(request, AbortSignal.timeout(5_000));
    expect(found).toEqual({ places: isFound ? places : [], toevoegingen });
    expect(read).toEqual(keys);
  });
});

describe('a test address', () => {
  it.each<[number, Toevoeging, string[], Toevoeging[]]>([
    [1, null, ['Testdorp'], []],
    [1, 'A', [], [null]],
    [2, null, [], ['A', 'B']],
    [2, 'a', ['Testdorp'], []],
    [2, 'B', ['Testdorp'], []],
    [2, 'C', [], ['A', 'B']],
    [3, null, ['Testdorp', 'Teststad'], []],
    [4, null, [], []],
    [4, 'A', [], []],
  ])(
    '%i with toevoeging %p is in %j, with the toevoegingen %j',
    (huisnummer, toevoeging, woonplaatsen, toevoegingen) => {
      const places = woonplaatsen.map((woonplaats) => ({ straat: 'Teststraat', woonplaats }));
      expect(findTestAddress({ postcode: '9999SD', huisnummer, toevoeging })).toEqual({ places, toevoegingen });
    },
  );

  it('has a postcode of its own', () => {
    expect(findTestAddress({ postcode: '9999SE', huisnummer: 1, toevoeging: null })).toBeNull();
  });
});
