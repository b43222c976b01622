import { describe, expect, it } from '@jest/globals';
import { daySeconds, secondsOf } from '../../../core/calendar.ts';
import { createAdmin } from '../../../packages/admin/admin.ts';
import {
  createInstance,
  newAccount,
  startAddressService,
  testTables,
} from '../../support/address-service.ts';
import { startForTests } from '../../support/start-for-tests.ts';
import { sweep } from '../../support/sweep.ts';

const service = startForTests(startAddressService);

/** An account of its own, with an instance and an administration that go by one clock. */
async function newBench(limits: Record<string, number | null> = { day: 1000 }) {
  const clock = { now: secondsOf('2026-11-21') + 3600 };
  const { client, observed } = service;
  const now = () => clock.now * 1000;
  const admin = createAdmin({ client, table: testTables.accounts, now });
  const instance = createInstance(observed, { clock: () => clock.now });
  const { id, key, keyId } = await newAccount({ admin }, limits);
  const limit = (limitPerDay: number | null, of = keyId) =>
    admin.keys.set({ account: id, keyId: of, limitPerDay });
  const usedToday = async (of = keyId) =>
    (await admin.keys.list(id)).find((one) => one.keyId === of)?.usedToday;
  const send = (units: number, by = key) =>
    units === 1
      ? instance.lookUp(by)
      : instance.lookUpAll(by, {
          addresses: Array.from({ length: units }, () => ({ postcode: '1381AA', huisnummer: 9 })),
        });
  return { clock, admin, instance, id, key, keyId, limit, usedToday, send };
}

/** A key as it should be: its limit, and what it has used of the day. */
type Model = { key: string; keyId: string; limit: number | null; used: number };

const limits = [null, 0, 5];
const changes = { none: undefined, lower: 2, raise: 9, remove: null };
const grid = limits.flatMap((limit) =>
  [1, 3].flatMap((units) =>
    [false, true].flatMap((isNextDay) =>
      (Object.keys(changes) as (keyof typeof changes)[]).flatMap((change) =>
        [false, true].map((rotates) => ({ limit, units, isNextDay, change, rotates })),
      ),
    ),
  ),
);

describe('the limit of a key, beside another key', () => {
  it.each(sweep(grid, 5))(
    'admits what a count admits: $limit a day, $units at once, next day $isNextDay, change $change, rotation $rotates',
    async ({ limit, units, isNextDay, change, rotates }) => {
      const { clock, admin, id, key, keyId, send } = await newBench();
      const free = await admin.keys.create({ account: id, label: 'free' });
      const keys: Model[] = [
        { key, keyId, limit, used: 0 },
        { ...free, limit: null, used: 0 },
      ];
      const [first] = keys as [Model];
      const account = { used: 0 };
      if (limit !== null) await admin.keys.set({ account: id, keyId, limitPerDay: limit });

      async function sendAll(times: number) {
        for (const model of Array.from({ length: times }, () => keys).flat()) {
          const { status, json } = await send(units, model.key);
          const isAdmitted = model.used + units <= (model.limit ?? Infinity);
          expect([status, model]).toEqual([isAdmitted ? 200 : 429, model]);
          if (isAdmitted) {
            model.used += units;
            account.used += units;
          } else expect(json).toMatchObject({ violated_windows: ['key-day'] });
        }
        const listed = await admin.keys.list(id);
        expect(listed.map((one) => [one.keyId, one.limitPerDay, one.usedToday]).toSorted()).toEqual(
          keys.map((model) => [model.keyId, model.limit, model.used]).toSorted(),
        );
        expect((await admin.accounts.show(id)).windows.day?.used).toBe(account.used);
      }

      await sendAll(3);
      if (isNextDay) {
        clock.now += daySeconds;
        for (const counted of [...keys, account]) counted.used = 0;
      }
      if (change !== 'none') {
        first.limit = changes[change];
        await admin.keys.set({ account: id, keyId, limitPerDay: first.limit });
      }
      if (rotates) {
        const replacing = await admin.keys.rotate({ account: id, keyId });
        keys.push({ ...replacing, limit: first.limit, used: 0 });
      }
      await sendAll(4);
    },
  );
});

