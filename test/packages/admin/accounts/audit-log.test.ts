import { beforeAll, describe, expect, it } from '@jest/globals';
import { createAdmin } from '../../../../packages/admin/admin.ts';
import { startForTests } from '../../../support/start-for-tests.ts';
import { writeItems } from '../../../support/stored-items.ts';
import { startAdmin } from './admin-bench.ts';

const bench = startForTests(startAdmin);
beforeAll(async () => {
  await bench.admin.plans.put({ code: 'basic', limits: { day: 5 } });
});

const adminOf = (actor: string) => {
  const { client, table, clock } = bench;
  return createAdmin({ client, table, actor, now: () => clock.now++ });
};

describe('the audit', () => {
  it('lists who changed an account, when, what, and what it was before, newest first', async () => {
    const ann = adminOf('ann');
    const bob = adminOf('bob');
    await ann.accounts.create({ id: 'acme', plan: 'basic', limits: { day: 7 } });
    await bob.accounts.set({ id: 'acme', limits: { day: 'plan' } });
    await bob.accounts.set({ id: 'acme', plan: 'basic' });
    await bob.accounts.suspend('acme');
    await ann.accounts.activate('acme');
    const { keyId } = await ann.keys.create({ account: 'acme', label: 'webshop' });
    await bob.keys.revoke({ account: 'acme', keyId });
    const entries = (await ann.accounts.audit('acme')).entries;
    const terms = { plan: 'basic' };
    expect(
      entries.map(({ actor, action, detail, outcome }) => [actor, action, detail, outcome]),
    ).toEqual([
      ['bob', 'key revoke', { keyId }, 'done'],
      ['ann', 'key create', { keyId }, 'done'],
      ['ann', 'account activate', {}, 'done'],
      ['bob', 'account suspend', {}, 'done'],
      [
        'bob',
        'account set',
        { plan: 'basic', limits: {}, before: { ...terms, limits: {} } },
        'done',
      ],
      [
        'bob',
        'account set',
        { limits: { day: 'plan' }, before: { ...terms, limits: { day: 7 } } },
        'done',
      ],
      ['ann', 'account create', { plan: 'basic', limits: { day: 7 } }, 'done'],
    ]);
    const times = entries.map(({ time }) => time);
    expect(times).toEqual(times.toSorted().reverse());
    expect(times.at(-1)).toMatch(/^2026-08-01T12:30:15\.\d{3}Z$/);
  });

  it('is read in pages of any size, which new entries do not shift', async () => {
    const ann = adminOf('ann');
    await ann.accounts.create({ id: 'paged', plan: 'basic' });
    for (let i = 0; i < 4; i++) await ann.accounts.set({ id: 'paged', limits: { day: i } });
    const all = (await ann.accounts.audit('paged')).entries;
    const first = await ann.accounts.audit('paged', { limit: 2 });
    await ann.accounts.suspend('paged');
    const second = await ann.accounts.audit('paged', { limit: 2, cursor: String(first.cursor) });
    const third = await ann.accounts.audit('paged', { limit: 2, cursor: String(second.cursor) });
    expect([...first.entries, ...second.entries, ...third.entries]).toEqual(all);
    expect([third.entries.length, third.cursor]).toEqual([1, null]);
    expect(
      (await ann.accounts.audit('paged', { limit: 3 })).entries.map(({ action }) => action),
    ).toEqual(['account suspend', 'account set', 'account set']);
    expect((await ann.plans.audit('basic')).entries.at(-1)?.action).toBe('plan put');
    for (const options of [
      { limit: 0 },
      { limit: 1001 },
      { limit: 1.5 },
      { cursor: 'x' },
      { cursor: '' },
    ]) {
      await expect(ann.accounts.audit('paged', options)).rejects.toMatchObject({ code: 'invalid' });
      await expect(ann.plans.audit('basic', options)).rejects.toMatchObject({ code: 'invalid' });
    }
  });

  it('lists each change of a plan', async () => {
    await adminOf('ann').plans.put({ code: 'told', limits: { day: null } });
    await adminOf('bob').plans.put({ code: 'told', state: 'inactive' });
    expect(
      (await bench.admin.plans.audit('told')).entries.map(({ time: _, ...entry }) => entry),
    ).toEqual([
      {
        actor: 'bob',
        action: 'plan put',
        detail: { state: 'inactive', before: { state: 'active', limits: { day: null } } },
        outcome: 'done',
      },
      {
        actor: 'ann',
        action: 'plan put',
        detail: { state: 'active', limits: { day: null } },
        outcome: 'done',
      },
    ]);
  });

  it('holds no key, no hash and no label', async () => {
    const { admin } = bench;
    await admin.accounts.create({ id: 'quiet', plan: 'basic' });
    const { key, keyId } = await admin.keys.create({ account: 'quiet', label: 'a label' });
    const told = JSON.stringify((await admin.accounts.audit('quiet')).entries);
    expect(told).toContain(keyId);
    expect(told).not.toContain('a label');
    expect(told).not.toContain(key.slice(key.indexOf(keyId) + keyId.length));
  });

  it.each([
    ['an account', 'lasting', () => bench.admin.accounts.audit('lasting')],
    ['a plan', 'plan#basic', () => bench.admin.plans.audit('basic')],
  ])('returns the latest 100 entries of %s by default', async (_, partition, audit) => {
    const { admin, client, table } = bench;
    if (partition === 'lasting') await admin.accounts.create({ id: partition, plan: 'basic' });
    const items = Array.from({ length: 101 }, (_, i) => `audit#2030-01-01T00:00:00.${100 + i}Z#`);
    const entry = { account: partition, time: '', actor: 'ann', action: 'plan put', detail: {} };
    await writeItems(
      client,
      table,
      items.map((item) => ({ ...entry, item, time: item })),
    );
    expect((await audit()).entries.map(({ time }) => time)).toEqual(items.slice(1).toReversed());
  });

  it('has no entry for a refused change', async () => {
    const { admin } = bench;
    await admin.accounts.create({ id: 'refused', plan: 'basic' });
    const before = (await admin.accounts.audit('refused')).entries;
    await expect(admin.accounts.create({ id: 'refused', plan: 'basic' })).rejects.toMatchObject({
      code: 'exists',
    });
    await expect(admin.accounts.set({ id: 'refused', limits: { hour: 1 } })).rejects.toMatchObject({
      code: 'invalid',
    });
    expect((await admin.accounts.audit('refused')).entries).toEqual(before);
    await expect(admin.accounts.audit('ghost')).rejects.toMatchObject({ code: 'not_found' });
    await expect(admin.plans.audit('ghost')).rejects.toMatchObject({ code: 'not_found' });
  });
});
