import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { deserialize, serialize } from 'node:v8';
import {
  type AttributeValue,
  BatchWriteItemCommand,
  type DynamoDBClient,
  ScanCommand,
} from '@aws-sdk/client-dynamodb';
import { noProgress } from '../../loader/steps/step.ts';
import { exampleExtract } from './example-extract.ts';

type Item = Record<string, AttributeValue>;

/** As many as DynamoDB takes in one call. */
const batchItems = 25;

/**
 * Loads the example extract into a table, with its working files in `folder`. Only the first test
 * file of a run loads it; the others put the items that its load left in a table of their own,
 * without the loader.
 */
export async function loadDemo(
  client: DynamoDBClient,
  table: string,
  folder: string,
): Promise<void> {
  const { TEST_RUN_FOLDER: shared } = process.env;
  const file = shared && join(shared, 'demo-addresses');
  if (file && existsSync(file)) {
    await putItems(client, table, deserialize(readFileSync(file)));
    return;
  }
  const { loadExtract } = await import('../../local/dataset.ts');
  const extract = join(folder, 'example.zip');
  await writeFile(extract, await exampleExtract());
  await loadExtract({
    client,
    table,
    storageFolder: join(folder, 'storage'),
    demoFile: join(folder, 'demo.zip'),
    extract,
    progress: noProgress,
    announce: () => undefined,
  });
  if (!file) return; // Outside of Jest.
  const { Items = [] } = await client.send(new ScanCommand({ TableName: table }));
  writeFileSync(`${file}.${process.pid}`, serialize(Items));
  renameSync(`${file}.${process.pid}`, file); // another test file may be about to read it
}

async function putItems(client: DynamoDBClient, table: string, items: Item[]): Promise<void> {
  for (let first = 0; first < items.length; first += batchItems) {
    const puts = items.slice(first, first + batchItems).map((Item) => ({ PutRequest: { Item } }));
    await client.send(new BatchWriteItemCommand({ RequestItems: { [table]: puts } }));
  }
}
