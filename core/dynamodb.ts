import { createHash, createHmac, createSecretKey, type Hash, type Hmac } from 'node:crypto';
import {
  type ConditionalCheckFailedException,
  DynamoDBClient,
  type DynamoDBServiceException,
  GetItemCommand,
  type GetItemCommandInput,
  QueryCommand,
  type QueryCommandInput,
  type TransactionCanceledException,
  TransactWriteItemsCommand,
  UpdateItemCommand,
  type UpdateItemCommandInput,
} from '@aws-sdk/client-dynamodb';
import { marshall, type NativeAttributeValue, unmarshall } from '@aws-sdk/util-dynamodb';

export type StoreClient = Pick<DynamoDBClient, 'send'>;
export type Item = Record<string, NativeAttributeValue>;
type Key = Record<string, string>;

/** The inputs of commands, with plain values. */
export type Get = Omit<GetItemCommandInput, 'Key'> & { Key: Key };
export type Query = Omit<QueryCommandInput, 'ExpressionAttributeValues'> & { ExpressionAttributeValues: Item };
export type Update = Omit<UpdateItemCommandInput, 'Key' | 'ExpressionAttributeValues'> & {
  UpdateExpression: string;
  Key: Key;
  ExpressionAttributeValues: Item;
};

/** The calls that requests and administration share, with plain values in and out. */
export type Documents = {
  get(get: Get, abortSignal?: AbortSignal): Promise<Item | undefined>;
  /** Returns the attributes that `ReturnValues` requested, if the store sent them. */
  update(update: Update, abortSignal?: AbortSignal): Promise<Item | undefined>;
  /** Makes all of the updates or none. */
  updateAll(updates: Update[], abortSignal?: AbortSignal): Promise<void>;
  /** Reads one page: up to 1 MB of items. */
  query(query: Query, abortSignal?: AbortSignal): Promise<Item[]>;
};

/**
 * The calls of a request. The document client does the same for every command there is, by middleware of its own, which
 * shows in the CPU of a lookup and of a cold start (`npm run bench`), so only administration uses it.
 */
export function documents(client: StoreClient): Documents {
  return {
    async get(get, abortSignal) {
      const command = new GetItemCommand({ ...get, Key: marshall(get.Key) });
      const { Item } = await client.send(command, { abortSignal });
      return Item && unmarshall(Item);
    },

    async update(update, abortSignal) {
      const { Attributes } = await client.send(new UpdateItemCommand(marshalled(update)), { abortSignal });
      return Attributes && unmarshall(Attributes);
    },

    async updateAll(updates, abortSignal) {
      const TransactItems = updates.map((update) => ({ Update: marshalled(update) }));
      await client.send(new TransactWriteItemsCommand({ TransactItems }), { abortSignal });
    },

    async query(query, abortSignal) {
      const values = marshall(query.ExpressionAttributeValues);
      const command = new QueryCommand({ ...query, ExpressionAttributeValues: values });
      const { Items = [] } = await client.send(command, { abortSignal });
      return Items.map((item) => unmarshall(item));
    },
  };
}

function marshalled({ Key, ExpressionAttributeValues, ...rest }: Update) {
  return { ...rest, Key: marshall(Key), ExpressionAttributeValues: marshall(ExpressionAttributeValues) };
}

/** What changes of an item: attributes, or members of maps (`map.member`), which have no other dots. Others stay. */
export type Changes = {
  set?: Item;
  /** Set only where there is none. */
  keep?: Item;
  /** Adds to a number; one that is absent counts as 0. */
  raise?: Record<string, number>;
  /** Maps each attribute to set to the one whose value it gets, which the same write may remove. */
  copy?: Record<string, string>;
  remove?: string[];
};

/** What an attribute, or a member of a map, must be for a change to happen. */
export type Guard =
  | { attribute: string; is: '=' | '<='; value: Item[string] }
  | { attribute: string; is: 'absent' | 'there' };

