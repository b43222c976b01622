import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { keyCode, maxKeyCounts } from '../../../../core/accounts/account.ts';
import { accessItem, windowItem } from '../../../../core/accounts/account-item.ts';
import { type KeyClaim, readApiKey } from '../../../../core/accounts/api-key.ts';
import { createAccessStore } from '../../../../core/accounts/charge/access-store.ts';
import { charge } from '../../../../core/accounts/charge/charge.ts';
import { createAdminStore, getAccess } from '../../../../packages/admin/accounts/admin-store.ts';
import { recordUsage } from '../../../../packages/admin/accounts/usage.ts';
import { testChecksumSecret } from '../../../support/dynamodb.ts';
import { startForTests } from '../../../support/start-for-tests.ts';
import { writeItems } from '../../../support/stored-items.ts';
import { startAdmin } from './admin-bench.ts';

const dayMilliseconds = 86_400_000;
const start = Date.UTC(2026, 7, 1, 12, 30, 15);
const range = { from: '2026-08-01', to: '2026-08-31' };

const bench = startForTests(startAdmin);
beforeAll(async () => {
  await bench.admin.plans.put({ code: 'standard', limits: { minute: null, month: null } });
});
beforeEach(() => {
  bench.clock.now = start;
});

const store = () => createAdminStore(bench.client, bench.table, 'test', () => bench.clock.now);
const usageOf = (id: string) => bench.admin.accounts.usageByKey(id, range);

type Key = { keyId: string; use: (units?: number) => Promise<unknown> };

/** An account with so many keys, each of which charges it when it is used. */
async function accountWith(id: string, count: number): Promise<Key[]> {
  await bench.admin.accounts.create({ id, plan: 'standard' });
  const access = createAccessStore(bench.client, bench.table);
  const keys: Key[] = [];
  for (let i = 0; i < count; i++) {
    const { key, keyId } = await bench.admin.keys.create({ account: id, label: `key ${i}` });
    const claim = readApiKey(key, [testChecksumSecret]) as KeyClaim;
    const use = (units = 1) =>
      charge(access, claim, () => bench.clock.now / 1000, AbortSignal.timeout(20_000), units);
    keys.push({ keyId, use });
  }
  return keys;
}

/** The lookups of each key, by its label. */
async function byLabel(id: string): Promise<Record<string, number>> {
  const { keys, unattributed } = await usageOf(id);
  const entries = keys.map(({ label, lookups }): [string, number] => [String(label), lookups]);
  return Object.fromEntries([...entries, ['unattributed', unattributed.lookups]]);
}

describe('the usage of an account by key', () => {
  it('has the days of each key, the most used one first, and adds up to the usage of the account', async () => {
    const [first, second, unused] = (await accountWith('acme', 3)) as [Key, Key, Key];
    await first.use();
    await second.use(100);
    bench.clock.now += dayMilliseconds;
    await first.use(2);
    const of = { revoked: false };
    const yesterday = '2026-08-01';
    const today = '2026-08-02';
    expect(await usageOf('acme')).toEqual({
      account: 'acme',
      ...range,
      lookups: 103,
      keys: [
        {
          keyId: second.keyId,
          label: 'key 1',
          ...of,
          lookups: 100,
          days: [{ date: yesterday, lookups: 100 }],
        },
        {
          keyId: first.keyId,
          label: 'key 0',
          ...of,
          lookups: 3,
          days: [
            { date: yesterday, lookups: 1 },
            { date: today, lookups: 2 },
          ],
        },
        { keyId: unused.keyId, label: 'key 2', ...of, lookups: 0, days: [] },
      ],
      unattributed: { lookups: 0, days: [] },
    });
    expect(await bench.admin.accounts.usageByKey('acme', { from: today, to: today })).toMatchObject(
      {
        lookups: 2,
        keys: [{ label: 'key 0', lookups: 2 }, { lookups: 0 }, { lookups: 0 }],
      },
    );
  });

  it('names a revoked key that was used, with its label, and no other revoked one', async () => {
    const keys = await accountWith('revoked', 2);
    await keys[0]?.use();
    for (const { keyId } of keys) await bench.admin.keys.revoke({ account: 'revoked', keyId });
    const { keys: found } = await usageOf('revoked');
    expect(found).toMatchObject([
      { keyId: keys[0]?.keyId, label: 'key 0', revoked: true, lookups: 1 },
    ]);
  });

  it('is the same before and after the days are recorded', async () => {
    const keys = await accountWith('moved', 2);
    for (let i = 0; i < 12; i++) await keys[i % 2]?.use();
    bench.clock.now += dayMilliseconds;
    for (let i = 0; i < 6; i++) await keys[0]?.use();
    const before = await usageOf('moved');
    expect(before).toMatchObject({
      lookups: 18,
      keys: [{ lookups: 12 }, { lookups: 6 }],
      unattributed: { lookups: 0 },
    });
    await recordUsage(store(), await getAccess(store(), 'moved'), 25);
    expect(await usageOf('moved')).toEqual(before);
  });

  it('refuses what the usage of an account refuses', async () => {
    await expect(usageOf('nobody')).rejects.toMatchObject({ code: 'not_found' });
    const future = bench.admin.accounts.usageByKey('acme', {
      from: '2027-01-01',
      to: '2027-01-31',
    });
    await expect(future).rejects.toMatchObject({ code: 'invalid' });
  });
});

