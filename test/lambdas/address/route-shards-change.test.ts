import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  type AddressService,
  createInstance,
  startAddressService,
  testAddress,
} from '../../support/address-service.ts';
import { expectWholeShards, shardedAccount } from '../../support/shards.ts';

let service: AddressService;

beforeAll(async () => {
  service = await startAddressService();
});
afterAll(() => service.stop());

/**
 * Keeps `callers` busy with lookups until `changes` are done and 30 have started after that; how many got each status,
 * also of those that started late. `begun` is when 30 have been made.
 */
async function under(callers: number, key: string, changes: (begun: Promise<void>) => Promise<void>) {
  const instances = [1, 2].map(() => createInstance(service.observed));
  const all: Record<number, number> = {};
  const late: Record<number, number> = {};
  const begun = Promise.withResolvers<void>();
  let made = 0;
  let done = false;
  const changing = changes(begun.promise).finally(() => {
    done = true;
  });
  const calling = Array.from({ length: callers }, async (_, i) => {
    for (let after = 0; after < 30 / callers; ) {
      const startedLate = done;
      const { status } = await (instances[i % 2] as (typeof instances)[0]).lookUp(key, testAddress);
      all[status] = (all[status] ?? 0) + 1;
      if (++made === 30) begun.resolve();
      if (!startedLate) continue;
      late[status] = (late[status] ?? 0) + 1;
      after++;
    }
  });
  await Promise.all([changing, ...calling]);
  return { all, late };
}

/** Makes lookups until one is refused; how many were served. */
async function drain(key: string): Promise<number> {
  const instance = createInstance(service.observed);
  let served = 0;
  for (let refused = false; !refused; ) {
    const statuses = await Promise.all(
      Array.from({ length: 10 }, async () => (await instance.lookUp(key, testAddress)).status),
    );
    expect(statuses.every((status) => status === 200 || status === 429)).toBe(true);
    served += statuses.filter((status) => status === 200).length;
    refused = statuses.includes(429);
  }
  return served;
}

const usedOf = async (id: string) =>
  Object.values((await service.admin.accounts.show(id)).windows).map(({ used }) => used);