/** An attribute or a member as expressions name it: by aliases, since many of our names are reserved words. */
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
      ...Object.entries(copy).map(([to, from]) => `${aliasOf(to)} = ${aliasOf(from)}`),
      ...Object.keys(set).map((name) => `${aliasOf(name)} = ${placeholderOf(name)}`),
      ...Object.keys(keep).map((name) => `${aliasOf(name)} = if_not_exists(${aliasOf(name)}, ${placeholderOf(name)})`),
    ],
    REMOVE: remove.map(aliasOf),
    ADD: Object.keys(raise).map((name) => `${aliasOf(name)} ${placeholderOf(name)}`),
  };
  const parts = Object.entries(clauses).filter(([, changes]) => changes.length > 0);
  const { ExpressionAttributeNames, ExpressionAttributeValues, ...condition } = guardExpression(guards);
  return {
    TableName: table,
    Key,
    UpdateExpression: parts.map(([clause, changes]) => `${clause} ${changes.join(', ')}`).join(' '),
    ...condition,
    ExpressionAttributeNames: {
      ...aliases([...Object.keys(values), ...Object.entries(copy).flat(), ...remove]),
      ...ExpressionAttributeNames,
    },
    ExpressionAttributeValues: {
      ...Object.fromEntries(Object.entries(values).map(([name, value]) => [placeholderOf(name), value])),
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
  const values = guards.flatMap((guard, i) => ('value' in guard ? [[`:seen${i}`, guard.value] as const] : []));
  return {
    ...(conditions.length > 0 && { ConditionExpression: conditions.join(' AND ') }),
    ExpressionAttributeNames: aliases(guards.map(({ attribute }) => attribute)),
    // DynamoDB refuses an empty map.
    ...(values.length > 0 && { ExpressionAttributeValues: Object.fromEntries(values) as Item }),
  };
}

function aliases(attributes: string[]): Record<string, string> {
  return Object.fromEntries(attributes.flatMap((name) => name.split('.')).map((name) => [aliasOfPart(name), name]));
}

/** Whether a write was refused because its condition did not hold: `Item` is then the item as it was, marshalled. */
export function conditionFailed(error: unknown): error is ConditionalCheckFailedException {
  return error instanceof Error && error.name === 'ConditionalCheckFailedException';
}

/** Whether a write lost to another one. By name, so that it does not matter which copy of the SDK threw the error. */
export function isConflict(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (conditionFailed(error) || error.name === 'TransactionConflictException') return true;
  if (error.name !== 'TransactionCanceledException') return false;
  const reasons = (error as TransactionCanceledException).CancellationReasons ?? [];
  return reasons.some(({ Code }) => Code === 'ConditionalCheckFailed' || Code === 'TransactionConflict');
}

/** Whether the store has refused a call, which then was not done: it throttles, or the call is wrong. */
export function isRefused(error: unknown): boolean {
  return error instanceof Error && (error as Partial<DynamoDBServiceException>).$fault === 'client';
}

/** The store could not be reached, or did not report the outcome of a request. */
export class StoreUnavailable extends Error {
  override name = 'StoreUnavailable';
}

/** Bugs of ours: commands that the store never accepts. They are rethrown unchanged and become a 500. */
const ourFaults = new Set(['ValidationException', 'SerializationException']);

/**
 * Waits for `work`, but never past `signal`: the SDK ignores it while it waits between two attempts. Any failure to get
 * a response becomes a `StoreUnavailable` with its cause; `expected` errors are rethrown unchanged.
 */
export async function orUnavailable<Output>(
  work: Promise<Output>,
  signal: AbortSignal,
  expected: (error: unknown) => boolean = () => false,
): Promise<Output> {
  try {
    return await Promise.race([work, aborted(signal)]);
  } catch (error) {
    if (expected(error) || (error instanceof Error && ourFaults.has(error.name))) throw error;
    throw new StoreUnavailable('the store did not respond', { cause: error });
  }
}

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const abort = () => reject(new Error('the time for this request is over'));
    if (signal.aborted) abort();
    else signal.addEventListener('abort', abort, { once: true });
  });
}