describe('lookups that belong to no key', () => {
  it('are all of a deleted account, whose keys are deleted with it', async () => {
    const keys = await accountWith('gone', 1);
    await keys[0]?.use(5);
    await bench.admin.accounts.suspend('gone');
    await bench.admin.accounts.delete('gone');
    expect(await byLabel('gone')).toEqual({ unattributed: 5 });
  });

  it('are those of two keys whose ids begin alike', async () => {
    const keys = await accountWith('alike', 2);
    await keys[0]?.use();
    await keys[1]?.use();
    const twin = `${keys[0]?.keyId.slice(0, 4)}zzzz`;
    const Item = {
      account: 'alike',
      item: `key#${twin}`,
      label: 'twin',
      created: start / 1000,
      revoked: start / 1000,
    };
    await writeItems(bench.client, bench.table, [Item]);
    expect(await byLabel('alike')).toEqual({ 'key 1': 1, unattributed: 1 });
  });
});

describe('a day that begins when the item has no space for its counts by key', () => {
  it('is begun by one of many requests, which records the others first, and counts all of them', async () => {
    const keys = await accountWith('twelve', maxKeyCounts);
    for (let days = 0; days < 3; days++) {
      await Promise.all(
        Array.from({ length: 3 * maxKeyCounts }, (_, i) => keys[i % maxKeyCounts]?.use()),
      );
      const { usage } = await getAccess(store(), 'twelve');
      expect([Object.keys(usage.byKey).length, usage.days, usage.daysByKey]).toEqual([
        maxKeyCounts,
        {},
        {},
      ]);
      bench.clock.now += dayMilliseconds;
    }
    const { keys: found, unattributed } = await usageOf('twelve');
    expect(unattributed.lookups).toBe(0);
    const days = ['2026-08-01', '2026-08-02', '2026-08-03'].map((date) => ({ date, lookups: 3 }));
    expect(found.map((key) => key.days)).toEqual(Array(maxKeyCounts).fill(days));
  });

  it('is begun without recording while there is space for all keys', async () => {
    const keys = await accountWith('four', 4);
    for (let days = 0; days < 3; days++) {
      for (const key of keys) await key.use();
      bench.clock.now += dayMilliseconds;
    }
    const { usage } = await getAccess(store(), 'four');
    expect(Object.keys(usage.daysByKey)).toEqual(['2026-08-01', '2026-08-02']);
    expect(await byLabel('four')).toMatchObject({ 'key 0': 3, 'key 3': 3, unattributed: 0 });
  });

  it('is begun with more keys than fit, where none has been counted', async () => {
    const keys = await accountWith('rotated', maxKeyCounts);
    await bench.admin.keys.rotate({
      account: 'rotated',
      keyId: keys[0]?.keyId ?? '',
      label: 'next',
    });
    bench.clock.now += dayMilliseconds;
    await keys[1]?.use();
    bench.clock.now += dayMilliseconds;
    await keys[1]?.use();
    expect(await byLabel('rotated')).toMatchObject({ 'key 1': 2, unattributed: 0 });
  });
});

