import { beforeAll, describe, expect, it } from '@jest/globals';
import { accessItem } from '../../../../core/accounts/account-item.ts';
import { createAdminStore, getAccess } from '../../../../packages/admin/accounts/admin-store.ts';
import {
  eachUsage,
  type ListedUsage,
  readRetention,
  recordUsage,
  setRetention,
  usageOf,
  usageParts,
} from '../../../../packages/admin/accounts/usage.ts';
import { inSweep } from '../../../support/in-sweep.ts';
import { startForTests } from '../../../support/start-for-tests.ts';
import { benchStart, startAdmin } from './admin-bench.ts';

/** On 1 August 2026. */
const bench = startForTests(startAdmin);
const dayMilliseconds = 86_400_000;

beforeAll(async () => {
  const { admin, clock, request } = bench;
  await admin.plans.put({ code: 'standard', limits: { month: null } });
  const keys: Record<string, string> = {};
  clock.now = Date.UTC(2024, 4, 30); // long before what is kept
  for (const id of ['zed', 'acme', 'gone', 'unused', 'idle']) {
    await admin.accounts.create({ id, plan: 'standard' });
    keys[id] = (await admin.keys.create({ account: id, label: 'k' })).key;
  }
  clock.now = benchStart;
  for (const id of ['acme', 'acme', 'gone', 'zed']) {
    expect(await request(keys[id] as string)).toBe('charged');
  }
  clock.now += dayMilliseconds;
  expect(await request(keys.acme as string)).toBe('charged');
  for (const id of ['gone', 'unused']) {
    await admin.accounts.suspend(id);
    await admin.accounts.delete(id);
  }
});

const store = () => createAdminStore(bench.client, bench.table, 'test', () => bench.clock.now);

async function usageOfAll(...from: Parameters<typeof eachUsage>): Promise<ListedUsage[]> {
  const found: ListedUsage[] = [];
  for await (const usage of eachUsage(...from)) found.push(usage);
  return found;
}

/** An account with a key that has made so many lookups. */
async function newAccount(id: string, lookups: number) {
  await bench.admin.accounts.create({ id, plan: 'standard' });
  const made = await bench.admin.keys.create({ account: id, label: 'k' });
  for (let i = 0; i < lookups; i++) expect(await bench.request(made.key)).toBe('charged');
  return made;
}

describe('the usage of an account', () => {
  it('has each day of the range, the first and the last included, with 0 for a day without lookups', async () => {
    expect(await usageOf(store(), 'acme', { from: '2026-07-31', to: '2026-08-03' })).toEqual({
      account: 'acme',
      from: '2026-07-31',
      to: '2026-08-03',
      days: [
        { date: '2026-07-31', lookups: 0 },
        { date: '2026-08-01', lookups: 2 },
        { date: '2026-08-02', lookups: 1 },
        { date: '2026-08-03', lookups: 0 },
      ],
      refusals: [],
    });
  });

  it.each([
    [{}, '2026-07-04', '2026-08-02', 30],
    [{ to: '2026-03-01' }, '2026-01-31', '2026-03-01', 30],
    [{ from: '2026-08-02' }, '2026-08-02', '2026-08-02', 1],
    [{ from: '2024-07-01', to: '2026-08-31' }, '2024-07-01', '2026-08-31', 792],
  ])('of the range %j is that from %s to %s', async (range, from, to, count) => {
    const usage = await usageOf(store(), 'acme', range);
    expect([usage.from, usage.to, usage.days.length]).toEqual([from, to, count]);
    expect([usage.days[0]?.date, usage.days.at(-1)?.date]).toEqual([from, to]);
  });

  it.each([
    [{ from: '2023-01-01', to: '2026-01-05' }, 'at most 1100 days'],
    [{ from: '2026-08-02', to: '2026-08-01' }, 'ends (2026-08-01) before it begins (2026-08-02)'],
    [{ from: '2026-08-03' }, 'ends (2026-08-02) before it begins (2026-08-03)'],
    [
      { from: '2026-08-01', to: '2026-09-01' },
      '2026-09 has not begun yet; the current month is 2026-08',
    ],
    [{ to: '2027-01-31' }, '2027-01 has not begun yet'],
    [
      { from: '2024-06-30', to: '2024-07-31' },
      'kept for 25 whole months, so no usage exists before 2024-07',
    ],
  ])('is refused for the range %j, as is that of all accounts', async (range, message) => {
    const refusal = { code: 'invalid', message: expect.stringContaining(message) };
    await expect(usageOf(store(), 'acme', range)).rejects.toMatchObject(refusal);
    await expect(usageOfAll(store(), range)).rejects.toMatchObject(refusal);
  });

  it('is refused for an unknown account', async () => {
    await expect(usageOf(store(), 'nobody')).rejects.toMatchObject({ code: 'not_found' });
  });

  it('is a conflict if days keep moving from the account into its records, after twenty attempts', async () => {
    const moving = store();
    let version = 0;
    let records = 0;
    const torn: typeof moving = {
      ...moving,
      get: async (key) => {
        const item = await moving.get(key);
        return item && { ...item, [accessItem.version]: ++version };
      },
      query: async (query) => {
        records++;
        return moving.query(query);
      },
    };
    await expect(usageOf(torn, 'acme')).rejects.toMatchObject({ code: 'conflict' });
    expect(records).toBe(20);
  });

  it('is complete when a day that had ended is recorded after its record was read', async () => {
    const { clock } = bench;
    await newAccount('moving', 7);
    clock.now += dayMilliseconds;
    const reading = aroundQuery('usage#', () => record('moving'), 'after');
    const { days } = await usageOf(reading.store, 'moving', {
      from: '2026-08-02',
      to: '2026-08-03',
    });
    clock.now -= dayMilliseconds;
    expect([reading.done(), days]).toEqual([
      true,
      [
        { date: '2026-08-02', lookups: 7 },
        { date: '2026-08-03', lookups: 0 },
      ],
    ]);
  });
});

