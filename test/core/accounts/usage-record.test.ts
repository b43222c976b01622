import { beforeAll, describe, expect, it } from '@jest/globals';
import { createAccessStore } from '../../../core/accounts/charge/access-store.ts';
import {
  addToRecords,
  backupDays,
  createRefusalCount,
  lookupsIn,
  type RefusalCount,
  recordDays,
  refusalsIn,
  restoreDay,
  sumByDate,
  unrecorded,
  usageRecord,
} from '../../../core/accounts/usage-record.ts';
import type { StoreClient } from '../../../core/dynamodb.ts';
import { addressRoute } from '../../../lambdas/address/address-route.ts';
import { createAdmin } from '../../../packages/admin/admin.ts';
import { accessOf } from '../../support/access.ts';
import { startAddressService, testSecrets, testTables } from '../../support/address-service.ts';
import { gatewayEvent, lambdaContext } from '../../support/gateway-event.ts';
import { startForTests } from '../../support/start-for-tests.ts';

const seconds = (iso: string) => Date.parse(iso) / 1000;

const recordOf = (date: string, attributes: Record<string, number>) => ({
  account: 'acme',
  item: usageRecord.sortKey(date),
  ...attributes,
});

/** The counts of these days, none of them by key. */
const lookups = (units: Record<string, number>) =>
  Object.fromEntries(Object.entries(units).map(([date, count]) => [date, { lookups: count }]));

describe('the lookups of an access item that no record has', () => {
  it.each([
    [{ date: '2026-08-02', lookups: 5, days: {} }, { '2026-08-02': 5 }],
    [
      { date: '2026-08-02', lookups: 5, days: { '2026-08-01': 3 } },
      { '2026-08-01': 3, '2026-08-02': 5 },
    ],
    // After a clock was behind.
    [{ date: '2026-08-02', lookups: 5, days: { '2026-08-02': 3 } }, { '2026-08-02': 8 }],
    [{ date: '2026-08-02', lookups: 0, days: { '2026-08-01': 3 } }, { '2026-08-01': 3 }],
    [{ date: '2026-08-02', lookups: 0, days: {} }, {}],
  ])('of %j are %j', (usage, units) => {
    expect(unrecorded({ ...usage, byKey: {}, daysByKey: {} })).toEqual(lookups(units));
  });

  it('are added up by date', () => {
    expect(
      sumByDate([
        lookups({ '2026-08-01': 3, '2026-08-02': 1 }),
        { '2026-08-02': { lookups: 5, by_k1: 2 } },
        {},
      ]),
    ).toEqual({ '2026-08-01': { lookups: 3 }, '2026-08-02': { lookups: 6, by_k1: 2 } });
  });
});

describe('the record of a day', () => {
  it.each([
    ['2026-08-01', undefined, '2028-10-01T00:00:00Z'],
    ['2026-08-31', undefined, '2028-10-01T00:00:00Z'],
    ['2026-12-31', 1, '2027-02-01T00:00:00Z'],
    ['2026-12-31', 0, '2027-01-01T00:00:00Z'],
  ])('of %s may be deleted %p whole months after its month: %s', (date, months, expires) => {
    const [update] = addToRecords('accounts', 'acme', lookups({ [date]: 3 }), months);
    expect(Object.values(update?.ExpressionAttributeValues ?? {})).toEqual([seconds(expires), 3]);
  });

  it('is not made for a day without lookups', () => {
    expect(addToRecords('accounts', 'acme', lookups({ '2026-08-01': 0 }))).toEqual([]);
  });

  it('expires the given months after its own, or if none are given keeps its expiry', () => {
    const expiryOf = (months?: number) => {
      const [update] = addToRecords('accounts', 'acme', lookups({ '2026-08-01': 1 }), months);
      return [
        update?.UpdateExpression.split(' ADD ')[0],
        update?.ExpressionAttributeValues[':expires'],
      ];
    };
    expect(expiryOf(3)).toEqual(['SET #expires = :expires', seconds('2026-12-01T00:00:00Z')]);
    const kept = 'SET #expires = if_not_exists(#expires, :expires)';
    expect(expiryOf()).toEqual([kept, seconds('2028-10-01T00:00:00Z')]);
  });

  it('has no lookups, and no refusals, before any were recorded', () => {
    expect(lookupsIn(recordOf('2026-08-01', {}))).toBe(0);
    expect(refusalsIn(recordOf('2026-08-01', { lookups: 3 }))).toBeUndefined();
    expect(refusalsIn(recordOf('2026-08-01', { refused_input: 1 }))).toEqual({
      quota: 0,
      input: 1,
      inactive: 0,
    });
  });
});

