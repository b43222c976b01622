import { mkdtempSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { ScanCommand } from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { loadDemo } from './demo-addresses.ts';
import { createAddressesTable, startDynamoDb, type TestDynamoDb } from './dynamodb.ts';
import { folderForNow } from './folder-for-now.ts';

const folder = folderForNow('demo-addresses-');
let engine: TestDynamoDb;

beforeAll(async () => {
  process.env.TEST_RUN_FOLDER = folder;
  engine = await startDynamoDb();
});
afterAll(() => engine.stop());

/** The items of a new table with the demo, by key, and the folder for the working files of its load. */
async function demoIn(table: string) {
  const files = mkdtempSync(join(folder, 'files-'));
  await createAddressesTable(engine.client, table);
  await loadDemo(engine.client, table, files);
  const { Items = [] } = await engine.client.send(new ScanCommand({ TableName: table }));
  return { items: new Map(Items.map((item) => [item.address?.S, item])), files: readdirSync(files) };
}

describe('the demo in a table of a test file', () => {
  it('is loaded for the first one of a run, and has the same items in the others, without the loader', async () => {
    const loaded = await demoIn('loaded');
    expect(loaded.items.size).toBeGreaterThan(40);
    expect(loaded.files).toContain('storage');
    expect(await demoIn('copied')).toEqual({ items: loaded.items, files: [] });
  });
});
