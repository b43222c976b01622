import { DeleteCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { allAccounts } from '../../../support/list-all.ts';
import { startForTests } from '../../../support/start-for-tests.ts';
import { benchStart, startAdmin } from './admin-bench.ts';

const bench = startForTests(startAdmin);
beforeAll(async () => {
  await bench.admin.plans.put({ code: 'basic', limits: { minute: 2, day: 100 } });
  await bench.admin.plans.put({ code: 'large', limits: { minute: 50, month: null } });
});
beforeEach(() => {
  bench.clock.now = benchStart;
});

describe('accounts.create', () => {
  it("creates an active account with the plan's limits, overridden by its own", async () => {
    const { admin } = bench;
    const made = await admin.accounts.create({ id: 'acme', plan: 'basic', limits: { day: 7 } });
    expect(made).toEqual({
      id: 'acme',
      name: null,
      contact: null,
      note: null,
      state: 'active',
      plan: 'basic',
      planState: 'active',
      created: '2026-08-01T12:30:15Z',
      ownLimits: { day: 7 },
      windows: {
        minute: { limit: 2, used: 0, resets: '2026-08-01T12:31:00Z' },
        day: { limit: 7, used: 0, resets: '2026-08-02T00:00:00Z' },
      },
      keys: [],
    });
    expect(await admin.accounts.show('acme')).toEqual(made);
  });

  it('refuses an id that is taken and leaves that account alone', async () => {
    const { admin } = bench;
    const before = await admin.accounts.create({ id: 'taken', plan: 'basic' });
    await expect(admin.accounts.create({ id: 'taken', plan: 'large' })).rejects.toMatchObject({
      code: 'exists',
    });
    expect(await admin.accounts.show('taken')).toEqual(before);
  });

  it.each([
    ['a plan that does not exist', { id: 'nobody', plan: 'nope' }, 'not_found', /no plan "nope"/],
    [
      'a limit for a window that the plan does not have',
      { id: 'nobody', plan: 'basic', limits: { hour: 5 } },
      'invalid',
      /"hour"/,
    ],
  ])('refuses %s and creates nothing', async (_, input, code, message) => {
    const refusal = bench.admin.accounts.create(input);
    await expect(refusal).rejects.toMatchObject({
      name: 'AdminError',
      code,
      message: expect.stringMatching(message),
    });
    expect(await bench.item(input.id)).toBeUndefined();
  });
});

describe('accounts.set', () => {
  it('sets an own limit, also unlimited, and removes it again', async () => {
    const { admin } = bench;
    await admin.accounts.create({ id: 'own', plan: 'basic' });
    const limitOf = async (day: number | null | 'plan') => {
      const { windows, ownLimits } = await admin.accounts.set({ id: 'own', limits: { day } });
      return [windows.day?.limit, ownLimits];
    };
    expect(await limitOf(0)).toEqual([0, { day: 0 }]);
    expect(await limitOf(null)).toEqual([null, { day: null }]);
    expect(await limitOf('plan')).toEqual([100, {}]);
    expect(await limitOf('plan')).toEqual([100, {}]);
  });

  it('keeps what was used of a month over a plan without one, also if a month ended in between', async () => {
    const { admin, clock, request } = bench;
    const before = clock.now;
    await admin.plans.put({ code: 'monthly', limits: { month: 5 } });
    await admin.plans.put({ code: 'minutely', limits: { minute: 1_000 } });
    await admin.accounts.create({ id: 'returner', plan: 'monthly' });
    const { key } = await admin.keys.create({ account: 'returner', label: 'k' });
    clock.now = Date.UTC(2026, 10, 28);
    expect(await request(key)).toBe('charged');
    await admin.accounts.set({ id: 'returner', plan: 'minutely' });
    clock.now = Date.UTC(2026, 11, 2);
    for (let i = 0; i < 4; i++) expect(await request(key)).toBe('charged');
    clock.now = Date.UTC(2026, 11, 20);
    await admin.accounts.set({ id: 'returner', plan: 'monthly' });
    expect((await admin.accounts.show('returner')).windows.month).toMatchObject({
      limit: 5,
      used: 4,
    });
    expect([await request(key), await request(key)]).toEqual(['charged', 'quota-exceeded']);
    clock.now = before;
  });

  it('moves an account to another plan, and keeps what was used of the day and the month', async () => {
    const { admin, request } = bench;
    await admin.accounts.create({ id: 'mover', plan: 'basic', limits: { day: 9 } });
    const { key } = await admin.keys.create({ account: 'mover', label: 'k' });
    await request(key);
    const moved = await admin.accounts.set({ id: 'mover', plan: 'large', limits: { minute: 2 } });
    expect(moved).toMatchObject({ plan: 'large', ownLimits: { minute: 2, day: 9 } });
    expect(moved.windows).toEqual({
      minute: { limit: 2, used: 1, resets: '2026-08-01T12:31:00Z' },
      month: { limit: null, used: 1, resets: '2026-09-01T00:00:00Z' },
    });
    expect([await request(key), await request(key)]).toEqual(['charged', 'quota-exceeded']);
  });

  it('refuses an own limit for a window that only the plan it leaves has, and changes nothing', async () => {
    const { admin } = bench;
    const before = await admin.accounts.create({ id: 'stay', plan: 'basic' });
    const refusal = admin.accounts.set({ id: 'stay', plan: 'large', limits: { day: 5 } });
    await expect(refusal).rejects.toMatchObject({
      code: 'invalid',
      message: expect.stringContaining('minute, month'),
    });
    expect(await admin.accounts.show('stay')).toEqual(before);
  });

  it('refuses an account or a plan that does not exist', async () => {
    const { admin } = bench;
    await expect(admin.accounts.set({ id: 'ghost', plan: 'basic' })).rejects.toMatchObject({
      code: 'not_found',
    });
    await expect(admin.accounts.set({ id: 'acme', plan: 'nope' })).rejects.toMatchObject({
      code: 'not_found',
    });
  });
});

describe('accounts.suspend and accounts.activate', () => {
  it('take effect for the next request, and are idempotent', async () => {
    const { admin, request } = bench;
    await admin.accounts.create({ id: 'late', plan: 'large' });
    const { key } = await admin.keys.create({ account: 'late', label: 'k' });
    expect(await admin.accounts.suspend('late')).toMatchObject({ state: 'suspended' });
    expect(await request(key)).toBe('account-inactive');
    expect(await admin.accounts.suspend('late')).toMatchObject({ state: 'suspended' });
    expect(await admin.accounts.activate('late')).toMatchObject({ state: 'active' });
    expect(await request(key)).toBe('charged');
    await expect(admin.accounts.suspend('ghost')).rejects.toMatchObject({ code: 'not_found' });
  });
});

describe('accounts.show and accounts.list', () => {
  it('show current usage: a window that has ended is at 0, before a request rolls it', async () => {
    const { admin, request, clock } = bench;
    await admin.accounts.create({ id: 'rolls', plan: 'basic' });
    const { key } = await admin.keys.create({ account: 'rolls', label: 'k' });
    await request(key);
    clock.now += 60_000;
    expect((await admin.accounts.show('rolls')).windows).toEqual({
      minute: { limit: 2, used: 0, resets: '2026-08-01T12:32:00Z' },
      day: { limit: 100, used: 1, resets: '2026-08-02T00:00:00Z' },
    });
    clock.now -= 60_000;
    expect((await admin.accounts.show('rolls')).windows.minute?.used).toBe(1);
  });

  it('treat a window that an instance with a fast clock started as the current one', async () => {
    const { admin, request, clock } = bench;
    await admin.accounts.create({ id: 'ahead', plan: 'basic' });
    const { key } = await admin.keys.create({ account: 'ahead', label: 'k' });
    clock.now += 60_000;
    await request(key);
    clock.now -= 60_000;
    expect((await admin.accounts.show('ahead')).windows.minute).toEqual({
      limit: 2,
      used: 1,
      resets: '2026-08-01T12:32:00Z',
    });
  });

  it('list every account as accounts.show returns it, by id', async () => {
    const { admin } = bench;
    await admin.keys.create({ account: 'acme', label: 'webshop' });
    const accounts = await allAccounts(admin);
    const ids = accounts.map(({ id }) => id);
    expect(ids).toEqual(ids.toSorted());
    expect(ids).toContain('mover');
    for (const account of accounts) {
      const { keys, ...shown } = await admin.accounts.show(account.id);
      expect(account).toEqual({
        ...shown,
        activeKeys: keys.filter(({ state }) => state === 'active').length,
      });
    }
  });

  it('list no account that was deleted while its page was read', async () => {
    const { admin, client, table } = bench;
    await client.send(
      new PutCommand({ TableName: table, Item: { account: 'account#', item: 'zz-deleted' } }),
    );
    expect(await admin.accounts.list({ prefix: 'zz-' })).toEqual({ accounts: [], cursor: null });
    await client.send(
      new DeleteCommand({ TableName: table, Key: { account: 'account#', item: 'zz-deleted' } }),
    );
  });

  it('refuse an account that does not exist', async () => {
    await expect(bench.admin.accounts.show('ghost')).rejects.toMatchObject({ code: 'not_found' });
  });
});
