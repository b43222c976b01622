import { DeleteCommand, DynamoDBDocumentClient, PutCommand } from '@aws-sdk/lib-dynamodb';
import { beforeAll, beforeEach, expect, it } from '@jest/globals';
import { createDatasetDate } from '../../../core/addresses/address-store.ts';
import { addressesTable } from '../../../core/tables.ts';
import { localDynamoDb } from '../../../local/engine/client.ts';
import { createTables, startDynamoDb } from '../../support/dynamodb.ts';
import { startForTests } from '../../support/start-for-tests.ts';

const engine = startForTests(startDynamoDb);
let client: DynamoDBDocumentClient;
let asked = 0;
let now = 0;

beforeAll(async () => {
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

it('the date of the dataset is unknown before the first load, and known to the next lookup after it', async () => {
  const date = createDatasetDate(client, 'addresses', () => now);
  expect(await date()).toBeUndefined();
  await publish('2021-10-15');
  now += 1000;
  expect(await date()).toBeUndefined();
  now += 1;
  expect(await date()).toBe('2021-10-15');
});

it('the date of the dataset is read once in five minutes, and then refreshed without delaying a lookup', async () => {
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

it('the date of the dataset is read when the instance starts, before its first lookup', async () => {
  createDatasetDate(client, 'addresses', () => now);
  expect(asked).toBe(1);
});

it('the date of the dataset keeps its value when the table no longer has one, as during a repair', async () => {
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

it('reading the date of the dataset never fails a lookup, and is retried when the store was unavailable', async () => {
  const gone = DynamoDBDocumentClient.from(localDynamoDb('http://127.0.0.1:1'));
  const date = createDatasetDate(gone, 'addresses', () => now);
  expect(await date()).toBeUndefined();
});