/** Moves the days of an account that have ended into records. */
async function record(account: string): Promise<void> {
  expect(await recordUsage(store(), await getAccess(store(), account), 25)).toBe(true);
}

/**
 * A store that runs `work` once, right before or after its first query with a value that begins so
 * is answered.
 */
function aroundQuery(prefix: string, work: () => Promise<unknown>, when: 'before' | 'after') {
  const moving = store();
  const { query } = moving;
  let done = false;
  moving.query = async (read) => {
    const isFirst =
      !done &&
      Object.values(read.ExpressionAttributeValues).some((value) =>
        String(value).startsWith(prefix),
      );
    if (!isFirst) return query(read);
    done = true;
    if (when === 'before') await work();
    const answer = await query(read);
    if (when === 'after') await work();
    return answer;
  };
  return { store: moving, done: () => done };
}

describe('the usage of all accounts', () => {
  it('has a day once that is recorded between the reads of the account and of its records', async () => {
    const { admin, clock } = bench;
    await newAccount('twice', 3);
    clock.now += dayMilliseconds;
    const reading = store();
    const { getAll } = reading;
    reading.getAll = async (keys) => {
      const items = await getAll(keys);
      await record('twice');
      return items;
    };
    const found = await usageOfAll(reading, { from: '2026-08-02', to: '2026-08-03' });
    clock.now -= dayMilliseconds;
    expect(found.find(({ account }) => account === 'twice')?.days).toEqual([
      { date: '2026-08-02', lookups: 3 },
      { date: '2026-08-03', lookups: 0 },
    ]);
    await admin.accounts.suspend('twice');
  });

  it('has the same accounts, with their plans, in parts of any size', async () => {
    const range = { from: '2026-08-01', to: '2026-08-02' };
    const all = await usageOfAll(store(), range);
    const parts = await usageParts(store(), 2);
    const read = await Promise.all(parts.map((part) => usageOfAll(store(), { ...range, ...part })));
    expect(Math.max(...read.map(({ length }) => length))).toBe(2);
    expect(read.flat()).toEqual(all);
    const plans = Object.fromEntries(all.map(({ account, plan }) => [account, plan]));
    expect(plans).toMatchObject({ acme: 'standard', gone: null, idle: 'standard' });
  });

  inSweep('has every account once, by id, when they take more than one read', async () => {
    const ids = Array.from({ length: 230 }, (_, i) => `many-${String(i).padStart(3, '0')}`);
    await bench.addCopies('zed', ids);
    const range = { from: '2026-08-01', to: '2026-08-02' };
    const found = await usageOfAll(store(), range);
    const many = found.filter(({ account }) => account.startsWith('many-'));
    expect(many.map(({ account }) => account)).toEqual(ids);
    expect(many.map(({ days }) => days[0]?.lookups)).toEqual(ids.map(() => 1));
    for (const item of ids) await store().delete({ account: 'account#', item });
  });

  it('is refused for a part that is none', async () => {
    expect((await usageParts(store(), 1)).length).toBeGreaterThan(1);
    for (const accounts of [0, 1.5]) {
      await expect(usageParts(store(), accounts)).rejects.toMatchObject({
        code: 'invalid',
        message: 'A part has 1 account or more.',
      });
    }
  });

  it('is kept for as many months as the job said last, 25 if it never ran', async () => {
    expect(await readRetention(store())).toEqual({ months: 25, since: '2024-05' });
    await setRetention(store(), 3);
    await expect(usageOf(store(), 'acme', { from: '2026-04-30' })).rejects.toMatchObject({
      message:
        'Usage is kept for 3 whole months, so no usage exists before 2026-05. Begin on 2026-05-01 or later.',
    });
    expect((await usageOf(store(), 'acme', { from: '2026-05-01' })).from).toBe('2026-05-01');
    expect(await bench.admin.accounts.usageKeptSince()).toBe('2026-05-01');
    await setRetention(store(), 25);
    expect(await bench.admin.accounts.usageKeptSince()).toBe('2024-07-01');
  });

  it('of an account is refused before its month, and begins with it by default', async () => {
    const restore = await bench.saved();
    await newAccount('new', 0);
    const refusal = { code: 'invalid', reason: 'month', firstMonth: '2026-08' };
    const why =
      'Account "new" was created in 2026-08; nothing exists before that month. Begin on 2026-08-01 or later.';
    for (const range of [{ from: '2026-07-31' }, { to: '2026-07-31' }]) {
      await expect(usageOf(store(), 'new', range)).rejects.toMatchObject({
        ...refusal,
        message: why,
      });
      await expect(bench.admin.accounts.usageByKey('new', range)).rejects.toMatchObject(refusal);
    }
    expect((await usageOf(store(), 'new')).from).toBe('2026-08-01');
    expect(await bench.admin.accounts.usageKeptSince('new')).toBe('2026-08-01');
    await restore();
  });

  it('of all accounts is refused before the month of the first one', async () => {
    const restore = await bench.saved();
    await store().put({ account: 'usage#', item: 'retention', since: '2026-07' });
    await expect(
      eachUsage(store(), { from: '2026-06-30', to: '2026-06-30' }).next(),
    ).rejects.toMatchObject({
      code: 'invalid',
      reason: 'month',
      firstMonth: '2026-07',
      message: expect.stringContaining('The first account was created in 2026-07'),
    });
    expect(await bench.admin.accounts.usageKeptSince()).toBe('2026-07-01');
    await restore();
  });

  it('has an account once that is deleted while it is read', async () => {
    const { admin } = bench;
    await newAccount('late', 1);
    await admin.accounts.suspend('late');
    const deleting = aroundQuery('deleted#', () => admin.accounts.delete('late'), 'before');
    const late = (await usageOfAll(deleting.store, { from: '2026-08-02' })).filter(
      ({ account }) => account === 'late',
    );
    expect([deleting.done(), late.map(({ days }) => days[0]?.lookups)]).toEqual([true, [1]]);
  });

  it('is that of each that exists, and of each deleted one with lookups in the range, by id', async () => {
    const lookups = async (from: string) =>
      (await usageOfAll(store(), { from, to: '2026-08-02' }))
        .filter(({ account }) => !['late', 'moving', 'twice'].includes(account))
        .map(({ account, days }) => [account, days.reduce((sum, day) => sum + day.lookups, 0)]);
    expect(await lookups('2026-08-01')).toEqual([
      ['acme', 3],
      ['gone', 1],
      ['idle', 0],
      ['zed', 1],
    ]);
    expect(await lookups('2026-08-02')).toEqual([
      ['acme', 1],
      ['idle', 0],
      ['zed', 0],
    ]);
  });
});

