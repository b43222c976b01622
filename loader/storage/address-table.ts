import {
  BatchGetItemCommand,
  type DynamoDBClient,
  GetItemCommand,
  paginateScan,
  ScanCommand,
} from '@aws-sdk/client-dynamodb';
import { keyItem, type StoredAddress, storedAddress } from '../../core/addresses/address-item.ts';
import { isAddressKey } from '../../core/addresses/address-key.ts';
import { addressesTable } from '../../core/tables.ts';
import { type Line, lineOf } from '../addresses/lines.ts';
import {
  type AddressWriter,
  type AddressWriterOptions,
  addressWriter,
  pacer,
  retryWhileThrottled,
  sendTransaction,
} from './address-writer.ts';
import type { Fence } from './lease.ts';
import { dynamoDbLock, type LoadLock } from './lock.ts';

/** Which snapshot the table holds: its date, and the load that published it. */
export type Dataset = { peildatum: string; load: string };

/** Fills a table faster than single writes could. */
export type BulkImport = {
  /** Whether a bulk import is faster for this size. @throws if it is faster, but impossible */
  takesOn(size: ImportSize): Promise<boolean>;
  /**
   * Resolves when the table holds these lines, in order of their keys, and nothing else. Repeated whole if interrupted.
   */
  run(lines: AsyncIterable<readonly Line[]>, size: ImportSize): Promise<void>;
};

/** The number of lines, and the number of single writes that would have the same result. */
export type ImportSize = { lines: number; writes: number };

/** The table that lookups read, as a load sees it. */
export interface AddressTable extends AddressWriter {
  /** The current items under these keys, strongly consistent; the map omits keys without an item. */
  read(keys: readonly string[]): Promise<Map<string, StoredAddress>>;
  dataset(): Promise<Dataset | null>;
  hasAddresses(): Promise<boolean>;
  /** @throws LockedError */
  setDataset(dataset: Dataset, fence: Fence): Promise<void>;
  readonly lock: LoadLock;
}

const { partitionKey, datasetKey, datasetDate } = addressesTable;
const datasetLoad = 'load';
const largestBatchGet = 100;

/** The addresses table in DynamoDB. @param options how fast it may be written */
export function dynamoDbAddressTable(
  client: DynamoDBClient,
  table: string,
  options: AddressWriterOptions = {},
): AddressTable {
  // It copies each request and response for a logger that these clients don't have: half of the SDK's time for a batch.
  client.middlewareStack.remove('loggerMiddleware');
  return {
    ...addressWriter(client, table, options),
    async read(keys) {
      const found = new Map<string, StoredAddress>();
      for (let start = 0; start < keys.length; start += largestBatchGet) {
        let wanted = keys.slice(start, start + largestBatchGet);
        await retryWhileThrottled(async () => {
          const Keys = wanted.map(keyItem);
          const { Responses, UnprocessedKeys } = await client.send(
            new BatchGetItemCommand({ RequestItems: { [table]: { Keys, ConsistentRead: true } } }),
          );
          for (const address of (Responses?.[table] ?? []).map(storedAddress)) found.set(address.key, address);
          const before = wanted.length;
          wanted = (UnprocessedKeys?.[table]?.Keys ?? []).map((key) => key[partitionKey]?.S ?? '');
          return { done: wanted.length === 0, progress: wanted.length < before };
        });
      }
      return found;
    },
    async dataset() {
      const { Item } = await client.send(
        new GetItemCommand({ TableName: table, Key: keyItem(datasetKey), ConsistentRead: true }),
      );
      const peildatum = Item?.[datasetDate]?.S;
      return peildatum === undefined ? null : { peildatum, load: Item?.[datasetLoad]?.S ?? '' };
    },
    async hasAddresses() {
      // The table's only other items are the lock and the dataset.
      const { Items = [] } = await client.send(new ScanCommand({ TableName: table, Limit: 3, ConsistentRead: true }));
      return Items.some((item) => isAddressKey(item[partitionKey]?.S ?? ''));
    },
    async setDataset({ peildatum, load }, fence) {
      const Item = { ...keyItem(datasetKey), [datasetDate]: { S: peildatum }, [datasetLoad]: { S: load } };
      await fence.confirm();
      await sendTransaction(client, table, fence, [{ Put: { TableName: table, Item } }]);
    },
    lock: dynamoDbLock(client, table),
  };
}

/**
 * The line of every address and list in the table, page by page (1 MB, 128 read units), in no particular order; the
 * places of an address are in the order of the table. Reads are eventually consistent: a line that seems to differ
 * because of a very recent write is written again as it should be.
 */
export async function* scanAddresses(
  client: DynamoDBClient,
  table: string,
  pagesPerSecond = Number.POSITIVE_INFINITY,
): AsyncGenerator<Line[]> {
  const pace = pacer(pagesPerSecond);
  for await (const { Items = [] } of paginateScan({ client }, { TableName: table })) {
    yield Items.map(storedAddress).flatMap((address) => (isAddressKey(address.key) ? [lineOf(address)] : []));
    await pace(1);
  }
}
