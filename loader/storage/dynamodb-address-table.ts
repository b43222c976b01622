import { setTimeout as sleep } from 'node:timers/promises';
import {
  BatchGetItemCommand,
  BatchWriteItemCommand,
  type DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
  paginateScan,
  type WriteRequest,
} from '@aws-sdk/client-dynamodb';
import {
  addressItem,
  keyItem,
  type StoredAddress,
  storedAddress,
} from '../../lambdas/shared/addresses/address-item.ts';
import { isAddressKey } from '../../lambdas/shared/addresses/address-key.ts';
import { addressesTable } from '../../lambdas/shared/tables.ts';
import type { Write } from '../dataset/changes.ts';
import { type Line, lineOf, parseLine } from '../dataset/lines.ts';
import type { AddressTable, AddressWriter } from './address-table.ts';
import { dynamoDbLock } from './lock.ts';

/** Resolves when so many more units may go out, at most `perSecond` on average and a second's worth at once. */
export function pacer(perSecond: number): (units: number) => Promise<void> {
  if (perSecond === Number.POSITIVE_INFINITY) return async () => undefined;
  let freeAt = performance.now() - 1000;
  return async (units) => {
    const now = performance.now();
    const goAt = Math.max(freeAt, now - 1000);
    freeAt = goAt + (units / perSecond) * 1000;
    if (freeAt > now) await sleep(freeAt - now);
  };
}

const attemptsWithoutProgress = 10;
const firstPauseMilliseconds = 50;
const longestPauseMilliseconds = 10_000;

/** What a table says when it is asked for too much at once, or is unwell for a moment. */
const passing = new Set([
  'InternalServerError',
  'LimitExceededException',
  'ProvisionedThroughputExceededException',
  'RequestLimitExceeded',
  'RequestTimeout',
  'ServiceUnavailable',
  'ThrottlingException',
  'TimeoutError',
]);

/**
 * Does `attempt` until it is done, with growing pauses full of jitter while it gets no further. What won't pass is
 * thrown at once; what should have passed is thrown after ten attempts in a row without progress (about 40 seconds).
 */
export async function persistently(
  attempt: () => Promise<{ done: boolean; progress: boolean }>,
  pause = firstPauseMilliseconds,
): Promise<void> {
  for (let failed = 0; ; ) {
    let trouble: unknown;
    try {
      const { done, progress } = await attempt();
      if (done) return;
      if (progress) failed = 0;
    } catch (error) {
      if (!mayPass(error)) throw error;
      trouble = error;
    }
    failed++;
    if (failed >= attemptsWithoutProgress) {
      throw trouble ?? new Error('The addresses table takes no more writes. Run the load again: it goes on from here.');
    }
    await sleep(Math.random() * Math.min(longestPauseMilliseconds, pause * 2 ** failed));
  }
}

function mayPass(error: unknown): boolean {
  const { name, code, $metadata } = error as Error & { code?: string; $metadata?: { httpStatusCode?: number } };
  if (passing.has(name) || ($metadata?.httpStatusCode ?? 0) >= 500) return true;
  return code === 'ECONNRESET' || code === 'EPIPE' || code === 'ETIMEDOUT';
}

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
  return { PutRequest: { Item: addressItem(parseLine(write.put)) } };
}

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
      const found = new Map<string, StoredAddress>();
      for (let start = 0; start < keys.length; start += largestBatchGet) {
        let wanted = keys.slice(start, start + largestBatchGet);
        await persistently(async () => {
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
    async setDataset({ peildatum, load }) {
      const Item = { ...keyItem(datasetKey), [datasetDate]: { S: peildatum }, [datasetLoad]: { S: load } };
      await client.send(new PutItemCommand({ TableName: table, Item }));
    },
    lock: dynamoDbLock(client, table),
  };
}

/**
 * The line of every address and list in the table, page by page (1 MB, 128 read units), in no order; places stand as the
 * table has them. It need not see the writes of this very second: what is found to differ is written as it has to be.
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
