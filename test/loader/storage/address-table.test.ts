import { setImmediate as turn } from 'node:timers/promises';
import {
  BatchWriteItemCommand,
  type BatchWriteItemCommandInput,
  DynamoDBClient,
  DynamoDBServiceException,
  type WriteRequest,
} from '@aws-sdk/client-dynamodb';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { mockClient } from 'aws-sdk-client-mock';
import { type LineWrite, lineOf } from '../../../loader/addresses/lines.ts';
import {
  type AddressTable,
  addressWriter,
  dynamoDbAddressTable,
  pacer,
  retryWhileThrottled,
} from '../../../loader/storage/address-table.ts';
import { type Fence, Lease, LockedError } from '../../../loader/storage/lock.ts';
import { createAddressesTable, startDynamoDb } from '../../support/dynamodb.ts';
import { startForTests } from '../../support/start-for-tests.ts';
import { underLock } from '../../support/under-lock.ts';

const client = new DynamoDBClient({});
const mock = mockClient(client);
beforeEach(() => void mock.reset());

const places = [{ straat: "'t Nauwe Steegje", woonplaats: 'Weesp' }];
const writes: LineWrite[] = Array.from({ length: 130 }, (_, index) => {
  const key = `1381AA#${index}#`;
  return index % 10 === 9 ? { remove: key } : { put: lineOf({ key, places }) };
});
const writer = (options = {}) =>
  addressWriter(client, 'addresses', { firstPauseMilliseconds: 1, ...options });
const fence: Fence = {
  held: { owner: 'test', token: 'test', untilSeconds: 0 },
  signal: new AbortController().signal,
  confirm: async () => undefined,
  assertHeld: () => undefined,
};

/** A table that takes of each batch what `takes` says. */
function table(takes: (requests: WriteRequest[], call: number) => WriteRequest[]) {
  const written = new Map<string, 'put' | 'removed'>();
  let call = 0;
  mock.on(BatchWriteItemCommand).callsFake((input: BatchWriteItemCommandInput) => {
    const requests = input.RequestItems?.addresses ?? [];
    if (requests.length > 25) throw new Error('a batch of more than 25');
    const taken = takes(requests, call++);
    for (const { PutRequest, DeleteRequest } of taken) {
      if (PutRequest) written.set(PutRequest.Item?.address?.S ?? '', 'put');
      if (DeleteRequest) written.set(DeleteRequest.Key?.address?.S ?? '', 'removed');
    }
    const left = requests.filter((request) => !taken.includes(request));
    return { UnprocessedItems: left.length > 0 ? { addresses: left } : {} };
  });
  return written;
}

function failure(name: string, status: number): DynamoDBServiceException {
  return new DynamoDBServiceException({
    name,
    $fault: 'server',
    $metadata: { httpStatusCode: status },
    message: name,
  });
}

const everything = new Map(
  writes.map((write, index) => [
    `1381AA#${index}#`,
    'remove' in write ? ('removed' as const) : ('put' as const),
  ]),
);

describe('a batch writer', () => {
  it('writes everything, 25 at a time, and reports progress', async () => {
    const written = table((requests) => requests);
    let told = 0;
    await writer().write(writes, fence, (count) => {
      told += count;
    });
    expect(written).toEqual(everything);
    expect(told).toBe(130);
    expect(mock.commandCalls(BatchWriteItemCommand)).toHaveLength(6);
  });

  it.each([
    ['8 batches at once', {}, 8],
    ['2 transactions at once, which the engine runs in turn', { transactions: true }, 2],
  ])('sends %s', async (_, options, most) => {
    let sent = 0;
    let sentAtMost = 0;
    mock.onAnyCommand().callsFake(async () => {
      sentAtMost = Math.max(sentAtMost, ++sent);
      await turn();
      sent--;
      return {};
    });
    const all = Array.from({ length: 500 }, (_, index) => ({ remove: `1381AA#${index}#` }));
    await writer(options).write(all, fence);
    expect(sentAtMost).toBe(most);
  });

  it('loses nothing that a throttled table leaves unprocessed', async () => {
    const written = table((requests, call) => (call % 3 === 0 ? [] : requests.slice(0, 7)));
    await writer({ concurrency: 3 }).write(writes, fence);
    expect(written).toEqual(everything);
  });

  it.each(['ThrottlingException', 'ProvisionedThroughputExceededException', 'InternalServerError'])(
    'loses nothing to %s',
    async (name) => {
      const written = table((requests, call) => {
        if (call % 2 === 0) throw failure(name, name === 'InternalServerError' ? 500 : 400);
        return requests;
      });
      await writer().write(writes, fence);
      expect(written).toEqual(everything);
    },
  );

  it('gives up on a table that accepts no writes, and says what to do', async () => {
    table(() => []);
    await expect(writer({ concurrency: 1 }).write(writes, fence)).rejects.toThrow(
      /accepts no more writes.*Run the load again/,
    );
    expect(mock.commandCalls(BatchWriteItemCommand)).toHaveLength(10);
  });

  it("stops at once on an error that a retry can't fix", async () => {
    table(() => {
      throw failure('AccessDeniedException', 400);
    });
    await expect(writer({ concurrency: 2 }).write(writes, fence)).rejects.toThrow('AccessDenied');
    expect(mock.commandCalls(BatchWriteItemCommand)).toHaveLength(2);
  });

  it('sends nothing when the lock is lost between the signing of a request and its sending', async () => {
    const sent: unknown[] = [];
    const client = new DynamoDBClient({
      region: 'eu-west-1',
      credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
      requestHandler: {
        handle: async (request: unknown) => {
          sent.push(request);
          throw new Error('sent');
        },
      },
    });
    let signed = 0;
    // As if the process was suspended right after the signing, for longer than the lease lasts.
    client.middlewareStack.add(
      (next) => async (args) => {
        if (/Signature=/.test(JSON.stringify(args.request))) signed++;
        return next(args);
      },
      { step: 'finalizeRequest', priority: 'low', name: 'suspended' },
    );
    const lost = new LockedError(null);
    const lease: Fence = {
      ...fence,
      confirm: async (age) => {
        if (age === 0) throw lost;
      },
      assertHeld: () => {
        if (signed > 0) throw lost;
      },
    };
    await expect(
      addressWriter(client, 'addresses', {}).write(writes.slice(0, 5), lease),
    ).rejects.toBe(lost);
    expect([signed, sent]).toEqual([1, []]);
  });

  it('sends a second of writes at once after it was idle', async () => {
    const pace = pacer(1000);
    const goesAtOnce = (units: number) => Promise.race([pace(units).then(() => true), turn(false)]);
    expect(await goesAtOnce(1000)).toBe(true);
    expect(await goesAtOnce(500)).toBe(false);
  });

  it.each([
    [499, 1],
    [500, 2],
  ])(
    'makes an attempt that failed with the status %d so often: %d',
    async (httpStatusCode, times) => {
      let attempts = 0;
      const attempt = async () => {
        if (++attempts === 1) {
          throw Object.assign(new Error('of the table'), { $metadata: { httpStatusCode } });
        }
        return { done: true, progress: true };
      };
      await retryWhileThrottled(attempt, 1).catch(() => undefined);
      expect(attempts).toBe(times);
    },
  );

  it('keeps the given pace', async () => {
    table((requests) => requests);
    const begun = performance.now();
    // A second's worth goes at once; the 30 that remain take 300 ms.
    await writer({ writesPerSecond: 100 }).write(writes, fence);
    expect(performance.now() - begun).toBeGreaterThan(200);
  });
});