describe('a change of an account with quota shards, while it is being charged', () => {
  it('of the number of shards, up and down, loses and adds no unit', async () => {
    const limits = { day: 400, month: 500 };
    const { id, key } = await shardedAccount(service, limits, 1);
    const { all } = await under(3, key, async () => {
      for (const shards of [4, 2, 8, 3, 1, 5, 1, 7, 6]) {
        expect(await service.admin.accounts.set({ id, shards })).toMatchObject({ shards });
      }
    });
    const { 200: served = 0, 429: _, ...others } = all;
    expect(others).toEqual({});
    expect(await usedOf(id)).toEqual([served, served]);
    await expectWholeShards(service, id, 6, limits);
    expect(served + (await drain(key))).toBe(400);
    expect(await usedOf(id)).toEqual([400, 400]);
  });

  it('of the number of shards, close to the limit, serves exactly the remaining quota', async () => {
    const limits = { day: 60, month: 100 };
    const { id, key } = await shardedAccount(service, limits, 3);
    const { all } = await under(3, key, async () => {
      for (const shards of [8, 2, 5, 1, 4]) await service.admin.accounts.set({ id, shards });
    });
    expect((all[200] ?? 0) + (await drain(key))).toBe(60);
    expect(await usedOf(id)).toEqual([60, 60]);
    await expectWholeShards(service, id, 4, limits);
  });

  it('of the plan and of own limits, applies exactly on all shards', async () => {
    const { id, plan, key } = await shardedAccount(service, { hour: null, day: 210 }, 4);
    const { all } = await under(3, key, async () => {
      await service.admin.plans.put({ code: plan, limits: { day: 190, month: 5000 } });
      await service.admin.accounts.set({ id, limits: { day: 270 } });
      await service.admin.plans.put({ code: plan, limits: { minute: null, day: 230, month: 5000 } });
      await service.admin.accounts.set({ id, limits: { day: 'plan' }, shards: 5 });
    });
    const { 200: served = 0, 429: _, ...others } = all;
    expect(others).toEqual({});
    expect((await service.admin.accounts.show(id)).windows.day?.used).toBe(served);
    await expectWholeShards(service, id, 5, { minute: null, day: 230, month: 5000 });
    expect(served + (await drain(key))).toBe(230);
  });

  it('to a limit below the usage refuses from then on, and to a higher one serves the rest', async () => {
    const { id, plan, key } = await shardedAccount(service, { day: 60 }, 4);
    expect(await drain(key)).toBe(60);
    await service.admin.plans.put({ code: plan, limits: { day: 25 } });
    await expectWholeShards(service, id, 4, { day: 25 });
    expect(await drain(key)).toBe(0);
    await service.admin.plans.put({ code: plan, limits: { day: 75 } });
    expect(await drain(key)).toBe(15);
    await service.admin.plans.put({ code: plan, limits: { day: null } });
    await expectWholeShards(service, id, 4, { day: null });
    await service.admin.accounts.set({ id, limits: { day: 80 } });
    expect(await drain(key)).toBe(5);
    expect(await usedOf(id)).toEqual([80]);
  });

  it.each([
    [
      'a revocation',
      401,
      async (id: string, keyId: string) => void (await service.admin.keys.revoke({ account: id, keyId })),
    ],
    ['a suspension', 403, async (id: string) => void (await service.admin.accounts.suspend(id))],
    [
      'an inactive plan',
      403,
      async (_: string, __: string, plan: string) =>
        void (await service.admin.plans.put({ code: plan, state: 'inactive' })),
    ],
  ])('by %s refuses every later lookup on every shard as soon as it has returned', async (_, status, change) => {
    const { id, key, keyId, plan } = await shardedAccount(service, { day: 100_000 }, 8);
    const { all, late } = await under(5, key, async (begun) => {
      await begun;
      await change(id, keyId, plan);
    });
    expect(late).toEqual({ [status]: 30 });
    expect(Object.keys(all).sort()).toEqual(['200', String(status)].sort());
    expect(await usedOf(id)).toEqual([all[200]]);
  });

  it('of its keys or its state affects no other caller: a new key works, and so does an activated account', async () => {
    const { id, key, keyId } = await shardedAccount(service, { day: 100_000 }, 8);
    const { all } = await under(3, key, async () => {
      const other = await service.admin.keys.create({ account: id, label: 'other' });
      const statuses = await Promise.all(
        Array.from({ length: 30 }, async () => (await service.instance.lookUp(other.key, testAddress)).status),
      );
      expect(new Set(statuses)).toEqual(new Set([200]));
      await service.admin.keys.revoke({ account: id, keyId: other.keyId });
    });
    expect(Object.keys(all)).toEqual(['200']);
    await service.admin.accounts.suspend(id);
    expect((await service.instance.lookUp(key, testAddress)).status).toBe(403);
    await service.admin.accounts.activate(id);
    const statuses = await Promise.all(
      Array.from({ length: 30 }, async () => (await service.instance.lookUp(key, testAddress)).status),
    );
    expect(new Set(statuses)).toEqual(new Set([200]));
    const [item] = await expectWholeShards(service, id, 8, { day: 100_000 });
    expect(Object.keys(item?.keys as object)).toEqual([keyId]);
  });

  it('by a concurrent revocation and increase of shards leaves the key on no shard', async () => {
    for (let round = 0; round < 5; round++) {
      const { id, key, keyId } = await shardedAccount(service, { day: 100_000 }, 1 + round);
      await Promise.all([
        service.admin.accounts.set({ id, shards: 8 }),
        service.admin.keys.revoke({ account: id, keyId }),
        service.admin.keys.create({ account: id, label: 'new' }),
      ]);
      const items = await expectWholeShards(service, id, 8, { day: 100_000 });
      for (const { keys } of items) expect(Object.keys(keys as object)).not.toContain(keyId);
      expect((await service.instance.lookUp(key, testAddress)).status).toBe(401);
    }
  });
});
