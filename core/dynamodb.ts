import { createHash, createHmac, createSecretKey, type Hash, type Hmac } from 'node:crypto';
import {
  type ConditionalCheckFailedException,
  DynamoDBClient,
  type DynamoDBServiceException,
  GetItemCommand,
  type GetItemCommandInput,
  type QueryCommandInput,
  type TransactionCanceledException,
  TransactWriteItemsCommand,
  UpdateItemCommand,
  type UpdateItemCommandInput,
} from '@aws-sdk/client-dynamodb';
import { marshall, type NativeAttributeValue, unmarshall } from '@aws-sdk/util-dynamodb';
import { discardIdle, storeAgent } from './connections.ts';

export type StoreClient = Pick<DynamoDBClient, 'send'>;
/** A client that `sendingOnce` can be made of. */
export type ChargingClient = Pick<DynamoDBClient, 'send' | 'middlewareStack'>;
export type Item = Record<string, NativeAttributeValue>;
type Key = Record<string, string>;

/** The inputs of commands, with plain values. */
export type Get = Omit<GetItemCommandInput, 'Key'> & { Key: Key };
export type Query = Omit<QueryCommandInput, 'ExpressionAttributeValues'> & {
  ExpressionAttributeValues: Item;
};
export type Update = Omit<UpdateItemCommandInput, 'Key' | 'ExpressionAttributeValues'> & {
  UpdateExpression: string;
  Key: Key;
  ExpressionAttributeValues: Item;
};

/**
 * The calls of a request, with plain values in and out. The document client does the same for every
 * command there is, by middleware of its own, which shows in the CPU of a lookup and of a cold
 * start (`npm run bench`), so only administration uses it.
 */
export function documents(client: StoreClient) {
  return {
    async get(get: Get, abortSignal?: AbortSignal): Promise<Item | undefined> {
      const command = new GetItemCommand({ ...get, Key: marshall(get.Key) });
      const { Item } = await client.send(command, { abortSignal });
      return Item && unmarshall(Item);
    },

    /** Returns the attributes that `ReturnValues` requested, if the store sent them. */
    async update(update: Update, abortSignal?: AbortSignal): Promise<Item | undefined> {
      const { Attributes } = await client.send(new UpdateItemCommand(marshalled(update)), {
        abortSignal,
      });
      return Attributes && unmarshall(Attributes);
    },

    /** Makes all of the updates or none. */
    async updateAll(updates: Update[], abortSignal?: AbortSignal): Promise<void> {
      const TransactItems = updates.map((update) => ({ Update: marshalled(update) }));
      await client.send(new TransactWriteItemsCommand({ TransactItems }), { abortSignal });
    },
  };
}

function marshalled({ Key, ExpressionAttributeValues, ...rest }: Update) {
  return {
    ...rest,
    Key: marshall(Key),
    ExpressionAttributeValues: marshall(ExpressionAttributeValues),
  };
}

/**
 * The changes of an item: attributes, or members of maps (`map.member`), which have no other dots.
 * Others stay.
 */
export type Changes = {
  set?: Item;
  /** Set only if absent. */
  keep?: Item;
  /** Adds to a number; absent counts as 0. */
  raise?: Record<string, number>;
  /** Copies the first count that exists; 0 if the item has neither. */
  copy?: Record<string, readonly [first: string, second: string]>;
  remove?: string[];
};

/** The condition on an attribute, or a member of a map, for a change to happen. */
export type Guard = { attribute: string } & (
  | { is: '='; value: Item[string] }
  | { is: 'absent' | 'there' }
);

/**
 * An attribute or a member as expressions name it: by aliases, since many of our names are reserved
 * words.
 */
export const aliasOf = (attribute: string) => attribute.split('.').map(aliasOfPart).join('.');
const aliasOfPart = (name: string) => `#${name.replaceAll('-', '_')}`;
const placeholderOf = (attribute: string) => `:${attribute.replace(/\W/g, '_')}`;

