import { ListTablesCommand } from '@aws-sdk/client-dynamodb';
import { afterEach, describe, expect, it } from '@jest/globals';
import { createTables, startDynamoDb, type TestDynamoDb } from './dynamodb.ts';

let started: TestDynamoDb[] = [];

afterEach(async () => {
  for (const { stop } of started) await stop();
  started = [];
});

async function start(): Promise<TestDynamoDb> {
  const engine = await startDynamoDb();
  started.push(engine);
  return engine;
}

const tablesOf = async ({ client }: TestDynamoDb) => (await client.send(new ListTablesCommand())).TableNames;
const names = { addresses: 'addresses', accounts: 'accounts' };

describe('the engine of a test file', () => {
  it('is that of the worker, without the tables that the test file before left', async () => {
    const before = await start();
    await createTables(before.client, names);
    await before.stop();
    const engine = await start();
    expect(engine.endpoint).toBe(before.endpoint);
    expect(await tablesOf(engine)).toEqual([]);
  });

  it('is a new one while that of the worker is in use', async () => {
    const first = await start();
    await createTables(first.client, names);
    const second = await start();
    expect(second.endpoint).not.toBe(first.endpoint);
    expect(await tablesOf(second)).toEqual([]);
    expect(await tablesOf(first)).toHaveLength(2);
  });
});
