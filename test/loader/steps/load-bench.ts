import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BatchWriteItemCommand, type DynamoDBClient, paginateScan, ScanCommand } from '@aws-sdk/client-dynamodb';
import { addressItem, storedAddress, type Toevoeging } from '../../../core/addresses/address-item.ts';
import type { Place } from '../../../core/place-fields.ts';
import { type Line, parseLine } from '../../../loader/addresses/lines.ts';
import { s3Storage } from '../../../loader/storage/s3.ts';
import type { Storage } from '../../../loader/storage/storage.ts';
import { createAddressesTable, startDynamoDb } from '../../support/dynamodb.ts';
import { MemoryS3 } from '../../support/memory-s3.ts';
import { sendPlainly } from '../../support/plain-client.ts';
import { type Packing, writeExtract } from '../../support/write-extract.ts';
import { type Month, voorkomensOf } from './months.ts';

/**
 * A table, and a bucket in memory for the storage that belongs to it: quicker than a folder for what takes many loads.
 */
export type LoadPlace = { table: string; bucket: string };

/** A running engine and a folder, for the loads of one test file. */
export type LoadBench = {
  readonly client: DynamoDBClient;
  /** A new empty table. */
  newTable(): Promise<string>;
  /** A new empty folder. */
  newFolder(): string;
  /** A new empty table and bucket. */
  newPlace(): Promise<LoadPlace>;
  /** A new table and bucket that hold what these do. */
  copyPlace(place: LoadPlace): Promise<LoadPlace>;
  storageIn(bucket: string): Storage;
  /** A new table that holds what this one does. */
  copyTable(table: string): Promise<string>;
  /** Every address in the table, without what the loader keeps there for itself. */
  addressesIn(table: string): Promise<Map<string, Place[]>>;
  /** Puts lines of a snapshot into the table, past the loader. */
  putLines(table: string, lines: readonly Line[]): Promise<void>;
  /** Every list of toevoegingen in the table, by the key that it lies under. */
  listsIn(table: string): Promise<Map<string, Toevoeging[]>>;
  /** The path of a month's extract. */
  extractOf(month: Month, packing?: Packing): Promise<string>;
  stop(): Promise<void>;
};

/** Starts the engine; `stop` in `afterAll`. */
export async function startLoadBench(): Promise<LoadBench> {
  const { client, endpoint, stop } = await startDynamoDb();
  sendPlainly(client, endpoint);
  // A folder in memory where there is one: a sweep makes some ten thousand files.
  const root = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'bag-adres-load-'));
  const buckets = new MemoryS3();
  const s3 = buckets.newClient();
  let made = 0;
  const newTable = async () => {
    const table = `addresses-${made++}`;
    await createAddressesTable(client, table);
    return table;
  };
  const copyTable = async (from: string) => {
    const { Items = [] } = await client.send(new ScanCommand({ TableName: from, ConsistentRead: true }));
    const table = await newTable();
    const puts = Items.map((Item) => ({ PutRequest: { Item } }));
    await client.send(new BatchWriteItemCommand({ RequestItems: { [table]: puts } }));
    return table;
  };
  async function* itemsIn(table: string) {
    for await (const { Items = [] } of paginateScan({ client }, { TableName: table, ConsistentRead: true })) {
      yield* Items.map(storedAddress);
    }
  }
  return {
    client,
    newTable,
    copyTable,
    async newPlace() {
      const bucket = `bucket-${made++}`;
      buckets.createBucket(bucket);
      return { table: await newTable(), bucket };
    },
    async copyPlace(from) {
      const bucket = `bucket-${made++}`;
      buckets.copyBucket(from.bucket, bucket);
      return { table: await copyTable(from.table), bucket };
    },
    storageIn: (bucket) => s3Storage(s3, bucket),
    newFolder: () => mkdtempSync(join(root, 'storage-')),
    async addressesIn(table) {
      const found = new Map<string, Place[]>();
      for await (const { key, places } of itemsIn(table)) if (places.length > 0) found.set(key, places);
      return found;
    },
    async listsIn(table) {
      const found = new Map<string, Toevoeging[]>();
      for await (const { key, toevoegingen } of itemsIn(table)) if (toevoegingen) found.set(key, toevoegingen);
      return found;
    },
    async putLines(table, lines) {
      const puts = lines.map((line) => ({ PutRequest: { Item: addressItem(parseLine(line)) } }));
      await client.send(new BatchWriteItemCommand({ RequestItems: { [table]: puts } }));
    },
    async extractOf(month, packing = {}) {
      const file = join(root, `${month.peildatum}-${made++}.zip`);
      await writeFile(file, await writeExtract(month.peildatum, voorkomensOf(month), packing));
      return file;
    },
    async stop() {
      await stop();
      rmSync(root, { recursive: true });
    },
  };
}
