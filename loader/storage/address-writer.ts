import { setTimeout as sleep } from 'node:timers/promises';
import {
  BatchWriteItemCommand,
  type DynamoDBClient,
  TransactionCanceledException,
  type TransactWriteItem,
  TransactWriteItemsCommand,
  type WriteRequest,
} from '@aws-sdk/client-dynamodb';
import { addressItem, keyItem } from '../../core/addresses/address-item.ts';
import { forEachConcurrently } from '../../core/concurrency.ts';
import { retryWithBackoff } from '../../core/retry.ts';
import { type LineWrite, parseLine } from '../addresses/lines.ts';
import type { Fence } from './lease.ts';
import { heldCondition, LockedError } from './lock.ts';

/** Writes differences. Every write replaces or removes the whole item, so repeating it changes nothing. */
export type AddressWriter = {
  /** `onWritten` gets the number of each batch. @throws LockedError, once another load may have taken the lock */
  write(writes: readonly LineWrite[], fence: Fence, onWritten?: (count: number) => void): Promise<void>;
};

/** Resolves when so many more units may be sent: at most `perSecond` on average, with bursts of one second's worth. */
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

/** The errors of a table that is throttled or has a transient fault. */
const transientErrors = new Set([
  'InternalServerError',
  'LimitExceededException',
  'ProvisionedThroughputExceededException',
  'RequestLimitExceeded',
  'RequestTimeout',
  'ServiceUnavailable',
  'ThrottlingException',
  'TimeoutError',
  'TransactionConflict',
]);

/** The table throttles or fails for longer than a load waits. */
export class NoMoreWritesError extends Error {
  override readonly name = 'NoMoreWritesError';

  constructor() {
    super('The addresses table accepts no more writes. Run the load again: it continues where it stopped.');
  }
}

/**
 * Repeats `attempt` until it is done. @throws errors that a retry can't fix, and any error after ten attempts without
 * progress
 */
export async function retryWhileThrottled(
  attempt: () => Promise<{ done: boolean; progress: boolean }>,
  firstPauseMilliseconds = 100,
): Promise<void> {
  await retryWithBackoff(
    async (backoff) => {
      const { done, progress } = await attempt();
      if (progress) backoff.reset();
      if (!done) throw new NoMoreWritesError();
    },
    { attempts: 10, firstPauseMilliseconds, longestPauseMilliseconds: 10_000, retryIf: isTransient },
  );
}

function isTransient(error: unknown): boolean {
  if (error instanceof NoMoreWritesError) return true;
  const { name, code, $metadata } = error as Error & { code?: string; $metadata?: { httpStatusCode?: number } };
  if (transientErrors.has(name) || ($metadata?.httpStatusCode ?? 0) >= 500) return true;
  if (error instanceof TransactionCanceledException) {
    return (error.CancellationReasons ?? []).every(({ Code = 'None' }) => Code === 'None' || transientErrors.has(Code));
  }
  return code === 'ECONNRESET' || code === 'EPIPE' || code === 'ETIMEDOUT';
}

/** How fast one writer may write, and how its writes are fenced. */
export type AddressWriterOptions = {
  /** Requests in flight at once; 8 keep one processor busy. */
  concurrency?: number;
  /** Unlimited if absent. */
  writesPerSecond?: number;
  /** In transactions on the lock: for a local table. Else the remaining time of the lock fences (decision 0114). */
  transactions?: boolean;
  /** The first pause after a throttled write; tests shorten it. */
  firstPauseMilliseconds?: number;
};

/** DynamoDB allows 25 writes a batch, and 100 items a transaction, including the lock. */
const largestBatch = 25;
const largestTransaction = 99;
/** The engine on this machine runs one transaction at a time: the next one is prepared meanwhile. */
const transactionsAtOnce = 2;