describe('a request above the limit of its key', () => {
  it('gets 429 that says what is left, until the end of the UTC day', async () => {
    const { limit, send, usedToday } = await newBench({ minute: 60, day: 1000 });
    await limit(5);
    expect((await send(3)).headers).toMatchObject({
      'ratelimit-policy': '"minute";q=60;w=60, "day";q=1000;w=86400, "key-day";q=5;w=86400',
      ratelimit: `"key-day";r=2;t=${daySeconds - 3600}`,
    });
    const refused = await send(3);
    expect(refused).toMatchObject({ status: 429, json: { violated_windows: ['key-day'] } });
    expect(refused.headers).toMatchObject({
      'retry-after': String(daySeconds - 3600),
      ratelimit: `"key-day";r=2;t=${daySeconds - 3600}`,
    });
    expect((await send(2)).status).toBe(200);
    expect(await usedToday()).toBe(5);
  });

  it('is told that a batch above the limit can never succeed', async () => {
    const { limit, send } = await newBench();
    await limit(5);
    const { status, headers, json } = await send(6);
    expect([status, headers['retry-after']]).toEqual([429, String(daySeconds - 3600)]);
    expect(json).toMatchObject({
      detail:
        'The request has 6 addresses, and the limit is 5 a day for this key: it can never succeed. Send fewer addresses.',
    });
  });

  it('names the windows of the account too, and consumes nothing in any of them', async () => {
    const { admin, id, limit, send, usedToday } = await newBench({ day: 3, month: 100 });
    await limit(3);
    expect((await send(3)).status).toBe(200);
    const { status, headers, json } = await send(1);
    expect([status, json]).toMatchObject([429, { violated_windows: ['day', 'key-day'] }]);
    expect(headers.ratelimit).toMatch(/^"day";r=0;/);
    const { windows } = await admin.accounts.show(id);
    expect([windows.day?.used, windows.month?.used, await usedToday()]).toEqual([3, 3, 3]);
  });

  it('takes one write in steady state, for one lookup and for many', async () => {
    const { limit, send } = await newBench();
    await limit(1000);
    for (const units of [1, 3]) {
      await send(units);
      await send(units);
      service.sent.length = 0;
      expect((await send(units)).status).toBe(200);
      const writes = service.sent.filter(({ name }) => name === 'UpdateItemCommand');
      expect(writes.map(({ table, units }) => [table, units])).toEqual([['accounts', 1]]);
    }
  });

  it('is admitted exactly as often as the limit allows, however many come at once', async () => {
    const { limit, send, usedToday, admin, id } = await newBench();
    await limit(7);
    const statuses = await Promise.all(
      Array.from({ length: 12 }, async () => (await send(1)).status),
    );
    expect(statuses.filter((status) => status === 200)).toHaveLength(7);
    expect(statuses.filter((status) => status === 429)).toHaveLength(5);
    expect([await usedToday(), (await admin.accounts.show(id)).windows.day?.used]).toEqual([7, 7]);
  });
});

describe('GET /v1/auth/validate', () => {
  it('has the limit of a key, apart from those of the account', async () => {
    const { instance, key, limit, send } = await newBench();
    const validate = async () =>
      instance.send('/v1/auth/validate', { headers: { 'X-API-Key': key } });
    expect((await validate()).json).not.toHaveProperty('key_limit_per_day');
    await limit(4);
    await send(3);
    const { json, headers } = await validate();
    expect(json).toMatchObject({ limits: { day: 1000 }, key_limit_per_day: 4 });
    expect((json as { limits: object }).limits).toEqual({ day: 1000 });
    expect(headers.ratelimit).toBe(`"key-day";r=1;t=${daySeconds - 3600}`);
    await limit(0);
    expect((await validate()).json).toMatchObject({ valid: true, key_limit_per_day: 0 });
  });
});
