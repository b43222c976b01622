import { TransactWriteCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { describe, expect, it } from '@jest/globals';
import type { Admin } from '../../../../packages/admin/admin.ts';
import { adminWith, startAdmin } from '../../../packages/admin/accounts/admin-bench.ts';
import { startForTests } from '../../../support/start-for-tests.ts';

const bench = startForTests(startAdmin);

/** An admin that lets `meanwhile` happen right before its first command that `when` picks. */
function interruptedAdmin(
  when: (command: unknown) => boolean,
  meanwhile: () => Promise<unknown>,
): Admin {
  let waiting = true;
  return adminWith(bench, async (command, send) => {
    if (waiting && when(command)) {
      waiting = false;
      await meanwhile();
    }
    return send();
  });
}

const joins = (command: unknown) => command instanceof TransactWriteCommand;
const follows = (command: unknown) =>
  command instanceof UpdateCommand && command.input.Key?.item === 'access';
const dayLimit = async (id: string) => (await bench.admin.accounts.show(id)).windows.day?.limit;

describe('a change between the read and the write of another change', () => {
  it('of a plan, also applies to an account that is being created on it', async () => {
    const { admin } = bench;
    await admin.plans.put({ code: 'made', limits: { day: 1 } });
    const slow = interruptedAdmin(joins, () =>
      admin.plans.put({ code: 'made', limits: { day: 2 } }),
    );
    await slow.accounts.create({ id: 'made', plan: 'made' });
    expect(await dayLimit('made')).toBe(2);
  });

  it('of a plan, also applies to an account that is moving to it', async () => {
    const { admin } = bench;
    await admin.plans.put({ code: 'left', limits: { day: 9 } });
    await admin.plans.put({ code: 'joined', limits: { day: 1 } });
    await admin.accounts.create({ id: 'moves', plan: 'left' });
    const slow = interruptedAdmin(joins, () =>
      admin.plans.put({ code: 'joined', limits: { day: 2 } }),
    );
    await slow.accounts.set({ id: 'moves', plan: 'joined' });
    expect(await dayLimit('moves')).toBe(2);
  });

  it('of a plan, also applies to an account whose own limits are being changed', async () => {
    const { admin } = bench;
    await admin.plans.put({ code: 'own', limits: { minute: 1, day: 1 } });
    await admin.accounts.create({ id: 'own', plan: 'own' });
    const slow = interruptedAdmin(follows, () =>
      admin.plans.put({ code: 'own', limits: { minute: 1, day: 2 } }),
    );
    await slow.accounts.set({ id: 'own', limits: { minute: 5 } });
    expect((await admin.accounts.show('own')).windows).toMatchObject({
      minute: { limit: 5 },
      day: { limit: 2 },
    });
  });

  it('of the same plan, is not overwritten by the earlier one, however late that finishes', async () => {
    const { admin } = bench;
    await admin.plans.put({ code: 'late', limits: { day: 1 } });
    await admin.accounts.create({ id: 'late', plan: 'late' });
    const slow = interruptedAdmin(follows, () =>
      admin.plans.put({ code: 'late', limits: { day: 3 } }),
    );
    await slow.plans.put({ code: 'late', limits: { day: 2 } });
    expect(await dayLimit('late')).toBe(3);
  });

  it('of an account that leaves the plan, is not overwritten by the change of that plan', async () => {
    const { admin } = bench;
    await admin.plans.put({ code: 'home', limits: { day: 1 } });
    await admin.plans.put({ code: 'away', limits: { day: 7 } });
    await admin.accounts.create({ id: 'leaves', plan: 'home' });
    const slow = interruptedAdmin(follows, () =>
      admin.accounts.set({ id: 'leaves', plan: 'away' }),
    );
    await slow.plans.put({ code: 'home', limits: { day: 2 } });
    expect(await admin.accounts.show('leaves')).toMatchObject({
      plan: 'away',
      windows: { day: { limit: 7 } },
    });
  });

  it('of the state, keeps an account that is about to be deleted', async () => {
    const { admin } = bench;
    const id = 'kept';
    await admin.plans.put({ code: 'kept', limits: { day: 1 } });
    await admin.accounts.create({ id, plan: 'kept' });
    await admin.accounts.suspend(id);
    const slow = interruptedAdmin(joins, () => admin.accounts.activate(id));
    await expect(slow.accounts.delete(id)).rejects.toMatchObject({ code: 'not_suspended' });
    expect(await admin.accounts.show(id)).toMatchObject({ state: 'active' });
  });

  it('of the keys, never exceeds the maximum number of keys', async () => {
    const { admin } = bench;
    await admin.plans.put({ code: 'full', limits: { day: 1 } });
    await admin.accounts.create({ id: 'full', plan: 'full' });
    const fill = async () => {
      while ((await admin.keys.create({ account: 'full', label: 'k' }).catch(() => null)) !== null);
    };
    const slow = interruptedAdmin(follows, fill);
    const before = slow.keys.create({ account: 'full', label: 'late' });
    await expect(before).rejects.toMatchObject({ code: 'too_many_keys' });
    expect(
      (await admin.keys.list('full')).every(
        ({ label, state }) => label === 'k' && state === 'active',
      ),
    ).toBe(true);
  });
});

describe('changes at the same time', () => {
  it('one of two creates of the same account succeeds, and the other fails with "exists"', async () => {
    const { admin } = bench;
    await admin.plans.put({ code: 'twins', limits: { day: 1 } });
    const outcomes = await Promise.allSettled(
      [1, 2, 3].map((day) => admin.accounts.create({ id: 'twin', plan: 'twins', limits: { day } })),
    );
    const codes = outcomes.map((outcome) =>
      outcome.status === 'rejected' ? outcome.reason.code : 'made',
    );
    expect(codes.toSorted()).toEqual(['exists', 'exists', 'made']);
  });

  it('two concurrent changes of one account both take effect', async () => {
    const { admin } = bench;
    await admin.plans.put({ code: 'both', limits: { minute: 1, hour: 1, day: 1, month: 1 } });
    await admin.accounts.create({ id: 'both', plan: 'both' });
    await Promise.all([
      admin.accounts.set({ id: 'both', limits: { minute: 2 } }),
      admin.accounts.set({ id: 'both', limits: { hour: 3 } }),
      admin.accounts.suspend('both'),
      admin.plans.put({ code: 'both', limits: { minute: 1, hour: 1, day: 4, month: 1 } }),
    ]);
    const { state, windows } = await admin.accounts.show('both');
    expect(state).toBe('suspended');
    expect(windows).toMatchObject({
      minute: { limit: 2 },
      hour: { limit: 3 },
      day: { limit: 4 },
      month: { limit: 1 },
    });
  });
});