const keys = Array.from({ length: 250 }, (_, index) => `1381AA#${index + 1}#`);
const puts = keys.map((key) => ({ put: lineOf({ key, places }) }));

describe('writing in transactions', () => {
  const dynamoDb = startForTests(startDynamoDb);
  let table: AddressTable;
  let made = 0;
  beforeEach(async () => {
    made++;
    await createAddressesTable(dynamoDb.client, `addresses-${made}`);
    table = dynamoDbAddressTable(dynamoDb.client, `addresses-${made}`, { transactions: true });
  });

  it('writes the same as batches, for any number of writes, and reports progress', async () => {
    await underLock(table, async (fence) => {
      let told = 0;
      await table.write(puts, fence, (count) => {
        told += count;
      });
      expect(told).toBe(250);
      expect(await table.read(keys)).toEqual(new Map(keys.map((key) => [key, { key, places }])));

      const changed = [{ straat: 'Kerkstraat', woonplaats: 'Muiden' }, ...places];
      const removes = keys.slice(2).map((remove) => ({ remove }));
      await table.write(
        [{ put: lineOf({ key: '1381AA#1#', places: changed }) }, ...removes],
        fence,
      );
      expect(await table.read(keys)).toEqual(
        new Map([
          ['1381AA#1#', { key: '1381AA#1#', places: changed }],
          ['1381AA#2#', { key: '1381AA#2#', places }],
        ]),
      );
      await table.write([], fence);
    });
  });

  it.each([
    ['another load', 'next'],
    ['a later start of the same owner', 'first'],
  ])(
    'writes nothing, not even the dataset item, once %s has the lock, also if this process does not know it yet',
    async (_, next) => {
      const held = await table.lock.acquire('first', 60);
      // A process that was asleep between its last look at the lock and its write.
      const asleep = { ...fence, held };
      await table.write(puts.slice(0, 5), asleep);
      await table.lock.release('first');
      await table.lock.acquire(next, 60);
      await expect(table.write(puts, asleep)).rejects.toMatchObject({ name: 'LockedError' });
      const dataset = { peildatum: '2026-01-08', load: 'x' };
      await expect(table.setDataset(dataset, asleep)).rejects.toMatchObject({
        name: 'LockedError',
      });
      expect((await table.read(keys)).size).toBe(5);
      expect(await table.dataset()).toBeNull();
    },
  );

  it('has the dataset that was set last, which is no address', async () => {
    const last = { peildatum: '2026-02-08', load: 'two' };
    await underLock(table, async (fence) => {
      await table.setDataset({ peildatum: '2026-01-08', load: 'one' }, fence);
      await table.setDataset(last, fence);
    });
    expect(await table.dataset()).toEqual(last);
    expect(await table.hasAddresses()).toBe(false);
  });

  it('with an expired lease sends nothing', async () => {
    await table.lock.acquire('execution', 60);
    const expired = await Lease.ofOwner(table.lock, 'execution', 0);
    await expect(table.write(puts, expired)).rejects.toThrow(/stopped writing/);
    expect((await table.read(keys)).size).toBe(0);
  });
});