/** An update of the item under `Key` in `table` that happens if all of `guards` hold. */
export function guardedUpdate(
  table: string,
  Key: Key,
  { set = {}, keep = {}, raise = {}, copy = {}, remove = [] }: Changes,
  guards: Guard[] = [],
): Update {
  const values = { ...set, ...keep, ...raise };
  const clauses = {
    SET: [
      ...Object.keys(set).map((name) => `${aliasOf(name)} = ${placeholderOf(name)}`),
      ...Object.keys(keep).map(
        (name) => `${aliasOf(name)} = if_not_exists(${aliasOf(name)}, ${placeholderOf(name)})`,
      ),
      ...Object.entries(copy).map(
        ([name, [first, second]]) =>
          `${aliasOf(name)} = if_not_exists(${aliasOf(first)}, if_not_exists(${aliasOf(second)}, :none))`,
      ),
    ],
    REMOVE: remove.map(aliasOf),
    ADD: Object.keys(raise).map((name) => `${aliasOf(name)} ${placeholderOf(name)}`),
  };
  const parts = Object.entries(clauses).filter(([, changes]) => changes.length > 0);
  const { ExpressionAttributeNames, ExpressionAttributeValues, ...condition } =
    guardExpression(guards);
  return {
    TableName: table,
    Key,
    UpdateExpression: parts.map(([clause, changes]) => `${clause} ${changes.join(', ')}`).join(' '),
    ...condition,
    ExpressionAttributeNames: {
      ...aliases([...Object.keys(values), ...Object.entries(copy).flat(2), ...remove]),
      ...ExpressionAttributeNames,
    },
    ExpressionAttributeValues: {
      ...Object.fromEntries(
        Object.entries(values).map(([name, value]) => [placeholderOf(name), value]),
      ),
      ...(Object.keys(copy).length > 0 && { ':none': 0 }),
      ...ExpressionAttributeValues,
    },
  };
}

/** Holds as long as an attribute has the value that was seen, or is still absent if it was. */
export function isStill(attribute: string, seen: Item[string] | undefined): Guard {
  return seen === undefined ? { attribute, is: 'absent' } : { attribute, is: '=', value: seen };
}

/** The condition, as a part of a write, that all of `guards` hold; nothing for none. */
export function guardExpression(guards: Guard[]) {
  const conditions = guards.map((guard, i) => {
    if (guard.is === 'absent') return `attribute_not_exists(${aliasOf(guard.attribute)})`;
    if (guard.is === 'there') return `attribute_exists(${aliasOf(guard.attribute)})`;
    return `${aliasOf(guard.attribute)} ${guard.is} :seen${i}`;
  });
  const values = guards.flatMap((guard, i) =>
    'value' in guard ? [[`:seen${i}`, guard.value] as const] : [],
  );
  return {
    ConditionExpression: conditions.join(' AND ') || undefined,
    ExpressionAttributeNames: aliases(guards.map(({ attribute }) => attribute)),
    // DynamoDB refuses an empty map.
    ...(values.length > 0 && { ExpressionAttributeValues: Object.fromEntries(values) as Item }),
  };
}

function aliases(attributes: string[]): Record<string, string> {
  return Object.fromEntries(
    attributes.flatMap((name) => name.split('.')).map((name) => [aliasOfPart(name), name]),
  );
}

/**
 * Whether a write was refused because its condition did not hold: `Item` is then the item as it
 * was, marshalled.
 */
export function conditionFailed(error: unknown): error is ConditionalCheckFailedException {
  return error instanceof Error && error.name === 'ConditionalCheckFailedException';
}

/**
 * Whether a write lost to another one. By name, so that it does not matter which copy of the SDK
 * threw the error.
 */
export function isConflict(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (conditionFailed(error) || error.name === 'TransactionConflictException') return true;
  if (error.name !== 'TransactionCanceledException') return false;
  const reasons = (error as TransactionCanceledException).CancellationReasons ?? [];
  return reasons.some(
    ({ Code }) => Code === 'ConditionalCheckFailed' || Code === 'TransactionConflict',
  );
}

/** Whether a write was made: not if it lost to another one, or its condition did not hold. */
export async function wasMade(write: Promise<unknown>): Promise<boolean> {
  try {
    await write;
    return true;
  } catch (error) {
    if (isConflict(error)) return false;
    throw error;
  }
}

/**
 * Whether the store has answered that it did not make a call: it throttles, or the call is wrong.
 * By status, since the SDK says of any error without a model that it is the client's, also of one
 * with status 503.
 */
export function isRefused(error: unknown): error is DynamoDBServiceException {
  const { $fault, $metadata: { httpStatusCode: status = 0 } = {} } =
    error as Partial<DynamoDBServiceException>;
  return $fault !== undefined && status >= 400 && status < 500;
}

const throttling = new Set([
  'ProvisionedThroughputExceededException',
  'RequestLimitExceeded',
  'ThrottlingException',
]);

/**
 * Whether a refused call can succeed later: it was throttled, or signed by a clock that the SDK
 * corrected since.
 */
export function isRefusedForNow(error: unknown): boolean {
  if (!isRefused(error)) return false;
  return throttling.has(error.name) || 'clockSkewCorrected' in error.$metadata;
}

/** The store could not be reached, or did not report the outcome of a request. */
export class StoreUnavailable extends Error {
  override name = 'StoreUnavailable';
}

/**
 * Bugs of ours: commands that the store never accepts. They are rethrown unchanged and become a
 * 500.
 */
const ourFaults = new Set(['ValidationException', 'SerializationException']);

export function isOurFault(error: unknown): boolean {
  return error instanceof Error && ourFaults.has(error.name);
}

