import { beforeAll, describe, expect, it } from '@jest/globals';
import { createAccessStore } from '../../../core/accounts/charge/access-store.ts';
import { createRefusalCount, type RefusalCount } from '../../../core/accounts/usage-record.ts';
import type { StoreClient } from '../../../core/dynamodb.ts';
import { addressRoute } from '../../../lambdas/address/address-route.ts';
import { startAddressService, testSecrets, testTables } from '../../support/address-service.ts';
import { gatewayEvent, lambdaContext } from '../../support/gateway-event.ts';
import { startForTests } from '../../support/start-for-tests.ts';

const service = startForTests(startAddressService);
let accounts = 0;
/** Tomorrow: an account counts on no day before it was made. */
const noon = (Math.floor(Date.now() / 86_400_000) + 1) * 86_400 + 43_200;
const dateOf = (seconds: number) => new Date(seconds * 1000).toISOString().slice(0, 10);
const [from, to] = [dateOf(noon), dateOf(noon + 86_400)];

beforeAll(async () => {
  await service.admin.plans.put({ code: 'one', limits: { day: 1 } });
});

/** A client whose writes can be waited for, and which can fail. */
function watchedClient(fails = false) {
  const sent: Promise<unknown>[] = [];
  const send = ((...args: Parameters<StoreClient['send']>) => {
    const answer = fails ? Promise.reject(new Error('no store')) : service.client.send(...args);
    sent.push(Promise.resolve(answer).catch(() => undefined));
    return answer;
  }) as StoreClient['send'];
  return { client: { send } as StoreClient, sent, settle: () => Promise.all(sent) };
}

async function newAccount() {
  const id = `refused-${++accounts}`;
  await service.admin.accounts.create({ id, plan: 'one' });
  return { id, key: (await service.admin.keys.create({ account: id, label: 'x' })).key };
}

const refusalsOf = async (id: string) => (await service.admin.accounts.usage(id, { from, to })).refusals;

/** One instance with a clock of its own; returns the status of each lookup. */
function instance(refusals: RefusalCount, clock: () => number) {
  const { client } = service;
  const route = addressRoute({
    accessStore: createAccessStore(client, testTables.accounts),
    addressStore: { find: async () => ({ places: [], toevoegingen: [] }) } as never,
    datasetDate: async () => undefined as never,
    refusals,
    checksumSecrets: testSecrets,
    clock,
  });
  return async (key: string, query = 'postcode=1381AA&huisnummer=9') => {
    const event = gatewayEvent(`/v1/address?${query}`, { headers: { 'X-API-Key': key } });
    return (await route(event as Parameters<typeof route>[0], lambdaContext)).statusCode;
  };
}

describe('the refusals of an account', () => {
  it('are counted by day and kind, and do not change its count of lookups', async () => {
    const { id, key } = await newAccount();
    const { client, settle } = watchedClient();
    let now = noon;
    const lookUp = instance(createRefusalCount(client, testTables.accounts), () => now);
    expect([await lookUp(key), await lookUp(key), await lookUp(key)]).toEqual([200, 429, 429]);
    expect(await lookUp(key, 'postcode=nonsense')).toBe(422);
    await service.admin.accounts.suspend(id);
    expect(await lookUp(key)).toBe(403);
    now += 61;
    expect(await lookUp(key)).toBe(403);
    await settle();
    const { days, refusals } = await service.admin.accounts.usage(id, { from, to });
    expect(days[0]).toEqual({ date: from, lookups: 1 });
    // The first flush had one, the second what came since; the last one is in no flush yet.
    expect(refusals).toEqual([{ date: from, quota: 2, input: 1, inactive: 1, windows: { day: 2 } }]);
  });

  it('do not include requests with an invalid key, which learn nothing about the account', async () => {
    const { id, key } = await newAccount();
    const [{ keyId } = { keyId: '' }] = await service.admin.keys.list(id);
    await service.admin.keys.revoke({ account: id, keyId });
    const { client, sent } = watchedClient();
    let now = noon;
    const lookUp = instance(createRefusalCount(client, testTables.accounts), () => now);
    expect([await lookUp(key), await lookUp('nonsense')]).toEqual([401, 401]);
    now += 61;
    await lookUp(key);
    expect(sent).toEqual([]);
  });

  it('cost at most one write a minute, however many there are', async () => {
    const { id } = await newAccount();
    const { client, sent, settle } = watchedClient();
    const refusals = createRefusalCount(client, testTables.accounts);
    for (let second = 0; second < 600; second++) {
      refusals.note(id, 'quota-exceeded', noon + second);
      refusals.flush(noon + second);
    }
    await settle();
    expect(sent).toHaveLength(10);
    expect((await refusalsOf(id))[0]?.quota).toBe(541);
  });

  it('cost at most ten writes a minute and bounded memory, however many accounts there are', async () => {
    const { client, sent } = watchedClient(true);
    const refusals = createRefusalCount(client, testTables.accounts);
    for (let i = 0; i < 5_000; i++) refusals.note(`account-${i}`, 'quota-exceeded', noon);
    refusals.flush(noon);
    expect(sent).toHaveLength(10);
    for (let minute = 1; minute < 200; minute++) refusals.flush(noon + minute * 60);
    expect(sent).toHaveLength(1_000);
  });

  it("fail no request when they can't be written, and are counted at most once", async () => {
    const { id, key } = await newAccount();
    const { client, sent } = watchedClient(true);
    let now = noon;
    const lookUp = instance(createRefusalCount(client, testTables.accounts), () => now);
    await lookUp(key);
    expect(await lookUp(key)).toBe(429);
    now += 61;
    expect(await lookUp(key)).toBe(429);
    expect(sent).toHaveLength(1);
    expect(await refusalsOf(id)).toEqual([]);
  });

  it('are summed over instances and days', async () => {
    const { id } = await newAccount();
    const { client, settle } = watchedClient();
    for (const instance of [1, 2]) {
      const refusals = createRefusalCount(client, testTables.accounts);
      refusals.note(id, 'invalid-input', noon);
      refusals.note(id, 'plan-inactive', noon + 86_400);
      refusals.flush(noon + 86_400 + instance);
    }
    await settle();
    expect(await refusalsOf(id)).toEqual([
      { date: from, quota: 0, input: 2, inactive: 0 },
      { date: to, quota: 0, input: 0, inactive: 2 },
    ]);
  });
});
