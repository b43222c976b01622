import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { readAccess } from '../../../../core/accounts/account-item.ts';
import { createAdminStore } from '../../../../packages/admin/accounts/admin-store.ts';
import { readRetention } from '../../../../packages/admin/accounts/usage.ts';
import { type LimitMessage, runUsageJob } from '../../../../packages/admin/usage-job/usage-job.ts';
import { startForTests } from '../../../support/start-for-tests.ts';
import { startAdmin } from '../accounts/admin-bench.ts';

const bench = startForTests(startAdmin);
let sent: LimitMessage[];
beforeAll(async () => {
  await bench.admin.plans.put({ code: 'ten', limits: { minute: null, day: 10 } });
});
beforeEach(() => {
  sent = [];
});

const dayMilliseconds = 86_400_000;

function runJob({
  months = 25,
  messageAtShare = 0.8,
  send = async (message: LimitMessage) => void sent.push(message),
} = {}) {
  const { client, table, clock } = bench;
  return runUsageJob(
    createAdminStore(client, table, 'usage', () => clock.now),
    { months, messageAtShare, send },
  );
}

async function account(id: string): Promise<string> {
  await bench.admin.accounts.create({ id, plan: 'ten' });
  return (await bench.admin.keys.create({ account: id, label: 'k' })).key;
}

async function request(key: string, count: number): Promise<void> {
  for (let i = 0; i < count; i++) await bench.request(key);
}

describe('the usage job', () => {
  it('notes for how long usage is kept, beside the month of the first account, also when that is deleted', async () => {
    const { admin, client, table, clock } = bench;
    const retention = () => readRetention(createAdminStore(client, table, 'test', () => clock.now));
    const month = () => new Date(clock.now).toISOString().slice(0, 7);
    await runJob({ months: 7 });
    expect(await retention()).toMatchObject({ months: 7 });
    clock.now -= 40 * dayMilliseconds;
    await admin.accounts.create({ id: 'first', plan: 'ten' });
    const earlier = month();
    clock.now += 40 * dayMilliseconds;
    expect(await retention()).toEqual({ months: 7, since: earlier });
    await admin.accounts.suspend('first');
    await admin.accounts.delete('first');
    await runJob();
    expect(await retention()).toEqual({ months: 25, since: earlier });
  });

  it('records a day once it has ended, for the configured months after its own', async () => {
    const { clock, item } = bench;
    await request(await account('one'), 3);
    expect(await runJob()).toMatchObject({ recorded: 0, failures: [] });
    expect(await item('one', 'usage#2026-08-01')).toBeUndefined();
    clock.now += dayMilliseconds;
    expect(await runJob({ months: 2 })).toMatchObject({ recorded: 1 });
    expect(await item('one', 'usage#2026-08-01')).toMatchObject({
      lookups: 3,
      expires: Date.UTC(2026, 10, 1) / 1000,
    });
    expect(await runJob()).toMatchObject({ recorded: 0 });
  });

  it('records days that it missed, and those that charges recorded without it, exactly', async () => {
    const { admin, clock, item } = bench;
    const key = await account('late');
    const from = new Date(clock.now).toISOString().slice(0, 10);
    for (let day = 1; day <= 5; day++) {
      await request(key, day);
      clock.now += dayMilliseconds;
    }
    const days = [1, 2, 3, 4, 5, 0];
    expect(
      (await admin.accounts.usage('late', { from })).days.map(({ lookups }) => lookups),
    ).toEqual(days);
    await Promise.all([runJob(), runJob()]);
    expect(
      (await admin.accounts.usage('late', { from })).days.map(({ lookups }) => lookups),
    ).toEqual(days);
    expect(readAccess((await item('late')) ?? {}).usage).toMatchObject({ lookups: 0, days: {} });
  });

  it('reports a limit once at the share and once when it is used up', async () => {
    const id = 'near';
    const key = await account(id);
    const messages = () => sent.filter(({ account }) => account === id).map(({ used }) => used);
    for (const [lookups, reported] of [
      [7, []],
      [1, [8]],
      [1, [8]],
      [3, [8, 10]],
      [0, [8, 10]],
    ] as const) {
      await request(key, lookups);
      await runJob();
      expect(messages()).toEqual(reported);
    }
    bench.clock.now += dayMilliseconds;
    await request(key, 8);
    await runJob();
    expect(messages()).toEqual([8, 10, 8]);
  });

  it('sends a message again after a failure, which does not affect the other accounts', async () => {
    const { clock } = bench;
    await request(await account('failing'), 9);
    await request(await account('zz-other'), 1);
    clock.now += dayMilliseconds;
    await request((await bench.admin.keys.create({ account: 'failing', label: 'k' })).key, 9);
    const broken = async () => {
      throw new Error('no topic');
    };
    expect(await runJob({ send: broken })).toMatchObject({
      messages: 0,
      failures: [{ account: 'failing' }],
    });
    const yesterday = new Date(clock.now - dayMilliseconds).toISOString().slice(0, 10);
    expect(await bench.item('zz-other', `usage#${yesterday}`)).toMatchObject({ lookups: 1 });
    expect(await runJob()).toMatchObject({ messages: 1, failures: [] });
    expect(sent.map(({ account }) => account)).toContain('failing');
  });

  it('sends nothing about a limit of 0, and reports a limit of 1 as used up by a single lookup', async () => {
    const { admin } = bench;
    const none = await account('none');
    const one = await account('single');
    await admin.accounts.set({ id: 'none', limits: { day: 0 } });
    await admin.accounts.set({ id: 'single', limits: { day: 1 } });
    for (const key of [none, one]) await request(key, 1);
    await runJob({ messageAtShare: 1 });
    expect(sent.filter(({ account }) => account === 'none')).toEqual([]);
    expect(sent.filter(({ account }) => account === 'single')).toMatchObject([
      { window: 'day', isExhausted: true },
    ]);
  });

  it('remembers what it sent until after the window has ended', async () => {
    const { item, clock } = bench;
    await request(await account('marked'), 10);
    await runJob();
    const [{ resets } = { resets: 0 }] = sent.filter(({ account }) => account === 'marked');
    expect(resets).toBeGreaterThan(clock.now / 1000);
    const mark = await item(
      'marked',
      `notice#day#${new Date(resets * 1000).toISOString().slice(0, 10)}#used`,
    );
    expect(mark?.expires).toBeGreaterThan(resets);
  });

  it('sends nothing when messages are switched off', async () => {
    await request(await account('silent'), 10);
    expect(await runJob({ messageAtShare: 0 })).toMatchObject({ messages: 0 });
  });
});