it('the count of an account is exact where a count by key is missing', async () => {
  const keys = await accountWith('damaged', 1);
  await keys[0]?.use(2);
  const item = (await bench.item('damaged')) ?? {};
  await writeItems(bench.client, bench.table, [{ ...item, [windowItem.day.used]: 3 }]);
  expect(await byLabel('damaged')).toEqual({ 'key 0': 2, unattributed: 1 });
  expect(
    (await bench.admin.accounts.usage('damaged', range)).days.find(({ lookups }) => lookups > 0)
      ?.lookups,
  ).toBe(3);
});

describe('the last use of a key', () => {
  const today = '2026-08-01';
  /** By key, in the order in which `accountWith` made them. */
  const usesOf = async (id: string) => {
    const keys = await bench.admin.keys.list(id);
    const number = ({ label }: (typeof keys)[number]) => Number(label?.split(' ')[1]);
    return keys.toSorted((a, b) => number(a) - number(b)).map(({ lastUsed }) => lastUsed);
  };
  const record = async (id: string) => recordUsage(store(), await getAccess(store(), id), 25);
  const recordOfKey = (id: string, keyId: string) => bench.item(id, `key#${keyId}`);

  it('is today as soon as it was charged, without a write of its own', async () => {
    const [used, unused] = (await accountWith('today', 2)) as [Key, Key];
    const before = await recordOfKey('today', used.keyId);
    await used.use();
    expect(await usesOf('today')).toEqual([today, null]);
    for (const { keyId } of [used, unused]) {
      expect(await recordOfKey('today', keyId)).not.toHaveProperty('last_used');
    }
    expect(await recordOfKey('today', used.keyId)).toEqual(before);
  });

  it('is the same after its day was recorded, and then the next day that it is charged', async () => {
    const [first, second] = (await accountWith('recorded', 2)) as [Key, Key];
    await Promise.all([first.use(), second.use()]);
    bench.clock.now += dayMilliseconds;
    await second.use();
    expect(await usesOf('recorded')).toEqual([today, '2026-08-02']);
    expect(await record('recorded')).toBe(true);
    expect(await usesOf('recorded')).toEqual([today, '2026-08-02']);
    bench.clock.now += 30 * dayMilliseconds;
    await record('recorded');
    expect(await usesOf('recorded')).toEqual([today, '2026-08-02']);
    await first.use();
    expect(await usesOf('recorded')).toEqual(['2026-09-01', '2026-08-02']);
  });

  it('is kept by the request that records the days of an item without space', async () => {
    const keys = await accountWith('crowded-use', maxKeyCounts);
    for (const { use } of keys) await use();
    bench.clock.now += dayMilliseconds;
    await keys[0]?.use();
    const { usage } = await getAccess(store(), 'crowded-use');
    expect(usage.days).toEqual({});
    expect(await usesOf('crowded-use')).toEqual(['2026-08-02', ...keys.slice(1).map(() => today)]);
  });

  it('stays known of a key that is revoked before its day is recorded', async () => {
    const [revoked, unused] = (await accountWith('revoked-use', 2)) as [Key, Key];
    await revoked.use();
    for (const { keyId } of [revoked, unused]) {
      await bench.admin.keys.revoke({ account: 'revoked-use', keyId });
    }
    expect(await usesOf('revoked-use')).toEqual([today, null]);
    bench.clock.now += dayMilliseconds;
    await record('revoked-use');
    expect(await usesOf('revoked-use')).toEqual([today, null]);
  });

  it('of a key that was revoked is not that of a newer key with the same code', async () => {
    const [revoked] = (await accountWith('same-code', 1)) as [Key];
    await revoked.use();
    await bench.admin.keys.revoke({ account: 'same-code', keyId: revoked.keyId });
    bench.clock.now += dayMilliseconds;
    await record('same-code');
    const item = await bench.item('same-code');
    const byKey = { [keyCode(revoked.keyId)]: 1 };
    await writeItems(bench.client, bench.table, [{ ...item, [accessItem.byKey]: byKey }]);
    expect(await usesOf('same-code')).toEqual([today]);
  });
});