/** Writes in batches, and retries unprocessed items until the table has accepted them. */
export function addressWriter(
  client: DynamoDBClient,
  table: string,
  {
    transactions = false,
    concurrency = transactions ? transactionsAtOnce : 8,
    writesPerSecond = Number.POSITIVE_INFINITY,
    firstPauseMilliseconds,
  }: AddressWriterOptions,
): AddressWriter {
  const pace = pacer(writesPerSecond);

  const sendBatch = async (requests: WriteRequest[], fence: Fence): Promise<WriteRequest[]> => {
    const command = new BatchWriteItemCommand({ RequestItems: { [table]: requests } });
    const { UnprocessedItems } = await client.send(fenced(command, fence), { abortSignal: fence.signal });
    return UnprocessedItems?.[table] ?? [];
  };
  const sendAll = async (requests: WriteRequest[], fence: Fence): Promise<WriteRequest[]> => {
    await sendTransaction(
      client,
      table,
      fence,
      requests.map((request) => transactItem(table, request)),
    );
    return [];
  };
  const send = transactions ? sendAll : sendBatch;
  const largest = transactions ? largestTransaction : largestBatch;

  const writeBatch = async (writes: readonly LineWrite[], fence: Fence) => {
    let requests = writes.map(toRequest);
    await retryWhileThrottled(async () => {
      await pace(requests.length);
      const left = await underFence(fence, () => send(requests, fence));
      const progress = left.length < requests.length;
      requests = left;
      return { done: left.length === 0, progress };
    }, firstPauseMilliseconds);
  };

  return {
    async write(writes, fence, onWritten) {
      await forEachConcurrently(batchesOf(writes, largest), concurrency, async (batch) => {
        await writeBatch(batch, fence);
        onWritten?.(batch.length);
      });
    },
  };
}

/** Sends under a confirmed lock; again if suspended in between and still holding it. @throws LockedError */
async function underFence<T>(fence: Fence, send: () => Promise<T>): Promise<T> {
  await fence.confirm();
  try {
    return await send();
  } catch (error) {
    if (!(error instanceof LockedError)) throw error;
    await fence.confirm(0);
    return send();
  }
}

/** Writes all items or none, and only under the lock. @throws LockedError */
export async function sendTransaction(
  client: DynamoDBClient,
  table: string,
  fence: Fence,
  writes: TransactWriteItem[],
): Promise<void> {
  const TransactItems = [{ ConditionCheck: heldCondition(table, fence.held) }, ...writes];
  try {
    await client.send(fenced(new TransactWriteItemsCommand({ TransactItems }), fence), { abortSignal: fence.signal });
  } catch (error) {
    const [lock] = (error as TransactionCanceledException).CancellationReasons ?? [];
    throw lock?.Code === 'ConditionalCheckFailed' ? new LockedError(null) : error;
  }
}

/** Checks the lock right before each attempt is sent, after it was signed: so no signature is newer than the check. */
function fenced<Command extends BatchWriteItemCommand | TransactWriteItemsCommand>(
  command: Command,
  fence: Fence,
): Command {
  (command as BatchWriteItemCommand).middlewareStack.add(
    (next) => async (args) => {
      fence.assertHeld();
      return next(args);
    },
    { step: 'deserialize', priority: 'low', name: 'fence' },
  );
  return command;
}

function* batchesOf<T>(items: readonly T[], size: number): Generator<T[]> {
  for (let start = 0; start < items.length; start += size) yield items.slice(start, start + size);
}

function toRequest(write: LineWrite): WriteRequest {
  if ('remove' in write) return { DeleteRequest: { Key: keyItem(write.remove) } };
  return { PutRequest: { Item: addressItem(parseLine(write.put)) } };
}

function transactItem(TableName: string, { PutRequest, DeleteRequest }: WriteRequest): TransactWriteItem {
  if (DeleteRequest) return { Delete: { TableName, Key: DeleteRequest.Key } };
  return { Put: { TableName, Item: PutRequest?.Item } };
}
