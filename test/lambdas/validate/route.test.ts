import { describe, expect, it } from '@jest/globals';
import type { Access } from '../../../core/accounts/account.ts';
import { windowStart } from '../../../core/calendar.ts';
import { createInstance, newAccount, startAddressService, testTables, usedOf } from '../../support/address-service.ts';
import { patchShard, shardedAccount, shardsOf } from '../../support/shards.ts';
import { startForTests } from '../../support/start-for-tests.ts';
import { sweep } from '../../support/sweep.ts';

const service = startForTests(startAddressService);

function validate(key: string) {
  return service.instance.send('/v1/auth/validate', { headers: { 'X-API-Key': key } });
}

describe('the validation of a key', () => {
  it('returns label, plan and the effective limit of each configured window, shortest first', async () => {
    const { id, plan, key } = await newAccount(service, { month: null, day: 5000, minute: 60 });
    await service.admin.accounts.set({ id, limits: { day: 100 } });
    const { status, headers, body } = await validate(key);
    expect([status, headers['content-type']]).toEqual([200, 'application/json']);
    expect(body).toBe(
      `{"valid":true,"key_label":"the webshop of the tests","plan_code":"${plan}",` +
        '"limits":{"minute":60,"day":100,"month":null}}',
    );
  });

  it('follows a change of the plan at once, and lets the own limit stand', async () => {
    const { id, plan, key } = await newAccount(service, { minute: 60, day: 5000 });
    await service.admin.accounts.set({ id, limits: { day: 0 } });
    await service.admin.plans.put({ code: plan, limits: { hour: 7, day: 9 } });
    expect((await validate(key)).json).toMatchObject({ limits: { hour: 7, day: 0 } });
  });

  it('consumes nothing, works without any quota left, and ignores a query', async () => {
    const { id, key } = await newAccount(service, { day: 1 });
    await service.instance.lookUp(key);
    const headers = { 'x-api-key': key };
    for (const query of ['', '?a=1&a=2']) {
      expect((await service.instance.send(`/v1/auth/validate${query}`, { headers })).status).toBe(200);
    }
    expect(await usedOf(service, id)).toEqual({ day: 1 });
  });

  it('says what is left as the next lookup will, also of windows that have passed, without spending it', async () => {
    const { key } = await newAccount(service, { minute: 60, day: 5000, month: null });
    const noon = Date.UTC(2090, 0, 1, 12) / 1000;
    const at = (seconds: number) => createInstance(service.client, () => noon + seconds);
    const headersOf = async (seconds: number) => {
      const { headers } = await at(seconds).send('/v1/auth/validate', { headers: { 'X-API-Key': key } });
      return [headers['ratelimit-policy'], headers.ratelimit];
    };
    const policy = '"minute";q=60;w=60, "day";q=5000;w=86400';
    expect(await headersOf(1)).toEqual([policy, '"day";r=5000;t=43199']);
    for (let i = 0; i < 3; i++) await at(1).lookUp(key);
    const { headers } = await at(1).lookUp(key);
    expect(await headersOf(1)).toEqual([policy, headers.ratelimit]);
    expect(await headersOf(1)).toEqual([policy, '"minute";r=56;t=59']);
    expect(await headersOf(60)).toEqual([policy, '"day";r=4996;t=43140']);
    expect(await headersOf(86_400)).toEqual([policy, '"day";r=5000;t=43200']);
  });

  it('says what is left on all shards together', async () => {
    const { id, key } = await shardedAccount(service, { day: 100, month: null }, 4);
    const noon = Date.UTC(2090, 0, 1, 12) / 1000;
    await patchShard(service, id, 0, { day: { start: windowStart('day', noon), used: 10 } });
    const { send } = createInstance(service.client, () => noon);
    const { headers } = await send('/v1/auth/validate', { headers: { 'X-API-Key': key } });
    expect(headers['ratelimit-policy']).toBe('"day";q=100;w=86400');
    expect(headers.ratelimit).toBe('"day";r=90;t=43200');
  });

  const shardCounts = Array.from({ length: 20 }, (_, i) => i + 1);
  it.each(sweep(shardCounts, 2))(
    'is exact on %i shards that are drained unevenly, where a lookup says no more than that',
    async (shards) => {
      const { id, key } = await shardedAccount(service, { day: 1000, month: null }, shards);
      const noon = Date.UTC(2090, 0, 1, 12) / 1000;
      let left = 1000;
      const { quota } = (await shardsOf(service, id))[0] as Access;
      for (let shard = 0; shard < shards; shard++) {
        const used = Math.floor((Number(quota.day?.limit) * ((shard * 7) % 10)) / 10);
        left -= used;
        await patchShard(service, id, shard, { day: { start: windowStart('day', noon), used } });
      }
      const instance = createInstance(service.client, () => noon);
      const shown = ({ headers }: { headers: Record<string, string> }) =>
        Number(/r=(\d+)/.exec(headers.ratelimit ?? '')?.[1]);
      const check = async () => shown(await instance.send('/v1/auth/validate', { headers: { 'X-API-Key': key } }));
      expect(await check()).toBe(left);
      for (let i = 0; i < 10; i++) {
        const r = shown(await instance.lookUp(key));
        expect(r).toBeLessThanOrEqual(--left);
        expect(await check()).toBe(left);
      }
      const under: number[] = [];
      await Promise.all([
        ...Array.from({ length: 30 }, () => instance.lookUp(key)),
        ...Array.from({ length: 5 }, async () => under.push(await check())),
      ]);
      for (const r of under) {
        expect(r).toBeLessThanOrEqual(left);
        expect(r).toBeGreaterThanOrEqual(left - 30);
      }
      expect(await check()).toBe(left - 30);
    },
  );

  it('has no RateLimit headers for an account without a finite window', async () => {
    const { key } = await newAccount(service, { month: null });
    const { headers } = await validate(key);
    expect(Object.keys(headers).filter((name) => name.startsWith('ratelimit'))).toEqual([]);
  });

  it('costs one strongly consistent call', async () => {
    const { key } = await newAccount(service, { day: 1 });
    const inputs: unknown[] = [];
    const send = (command: { input: unknown }, ...rest: []) => {
      inputs.push(command.input);
      return service.client.send(command as never, ...rest);
    };
    const instance = createInstance({ send } as unknown as typeof service.client);
    expect((await instance.send('/v1/auth/validate', { headers: { 'X-API-Key': key } })).status).toBe(200);
    expect(inputs).toEqual([
      { RequestItems: { [testTables.accounts]: expect.objectContaining({ ConsistentRead: true }) } },
    ]);
  });
});
