import { mkdir, open, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  DescribeTableCommand,
  type DynamoDBClient,
  GetItemCommand,
  ListTablesCommand,
  ScanCommand,
} from '@aws-sdk/client-dynamodb';
import { type AddressItem, addressItem, keyItem } from '../../core/addresses/address-item.ts';
import { addressesTable } from '../../core/names.ts';
import { keyOf, type Line, parseLine } from '../../loader/dataset/lines.ts';
import { lockKey } from '../../loader/storage/lock.ts';

/** Files in the layout of a DynamoDB export to S3: `TABLE/data/NAME.json`, with one item per line. */
export type ExportFiles = {
  /** Created on the first write. */
  readonly folder: string;
  /** Items and bytes written so far. */
  items: number;
  bytes: number;
};

const linesPerChunk = 10_000;

/** Exports the addresses, one file per group of lines; `onLines` is called with the number of lines just written. */
export async function exportLines(
  files: ExportFiles,
  table: string,
  groups: AsyncIterable<readonly Line[]>,
  onLines: (count: number) => void,
): Promise<void> {
  const folder = await tableFolder(files, table);
  let group = 0;
  for await (const lines of groups) {
    const file = await open(join(folder, `${String(group++).padStart(6, '0')}.json`), 'w');
    try {
      for (let start = 0; start < lines.length; start += linesPerChunk) {
        const some = lines.slice(start, start + linesPerChunk);
        const bytes = Buffer.from(linesText(some));
        await file.writeFile(bytes);
        files.items += some.length;
        files.bytes += bytes.length;
        onLines(some.length);
      }
    } finally {
      await file.close();
    }
  }
}

/**
 * Exports everything but the addresses: every other table, and the dataset and lock items of the addresses table.
 * Returns the descriptions of all tables, from `DescribeTable`.
 */
export async function exportRest(files: ExportFiles, client: DynamoDBClient, addresses: string): Promise<object[]> {
  const { TableNames = [] } = await client.send(new ListTablesCommand());
  const tables: object[] = [];
  for (const TableName of TableNames) {
    const { Table } = await client.send(new DescribeTableCommand({ TableName }));
    tables.push({ Table });
    const folder = await tableFolder(files, TableName);
    let page = 0;
    for await (const items of TableName === addresses ? metadataItems(client, addresses) : pages(client, TableName)) {
      const text = items.map((item) => `${JSON.stringify({ Item: item }, binaryAsText)}\n`).join('');
      await writeFile(join(folder, `rest-${String(page++).padStart(6, '0')}.json`), text);
      files.items += items.length;
    }
  }
  return tables;
}

/** The folder of a table's files. */
export async function tableFolder({ folder }: ExportFiles, table: string): Promise<string> {
  const data = join(folder, table, 'data');
  await mkdir(data, { recursive: true });
  return data;
}

/** Successive lines mostly share a street, whose JSON is then reused. The rest of an item is never empty. */
function linesText(lines: readonly Line[]): string {
  let names = '';
  let json = '';
  let text = '';
  for (const line of lines) {
    const key = keyOf(line);
    if (line.slice(key.length) !== names) {
      names = line.slice(key.length);
      const { [addressesTable.partitionKey]: _, ...rest } = addressItem(parseLine(line));
      json = JSON.stringify(rest).slice(1, -1);
    }
    text += `{"Item":{"${addressesTable.partitionKey}":{"S":${JSON.stringify(key)}},${json}}}\n`;
  }
  return text;
}

async function* metadataItems(client: DynamoDBClient, TableName: string): AsyncGenerator<AddressItem[]> {
  for (const key of [addressesTable.datasetKey, lockKey]) {
    const { Item } = await client.send(new GetItemCommand({ TableName, Key: keyItem(key), ConsistentRead: true }));
    yield Item ? [Item] : [];
  }
}

/** An empty table yields one empty page: the import skips a table that has no file. */
async function* pages(client: DynamoDBClient, TableName: string): AsyncGenerator<AddressItem[]> {
  let ExclusiveStartKey: AddressItem | undefined;
  do {
    const page = await client.send(new ScanCommand({ TableName, ExclusiveStartKey, ConsistentRead: true }));
    yield page.Items ?? [];
    ExclusiveStartKey = page.LastEvaluatedKey;
  } while (ExclusiveStartKey !== undefined);
}

const binaryAsText = (_name: string, value: unknown) =>
  value instanceof Uint8Array ? Buffer.from(value).toString('base64') : value;