type Secret = string | ArrayBuffer | ArrayBufferView;

/**
 * SHA-256, or its HMAC with a secret, for the SDK's signatures. Other than the SDK's own it hands Node each key as a
 * key object: for a key in bytes, Node throws and catches two errors internally to detect its type (decision 0107).
 */
export class Sha256 {
  readonly #secret: Secret | undefined;
  #hash: Hash | Hmac;

  constructor(secret?: Secret) {
    this.#secret = secret;
    if (secret === undefined) this.#hash = createHash('sha256');
    else if (typeof secret === 'string') this.#hash = createHmac('sha256', secret);
    else {
      const bytes = ArrayBuffer.isView(secret) ? (secret as Uint8Array) : new Uint8Array(secret);
      this.#hash = createHmac('sha256', createSecretKey(bytes));
    }
  }

  update(chunk: Uint8Array): void {
    this.#hash.update(chunk);
  }

  async digest(): Promise<Uint8Array> {
    return this.#hash.digest();
  }

  reset(): void {
    this.#hash = new Sha256(this.#secret).#hash;
  }
}

/**
 * The client of the Lambdas. A request is answered within 5 seconds (see `deadline`), so an attempt may take a second
 * at most, and there are three. A charge whose answer was lost is not among them: it may have been done, so who sent it
 * decides what follows (decision 0153).
 */
export function createStoreClient(): DynamoDBClient {
  const { AWS_ENDPOINT_URL, AWS_ENDPOINT_URL_DYNAMODB: endpoint = AWS_ENDPOINT_URL } = process.env;
  const client = new DynamoDBClient({
    maxAttempts: 3,
    retryMode: 'standard',
    // What the client would otherwise look for at every cold start, in files that no Lambda has.
    defaultsMode: 'standard',
    accountIdEndpointMode: 'disabled',
    authSchemePreference: [],
    userAgentAppId: async () => undefined,
    useDualstackEndpoint: false,
    useFipsEndpoint: false,
    disableClockSkewCorrection: false,
    ...(endpoint ? { endpoint } : { ignoreConfiguredEndpointUrls: true }),
    sha256: Sha256,
    requestHandler: { connectionTimeout: 800, requestTimeout: 1000, throwOnRequestTimeout: true },
  });
  // Even without a logger it builds the log entry of every call.
  client.middlewareStack.remove('loggerMiddleware');
  // Otherwise every call makes a signer, from a copy of the whole configuration.
  const { signer } = client.config;
  let made: ReturnType<typeof signer> | undefined;
  client.config.signer = (scheme) => (made ??= signer(scheme));
  leaveLostCharges(client);
  return client;
}

/** Lets the client throw the lost answer of a write that names its attempt, instead of repeating it. */
export function leaveLostCharges(client: DynamoDBClient): void {
  client.middlewareStack.add(
    (next) => async (args) => {
      try {
        return await next(args);
      } catch (error) {
        const { ExpressionAttributeValues: values = {} } = args.input as Partial<UpdateItemCommandInput>;
        if (isRefused(error) || !(attemptValue in values)) throw error;
        throw new AnswerLost(error);
      }
    },
    // Within each attempt of the retries, which have a high priority.
    { step: 'finalizeRequest', priority: 'low', name: 'leaveLostCharges' },
  );
}

/** The value in a write that identifies its attempt. */
export const attemptValue = ':attempt';

/** Without `cause`: the SDK would find in it what to retry. */
class AnswerLost extends Error {
  override name = 'AnswerLost';
  readonly reason: unknown;

  constructor(reason: unknown) {
    super('the answer to a charge was lost');
    this.reason = reason;
  }
}
