import { BatchWriteItemCommand, type DynamoDBClient, type WriteRequest } from '@aws-sdk/client-dynamodb';
import type { Write } from '../dataset/change-file.ts';
import { addressItem, keyItem } from './address-item.ts';
import type { AddressWriter } from './address-table.ts';
import { pacer } from './pacer.ts';
import { persistently } from './persistently.ts';

/** How hard one writer may push the table. */
export type BatchWriterOptions = {
  /** Requests under way at once; 8 keeps one processor busy. */
  concurrency?: number;
  /** No limit when left out. */
  writesPerSecond?: number;
  /** The first pause after a throttled write; a test makes it short. */
  firstPauseMilliseconds?: number;
};

/** DynamoDB's own limit. */
const largestBatch = 25;

/** Writes by BatchWriteItem; what the table did not take is tried again until it does. */
export function batchWriter(
  client: DynamoDBClient,
  table: string,
  { concurrency = 8, writesPerSecond = Number.POSITIVE_INFINITY, firstPauseMilliseconds }: BatchWriterOptions,
): AddressWriter {
  const pace = pacer(writesPerSecond);

  const writeBatch = async (writes: readonly Write[]) => {
    let requests = writes.map(toRequest);
    await persistently(async () => {
      await pace(requests.length);
      const command = new BatchWriteItemCommand({ RequestItems: { [table]: requests } });
      const { UnprocessedItems } = await client.send(command);
      const left = UnprocessedItems?.[table] ?? [];
      const progress = left.length < requests.length;
      requests = left;
      return { done: left.length === 0, progress };
    }, firstPauseMilliseconds);
  };

  return {
    async write(writes, onWritten) {
      let next = 0;
      const work = async () => {
        while (next < writes.length) {
          const batch = writes.slice(next, next + largestBatch);
          next += batch.length;
          await writeBatch(batch);
          onWritten?.(batch.length);
        }
      };
      const workers = Array.from({ length: concurrency }, () =>
        work().catch((error: unknown) => {
          next = writes.length; // the others end with the batch that they have
          throw error;
        }),
      );
      const ended = await Promise.allSettled(workers);
      for (const end of ended) if (end.status === 'rejected') throw end.reason;
    },
  };
}

function toRequest(write: Write): WriteRequest {
  if ('remove' in write) return { DeleteRequest: { Key: keyItem(write.remove) } };
  return { PutRequest: { Item: addressItem(write.put) } };
}
