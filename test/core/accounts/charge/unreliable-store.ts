import { AsyncLocalStorage } from 'node:async_hooks';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { setImmediate as turn } from 'node:timers/promises';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import { storeAgent } from '../../../../core/connections.ts';
import { localAws } from '../../../../local/engine/engine.ts';
import { startAdmin } from '../../../packages/admin/accounts/admin-bench.ts';
import { testDynamoDb } from '../../../support/dynamodb.ts';

type Handler = DynamoDBClient['config']['requestHandler'];
type Request = Parameters<Handler['handle']>[0];
type Response = Awaited<ReturnType<Handler['handle']>>['response'];
type Item = Record<string, unknown>;

/** A lookup whose charge is under way, with the writes that it has sent. */
export type Lookup = { readonly units: number; readonly writes: Write[]; ended: boolean };

/** What DynamoDB said to a write: it was made, or its condition did not hold. */
export type Outcome = { applied: boolean; item: Item };

/** A write on its way to the store, or its answer on the way back. */
export type Write = {
  readonly lookup: Lookup;
  /** What the store did, once the write has arrived. */
  outcome?: Outcome;
  /** Whether its sender has an answer, an error, or no time left. The write may still arrive. */
  told: boolean;
  /** Whether the sender knows that it was not made and never will be. */
  refused: boolean;
  arrive(): Promise<Outcome>;
  answer(): void;
  lose(how: Loss): void;
  refuse(how: Refusal): Promise<void>;
};

/**
 * How an answer gets lost: the connection ends, with or without the beginning of an answer, or the
 * store fails.
 */
export const losses = ['reset', 'hang up', 'cut', '500', '503', '502 without a body'] as const;
export type Loss = (typeof losses)[number];

/** What DynamoDB answers without making a write, and a connection that is never opened. */
export const refusals = [
  'ProvisionedThroughputExceededException',
  'ThrottlingException',
  'RequestLimitExceeded',
  'TransactionConflictException',
  'never opened',
] as const;
export type Refusal = (typeof refusals)[number];

/** An admin on an engine, and the store before it; for `startForTests`. */
export async function startUnreliableAdmin() {
  const admin = await startAdmin();
  const requestHandler = { httpAgent: storeAgent('http') };
  const closed = new DynamoDBClient({
    ...localAws,
    endpoint: 'http://127.0.0.1:9',
    requestHandler,
  });
  const store = createUnreliableStore(admin.endpoint, closed.config.requestHandler);
  const stop = async () => {
    store.stop();
    closed.destroy();
    await admin.stop();
  };
  return { ...admin, store, stop };
}

/**
 * A store that does to each write of a lookup what the test says, behind the SDK's own HTTP
 * handler: what the engine makes of it, when it arrives, and what comes back. All other calls go
 * straight to the engine.
 * @param unopened opens no connection: what the client's own agent makes of a closed port
 */
