import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { accessItem, dayNumber, windowItem } from '../../../../core/accounts/account-item.ts';
import { startForTests } from '../../../support/start-for-tests.ts';
import { writeItems } from '../../../support/stored-items.ts';
import { benchStart, startAdmin } from './admin-bench.ts';

const bench = startForTests(startAdmin);
beforeAll(async () => {
  await bench.admin.plans.put({ code: 'small', limits: { minute: 3, day: 3 } });
});
beforeEach(() => {
  bench.clock.now = benchStart;
});

const day = 86_400_000;

/** Sends requests while the clock is ahead by so many milliseconds. */
async function requestsAhead(key: string, milliseconds: number, count: number): Promise<string[]> {
  const { clock, request } = bench;
  clock.now += milliseconds;
  try {
    const outcomes = [];
    for (let i = 0; i < count; i++) outcomes.push(await request(key));
    return outcomes;
  } finally {
    clock.now -= milliseconds;
  }
}

async function account(id: string): Promise<string> {
  await bench.admin.accounts.create({ id, plan: 'small' });
  return (await bench.admin.keys.create({ account: id, label: 'k' })).key;
}

describe('accounts.repairWindows', () => {
  it('unlocks an account that a clock years ahead has locked', async () => {
    const { admin, request } = bench;
    const id = 'locked';
    const key = await account(id);
    expect(await request(key)).toBe('charged');
    expect(await requestsAhead(key, 4000 * day, 4)).toEqual(['charged', 'charged', 'charged', 'quota-exceeded']);
    expect(await request(key)).toBe('quota-exceeded');
    expect(await admin.accounts.repairWindows(id)).toEqual([
      { window: 'minute', start: '2037-07-14T12:30:00Z' },
      { window: 'day', start: '2037-07-14T00:00:00Z' },
      { window: 'month', start: '2037-07-01T00:00:00Z' },
    ]);
    const outcomes = [];
    for (let i = 0; i < 4; i++) outcomes.push(await request(key));
    expect(outcomes).toEqual(['charged', 'charged', 'charged', 'quota-exceeded']);
    expect((await admin.accounts.show(id)).windows.day).toMatchObject({ resets: '2026-08-02T00:00:00Z', used: 3 });
    expect((await admin.accounts.audit(id)).entries).toContainEqual(
      expect.objectContaining({
        action: 'account repair-windows',
        detail: {
          windows: { minute: '2037-07-14T12:30:00Z', day: '2037-07-14T00:00:00Z', month: '2037-07-01T00:00:00Z' },
        },
        outcome: 'done',
      }),
    );
  });

  it('also resets a single window, once, when two repairs run at the same time', async () => {
    const { admin, request } = bench;
    await admin.plans.put({ code: 'month', limits: { month: 1 } });
    await admin.accounts.create({ id: 'single', plan: 'month' });
    const { key } = await admin.keys.create({ account: 'single', label: 'k' });
    await requestsAhead(key, 4000 * day, 1);
    const repairs = [admin.accounts.repairWindows('single'), admin.accounts.repairWindows('single')];
    expect(await Promise.all(repairs)).toContainEqual([
      { window: 'day', start: '2037-07-14T00:00:00Z' },
      { window: 'month', start: '2037-07-01T00:00:00Z' },
    ]);
    expect([await request(key), await request(key)]).toEqual(['charged', 'quota-exceeded']);
  });

  it('also resets a day that the plan does not configure any more', async () => {
    const { admin, request } = bench;
    const key = await account('dropped');
    await requestsAhead(key, 4000 * day, 4);
    await admin.plans.put({ code: 'other', limits: { month: 9 } });
    await admin.plans.put({ code: 'daily', limits: { day: 3 } });
    await admin.accounts.set({ id: 'dropped', plan: 'other' });
    expect((await admin.accounts.repairWindows('dropped')).map(({ window }) => window)).toEqual(['day', 'month']);
    await admin.accounts.set({ id: 'dropped', plan: 'daily' });
    expect(await request(key)).toBe('charged');
  });

  it('changes nothing and writes no audit entry when clocks differ by less than a minute or a window has just ended', async () => {
    const { admin, clock, request } = bench;
    const key = await account('close');
    await request(key);
    clock.now += 44_000; // one second before the minute is over
    expect(await requestsAhead(key, 2_000, 1)).toEqual(['charged']);
    const before = await bench.item('close');
    const entries = (await admin.accounts.audit('close')).entries;
    expect(await admin.accounts.repairWindows('close')).toEqual([]);
    expect(await bench.item('close')).toEqual(before);
    expect((await admin.accounts.audit('close')).entries).toEqual(entries);
  });

  it.each([
    ['leaves a window that starts 60 seconds from now', 45_000, []],
    ['resets a window that starts 61 seconds from now', 44_000, [{ window: 'minute', start: '2026-08-01T12:32:00Z' }]],
  ])('%s', async (_, later, repaired) => {
    const { admin, clock } = bench;
    const id = `starts-${later}`;
    const key = await account(id);
    clock.now += later;
    expect(await requestsAhead(key, 61_000, 1)).toEqual(['charged']);
    expect(await admin.accounts.repairWindows(id)).toEqual(repaired);
  });

  it('counts lookups of the wrong clock as those of today, and keeps the days before, also after today', async () => {
    const { admin, clock, request } = bench;
    const key = await account('days');
    const lookups = async () =>
      (await admin.accounts.usage('days', { from: '2026-08-01' })).days.map(({ lookups }) => lookups);
    expect([await request(key), await request(key)]).toEqual(['charged', 'charged']);
    clock.now += day;
    expect(await request(key)).toBe('charged');
    expect(await requestsAhead(key, 4000 * day, 2)).toEqual(['charged', 'charged']);
    await admin.accounts.repairWindows('days');
    expect(await lookups()).toEqual([2, 3]);
    clock.now += day;
    expect(await request(key)).toBe('charged');
    expect(await lookups()).toEqual([2, 3, 1]);
  });

  it('does so before the days that the wrong clock has ended are recorded', async () => {
    const { admin, client, clock, item, request, table } = bench;
    clock.now -= day; // in July
    const key = await account('unrecorded');
    clock.now += day;
    await requestsAhead(key, 4000 * day, 1);
    const days = { [dayNumber('2026-07-31')]: 2, [dayNumber('2026-08-01')]: 1 };
    const counts = { [windowItem.day.used]: 2, [accessItem.days]: days };
    await writeItems(client, table, [{ ...(await item('unrecorded')), ...counts }]);
    await admin.accounts.repairWindows('unrecorded');
    clock.now += day;
    expect(await request(key)).toBe('charged');
    const usage = await admin.accounts.usage('unrecorded', { from: '2026-07-31' });
    expect(usage.days.map(({ lookups }) => lookups)).toEqual([2, 3, 1]);
  });

  it('refuses an account that does not exist', async () => {
    await expect(bench.admin.accounts.repairWindows('ghost')).rejects.toMatchObject({ code: 'not_found' });
  });
});
