import { describe, expect, it } from '@jest/globals';
import { burst, createInstance, startAddressService, testAddress, usedOf } from '../../support/address-service.ts';
import { inSweep } from '../../support/in-sweep.ts';
import { expectWholeShards, shardedAccount } from '../../support/shards.ts';
import { startForTests } from '../../support/start-for-tests.ts';
import { sweep } from '../../support/sweep.ts';

const service = startForTests(startAddressService);

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
  for (;;) {
    const { 200: admitted = 0, 429: refused = 0, ...others } = await burst([instance], key, 10);
    expect(others).toEqual({});
    served += admitted;
    if (refused > 0) return served;
  }
}

describe('a change of an account with quota shards, while it is being charged', () => {
  const changes: [day: number, first: number, changes: number[]][] = [
    [60, 3, [8, 2, 5, 1, 4]],
    [400, 1, [4, 2, 8, 3, 1, 5, 1, 7, 6]],
  ];
  it.each(sweep(changes, 1))(
    'of the number of shards loses and adds no unit, with a limit of %i on %i shards, then %j',
    async (...row) => {
      const [day, first, changes] = row;
      const { id, key } = await shardedAccount(service, { day, month: 500 }, first);
      const { all } = await under(3, key, async () => {
        for (const shards of changes)
          expect(await service.admin.accounts.set({ id, shards })).toMatchObject({ shards });
      });
      const { 200: served = 0, 429: _, ...others } = all;
      expect(others).toEqual({});
      expect(await usedOf(service, id)).toEqual({ day: served, month: served });
      await expectWholeShards(service, id, changes.at(-1) ?? 0, { day, month: 500 });
      expect(served + (await drain(key))).toBe(day);
      expect(await usedOf(service, id)).toEqual({ day, month: day });
    },
  );

  inSweep('of the plan and of own limits, applies exactly on all shards', async () => {
    const { id, plan, key } = await shardedAccount(service, { hour: null, day: 210 }, 4);
    const { all } = await under(3, key, async () => {
      await service.admin.plans.put({ code: plan, limits: { day: 190, month: 5000 } });
      await service.admin.accounts.set({ id, limits: { day: 270 } });
      await service.admin.plans.put({ code: plan, limits: { minute: null, day: 230, month: 5000 } });
      await service.admin.accounts.set({ id, limits: { day: 'plan' }, shards: 5 });
    });
    const { 200: served = 0, 429: _, ...others } = all;
    expect(others).toEqual({});
    expect((await usedOf(service, id)).day).toBe(served);
    await expectWholeShards(service, id, 5, { minute: null, day: 230, month: 5000 });
    expect(served + (await drain(key))).toBe(230);
  });

  inSweep('to a limit below the usage refuses from then on, and to a higher one serves the rest', async () => {
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
    expect(await usedOf(service, id)).toEqual({ day: 80 });
  });

  type Ends = [string, number, (account: { id: string; plan: string; keyId: string }) => Promise<unknown>];
  const ends: Ends[] = [
    ['a revocation', 401, ({ id, keyId }) => service.admin.keys.revoke({ account: id, keyId })],
    ['a suspension', 403, ({ id }) => service.admin.accounts.suspend(id)],
    ['an inactive plan', 403, ({ plan }) => service.admin.plans.put({ code: plan, state: 'inactive' })],
  ];
  it.each(sweep(ends, 1))(
    'by %s refuses every later lookup on every shard as soon as it has returned',
    async (_, status, change) => {
      const account = await shardedAccount(service, { day: 100_000 }, 8);
      const { all, late } = await under(5, account.key, async (begun) => {
        await begun;
        await change(account);
      });
      expect(late).toEqual({ [status]: 30 });
      expect(Object.keys(all).sort()).toEqual(['200', String(status)].sort());
      expect(await usedOf(service, account.id)).toEqual({ day: all[200] });
    },
  );

  it('of its keys or its state affects no other caller: a new key works, and so does an activated account', async () => {
    const { id, key, keyId } = await shardedAccount(service, { day: 100_000 }, 8);
    const { all } = await under(3, key, async () => {
      const other = await service.admin.keys.create({ account: id, label: 'other' });
      expect(await burst([service.instance], other.key, 30)).toEqual({ 200: 30 });
      await service.admin.keys.revoke({ account: id, keyId: other.keyId });
    });
    expect(Object.keys(all)).toEqual(['200']);
    await service.admin.accounts.suspend(id);
    expect((await service.instance.lookUp(key, testAddress)).status).toBe(403);
    await service.admin.accounts.activate(id);
    expect(await burst([service.instance], key, 30)).toEqual({ 200: 30 });
    const [item] = await expectWholeShards(service, id, 8, { day: 100_000 });
    expect(Object.keys(item?.keys as object)).toEqual([keyId]);
  });
});