describe('the days of an access item that are recorded', () => {
  const accessWith = (days: Record<string, number>) =>
    accessOf({ usage: { date: '2026-08-03', lookups: 5, days, byKey: {}, daysByKey: {} } });
  /** The lookups that the updates add to records, by date. */
  const added = (updates: ReturnType<typeof recordDays>) =>
    Object.fromEntries(
      updates
        .slice(1)
        .map(({ Key, ExpressionAttributeValues: values }) => [
          String(Key.item).slice(6),
          values[':lookups'],
        ]),
    );

  it.each<
    [string, Record<string, number>, Parameters<typeof recordDays>[2], Record<string, number>]
  >([
    [
      'are those that have ended, without today',
      { '2026-08-01': 2, '2026-08-02': 7 },
      { today: '2026-08-03' },
      { '2026-08-01': 2, '2026-08-02': 7 },
    ],
    [
      'include the one that is counted if it has ended',
      {},
      { today: '2026-08-04' },
      { '2026-08-03': 5 },
    ],
    ['add it to the same day', { '2026-08-03': 1 }, { today: '2026-08-04' }, { '2026-08-03': 6 }],
  ])('%s', (_, days, options, units) => {
    expect(added(recordDays('accounts', accessWith(days), options))).toEqual(units);
  });

  it('are none if no day has ended, or the one that has ended had no lookups', () => {
    expect(recordDays('accounts', accessWith({}), { today: '2026-08-03' })).toEqual([]);
    const idle = accessOf({
      usage: { date: '2026-08-03', lookups: 0, days: {}, byKey: {}, daysByKey: {} },
    });
    expect(recordDays('accounts', idle, { today: '2026-08-04' })).toEqual([]);
  });
});

describe('the days of an account in a backup', () => {
  it('are those of its records and of its access items, in order, with the expiry of the record', () => {
    const records = [
      recordOf('2026-08-02', { lookups: 2, expires: 1 }),
      recordOf('2026-08-01', { lookups: 3, expires: 2 }),
      recordOf('2026-07-31', { refused_quota: 3, expires: 3 }),
    ];
    const expires = seconds('2028-10-01T00:00:00Z');
    expect(
      backupDays(records, [
        lookups({ '2026-08-03': 4, '2026-08-02': 1 }),
        lookups({ '2026-08-03': 5 }),
      ]),
    ).toEqual([
      { date: '2026-08-01', lookups: 3, expires: 2 },
      { date: '2026-08-02', lookups: 3, expires: 1 },
      { date: '2026-08-03', lookups: 9, expires },
    ]);
  });

  it('are restored to a record of the same day', () => {
    expect(
      restoreDay('accounts', 'acme', { date: '2026-08-01', lookups: 3, expires: 2 }),
    ).toMatchObject({
      Key: { account: 'acme', item: 'usage#2026-08-01' },
      ExpressionAttributeValues: { ':lookups': 3, ':expires': 2 },
    });
  });
});

const service = startForTests(async () => {
  const service = await startAddressService();
  const admin = createAdmin({
    client: service.client,
    table: testTables.accounts,
    now: () => noon * 1000,
  });
  return { ...service, admin };
});
let accounts = 0;
/** In the middle of a month, as there is no usage of a month to come. */
const noon = Date.UTC(2026, 5, 15, 12) / 1000;
const dateOf = (seconds: number) => new Date(seconds * 1000).toISOString().slice(0, 10);
const from = dateOf(noon);
const to = dateOf(noon + 86_400);

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

const refusalsOf = async (id: string) =>
  (await service.admin.accounts.usage(id, { from, to })).refusals;

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
    expect(refusals).toEqual([
      { date: from, quota: 2, input: 1, inactive: 1, windows: { day: 2 } },
    ]);
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
