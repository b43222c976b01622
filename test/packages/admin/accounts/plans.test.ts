import { describe, expect, it } from '@jest/globals';
import type { PlanInput } from '../../../../packages/admin/accounts/plans.ts';
import { inSweep } from '../../../support/in-sweep.ts';
import { allAccounts, allPlans } from '../../../support/list-all.ts';
import { startForTests } from '../../../support/start-for-tests.ts';
import { startAdmin } from './admin-bench.ts';

const bench = startForTests(startAdmin);

describe('plans.put', () => {
  it('creates an active plan, with its windows from short to long', async () => {
    const { admin } = bench;
    const plan = await admin.plans.put({
      code: 'standard',
      limits: { month: null, minute: 60, day: 0 },
    });
    expect(plan).toEqual({
      code: 'standard',
      state: 'active',
      limits: { minute: 60, day: 0, month: null },
      followed: 0,
    });
    expect(Object.keys(plan.limits)).toEqual(['minute', 'day', 'month']);
    const { followed: _, ...listed } = plan;
    expect(await allPlans(admin)).toContainEqual(listed);
  });

  it('changes the limits of its accounts, and keeps what they used, also of a day that was not limited', async () => {
    const { admin, request } = bench;
    await admin.plans.put({ code: 'kept', limits: { minute: 2, hour: 5 } });
    await admin.accounts.create({ id: 'kept', plan: 'kept' });
    const { key } = await admin.keys.create({ account: 'kept', label: 'k' });
    expect([await request(key), await request(key), await request(key)]).toEqual([
      'charged',
      'charged',
      'quota-exceeded',
    ]);

    expect(await admin.plans.put({ code: 'kept', limits: { minute: 3, day: null } })).toMatchObject(
      { followed: 1 },
    );
    expect((await admin.accounts.show('kept')).windows).toEqual({
      minute: { limit: 3, used: 2, resets: '2026-08-01T12:31:00Z' },
      day: { limit: null, used: 2, resets: '2026-08-02T00:00:00Z' },
    });
    expect([await request(key), await request(key)]).toEqual(['charged', 'quota-exceeded']);
    expect((await admin.accounts.show('kept')).windows.day?.used).toBe(3);
  });

  it('deactivates and activates a plan without repeating its limits', async () => {
    const { admin, request } = bench;
    await admin.plans.put({ code: 'paused', limits: { minute: 10 } });
    await admin.accounts.create({ id: 'paused', plan: 'paused' });
    const { key } = await admin.keys.create({ account: 'paused', label: 'k' });
    await admin.plans.put({ code: 'paused', state: 'inactive' });
    expect(await request(key)).toBe('plan-inactive');
    expect((await admin.accounts.show('paused')).planState).toBe('inactive');
    expect(await admin.plans.put({ code: 'paused' })).toMatchObject({
      state: 'active',
      limits: { minute: 10 },
    });
    expect(await request(key)).toBe('charged');
  });

  it("does not change the accounts of other plans, or an account's own limit", async () => {
    const { admin } = bench;
    await admin.plans.put({ code: 'one', limits: { day: 10, minute: 5 } });
    await admin.plans.put({ code: 'one2', limits: { day: 10 } });
    await admin.accounts.create({ id: 'one', plan: 'one', limits: { day: 99 } });
    await admin.accounts.create({ id: 'one2', plan: 'one2' });
    await admin.plans.put({ code: 'one', limits: { day: 20, minute: 6 } });
    expect((await admin.accounts.show('one')).windows).toMatchObject({
      minute: { limit: 6 },
      day: { limit: 99 },
    });
    expect((await admin.accounts.show('one2')).windows).toMatchObject({ day: { limit: 10 } });
  });

  it('keeps an own limit without effect while the plan does not configure its window', async () => {
    const { admin } = bench;
    await admin.plans.put({ code: 'unused', limits: { day: 10, minute: 5 } });
    await admin.accounts.create({ id: 'unused', plan: 'unused', limits: { day: null } });
    await admin.plans.put({ code: 'unused', limits: { minute: 5 } });
    expect(await admin.accounts.show('unused')).toMatchObject({ ownLimits: { day: null } });
    expect((await admin.accounts.show('unused')).windows).not.toHaveProperty('day');
    await admin.plans.put({ code: 'unused', limits: { day: 10, minute: 5 } });
    expect((await admin.accounts.show('unused')).windows.day).toMatchObject({ limit: null });
  });

  inSweep('reaches every account, also past the first thousand that are looked at', async () => {
    const { admin, addCopies } = bench;
    await admin.plans.put({ code: 'crowd', limits: { day: 1 } });
    await admin.accounts.create({ id: 'crowd', plan: 'crowd' });
    const others = Array.from({ length: 1_003 }, (_, i) => `crowd-${i}`);
    await addCopies('crowd', others);
    expect(await admin.plans.put({ code: 'crowd', limits: { day: 2 } })).toMatchObject({
      followed: 1_004,
    });
    const accounts = (await allAccounts(admin)).filter(({ plan }) => plan === 'crowd');
    expect(accounts.filter(({ windows }) => windows.day?.limit === 2)).toHaveLength(1_004);
  });

  const limits = { day: 5, month: null };
  it.each<[string, PlanInput['seen']]>([
    ['does not exist', null],
    ['has another state', { state: 'inactive', limits }],
    ['has another limit', { state: 'active', limits: { day: 6, month: null } }],
    ['has a window less', { state: 'active', limits: { day: 5 } }],
    ['has a window more', { state: 'active', limits: { ...limits, hour: 1 } }],
  ])(
    'refuses a change decided upon when the plan %s, and leaves no trace in the audit',
    async (_, seen) => {
      const { admin } = bench;
      await admin.plans.put({ code: 'seen', limits });
      const before = (await admin.plans.audit('seen')).entries;
      const refusal = admin.plans.put({ code: 'seen', limits: { day: 9 }, seen });
      await expect(refusal).rejects.toMatchObject({
        code: 'conflict',
        message: expect.stringMatching(seen ? /"seen" was changed/ : /"seen" was made/),
      });
      expect((await admin.plans.audit('seen')).entries).toEqual(before);
      expect(
        await admin.plans.put({ code: 'seen', seen: { state: 'active', limits } }),
      ).toMatchObject({ limits });
    },
  );

  it('refuses a change of a plan that was seen and does not exist', async () => {
    const refusal = bench.admin.plans.put({
      code: 'unseen',
      limits,
      seen: { state: 'active', limits },
    });
    await expect(refusal).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringMatching(/was changed/),
    });
    expect(await bench.admin.plans.put({ code: 'unseen', limits, seen: null })).toMatchObject({
      limits,
    });
  });

  it('makes one of two changes at the same moment that were decided upon the same plan', async () => {
    const { admin } = bench;
    await admin.plans.put({ code: 'duel', limits });
    const seen = { state: 'active', limits } as const;
    const changes = [7, 8].map((day) => admin.plans.put({ code: 'duel', limits: { day }, seen }));
    const outcomes = await Promise.allSettled(changes);
    const codes = outcomes.map((outcome) =>
      outcome.status === 'rejected' ? outcome.reason.code : 'done',
    );
    expect(codes.toSorted()).toEqual(['conflict', 'done']);
  });

  it.each([
    ['no limit for a new plan', { code: 'none' }, /at least one window/],
    ['no window', { code: 'none', limits: {} }, /at least one window/],
    ['a negative limit', { code: 'none', limits: { day: -1 } }, /whole number/],
  ])('refuses %s', async (_, input, message) => {
    const refusal = bench.admin.plans.put(input as Parameters<typeof bench.admin.plans.put>[0]);
    await expect(refusal).rejects.toMatchObject({
      code: 'invalid',
      message: expect.stringMatching(message),
    });
    expect((await allPlans(bench.admin)).map(({ code }) => code)).not.toContain(input.code);
  });
});