/**
 * Waits for `work`, but never past `signal`: the SDK ignores it while it waits between two
 * attempts. Any failure to get a response becomes a `StoreUnavailable` with its cause; `expected`
 * errors are rethrown unchanged.
 */
export function orUnavailable<Output>(
  work: Promise<Output>,
  signal: AbortSignal,
  expected: (error: unknown) => boolean = () => false,
): Promise<Output> {
  return Promise.race([work, aborted(signal)]).catch((error: unknown) => {
    if (expected(error) || isOurFault(error)) throw error;
    throw new StoreUnavailable('the store did not respond', { cause: error });
  });
}

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const abort = () => reject(new Error('the time for this request is over'));
    if (signal.aborted) abort();
    else {
      signal.addEventListener('abort', abort, { once: true });
    }
  });
}

type Secret = string | ArrayBuffer | ArrayBufferView;

/**
 * SHA-256, or its HMAC with a secret, for the SDK's signatures. Other than the SDK's own it hands
 * Node each key as a key object: for a key in bytes, Node throws and catches two errors internally
 * to detect its type (decision 0107).
 */
export const Sha256 = function sha256(secret?: Secret) {
  let hash: Hash | Hmac = secret === undefined ? createHash('sha256') : hmacWith(secret);
  return {
    update(chunk: Uint8Array) {
      hash.update(chunk);
    },
    digest: async () => hash.digest(),
    reset() {
      hash = secret === undefined ? createHash('sha256') : hmacWith(secret);
    },
  };
} as unknown as new (
  secret?: Secret,
) => Checksum;

type Checksum = {
  update(chunk: Uint8Array): void;
  digest(): Promise<Uint8Array<ArrayBuffer>>;
  reset(): void;
};

function hmacWith(secret: Secret): Hmac {
  if (typeof secret === 'string') return createHmac('sha256', secret);
  const bytes = ArrayBuffer.isView(secret) ? (secret as Uint8Array) : new Uint8Array(secret);
  return createHmac('sha256', createSecretKey(bytes));
}

/**
 * The client of the Lambdas. A request is answered within 5 seconds (see `deadline`), so an attempt
 * of a call may take a second and a half: then the read after a charge also succeeds while the
 * store takes over a second for either.
 * @param place the store's endpoint and credentials; by default from the environment
 */
export function createStoreClient(place?: StorePlace): DynamoDBClient {
  const { AWS_ENDPOINT_URL, AWS_ENDPOINT_URL_DYNAMODB = AWS_ENDPOINT_URL } = process.env;
  const endpoint = place?.endpoint ?? AWS_ENDPOINT_URL_DYNAMODB;
  const agent = storeAgent(endpoint?.startsWith('http:') ? 'http' : 'https');
  const client = new DynamoDBClient({
    maxAttempts: 3,
    retryMode: 'standard',
    // Otherwise the client looks for these at every cold start, in files that no Lambda has.
    defaultsMode: 'standard',
    accountIdEndpointMode: 'disabled',
    authSchemePreference: [],
    useDualstackEndpoint: false,
    useFipsEndpoint: false,
    disableClockSkewCorrection: false,
    ...place,
    ...(endpoint ? { endpoint } : { ignoreConfiguredEndpointUrls: true }),
    sha256: Sha256,
    // The agent ends connections that are not opened in time.
    requestHandler: {
      httpAgent: agent,
      httpsAgent: agent,
      requestTimeout: 1500,
      throwOnRequestTimeout: true,
    },
  });
  // Even without a logger it builds the log entry of every call, and nobody reads its name.
  client.middlewareStack.remove('loggerMiddleware');
  client.middlewareStack.remove('getUserAgentMiddleware');
  // Otherwise every call makes a signer, from a copy of the whole configuration.
  const { signer } = client.config;
  let made: ReturnType<typeof signer> | undefined;
  client.config.signer = (scheme) => (made ??= signer(scheme));
  discardIdle(client, agent);
  return client;
}

/** A region, an endpoint and credentials for it. */
type StorePlace = {
  region: string;
  endpoint: string;
  credentials: { accessKeyId: string; secretAccessKey: string };
};

const retrying = { name: 'retryMiddleware', step: 'finalizeRequest', priority: 'high' } as const;

/**
 * The same client, with the same connections, but it sends each call once: no retries, and no time
 * limit but the caller's signal.
 */
export function sendingOnce(client: ChargingClient): StoreClient {
  const middlewareStack = client.middlewareStack.clone();
  // Not removed: others are placed after it.
  middlewareStack.add((next) => next, { ...retrying, override: true });
  const once: DynamoDBClient = Object.create(client, {
    middlewareStack: { value: middlewareStack },
  });
  const send = (command: Parameters<typeof once.send>[0], options: object) =>
    once.send(command, { ...options, requestTimeout: 0 });
  return { send } as StoreClient;
}
