import { beforeAll, describe, expect, it } from '@jest/globals';
import { createAdminStore } from '../../../../packages/admin/accounts/admin-store.ts';
import { planPeriods, readPlanHistory } from '../../../../packages/admin/accounts/plan-history.ts';
import { startForTests } from '../../../support/start-for-tests.ts';
import { startAdmin } from './admin-bench.ts';

const bench = startForTests(startAdmin);
beforeAll(async () => {
  for (const code of ['small', 'large']) {
    await bench.admin.plans.put({ code, limits: { month: null } });
  }
});

const plansOf = async (account: string) => {
  const { account: _, item: __, ...plans } = (await bench.item(account, 'plans')) ?? {};
  return plans;
};

describe('the plans of an account', () => {
  it('are stored by the day of each change, the last one of a day, until the day after a deletion', async () => {
    const { admin, clock } = bench;
    clock.now = Date.UTC(2026, 11, 30, 23, 59);
    await admin.accounts.create({ id: 'acme', plan: 'small' });
    expect(await plansOf('acme')).toEqual({ '2026-12-30': 'small' });
    clock.now = Date.UTC(2027, 0, 1, 0, 30);
    await admin.accounts.set({ id: 'acme', plan: 'large' });
    await admin.accounts.set({ id: 'acme', plan: 'small' });
    await admin.accounts.set({ id: 'acme', plan: 'large' });
    await admin.accounts.set({ id: 'acme', limits: { month: 5 } });
    expect(await plansOf('acme')).toEqual({ '2026-12-30': 'small', '2027-01-01': 'large' });
    await admin.accounts.suspend('acme');
    await admin.accounts.delete('acme');
    expect(await plansOf('acme')).toEqual({
      '2026-12-30': 'small',
      '2027-01-01': 'large',
      '2027-01-02': null,
    });
  });

  it('change in order, also by a clock that is behind', async () => {
    const { admin, clock } = bench;
    clock.now = Date.UTC(2027, 0, 5, 0, 1);
    await admin.accounts.create({ id: 'behind', plan: 'small' });
    clock.now = Date.UTC(2027, 0, 4, 23, 59);
    await admin.accounts.set({ id: 'behind', plan: 'large' });
    expect(await plansOf('behind')).toEqual({ '2027-01-05': 'large' });
  });

  it('come with a backup', async () => {
    const { admin, client, table } = bench;
    const other = createAdminStore(client, table, 'test', () => bench.clock.now);
    const backup = await admin.backup.export();
    const behind = backup.accounts.find(({ id }) => id === 'behind');
    expect(behind?.plans).toEqual({ '2027-01-05': 'large' });
    const plans = { '2026-11-02': 'small', '2026-12-09': 'large' };
    const copy = { ...behind, id: 'copy', keys: [], plans } as (typeof backup.accounts)[number];
    await admin.backup.import({ plans: [], accounts: [copy] });
    expect(await plansOf('copy')).toEqual(plans);
    expect((await other.get({ account: 'usage#', item: 'retention' }))?.since).toBe('2026-12');
    for (const plans of [{}, { '2026-11-02': 'small' }, { '2026-13-02': 'large' }]) {
      const accounts = [{ ...copy, id: 'wrong', plans: plans as Record<string, string> }];
      await expect(admin.backup.import({ plans: [], accounts })).rejects.toMatchObject({
        code: 'invalid',
      });
    }
  });
});

describe('the periods of some days', () => {
  const days = ['02', '03', '04', '05', '06'].map((day) => ({
    date: `2026-12-${day}`,
    lookups: 1,
  }));
  const idle = days.map(({ date }) => ({ date, lookups: 0 }));
  const history = readPlanHistory({
    '2026-12-03': 'small',
    '2026-12-04': 'large',
    '2026-12-06': null,
    item: 'plans',
  });

  it('begin with the account and end with its deletion', () => {
    expect(planPeriods(idle, history)).toEqual([
      { plan: 'small', from: '2026-12-03', to: '2026-12-03', lookups: 0 },
      { plan: 'large', from: '2026-12-04', to: '2026-12-05', lookups: 0 },
    ]);
  });

  it('have every lookup, also what a wrong clock has counted before or after', () => {
    expect(planPeriods(days, history)).toEqual([
      { plan: 'small', from: '2026-12-02', to: '2026-12-03', lookups: 2 },
      { plan: 'large', from: '2026-12-04', to: '2026-12-06', lookups: 3 },
    ]);
  });
});
