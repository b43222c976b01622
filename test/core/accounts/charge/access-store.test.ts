import { setImmediate as turn } from 'node:timers/promises';
import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { type KeyClaim, readApiKey } from '../../../../core/accounts/api-key.ts';
import { createAccessStore } from '../../../../core/accounts/charge/access-store.ts';
import { charge } from '../../../../core/accounts/charge/charge.ts';
import { daySeconds } from '../../../../core/calendar.ts';
import { StoreUnavailable } from '../../../../core/dynamodb.ts';
import { testChecksumSecret } from '../../../support/dynamodb.ts';
import { startForTests } from '../../../support/start-for-tests.ts';
import { losses, refusals, startUnreliableAdmin } from './unreliable-store.ts';

const bench = startForTests(startUnreliableAdmin);

beforeAll(() => bench.admin.plans.put({ code: 'p', limits: { day: 9 } }));

let accounts = 0;
let id: string;
let claim: KeyClaim;

beforeEach(async () => {
  bench.store.forget();
  id = `account-${++accounts}`;
  await bench.admin.accounts.create({ id, plan: 'p' });
  const { key } = await bench.admin.keys.create({ account: id, label: 'k' });
  claim = readApiKey(key, [testChecksumSecret]) as KeyClaim;
});

const used = async () => (await bench.admin.accounts.show(id)).windows.day?.used;

/**
 * Begins a lookup, by a clock that is so many seconds ahead, and waits until its write is on its
 * way.
 */
async function begin(ahead = 0, pauseMilliseconds = 0) {
  const { clock, store, table } = bench;
  const time = new AbortController();
  const access = createAccessStore(store.client, table, pauseMilliseconds);
  const begun = store.begin(1, () =>
    charge(access, claim, () => clock.now / 1000 + ahead, time.signal),
  );
  begun.result.catch(() => undefined);
  await store.settle();
  return { ...begun, time };
}

describe('a charge', () => {
  it.each(refusals)('is sent again when it was not made: %s', async (how) => {
    const { lookup, result } = await begin();
    for (let i = 0; i < 2; i++) {
      await lookup.writes.at(-1)?.refuse(how);
      await bench.store.settle();
    }
    await lookup.writes.at(-1)?.arrive();
    lookup.writes.at(-1)?.answer();
    expect(await result).toMatchObject({ charged: { units: 1 } });
    expect([lookup.writes.length, await used()]).toEqual([3, 1]);
  });

  it.each(losses.flatMap((how) => [[how, 'before'] as const, [how, 'after'] as const]))(
    'is never sent again when its answer is lost: %s, %s the store made it',
    async (how, when) => {
      const { lookup, result } = await begin();
      const [write] = lookup.writes;
      if (when === 'after') await write?.arrive();
      write?.lose(how);
      await bench.store.settle();
      expect(lookup.writes).toHaveLength(1);
      const because = /^50\d/.test(how) ? 'server-error' : 'connection';
      await expect(result).rejects.toMatchObject({ name: 'ChargeUnknown', because });
      if (when === 'before') await write?.arrive();
      expect(await used()).toBe(1);
    },
  );

  it('has an unknown outcome when the time is up before its answer came', async () => {
    const { result, time } = await begin();
    time.abort();
    await expect(result).rejects.toMatchObject({ name: 'ChargeUnknown', because: 'time-up' });
  });

  it('was not made when the time is up after the store refused it', async () => {
    const { lookup, result, time } = await begin(0, 60_000);
    await lookup.writes[0]?.refuse('ThrottlingException');
    for (let i = 0; i < 100; i++) await turn(); // until it pauses
    time.abort();
    const error = await result.catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(StoreUnavailable);
    expect(error).toMatchObject({ name: 'StoreUnavailable' });
    expect(await used()).toBe(0);
  });

  it('is not sent again for a table that does not exist', async () => {
    const access = createAccessStore(bench.client, 'nowhere', 0);
    const charged = charge(
      access,
      claim,
      () => bench.clock.now / 1000,
      AbortSignal.timeout(20_000),
    );
    await expect(charged).rejects.toMatchObject({ name: 'StoreUnavailable' });
  });

  it('moves the day that it saw, and no other, when another one has begun a day in between', async () => {
    const { clock, store } = bench;
    const late = await begin(2 * daySeconds);
    await late.lookup.writes[0]?.arrive();
    late.lookup.writes[0]?.answer();
    await store.settle();
    // Its second write restarts the day that has ended; another one restarts it before that
    // arrives, a day earlier.
    const other = await begin(daySeconds);
    while (!other.lookup.ended) {
      await other.lookup.writes.at(-1)?.arrive();
      other.lookup.writes.at(-1)?.answer();
      await store.settle();
    }
    expect(await late.lookup.writes[1]?.arrive()).toMatchObject({ applied: false });
    late.lookup.writes[1]?.answer();
    await store.settle();
    await late.lookup.writes[2]?.arrive();
    late.lookup.writes[2]?.answer();
    expect(await late.result).toMatchObject({ charged: { units: 1 } });
    clock.now += 3 * daySeconds * 1000;
    const { days } = await bench.admin.accounts.usage(id, { from: '2026-08-01', to: '2026-08-03' });
    expect(days.map(({ lookups }) => lookups)).toEqual([0, 1, 1]);
    clock.now -= 3 * daySeconds * 1000;
  });
});
