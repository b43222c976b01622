import { describe, expect, it } from '@jest/globals';
import {
  type AddressService,
  burst,
  createInstance,
  newAccount,
  startAddressService,
  testAddress,
  usedOf,
} from '../../support/address-service.ts';
import { startForTests } from '../../support/start-for-tests.ts';

const service = startForTests(startAddressService);

type Instance = AddressService['instance'];

/** An instance whose clock stands `at` that second since 1970. */
function instanceAt(at: number): Instance {
  return createInstance(service.observed, () => at);
}

const month = Date.UTC(2090, 0, 1) / 1000;

describe('quota', () => {
  it.each([
    [{ hour: 20 }, 30, 20],
    [{ hour: 35, day: 21, month: 1000 }, 30, 21],
    [{ hour: 20, day: null }, 20, 20],
    [{ month: null }, 20, 20],
    [{ hour: 0, day: 10 }, 10, 0],
    [{ minute: 99, hour: 1 }, 20, 1],
  ])('of %j admits, of %i concurrent lookups, exactly %i', async (limits, count, admitted) => {
    const { id, key } = await newAccount(service, limits);
    const statuses = await burst([service.instance, createInstance(service.observed)], key, count);
    expect(statuses).toEqual({
      ...(admitted > 0 && { 200: admitted }),
      ...(admitted < count && { 429: count - admitted }),
    });
    for (const units of Object.values(await usedOf(service, id))) expect(units).toBe(admitted);
  });

  it('is shared by all keys of an account', async () => {
    const { id, key } = await newAccount(service, { day: 10 });
    const other = await service.admin.keys.create({ account: id, label: 'other' });
    const [a, b] = await Promise.all([burst([service.instance], key, 10), burst([service.instance], other.key, 10)]);
    expect((a[200] ?? 0) + (b[200] ?? 0)).toBe(10);
  });

  it('returns a 429 with the violated windows, the wait and the state of each window', async () => {
    const { key } = await newAccount(service, { minute: 2, day: 2, month: 50 });
    const now = month + 86_400 + 3600 + 10.5;
    const instance = instanceAt(now);
    expect((await burst([instance], key, 2))[200]).toBe(2);
    const { status, headers, json } = await instance.lookUp(key, testAddress);
    expect(status).toBe(429);
    expect(headers).toMatchObject({
      'retry-after': String(86_400 - 3600 - 10),
      'ratelimit-policy': '"minute";q=2;w=60, "day";q=2;w=86400, "month";q=50;w=2678400',
      ratelimit: `"day";r=0;t=${86_400 - 3600 - 10}`,
    });
    expect(json).toMatchObject({ type: '/problems/quota-exceeded', violated_windows: ['minute', 'day'] });
  });

  it('admits again after exactly Retry-After seconds, and not earlier', async () => {
    const { key } = await newAccount(service, { minute: 1, hour: 100 });
    const now = month + 10;
    await instanceAt(now).lookUp(key, testAddress);
    const wait = Number((await instanceAt(now).lookUp(key, testAddress)).headers['retry-after']);
    expect((await instanceAt(now + wait - 1).lookUp(key, testAddress)).status).toBe(429);
    expect((await instanceAt(now + wait).lookUp(key, testAddress)).status).toBe(200);
  });

  it('takes at most three writes per caller when a window rolls over, and otherwise one', async () => {
    const { key } = await newAccount(service, { minute: 1000, day: 1000 });
    const callers = 20;
    for (const [minute, most] of [
      [0, 3],
      [0, 1],
      [1, 3],
      [1, 1],
    ] as const) {
      service.sent.length = 0;
      await burst([instanceAt(month + minute * 60)], key, callers);
      const writes = service.sent.filter(({ name }) => name === 'UpdateItemCommand').length;
      expect(writes).toBeGreaterThanOrEqual(callers);
      expect(writes).toBeLessThanOrEqual(callers * most);
    }
  });

  it('is exact when clocks differ: a window never moves backwards', async () => {
    const { id, key } = await newAccount(service, { minute: 20, day: 1000 });
    const boundary = month + 600;
    const instances = [-90, -2, -0.5, 0, 0.5, 3].map((skew) => instanceAt(boundary + skew));
    const fast = instances[5] as Instance;
    expect((await fast.lookUp(key, testAddress)).status).toBe(200);
    expect((await burst(instances, key, 60))[200]).toBe(19);
    expect((await burst(instances.slice(0, 3), key, 10))[200] ?? 0).toBe(0);
    expect((await usedOf(service, id)).day).toBe(20);
  });

  it('refuses every lookup that starts after a revocation returned, in the middle of a burst', async () => {
    const { id, key, keyId } = await newAccount(service, { day: 100_000 });
    const begun = Promise.withResolvers<void>();
    let revoked = false;
    let late = 0;
    let before = 0;
    const callers = Array.from({ length: 10 }, async () => {
      for (let lateOfMine = 0; lateOfMine < 3; ) {
        const startedAfter = revoked;
        const { status } = await service.instance.lookUp(key, testAddress);
        if (startedAfter) {
          late++;
          lateOfMine++;
          expect(status).toBe(401);
        } else if (status === 200 && ++before === 20) begun.resolve();
      }
    });
    await begun.promise;
    const other = await service.admin.keys.create({ account: id, label: 'other' });
    await service.admin.keys.revoke({ account: id, keyId });
    revoked = true;
    await Promise.all(callers);
    expect((await service.instance.lookUp(other.key, testAddress)).status).toBe(200);
    expect(late).toBe(30);
    expect((await usedOf(service, id)).day).toBeGreaterThanOrEqual(before);
  });

  it('applies a plan change in the middle of a window at once and exactly', async () => {
    const { id, plan, key } = await newAccount(service, { day: 10 });
    expect((await burst([service.instance], key, 8))[200]).toBe(8);
    await service.admin.plans.put({ code: plan, limits: { day: 5 } });
    expect((await burst([service.instance], key, 5))[429]).toBe(5);
    await service.admin.plans.put({ code: plan, limits: { day: 12, month: 11 } });
    expect((await burst([service.instance], key, 20))[200]).toBe(3);
    await service.admin.plans.put({ code: plan, limits: { day: null } });
    expect((await burst([service.instance], key, 20))[200]).toBe(20);
    expect(await usedOf(service, id)).toEqual({ day: 31 });
  });
});
