import { setTimeout as sleep } from 'node:timers/promises';
import {
  BatchGetItemCommand,
  BatchWriteItemCommand,
  type DynamoDBClient,
  GetItemCommand,
  paginateScan,
  ScanCommand,
  TransactionCanceledException,
  type TransactWriteItem,
  TransactWriteItemsCommand,
  type WriteRequest,
} from '@aws-sdk/client-dynamodb';
import {
  addressItem,
  keyItem,
  type StoredAddress,
  storedAddress,
} from '../../core/addresses/address-item.ts';
import { isAddressKey } from '../../core/addresses/address-key.ts';
import { forEachConcurrently } from '../../core/concurrency.ts';
import { retryWithBackoff } from '../../core/retry.ts';
import { addressesTable } from '../../core/tables.ts';
import { type Line, type LineWrite, lineOf, parseLine } from '../addresses/lines.ts';
import { dynamoDbLock, type Fence, heldCondition, type LoadLock, LockedError } from './lock.ts';

/**
 * Resolves when so many more units may be sent: at most `perSecond` on average, with bursts of one
 * second's worth.
 */
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
    super(
      'The addresses table accepts no more writes. Run the load again: it continues where it stopped.',
    );
  }
}

/**
 * Repeats `attempt` until it is done. @throws errors that a retry can't fix, and any error after
 * ten attempts without progress
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
    {
      attempts: 10,
      firstPauseMilliseconds,
      longestPauseMilliseconds: 10_000,
      retryIf: isTransient,
    },
  );
}

function isTransient(error: unknown): boolean {
  if (error instanceof NoMoreWritesError) return true;
  const { name, code, $metadata } = error as Error & {
    code?: string;
    $metadata?: { httpStatusCode?: number };
  };
  if (transientErrors.has(name) || ($metadata?.httpStatusCode ?? 0) >= 500) return true;
  if (error instanceof TransactionCanceledException) {
    return (error.CancellationReasons ?? []).every(
      ({ Code = 'None' }) => Code === 'None' || transientErrors.has(Code),
    );
  }
  return code === 'ECONNRESET' || code === 'EPIPE' || code === 'ETIMEDOUT';
}

/** How fast one writer may write, and how its writes are fenced. */
export type AddressWriterOptions = {
  /** Requests in flight at once; 8 keep one processor busy. */
  concurrency?: number;
  /** Unlimited if absent. */
  writesPerSecond?: number;
  /**
   * In transactions on the lock: for a local table. Else the remaining time of the lock fences
   * (decision 0114).
   */
  transactions?: boolean;
  /** The first pause after a throttled write; tests shorten it. */
  firstPauseMilliseconds?: number;
};

