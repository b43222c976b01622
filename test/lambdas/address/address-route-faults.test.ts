import { setTimeout as sleep } from 'node:timers/promises';
import {
  type AttributeValue,
  BatchGetItemCommand,
  ConditionalCheckFailedException,
  DynamoDBClient,
  GetItemCommand,
  InternalServerError,
  ProvisionedThroughputExceededException,
  RequestLimitExceeded,
  ResourceNotFoundException,
  ThrottlingException,
  TransactionConflictException,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb';
import { marshall } from '@aws-sdk/util-dynamodb';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { mockClient } from 'aws-sdk-client-mock';
import { keyCode } from '../../../core/accounts/account.ts';
import {
  accessItem as attributes,
  newAccessItem,
  windowItem,
} from '../../../core/accounts/account-item.ts';
import { issueApiKey } from '../../../core/accounts/api-key.ts';
import { windowStart } from '../../../core/calendar.ts';
import { createStoreClient } from '../../../core/dynamodb.ts';
import { localAws } from '../../../local/engine/engine.ts';
import {
  type AddressService,
  createInstance,
  newAccount,
  startAddressService,
  storedAddress,
  usedOf,
} from '../../support/address-service.ts';
import { testChecksumSecret } from '../../support/dynamodb.ts';
import { answer, startProxy } from '../../support/store-proxy.ts';

const meta = { $metadata: { httpStatusCode: 400 }, message: 'injected' };
const { key, claim } = issueApiKey('demo', testChecksumSecret);
const { day, month } = windowItem;
const { byKey, keyLimits } = attributes;
const today = windowStart('day', Math.floor(Date.now() / 1000));

/**
 * The item of an account that has just been charged in its current day, but for what `other` says.
 */
function accessItem(other: Record<string, unknown> = {}): Record<string, AttributeValue> {
  const plan = { code: 'p', state: 'active', limits: {}, version: 1 } as const;
  return marshall(
    {
      ...newAccessItem('demo', { plan, ownLimits: {} }, today),
      keys: { [claim.keyId]: claim.hash },
      [day.start]: today,
      [day.used]: 1,
      [day.limit]: 10,
      [month.used]: 1,
      [byKey]: { [keyCode(claim.keyId)]: 1 },
      ...other,
    },
    { removeUndefinedValues: true },
  );
}

const asDeployed = { hasDeadline: true };

/** An instance on a client that never sends: each call answers as the mock says. */
function mocked() {
  const client = new DynamoDBClient(localAws);
  return { mock: mockClient(client), instance: createInstance(client, asDeployed) };
}

describe('a store that fails', () => {
  it.concurrent.each([
    ['throttles the item', new ProvisionedThroughputExceededException(meta)],
    ['throttles the account', new RequestLimitExceeded(meta)],
    ['throttles the table', new ThrottlingException(meta)],
    ['breaks', new InternalServerError(meta)],
    ['is not there', new ResourceNotFoundException(meta)],
    ['times out', Object.assign(new Error('injected'), { name: 'TimeoutError' })],
    ['drops the connection', Object.assign(new Error('injected'), { code: 'ECONNRESET' })],
    ['returns an invalid response', new SyntaxError('injected')],
  ])(
    'makes a lookup return 503 with Retry-After when it %s during the charge',
    async (_, error) => {
      const { mock, instance } = mocked();
      mock.on(UpdateItemCommand).rejects(error);
      mock
        .on(GetItemCommand)
        .resolves({ Item: marshall({ places: [{ straat: 'Buitenveer', woonplaats: 'Weesp' }] }) });
      // Throttled, it is tried again until the time is up, of which one that has waited has a
      // second left.
      const request = { headers: { 'x-api-key': key }, waited: 3_000 };
      const { status, headers, json } = await instance.send(
        `/v1/address?${storedAddress}`,
        request,
      );
      expect(status).toBe(503);
      expect(Number(headers['retry-after'])).toBeGreaterThanOrEqual(1);
      expect(json).toMatchObject({ type: '/problems/temporarily-unavailable' });
      const tables = mock
        .commandCalls(GetItemCommand)
        .map(({ args: [{ input }] }) => input.TableName);
      expect(tables).not.toContain('addresses');
    },
  );

  it.each([0, 1])(
    "makes a lookup return 503 when an address can't be read, after %i reads that could",
    async (reads) => {
      const { mock, instance } = mocked();
      mock.on(UpdateItemCommand).resolves({ Attributes: accessItem() });
      const reading = mock.on(GetItemCommand);
      if (reads > 0) reading.resolvesOnce({});
      reading.rejects(new InternalServerError(meta));
      expect((await instance.lookUp(key)).status).toBe(503);
      expect(mock.commandCalls(GetItemCommand)).toHaveLength(reads + 1);
    },
  );

  it.each<[string, Record<string, AttributeValue> | undefined]>([
    ['has no attributes', undefined],
    ['has none that the account must have', {}],
    ['does not hold the key', accessItem({ keys: {} })],
    ['holds another hash of the key', accessItem({ keys: { [claim.keyId]: new Uint8Array(16) } })],
    ['is that of a suspended account', accessItem({ state: 'suspended' })],
    ['is that of an account on an inactive plan', accessItem({ plan_state: 'inactive' })],
    ['has no window', accessItem({ [day.start]: undefined })],
    ['has not counted the month', accessItem({ [month.used]: 0 })],
    ['has no count', accessItem({ [day.used]: undefined })],
    ['has counted nothing', accessItem({ [day.used]: 0 })],
    ['has counted more than the limit', accessItem({ [day.used]: 11 })],
    ['has not counted the key', accessItem({ [byKey]: {} })],
    [
      'has counted more than the limit of the key',
      accessItem({ [keyLimits]: { [keyCode(claim.keyId)]: 0 } }),
    ],
    ['counts an earlier window', accessItem({ [day.start]: today - 86_400 })],
  ])(
    'makes a lookup return 503, without reading an address, when the response to a charge %s',
    async (_, Attributes) => {
      const { mock, instance } = mocked();
      mock.on(UpdateItemCommand).resolves(Attributes ? { Attributes } : {});
      mock
        .on(GetItemCommand)
        .resolves({ Item: marshall({ places: [{ straat: 'Buitenveer', woonplaats: 'Weesp' }] }) });
      expect((await instance.lookUp(key)).status).toBe(503);
      expect(mock.commandCalls(GetItemCommand)).toHaveLength(0);
    },
  );

  it("makes a validation and an invalid lookup return 503 when the key can't be verified, or only in part", async () => {
    const { mock, instance } = mocked();
    const validate = () => instance.send('/v1/auth/validate', { headers: { 'x-api-key': key } });
    const Keys = [marshall({ account: 'demo', item: `key#${claim.keyId}` })];
    const part = {
      Responses: { accounts: [accessItem()] },
      UnprocessedKeys: { accounts: { Keys } },
    };
    mock.on(BatchGetItemCommand).resolvesOnce(part).rejects(new ThrottlingException(meta));
    mock.on(GetItemCommand).rejects(new ThrottlingException(meta));
    expect((await validate()).status).toBe(503);
    expect((await validate()).status).toBe(503);
    expect((await instance.lookUp(key, 'postcode=x')).status).toBe(503);
  });

  it('retries the charge when an operator changed the account at the same moment', async () => {
    const { mock, instance } = mocked();
    mock
      .on(UpdateItemCommand)
      .rejectsOnce(new TransactionConflictException(meta))
      .rejectsOnce(new TransactionConflictException(meta))
      .resolves({ Attributes: accessItem() });
    mock.on(GetItemCommand).resolves({});
    expect((await instance.lookUp(key)).status).toBe(200);
    expect(mock.commandCalls(UpdateItemCommand)).toHaveLength(3);
  });

  it('returns 503 when the write keeps failing without a reason', async () => {
    const { mock, instance } = mocked();
    mock
      .on(UpdateItemCommand)
      .rejects(new ConditionalCheckFailedException({ ...meta, Item: accessItem() }));
    expect((await instance.lookUp(key)).status).toBe(503);
    expect(mock.commandCalls(UpdateItemCommand).length).toBeLessThan(10);
  });

  it('reveals no internals in a 500', async () => {
    const { mock, instance } = mocked();
    mock
      .on(UpdateItemCommand)
      .rejects(Object.assign(new Error('secret detail'), { name: 'ValidationException' }));
    const { status, body, json } = await instance.lookUp(key);
    expect([status, json]).toEqual([
      500,
      expect.objectContaining({ type: '/problems/internal-error' }),
    ]);
    expect(body).not.toContain('secret detail');
  });
});

describe('a connection that fails', () => {
  let service: AddressService;
  let proxy: Awaited<ReturnType<typeof startProxy>>;
  /** Of how many next requests the response is lost, after how many whose response is not. */
  let lost = 0;
  let kept = 0;
  /** How long it takes over a response. */
  let milliseconds = 0;
  /** What a request contains that is never answered. */
  let hanging: string[] = [];
  /** What a request contains whose response begins and never ends. */
  let halted: string[] = [];

  beforeAll(async () => {
    service = await startAddressService();
    proxy = await startProxy(
      () => service.endpoint,
      async ({ body, forward }, response) => {
        if (hanging.some((part) => body.includes(part))) return;
        const isLost = kept === 0 && lost > 0;
        if (isLost) lost--;
        else if (kept > 0) kept--;
        const slowly = sleep(milliseconds);
        const answered = await forward();
        if (isLost) return void response.destroy();
        await slowly;
        if (halted.some((part) => body.includes(part))) {
          return void response.writeHead(200).write('{');
        }
        answer(response, answered.status, answered.body);
      },
    );
    process.env.AWS_ENDPOINT_URL_DYNAMODB = proxy.endpoint;
    process.env.AWS_REGION = localAws.region;
    process.env.AWS_ACCESS_KEY_ID = 'local';
    process.env.AWS_SECRET_ACCESS_KEY = 'local';
  });
  afterAll(async () => {
    await proxy.stop();
    await service.stop();
  });

  const used = async (id: string) => (await usedOf(service, id)).day;

  it.each([
    ['the answer to its charge', 503, 0, 1],
    ['the first answer to its read', 200, 1, 1],
    ['the first two answers to its read', 200, 1, 2],
    ['every answer to its read', 503, 1, 3],
  ])(
    'makes a lookup that loses %s return %i, and counts it once',
    async (_, status, answered, answers) => {
      const { id, key } = await newAccount(service, { day: 100 });
      const instance = createInstance(createStoreClient(), asDeployed);
      kept = answered;
      lost = answers;
      expect((await instance.lookUp(key)).status).toBe(status);
      expect(await used(id)).toBe(1);
    },
  );

  it('counts the lookup that follows a 503 as another one', async () => {
    const { id, key } = await newAccount(service, { day: 1 });
    const instance = createInstance(createStoreClient(), asDeployed);
    lost = 1;
    expect((await instance.lookUp(key)).status).toBe(503);
    expect((await instance.lookUp(key)).status).toBe(429);
    expect(await used(id)).toBe(1);
  });

  it('serves lookups while the store takes over a second for each call', async () => {
    const { id, key } = await newAccount(service, { day: 9 });
    const instance = createInstance(createStoreClient(), asDeployed);
    milliseconds = 1_200;
    const statuses = await Promise.all(
      [1, 2, 3].map(async () => (await instance.lookUp(key)).status),
    );
    milliseconds = 0;
    expect([statuses, await used(id)]).toEqual([[200, 200, 200], 3]);
  });

  it('still returns a response within 5 seconds when the store hangs', async () => {
    const unreadable = await newAccount(service, { day: 100 });
    const charged = await newAccount(service, { day: 100 });
    const half = await newAccount(service, { day: 100 });
    // The charge of one account; the first read of one address, and the second of another.
    halted = [`"${half.id}"`];
    hanging = [`"${unreadable.id}"`, '"1381AA#9#A"', '"1381AA#9#"'];
    const lookups = [
      { key: unreadable.key, query: 'postcode=1222AB&huisnummer=1' },
      { key: half.key, query: 'postcode=1222AB&huisnummer=1' },
      { key: charged.key, query: 'postcode=1381AA&huisnummer=9&toevoeging=a' },
      { key: charged.key, query: 'postcode=1381AA&huisnummer=9&toevoeging=b' },
    ];
    await Promise.all(
      lookups.map(async ({ key, query }) => {
        // A busy machine is as late for the end of the 5 seconds as it is for the answer.
        const end = sleep(5000).then(() => ({ status: 'none' }));
        const instance = createInstance(createStoreClient(), asDeployed);
        expect((await Promise.race([instance.lookUp(key, query), end])).status).toBe(503);
      }),
    );
    hanging = [];
    halted = [];
    expect([await used(unreadable.id), await used(half.id), await used(charged.id)]).toEqual([
      0, 1, 2,
    ]);
  });
});
