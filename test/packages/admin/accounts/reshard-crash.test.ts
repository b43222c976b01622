import { describe, expect, it } from '@jest/globals';
import { startForTests } from '../../../support/start-for-tests.ts';
import { isFullSweep } from '../../../support/sweep.ts';
import { startAdmin } from './admin-bench.ts';
import { dieEverywhere } from './deaths.ts';

const bench = startForTests(startAdmin);

describe('an administrative process that dies', () => {
  it('while changing an account: what happened is in the audit, as unknown or done', async () => {
    const { admin } = bench;
    await admin.plans.put({ code: 'audit', limits: { day: 1 } });
    await dieEverywhere(
      bench,
      'audit',
      async (name) => {
        await admin.accounts.create({ id: name, plan: 'audit' });
        bench.clock.now++; // entries of one millisecond have no order
      },
      (dying, name) => dying.accounts.suspend(name),
      async (name) => {
        const [latest] = (await admin.accounts.audit(name)).entries;
        const { state } = await admin.accounts.show(name);
        if (state === 'suspended') expect(latest).toMatchObject({ action: 'account suspend' });
        if (latest?.action === 'account suspend' && state === 'active') expect(latest.outcome).toBe('unknown');
      },
    );
  });

  it('while creating an account: the account exists completely or not at all', async () => {
    const { admin } = bench;
    await admin.plans.put({ code: 'create', limits: { day: 1 } });
    const calls = await dieEverywhere(
      bench,
      'make',
      async () => {},
      (dying, name) => dying.accounts.create({ id: name, plan: 'create' }),
      async (name) => {
        await expect(admin.accounts.show(name)).rejects.toMatchObject({ code: 'not_found' });
        expect(await admin.accounts.create({ id: name, plan: 'create' })).toMatchObject({ state: 'active' });
      },
    );
    if (isFullSweep) expect(calls).toBe(7); // audit, five reads (account, deleted account, plan, first month, search), one transaction
  });

  it('while moving an account: it is on one plan with the limits of that plan', async () => {
    const { admin } = bench;
    await admin.plans.put({ code: 'old', limits: { day: 1 } });
    await admin.plans.put({ code: 'new', limits: { hour: 2 } });
    await dieEverywhere(
      bench,
      'move',
      async (name) => void (await admin.accounts.create({ id: name, plan: 'old' })),
      (dying, name) => dying.accounts.set({ id: name, plan: 'new' }),
      async (name) => {
        const { plan, windows } = await admin.accounts.show(name);
        expect(Object.keys(windows)).toEqual(plan === 'old' ? ['day'] : ['hour']);
        expect(await admin.accounts.set({ id: name, plan: 'new' })).toMatchObject({ plan: 'new' });
      },
    );
  });
});