function createUnreliableStore(endpoint: string, unopened: Handler) {
  const current = new AsyncLocalStorage<Lookup>();
  const lookups: Lookup[] = [];
  const writes: Write[] = [];
  const observers: ((write: Write) => void)[] = [];
  let others = 0;
  const direct = testDynamoDb(endpoint);
  const engine = direct.config.requestHandler;

  const handle: Handler['handle'] = async (request, options = {}) => {
    const lookup = current.getStore();
    if (!lookup || request.headers['x-amz-target'] !== 'DynamoDB_20120810.UpdateItem') {
      others++;
      return engine.handle(request, options);
    }
    return await new Promise<{ response: Response }>((resolve, reject) => {
      const { abortSignal } = options as { abortSignal?: AbortSignal };
      const write = createWrite(lookup, request, {
        engine,
        unopened,
        resolve: (response) => resolve({ response }),
        reject,
      });
      const abort = () => {
        write.told = true;
        reject(Object.assign(new Error('Request aborted'), { name: 'AbortError' }));
      };
      if (abortSignal?.aborted) return abort();
      abortSignal?.addEventListener('abort', abort, { once: true });
      for (const observe of observers) observe(write);
      lookup.writes.push(write);
      writes.push(write);
    });
  };

  return {
    client: testDynamoDb(endpoint, { handle, destroy: () => undefined } as unknown as Handler),
    /** Is told each write before it is sent. */
    onWrite: (observe: (write: Write) => void) => void observers.push(observe),
    /** The writes that can still arrive, and those of them whose sender waits. */
    onTheWay: () => writes.filter(({ outcome }) => !outcome),
    waiting: () => writes.filter(({ told }) => !told),
    /** How many calls other than charges went straight to the engine. */
    others: () => others,
    /** Begins a lookup of so many units. */
    begin<T>(units: number, charge: () => Promise<T>): { lookup: Lookup; result: Promise<T> } {
      const lookup: Lookup = { units, writes: [], ended: false };
      lookups.push(lookup);
      const result = current.run(lookup, charge).finally(() => {
        lookup.ended = true;
      });
      return { lookup, result };
    },
    /** Returns when each lookup has ended or waits for a write. */
    async settle() {
      while (lookups.some(({ ended, writes }) => !ended && writes.every(({ told }) => told))) {
        await turn();
      }
    },
    /** Forgets all lookups, and what is still on its way. */
    forget() {
      lookups.length = 0;
      writes.length = 0;
      observers.length = 0;
    },
    stop: () => direct.destroy(),
  };
}

type Wire = {
  engine: Handler;
  unopened: Handler;
  resolve: (response: Response) => void;
  reject: (error: unknown) => void;
};

function createWrite(
  lookup: Lookup,
  request: Request,
  { engine, unopened, resolve, reject }: Wire,
): Write {
  let response: Response | undefined;
  let body: Buffer = Buffer.of();
  const tell = () => {
    if (write.told) throw new Error('its sender has an answer already');
    write.told = true;
  };
  const write: Write = {
    lookup,
    told: false,
    refused: false,
    async arrive() {
      ({ response } = await engine.handle(request));
      body = await buffer(response.body);
      const { Attributes, Item } = JSON.parse(String(body));
      const applied = response.statusCode === 200;
      write.outcome = { applied, item: unmarshall((applied ? Attributes : Item) ?? {}) };
      return write.outcome;
    },
    answer() {
      if (!response || !write.outcome) throw new Error('it has not arrived');
      tell();
      write.refused = !write.outcome.applied;
      response.body = Readable.from([body]);
      resolve(response);
    },
    lose(how) {
      tell();
      if (how === 'reset') {
        reject(Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' }));
      } else if (how === 'hang up') {
        reject(Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' }));
      } else if (how === 'cut') resolve(responseOf(200, '{"Attributes":{"account":{"S":'));
      else if (how === '500') resolve(responseOf(500, errorBody('InternalServerError')));
      else if (how === '503') resolve(responseOf(503, errorBody('ServiceUnavailable')));
      else {
        resolve(responseOf(502, '<html>Bad Gateway</html>'));
      }
    },
    async refuse(how) {
      if (write.outcome) throw new Error('it has arrived');
      tell();
      write.refused = true;
      // It never arrives.
      write.outcome = { applied: false, item: {} };
      if (how !== 'never opened') return resolve(responseOf(400, errorBody(how)));
      // Nothing listens at the discard port.
      const elsewhere = { ...request, hostname: '127.0.0.1', port: 9 } as Request;
      await unopened
        .handle(elsewhere)
        .then(() => reject(new Error('a closed port has answered')), reject);
    },
  };
  return write;
}

const errorBody = (name: string) =>
  JSON.stringify({ __type: `com.amazonaws.dynamodb.v20120810#${name}`, message: 'of the test' });

function responseOf(statusCode: number, text: string): Response {
  const headers = { 'content-type': 'application/x-amz-json-1.0' };
  return { statusCode, headers, body: Readable.from([Buffer.from(text)]) } as unknown as Response;
}