/** DynamoDB allows 25 writes a batch, and 100 items a transaction, including the lock. */
const largestBatch = 25;
const largestTransaction = 99;
/**
 * The engine on this machine runs one transaction at a time: the next one is prepared meanwhile.
 */
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
): Pick<AddressTable, 'write'> {
  const pace = pacer(writesPerSecond);

  const sendBatch = async (requests: WriteRequest[], fence: Fence): Promise<WriteRequest[]> => {
    const command = new BatchWriteItemCommand({ RequestItems: { [table]: requests } });
    const { UnprocessedItems } = await client.send(fenced(command, fence), {
      abortSignal: fence.signal,
    });
    return UnprocessedItems?.[table] ?? [];
  };
  const sendAll = async (requests: WriteRequest[], fence: Fence): Promise<WriteRequest[]> => {
    const writes = requests.map((request) => transactItem(table, request));
    await sendTransaction(client, table, fence, writes);
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

/**
 * Sends under a confirmed lock; again if suspended in between and still holding it. @throws
 * LockedError
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

/** Writes all items or none, and only under the lock. @throws LockedError */
export async function sendTransaction(
  client: DynamoDBClient,
  table: string,
  fence: Fence,
  writes: TransactWriteItem[],
): Promise<void> {
  const TransactItems = [{ ConditionCheck: heldCondition(table, fence.held) }, ...writes];
  try {
    await client.send(fenced(new TransactWriteItemsCommand({ TransactItems }), fence), {
      abortSignal: fence.signal,
    });
  } catch (error) {
    const [lock] = (error as TransactionCanceledException).CancellationReasons ?? [];
    throw lock?.Code === 'ConditionalCheckFailed' ? new LockedError(null) : error;
  }
}

/**
 * Checks the lock right before each attempt is sent, after it was signed: so no signature is newer
 * than the check.
 */
function fenced<Command extends BatchWriteItemCommand | TransactWriteItemsCommand>(
  command: Command,
  fence: Fence,
) {
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

function transactItem(
  TableName: string,
  { PutRequest, DeleteRequest }: WriteRequest,
): TransactWriteItem {
  if (DeleteRequest) return { Delete: { TableName, Key: DeleteRequest.Key } };
  return { Put: { TableName, Item: PutRequest?.Item } };
}

/** Which snapshot the table holds: its date, and the load that published it. */
export type Dataset = { peildatum: string; load: string };

/** Fills a table faster than single writes could. */
export type BulkImport = {
  /** Whether a bulk import is faster for this size. @throws if it is faster, but impossible */
  takesOn(size: ImportSize): Promise<boolean>;
  /**
   * Resolves when the table holds these lines, in order of their keys, and nothing else. Repeated
   * whole if interrupted.
   */
  run(lines: AsyncIterable<readonly Line[]>, size: ImportSize): Promise<void>;
};

/** The number of lines, and the number of single writes that would have the same result. */
export type ImportSize = { lines: number; writes: number };

/** The table that lookups read, as a load sees it. */
export type AddressTable = {
  /**
   * Replaces or removes the whole item of each write, so repeating it changes nothing. `onWritten`
   * gets the number of each batch. @throws LockedError, once another load may have taken the lock
   */
  write(
    writes: readonly LineWrite[],
    fence: Fence,
    onWritten?: (count: number) => void,
  ): Promise<void>;
  /**
   * The current items under these keys, strongly consistent; the map omits keys without an item.
   */
  read(keys: readonly string[]): Promise<Map<string, StoredAddress>>;
  dataset(): Promise<Dataset | null>;
  hasAddresses(): Promise<boolean>;
  /** @throws LockedError */
  setDataset(dataset: Dataset, fence: Fence): Promise<void>;
  readonly lock: LoadLock;
};

const { partitionKey, datasetKey, datasetDate } = addressesTable;
const datasetLoad = 'load';
const largestBatchGet = 100;

/** The addresses table in DynamoDB. @param options how fast it may be written */
export function dynamoDbAddressTable(
  client: DynamoDBClient,
  table: string,
  options: AddressWriterOptions = {},
): AddressTable {
  // It copies each request and response for a logger that these clients don't have: half of the
  // SDK's time for a batch.
  client.middlewareStack.remove('loggerMiddleware');
  return {
    ...addressWriter(client, table, options),
    async read(keys) {
      const found = new Map<string, StoredAddress>();
      for (let wanted of batchesOf(keys, largestBatchGet)) {
        await retryWhileThrottled(async () => {
          const Keys = wanted.map(keyItem);
          const { Responses, UnprocessedKeys } = await client.send(
            new BatchGetItemCommand({ RequestItems: { [table]: { Keys, ConsistentRead: true } } }),
          );
          for (const address of (Responses?.[table] ?? []).map(storedAddress)) {
            found.set(address.key, address);
          }
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
      const { Items = [] } = await client.send(
        new ScanCommand({ TableName: table, Limit: 3, ConsistentRead: true }),
      );
      return Items.some((item) => isAddressKey(item[partitionKey]?.S ?? ''));
    },
    async setDataset({ peildatum, load }, fence) {
      const Item = {
        ...keyItem(datasetKey),
        [datasetDate]: { S: peildatum },
        [datasetLoad]: { S: load },
      };
      await fence.confirm();
      await sendTransaction(client, table, fence, [{ Put: { TableName: table, Item } }]);
    },
    lock: dynamoDbLock(client, table),
  };
}

/**
 * The line of every address and list in the table, page by page (1 MB, 128 read units), in no
 * particular order. Reads are eventually consistent: a line that seems to differ because of a very
 * recent write is written again as it should be.
 */
export async function* scanAddresses(
  client: DynamoDBClient,
  table: string,
  pagesPerSecond = Number.POSITIVE_INFINITY,
): AsyncGenerator<Line[]> {
  const pace = pacer(pagesPerSecond);
  for await (const { Items = [] } of paginateScan({ client }, { TableName: table })) {
    yield Items.map(storedAddress).flatMap((address) =>
      isAddressKey(address.key) ? [lineOf(address)] : [],
    );
    await pace(1);
  }
}