describe('a record of the days of an account', () => {
  it('that two jobs make, which read the account before either wrote, has each lookup once', async () => {
    const { clock, request } = bench;
    const { key } = await newAccount('jobs', 3);
    clock.now += dayMilliseconds;
    // This lookup puts the former day among those that a job moves, and begins a day that it leaves
    // alone.
    expect(await request(key)).toBe('charged');
    const before = await getAccess(store(), 'jobs');
    for (const _ of [1, 2]) await recordUsage(store(), before, 25);
    const { days } = await usageOf(store(), 'jobs', { from: '2026-08-02', to: '2026-08-03' });
    clock.now -= dayMilliseconds;
    expect(days.map(({ lookups }) => lookups)).toEqual([3, 1]);
  });

  it('has a lookup that an instance charges between the read and the write of the job', async () => {
    const { clock, request } = bench;
    const { key } = await newAccount('between', 1);
    const before = await getAccess(store(), 'between');
    expect(await request(key)).toBe('charged');
    clock.now += dayMilliseconds;
    await recordUsage(store(), before, 25);
    const { days } = await usageOf(store(), 'between', { from: '2026-08-02', to: '2026-08-03' });
    clock.now -= dayMilliseconds;
    expect(days.map(({ lookups }) => lookups)).toEqual([2, 0]);
  });
});
