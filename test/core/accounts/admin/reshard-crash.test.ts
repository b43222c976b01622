import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type AdminBench, startAdmin } from './admin-bench.ts';
import { type Deaths, deathsOf } from './deaths.ts';

let bench: AdminBench;
let dieEverywhere: Deaths;
beforeAll(async () => {
  bench = await startAdmin();
  dieEverywhere = deathsOf(bench);
});
afterAll(() => bench.stop());

describe('an administrative process that dies', () => {
  it('while changing a plan: running it again updates every account', async () => {
    const { admin } = bench;
    const ids = (name: string) => ['a', 'b', 'c'].map((id) => `${name}-${id}`);
    const calls = await dieEverywhere(
      'put',
      async (name) => {
        await admin.plans.put({ code: name, limits: { day: 1 } });
        for (const id of ids(name)) await admin.accounts.create({ id, plan: name });
      },
      (dying, name) => dying.plans.put({ code: name, limits: { day: 2, hour: 3 } }),
      async (name) => {
        for (const id of ids(name)) {
          const limits = Object.entries((await admin.accounts.show(id)).windows).map(([window, { limit }]) => [
            window,
            limit,
          ]);
          expect([
            [['day', 1]],
            [
              ['hour', 3],
              ['day', 2],
            ],
          ]).toContainEqual(limits);
        }
        await admin.plans.put({ code: name, limits: { day: 2, hour: 3 } });
        for (const id of ids(name)) {
          expect((await admin.accounts.show(id)).windows).toMatchObject({ hour: { limit: 3 }, day: { limit: 2 } });
        }
      },
    );
    // What it was, audit, read, write; the plan, a page of names, their accounts, three changes, how far it has come.
    expect(calls).toBe(11);
  });

  it('while changing an account: what happened is in the audit, as unknown or done', async () => {
    const { admin } = bench;
    await admin.plans.put({ code: 'audit', limits: { day: 1 } });
    await dieEverywhere(
      'audit',
      async (name) => {
        await admin.accounts.create({ id: name, plan: 'audit' });
        bench.clock.now++; // entries of one millisecond have no order
      },
      (dying, name) => dying.accounts.suspend(name),
      async (name) => {
        const [latest] = await admin.accounts.audit(name);
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
      'make',
      async () => {},
      (dying, name) => dying.accounts.create({ id: name, plan: 'create' }),
      async (name) => {
        await expect(admin.accounts.show(name)).rejects.toMatchObject({ code: 'not_found' });
        expect(await admin.accounts.create({ id: name, plan: 'create' })).toMatchObject({ state: 'active' });
      },
    );
    expect(calls).toBe(6); // audit, four reads (account, deleted account, plan, search), one transaction
  });

  it('while moving an account: it is on one plan with the limits of that plan', async () => {
    const { admin } = bench;
    await admin.plans.put({ code: 'old', limits: { day: 1 } });
    await admin.plans.put({ code: 'new', limits: { hour: 2 } });
    await dieEverywhere(
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

  it('while creating a key: every key listed as active has a label and can be revoked', async () => {
    const { admin, item } = bench;
    await admin.plans.put({ code: 'keys', limits: { day: 1 } });
    await dieEverywhere(
      'key',
      async (name) => void (await admin.accounts.create({ id: name, plan: 'keys' })),
      (dying, name) => dying.keys.create({ account: name, label: 'k' }),
      async (name) => {
        const admitted = Object.keys((await item(name))?.keys as object);
        const listed = (await admin.keys.list(name)).filter(({ state }) => state === 'active');
        expect(listed.map(({ keyId, label }) => [keyId, label])).toEqual(admitted.map((keyId) => [keyId, 'k']));
        for (const keyId of admitted) await admin.keys.revoke({ account: name, keyId });
        expect((await admin.keys.list(name)).filter(({ state }) => state === 'active')).toEqual([]);
        expect(await admin.keys.create({ account: name, label: 'again' })).toHaveProperty('key');
      },
    );
  });

  it('while revoking a key: the list agrees with authentication, and running it again finishes', async () => {
    const { admin, request } = bench;
    await admin.plans.put({ code: 'revoke', limits: { day: null } });
    const keys = new Map<string, { key: string; keyId: string }>();
    const keyOf = (name: string) => keys.get(name) as { key: string; keyId: string };
    await dieEverywhere(
      'end',
      async (name) => {
        await admin.accounts.create({ id: name, plan: 'revoke' });
        keys.set(name, await admin.keys.create({ account: name, label: 'k' }));
      },
      (dying, name) => dying.keys.revoke({ account: name, keyId: keyOf(name).keyId }),
      async (name) => {
        const { key, keyId } = keyOf(name);
        const [listed] = await admin.keys.list(name);
        expect(await request(key)).toBe(listed?.state === 'active' ? 'charged' : 'unauthorized');
        expect(await admin.keys.revoke({ account: name, keyId })).toMatchObject({
          state: 'revoked',
          revoked: '2026-08-01T12:30:15Z',
        });
        expect(await request(key)).toBe('unauthorized');
      },
    );
  });
});
