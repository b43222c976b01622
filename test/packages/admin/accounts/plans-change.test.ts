import { beforeAll, describe, expect, it } from '@jest/globals';
import { startForTests } from '../../../support/start-for-tests.ts';
import { startAdmin } from './admin-bench.ts';
import { dieEverywhere } from './deaths.ts';

const bench = startForTests(startAdmin);
beforeAll(async () => {
  await bench.admin.plans.put({ code: 'other', limits: { day: 1 } });
  await bench.admin.accounts.create({ id: 'other', plan: 'other' });
});

const five = ['a', 'b', 'c', 'd', 'e'];
const idsOf = (code: string, names = five) => names.map((name) => `${code}-${name}`);

async function newPlan(code: string, names = five): Promise<void> {
  await bench.admin.plans.put({ code, limits: { day: 1 } });
  for (const id of idsOf(code, names)) await bench.admin.accounts.create({ id, plan: code });
}

async function limitsOf(code: string, names = five): Promise<(number | null | undefined)[]> {
  const shown = await Promise.all(idsOf(code, names).map((id) => bench.admin.accounts.show(id)));
  return shown.map(({ windows }) => windows.day?.limit);
}

const changeOf = async (code: string) =>
  (await bench.admin.plans.list({ prefix: code })).plans[0]?.change;

describe('a change of a plan in steps', () => {
  it('goes on after a death between any two calls, and reaches every account and no other', async () => {
    const { admin } = bench;
    const calls = await dieEverywhere(
      bench,
      'die',
      (code) => newPlan(code, ['a', 'b']),
      async (dying, code) => {
        await dying.plans.begin({ code, limits: { day: 2 } });
        for (let done = false; !done; ) {
          ({ done } = await dying.plans.follow(code, { accounts: 2 }));
        }
      },
      async (code) => {
        const change = await changeOf(code);
        const limits = await limitsOf(code, ['a', 'b']);
        // Either nothing has begun, or who looks sees that it is not finished, or it is.
        if (!change) expect(new Set(limits).size).toBe(1);
        for (let done = false; !done; ) {
          ({ done } = await admin.plans.follow(code, { accounts: 2 }));
        }
        expect(await limitsOf(code, ['a', 'b'])).toEqual(change ? [2, 2] : limits);
        expect(await changeOf(code)).toBeUndefined();
        expect((await admin.accounts.show('other')).windows.day?.limit).toBe(1);
        // Few accounts for the next round.
        for (const id of idsOf(code, ['a', 'b'])) {
          await admin.accounts.suspend(id);
          await admin.accounts.delete(id);
        }
      },
    );
    expect(calls).toBeGreaterThan(10);
  });

  it('has reached an account at once that is made or moved meanwhile', async () => {
    const { admin } = bench;
    await newPlan('joined');
    await admin.plans.begin({ code: 'joined', limits: { day: 2 } });
    await admin.accounts.create({ id: 'joined-new', plan: 'joined' });
    await admin.accounts.create({ id: 'joined-moved', plan: 'other' });
    await admin.accounts.set({ id: 'joined-moved', plan: 'joined' });
    for (const id of ['joined-new', 'joined-moved']) {
      expect((await admin.accounts.show(id)).windows.day?.limit).toBe(2);
    }
    expect(await limitsOf('joined')).toEqual([1, 1, 1, 1, 1]);
    expect(await admin.plans.follow('joined')).toMatchObject({ followed: 7, done: true });
  });

  it('is finished by two who run it at once, and counts each account once', async () => {
    const { admin } = bench;
    await newPlan('both');
    await admin.plans.begin({ code: 'both', limits: { day: 2 } });
    const run = async () => {
      let most = 0;
      for (let done = false; !done; ) {
        const progress = await admin.plans.follow('both', { accounts: 3 });
        most = Math.max(most, progress.followed);
        done = progress.done;
      }
      return most;
    };
    expect(Math.max(...(await Promise.all([run(), run()])))).toBe(5);
    expect(await limitsOf('both')).toEqual([2, 2, 2, 2, 2]);
  });

  it('gives way to a later change, which reaches every account', async () => {
    const { admin } = bench;
    await newPlan('later');
    await admin.plans.begin({ code: 'later', limits: { day: 2 } });
    await admin.plans.follow('later', { accounts: 4 });
    expect(await changeOf('later')).toMatchObject({ looked: 4, actor: 'unknown' });
    expect(await admin.plans.put({ code: 'later', limits: { day: 3 } })).toMatchObject({
      followed: 5,
    });
    expect(await limitsOf('later')).toEqual([3, 3, 3, 3, 3]);
    expect(await changeOf('later')).toBeUndefined();
  });

  it('is over at once for a new plan', async () => {
    await bench.admin.plans.begin({ code: 'new', limits: { day: 1 } });
    expect(await changeOf('new')).toBeUndefined();
    expect(await bench.admin.plans.follow('new')).toMatchObject({ done: true, followed: 0 });
  });

  it('is refused for a plan that does not exist, and for no accounts', async () => {
    const { admin } = bench;
    await expect(admin.plans.follow('nothing')).rejects.toMatchObject({ code: 'not_found' });
    await expect(admin.plans.follow('other', { accounts: 0 })).rejects.toMatchObject({
      code: 'invalid',
    });
  });
});
