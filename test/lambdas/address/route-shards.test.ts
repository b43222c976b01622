import { QueryCommand, ThrottlingException } from '@aws-sdk/client-dynamodb';
import { describe, expect, it } from '@jest/globals';
import type { Limits } from '../../../core/accounts/quota.ts';
import { systemClock, type WindowName } from '../../../core/calendar.ts';
import {
  type AddressService,
  burst,
  createInstance,
  startAddressService,
  storedAddress,
  testAddress,
  usedOf,
} from '../../support/address-service.ts';
import { inSweep } from '../../support/in-sweep.ts';
import { expectWholeShards, patchShard, shardedAccount, shardsOf } from '../../support/shards.ts';
import { startForTests } from '../../support/start-for-tests.ts';
import { sweep } from '../../support/sweep.ts';

const service = startForTests(startAddressService);

type Instance = AddressService['instance'];

/** Instances that have met the account, so that they take any of its shards; each has charged it once. */
async function acquaintances(key: string, count = 3, now?: number): Promise<Instance[]> {
  const clock = now === undefined ? undefined : () => now;
  const made = Array.from({ length: count }, () => createInstance(service.observed, clock));
  for (const instance of made) await instance.lookUp(key, testAddress);
  return made;
}

function callsByName(): Record<string, number> {
  const calls: Record<string, number> = {};
  for (const { name } of service.sent) calls[name] = (calls[name] ?? 0) + 1;
  return calls;
}

const month = Date.UTC(2090, 0, 1) / 1000;

