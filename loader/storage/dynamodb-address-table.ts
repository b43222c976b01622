import { BatchGetItemCommand, type DynamoDBClient, GetItemCommand, PutItemCommand } from '@aws-sdk/client-dynamodb';
import type { Place } from '../../lambdas/shared/domain/address-key.ts';
import { addressesTable } from '../../lambdas/shared/tables.ts';
import { keyItem, placesOf } from './address-item.ts';
import type { AddressTable } from './address-table.ts';
import { type BatchWriterOptions, batchWriter } from './batch-writer.ts';
import { dynamoDbLock } from './dynamodb-lock.ts';
import { persistently } from './persistently.ts';

const { partitionKey, datasetKey, datasetDate } = addressesTable;
const datasetLoad = 'load';
const largestBatchGet = 100;

/** The addresses table in DynamoDB. @param options how fast it may be written */
export function dynamoDbAddressTable(
  client: DynamoDBClient,
  table: string,
  options: BatchWriterOptions = {},
): AddressTable {
  return {
    ...batchWriter(client, table, options),
    async read(keys) {
      const found = new Map<string, Place[]>();
      for (let start = 0; start < keys.length; start += largestBatchGet) {
        let wanted = keys.slice(start, start + largestBatchGet);
        await persistently(async () => {
          const Keys = wanted.map(keyItem);
          const { Responses, UnprocessedKeys } = await client.send(
            new BatchGetItemCommand({ RequestItems: { [table]: { Keys, ConsistentRead: true } } }),
          );
          for (const item of Responses?.[table] ?? []) found.set(item[partitionKey]?.S ?? '', placesOf(item));
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
      const date = Item?.[datasetDate]?.S;
      return date === undefined ? null : { date, load: Item?.[datasetLoad]?.S ?? '' };
    },
    async setDataset({ date, load }) {
      const Item = { ...keyItem(datasetKey), [datasetDate]: { S: date }, [datasetLoad]: { S: load } };
      await client.send(new PutItemCommand({ TableName: table, Item }));
    },
    lock: dynamoDbLock(client, table),
  };
}
