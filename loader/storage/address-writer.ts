import { setTimeout as sleep } from 'node:timers/promises';
import {
  BatchWriteItemCommand,
  type DynamoDBClient,
  TransactionCanceledException,
  type TransactWriteItem,
  TransactWriteItemsCommand,
  type WriteRequest,
} from '@aws-sdk/client-dynamodb';
import { addressItem, keyItem } from '../../lambdas/shared/addresses/address-item.ts';
import type { Write } from '../dataset/changes.ts';
import { parseLine } from '../dataset/lines.ts';
import { Backoff } from '../retry.ts';
import { type AddressWriter, type Fence, LockedError } from './address-table.ts';
import { heldCondition } from './lock.ts';

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

/** What a table answers when it gets too much at once, or has a fault of its own for a moment. */
const passing = new Set([
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

const backoff = { attempts: 10, firstPauseMilliseconds: 100, longestPauseMilliseconds: 10_000 };

/**
 * Repeats `attempt` until it is done. What won't pass is thrown at once; what should have passed is thrown after ten
 * attempts in a row without progress (about 40 seconds).
 */
export async function retryWhileThrottled(
  attempt: () => Promise<{ done: boolean; progress: boolean }>,
  firstPauseMilliseconds = backoff.firstPauseMilliseconds,
): Promise<void> {
  const waiting = new Backoff({ ...backoff, firstPauseMilliseconds });
  for (;;) {
    let trouble: unknown = new Error(
      'The addresses table accepts no more writes. Run the load again: it goes on where it stopped.',
    );
    try {
      const { done, progress } = await attempt();
      if (done) return;
      if (progress) waiting.reset();
    } catch (error) {
      if (!mayPass(error)) throw error;
      trouble = error;
    }
    await waiting.pause(trouble);
  }
}

function mayPass(error: unknown): boolean {
  const { name, code, $metadata } = error as Error & { code?: string; $metadata?: { httpStatusCode?: number } };
  if (passing.has(name) || ($metadata?.httpStatusCode ?? 0) >= 500) return true;
  if (error instanceof TransactionCanceledException) {
    return (error.CancellationReasons ?? []).every(({ Code = 'None' }) => Code === 'None' || passing.has(Code));
  }
  return code === 'ECONNRESET' || code === 'EPIPE' || code === 'ETIMEDOUT';
}

/** How hard one writer may push the table, and how its writes are fenced. */
export type AddressWriterOptions = {
  /** Requests under way at once; 8 keep one processor busy. */
  concurrency?: number;
  /** No limit when left out. */
  writesPerSecond?: number;
  /**
   * Writes in transactions that are conditioned on the lock: for a table on this machine, where they cost nothing more and
   * no signature ends. Left out, a write is fenced by the time that is left (decision 0130).
   */
  transactions?: boolean;
  /** The first pause after a throttled write; a test makes it short. */
  firstPauseMilliseconds?: number;
};

/** DynamoDB's own limits; of a transaction, one item is the lock. */
const largestBatch = 25;
const largestTransaction = 99;
/** An engine on this machine does one transaction at a time: one is made while it does the other. */
const transactionsAtOnce = 2;

/** Writes in batches; what the table did not take is tried again until it does. */
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
  const most = transactions ? largestTransaction : largestBatch;

  const writeSome = async (writes: readonly Write[], fence: Fence) => {
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
      let next = 0;
      const work = async () => {
        while (next < writes.length) {
          const some = writes.slice(next, next + most);
          next += some.length;
          await writeSome(some, fence);
          onWritten?.(some.length);
        }
      };
      const workers = Array.from({ length: concurrency }, () =>
        work().catch((error: unknown) => {
          next = writes.length; // the others end with what they have begun
          throw error;
        }),
      );
      const ended = await Promise.allSettled(workers);
      for (const end of ended) if (end.status === 'rejected') throw end.reason;
    },
  };
}

/**
 * Sends under a confirmed lock. A process that slept just then wakes up to a lease that is too old: it asks once more, as
 * nobody need have taken the lock meanwhile.
 * @throws LockedError
 */
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

/** Writes all of it or nothing, and only under the lock. @throws LockedError */
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

/**
 * Checks the lock as the last thing before each attempt of the command leaves: after it was signed, so that one which was
 * held up on the way has a signature from before this check.
 */
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

function toRequest(write: Write): WriteRequest {
  if ('remove' in write) return { DeleteRequest: { Key: keyItem(write.remove) } };
  return { PutRequest: { Item: addressItem(parseLine(write.put)) } };
}

function transactItem(TableName: string, { PutRequest, DeleteRequest }: WriteRequest): TransactWriteItem {
  if (DeleteRequest) return { Delete: { TableName, Key: DeleteRequest.Key } };
  return { Put: { TableName, Item: PutRequest?.Item } };
}
