import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { maxActiveKeys } from '../../../../core/accounts/admin/keys.ts';
import { allAccounts, allPlans } from '../../../support/list-all.ts';
import { type AdminBench, startAdmin } from '../admin/admin-bench.ts';

let bench: AdminBench;
beforeAll(async () => {
  bench = await startAdmin();
});
afterAll(() => bench.stop());

const times = <T>(count: number, work: (i: number) => Promise<T>) =>
  Promise.all(Array.from({ length: count }, (_, i) => work(i)));

const numbered = (name: string, count: number) => Array.from({ length: count }, (_, i) => `${name}-${i}`);

describe('changes at the same time', () => {
  it('a plan changed under load loses no charge and charges none twice', async () => {
    const { admin, request } = bench;
    await admin.plans.put({ code: 'busy', limits: { hour: null, day: 5_000 } });
    await admin.accounts.create({ id: 'busy', plan: 'busy' });
    const { key } = await admin.keys.create({ account: 'busy', label: 'k' });
    const changes = async () => {
      for (let i = 0; i < 10; i++) {
        await admin.plans.put({ code: 'busy', limits: { hour: i, day: 6_000 + i, ...(i % 2 && { minute: 9_000 }) } });
        await admin.plans.put({ code: 'busy', limits: { hour: null, day: 6_000 + i } });
        await admin.accounts.set({ id: 'busy', limits: { day: 7_000 + i } });
      }
    };
    const [outcomes] = await Promise.all([times(200, () => request(key)), changes()]);
    const charged = outcomes.filter((outcome) => outcome === 'charged').length;
    expect(outcomes.every((outcome) => outcome === 'charged' || outcome === 'quota-exceeded')).toBe(true);
    expect((await admin.accounts.show('busy')).windows).toMatchObject({
      hour: { limit: null, used: charged },
      day: { limit: 7_009, used: charged },
    });
  });

  it('after two concurrent changes of a plan all its accounts have the limits that the plan shows', async () => {
    const { admin, addCopies } = bench;
    await admin.plans.put({ code: 'duel', limits: { day: 0 } });
    await admin.accounts.create({ id: 'duel', plan: 'duel' });
    await addCopies('duel', numbered('duel', 7));
    for (let round = 1; round <= 10; round++) {
      await Promise.all([
        admin.plans.put({ code: 'duel', limits: { day: round } }),
        admin.plans.put({ code: 'duel', limits: { minute: 100 + round } }),
      ]);
      const plan = (await allPlans(admin)).find(({ code }) => code === 'duel');
      const accounts = (await allAccounts(admin)).filter(({ plan: code }) => code === 'duel');
      expect(accounts).toHaveLength(8);
      for (const { windows } of accounts) {
        expect(Object.fromEntries(Object.entries(windows).map(([name, { limit }]) => [name, limit]))).toEqual(
          plan?.limits,
        );
      }
    }
  });

  it('an account that joins a plan during a change gets the change, whether it is new or moves', async () => {
    const { admin, addCopies } = bench;
    await admin.plans.put({ code: 'from', limits: { day: 1 } });
    await admin.plans.put({ code: 'to', limits: { day: 1 } });
    await admin.accounts.create({ id: 'stays', plan: 'from' });
    await addCopies('stays', numbered('move', 20));
    const puts = async () => {
      for (let i = 2; i <= 12; i++) await admin.plans.put({ code: 'to', limits: { day: i } });
    };
    await Promise.all([
      puts(),
      times(20, (i) => admin.accounts.create({ id: `new-${i}`, plan: 'to' })),
      times(20, (i) => admin.accounts.set({ id: `move-${i}`, plan: 'to' })),
    ]);
    const joined = (await allAccounts(admin)).filter(({ plan }) => plan === 'to');
    expect(joined).toHaveLength(40);
    expect(joined.filter(({ windows }) => windows.day?.limit !== 12)).toEqual([]);
  });

  it('one of two creates of the same account succeeds, and the other fails with "exists"', async () => {
    const { admin } = bench;
    await admin.plans.put({ code: 'twins', limits: { day: 1 } });
    const outcomes = await Promise.allSettled(
      [1, 2, 3].map((day) => admin.accounts.create({ id: 'twin', plan: 'twins', limits: { day } })),
    );
    const codes = outcomes.map((outcome) => (outcome.status === 'rejected' ? outcome.reason.code : 'made'));
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
    expect(windows).toMatchObject({ minute: { limit: 2 }, hour: { limit: 3 }, day: { limit: 4 }, month: { limit: 1 } });
  });

  it('concurrent creates never exceed the maximum number of keys', async () => {
    const { admin, request } = bench;
    await admin.plans.put({ code: 'keys', limits: { day: null } });
    await admin.accounts.create({ id: 'keys', plan: 'keys' });
    const outcomes = await Promise.allSettled(
      Array.from({ length: maxActiveKeys + 5 }, (_, i) => admin.keys.create({ account: 'keys', label: `k${i}` })),
    );
    const made = outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []));
    const refused = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason.code] : []));
    expect(made).toHaveLength(maxActiveKeys);
    expect(new Set(refused)).toEqual(new Set(['too_many_keys']));
    expect(await Promise.all(made.map(({ key }) => request(key)))).toEqual(made.map(() => 'charged'));
    const listed = await admin.keys.list('keys');
    expect(listed.map(({ keyId }) => keyId).toSorted()).toEqual(made.map(({ keyId }) => keyId).toSorted());
  });

  it('every request that starts after a revocation returned is refused', async () => {
    const { admin, request } = bench;
    await admin.plans.put({ code: 'burst', limits: { day: null } });
    await admin.accounts.create({ id: 'burst', plan: 'burst' });
    const { key, keyId } = await admin.keys.create({ account: 'burst', label: 'k' });
    let revoked = false;
    const late: string[] = [];
    const worker = async () => {
      for (let lateOfMine = 0; lateOfMine < 3; ) {
        const startedLate = revoked;
        const outcome = await request(key);
        if (!startedLate) continue;
        late.push(outcome);
        lateOfMine++;
      }
    };
    const revoke = async () => {
      await times(20, () => request(key));
      await admin.keys.revoke({ account: 'burst', keyId });
      revoked = true;
    };
    await Promise.all([revoke(), ...Array.from({ length: 8 }, worker)]);
    expect(late).toEqual(Array(24).fill('unauthorized'));
  });

  it('a key is rotated without a refused request: create, switch over, revoke', async () => {
    const { admin, request } = bench;
    await admin.plans.put({ code: 'rotate', limits: { day: null } });
    await admin.accounts.create({ id: 'rotate', plan: 'rotate' });
    let current = await admin.keys.create({ account: 'rotate', label: 'first' });
    let done = false;
    const outcomes: string[] = [];
    const inFlight = new Set<Promise<unknown>>();
    const traffic = async () => {
      while (!done) {
        const sent = request(current.key);
        inFlight.add(sent);
        outcomes.push(await sent);
        inFlight.delete(sent);
      }
    };
    const rotate = async () => {
      for (let i = 0; i < 5; i++) {
        const old = current;
        current = await admin.keys.create({ account: 'rotate', label: `rotation ${i}` });
        await Promise.all(inFlight); // the last requests with the old key
        await admin.keys.revoke({ account: 'rotate', keyId: old.keyId });
      }
      done = true;
    };
    await Promise.all([rotate(), traffic(), traffic(), traffic()]);
    expect(outcomes.length).toBeGreaterThan(10);
    expect(new Set(outcomes)).toEqual(new Set(['charged']));
    expect((await admin.keys.list('rotate')).filter(({ state }) => state === 'active')).toHaveLength(1);
  });
});