describe('an account with several quota shards', () => {
  const cases: [shards: number, Limits, lookups: number, used: number][] = [
    [2, { day: 41, month: 1000 }, 60, 41],
    [3, { hour: 50, day: 50, month: 50 }, 70, 50],
    [8, { day: 4 }, 40, 4],
    [5, { hour: 33, day: 35, month: null }, 50, 33],
    [8, { month: null }, 40, 43],
    [8, { hour: 100, day: 60 }, 80, 60],
    [4, { day: 0, month: 10 }, 20, 0],
    [20, { minute: 1000, hour: 61, month: 70 }, 80, 61],
  ];

  it.each(sweep(cases, 1))(
    'of %i and %j gets exactly its remaining quota: after 3 lookups and %i concurrent ones it has used %i',
    async (shards, limits, count, most) => {
      const { id, key } = await shardedAccount(service, limits, shards);
      const left = most - Math.min(3, most);
      // All at one moment: else the minute or the hour may end in between, and begin again at nothing.
      const statuses = await burst(await acquaintances(key, 3, systemClock()), key, count);
      expect(statuses).toEqual({ ...(left > 0 && { 200: left }), ...(count > left && { 429: count - left }) });
      const items = await expectWholeShards(service, id, shards, limits);
      for (const window of Object.keys(limits) as WindowName[]) {
        expect(items.reduce((sum, item) => sum + Number(item.quota[window]?.used), 0)).toBe(most);
      }
    },
  );

  inSweep('gets the remaining quota when no shard has quota left in every window', async () => {
    const { id, key } = await shardedAccount(service, { day: 40, month: 60 }, 4);
    const known = await acquaintances(key, 3);
    const counts = [
      { day: { limit: 10, used: 10 }, month: { limit: 30, used: 10 } },
      { day: { limit: 10, used: 10 }, month: { limit: 20, used: 15 } },
      { day: { limit: 9, used: 0 }, month: { limit: 5, used: 5 } },
      { day: { limit: 11, used: 9 }, month: { limit: 5, used: 5 } },
    ];
    for (const [i, windows] of counts.entries()) await patchShard(service, id, i, windows);
    expect(await burst(known, key, 30)).toEqual({ 200: 11, 429: 19 });
    expect(await usedOf(service, id)).toEqual({ day: 40, month: 46 });
    await expectWholeShards(service, id, 4, { day: 40, month: 60 });
  });

  it("is charged by one write per lookup, by instances that know its shards and by those that don't", async () => {
    const { id, key } = await shardedAccount(service, { minute: 100_000, day: null }, 4);
    // All at one moment: when a minute ends in between, some write once more.
    const now = systemClock();
    const known = await acquaintances(key, 2, now);
    service.sent.length = 0;
    const stranger = createInstance(service.observed, () => now);
    expect(await burst([...known, stranger], key, 90, storedAddress)).toEqual({ 200: 90 });
    expect(callsByName()).toEqual({ UpdateItemCommand: 90, GetItemCommand: 90 });
    expect(service.sent.every(({ name, units }) => units === (name === 'UpdateItemCommand' ? 1 : 0.5))).toBe(true);
    for (const { quota } of await shardsOf(service, id)) expect(quota.minute?.used).toBeGreaterThan(0);
  });

  it('moves shares to the shards that need them, in a few further calls', async () => {
    const { id, key } = await shardedAccount(service, { hour: 2000 }, 4);
    for (const [i, share] of [1940, 20, 20, 20].entries()) await patchShard(service, id, i, { hour: { limit: share } });
    const known = await acquaintances(key);
    service.sent.length = 0;
    for (let i = 0; i < 20; i++) expect(await burst(known, key, 20)).toEqual({ 200: 20 });
    expect(service.sent.length).toBeLessThan(1.25 * 400);
    service.sent.length = 0;
    for (let i = 0; i < 10; i++) await burst(known, key, 20);
    expect(service.sent.length).toBeLessThan(1.1 * 200);
  });

  it('is refused by one write per lookup once it is marked as exhausted', async () => {
    const { key } = await shardedAccount(service, { day: 12 }, 3);
    const known = await acquaintances(key);
    await burst(known, key, 100);
    for (let i = 0; i < 40; i++) await (known[0] as Instance).lookUp(key, testAddress);
    service.sent.length = 0;
    expect(await burst(known, key, 30)).toEqual({ 429: 30 });
    expect(callsByName()).toEqual({ UpdateItemCommand: 30 });
  });

  it('returns the limits and the remaining quota of the account, not of a shard', async () => {
    const { key } = await shardedAccount(service, { minute: 400, day: 20 }, 4);
    const [instance] = (await acquaintances(key, 1, month + 30)) as [Instance];
    const { headers } = await instance.lookUp(key, testAddress);
    expect(headers['ratelimit-policy']).toBe('"minute";q=400;w=60, "day";q=20;w=86400');
    expect(headers.ratelimit).toMatch(/^"day";r=[34];t=86370$/);
    await burst([instance], key, 30);
    for (let i = 0; i < 40; i++) {
      const refused = await instance.lookUp(key, testAddress);
      expect([refused.status, refused.json]).toEqual([429, expect.objectContaining({ violated_windows: ['day'] })]);
      expect(refused.headers).toMatchObject({ 'retry-after': '86370', ratelimit: '"day";r=0;t=86370' });
      expect(refused.headers['ratelimit-policy']).toBe('"minute";q=400;w=60, "day";q=20;w=86400');
    }
    const validation = await instance.send('/v1/auth/validate', { headers: { 'x-api-key': key } });
    expect(validation.json).toMatchObject({ limits: { minute: 400, day: 20 } });
  });

  inSweep('rolls windows over under load without losing or adding a unit', async () => {
    const { id, key } = await shardedAccount(service, { minute: 15, day: 50 }, 4);
    for (const [minute, admitted] of [15, 15, 15, 5, 0].entries()) {
      const known = await acquaintances(key, 2, month + 60 * minute + 5);
      expect((await burst(known, key, 20))[200] ?? 0).toBe(Math.max(0, admitted - 2));
    }
    expect((await burst(await acquaintances(key, 2, month + 86_400), key, 20))[200]).toBe(13);
    expect((await usedOf(service, id)).day).toBe(15);
  });

  inSweep('gets exactly the limit in a window when clocks differ', async () => {
    const { key } = await shardedAccount(service, { minute: 16 }, 5);
    const boundary = month + 1200;
    const known = await Promise.all(
      [-1, 1, -0.1, 0.1].map(async (skew) => (await acquaintances(key, 1, boundary + skew))[0]),
    );
    const { 200: served = 0, 429: refused = 0 } = await burst(known as Instance[], key, 40);
    expect(served + refused).toBe(40);
    expect(served + 4).toBeGreaterThanOrEqual(16);
    expect(served + 4).toBeLessThanOrEqual(32);
    const after = await acquaintances(key, 1, boundary + 2);
    expect((await burst(after, key, 20))[200] ?? 0).toBeLessThanOrEqual(32 - served - 4);
    expect((await burst(await acquaintances(key, 2, boundary + 3), key, 20))[200] ?? 0).toBe(0);
  });

  it("gets only 503 when its shards can't be read", async () => {
    const { key } = await shardedAccount(service, { day: 2 }, 2);
    const send = (command: unknown, ...rest: unknown[]) =>
      command instanceof QueryCommand
        ? Promise.reject(new ThrottlingException({ $metadata: {}, message: 'injected' }))
        : (service.observed.send as (...all: unknown[]) => Promise<unknown>)(command, ...rest);
    const instance = createInstance({ send } as unknown as typeof service.observed);
    const statuses = new Set<number>();
    for (let i = 0; i < 10; i++) {
      const { status, headers } = await instance.lookUp(key, testAddress);
      statuses.add(status);
      if (status === 503) expect(Number(headers['retry-after'])).toBeGreaterThanOrEqual(1);
    }
    expect(statuses).toEqual(new Set([200, 503]));
  });
});
