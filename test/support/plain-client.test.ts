import {
  DynamoDBDocumentClient,
  GetCommand,
  PutCommand,
  TransactWriteCommand,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createTables, startDynamoDb, type TestDynamoDb, testDynamoDb } from './dynamodb.ts';
import { sendPlainly } from './plain-client.ts';

let engine: TestDynamoDb;
let clients: DynamoDBDocumentClient[];

beforeAll(async () => {
  engine = await startDynamoDb();
  await createTables(engine.client, { addresses: 'addresses', accounts: 'accounts' });
  const plain = testDynamoDb(engine.endpoint);
  sendPlainly(plain, engine.endpoint);
  clients = [engine.client, plain].map((client) => DynamoDBDocumentClient.from(client));
});
afterAll(async () => {
  clients[1]?.destroy();
  await engine.stop();
});

const Key = { account: 'a', item: 'b' };
const Item = {
  ...Key,
  n: 1.5,
  none: null,
  bytes: new Uint8Array([0, 255, 7]),
  list: [{ B: 'text' }],
  map: { B: [true] },
};
const update = {
  TableName: 'accounts',
  Key,
  UpdateExpression: 'SET n = :n',
  ConditionExpression: 'n > :n',
  ExpressionAttributeValues: { ':n': 2 },
  ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
} as const;

/** What a call returns or throws, without its metadata. */
async function outcomeOf(call: Promise<object>): Promise<object> {
  try {
    return { ...(await call), $metadata: null };
  } catch (error) {
    const thrown = error as Error;
    return { ...thrown, name: thrown.name, message: thrown.message, class: thrown.constructor, $metadata: null };
  }
}

describe('a client of the tests that sends plainly', () => {
  it.each<[string, (client: DynamoDBDocumentClient) => Promise<object>]>([
    ['an item', (client) => client.send(new GetCommand({ TableName: 'accounts', Key }))],
    ['a failed condition', (client) => client.send(new UpdateCommand(update))],
    [
      'a cancelled transaction',
      (client) => client.send(new TransactWriteCommand({ TransactItems: [{ Update: update }] })),
    ],
    ['an invalid expression', (client) => client.send(new UpdateCommand({ ...update, UpdateExpression: 'SET' }))],
    ['a missing table', (client) => client.send(new GetCommand({ TableName: 'nothing', Key }))],
    ['an aborted call', (client) => client.send(new UpdateCommand(update), { abortSignal: AbortSignal.abort() })],
  ])("gets %s as the SDK's client does", async (_, call) => {
    for (const client of clients) await client.send(new PutCommand({ TableName: 'accounts', Item }));
    const [whole, plain] = await Promise.all(clients.map((client) => outcomeOf(call(client))));
    expect(plain).toEqual(whole);
  });
});
