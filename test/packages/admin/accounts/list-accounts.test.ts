import { beforeAll, describe, expect, it } from '@jest/globals';
import { startForTests } from '../../../support/start-for-tests.ts';
import { startAdmin } from './admin-bench.ts';

const bench = startForTests(startAdmin);
beforeAll(async () => {
  const { admin } = bench;
  await admin.plans.put({ code: 'basic', limits: { day: 100 } });
  await admin.plans.put({ code: 'large', limits: { day: 1000 } });
  await admin.accounts.create({
    id: 'Shop-1',
    plan: 'basic',
    name: 'Bakkerij Café Noord',
    contact: 'Jo Jansen, jo@noord.example, 020 123 45 67',
    note: 'Invoice by year',
  });
  await admin.accounts.create({ id: 'shop-2', plan: 'basic', name: 'Slagerij Zuid' });
  await admin.accounts.create({ id: 'other', plan: 'large' });
  await admin.members.add({ account: 'shop-2', person: 'Piet.Bakker@zuid.example', role: 'admin' });
});

async function found(search: string): Promise<string[]> {
  return (await bench.admin.accounts.list({ search })).accounts.map(({ id }) => id);
}

describe('a search of the accounts', () => {
  it.each([
    ['a part of the id', 'hop-', ['Shop-1', 'shop-2']],
    ['the name in another case', 'BAKKERIJ', ['Shop-1']],
    ['a name without its accent', 'cafe noord', ['Shop-1']],
    ['a name with its accent', 'CAFÉ', ['Shop-1']],
    ['a part of the contact', '123 45', ['Shop-1']],
    ['a part of the note', 'by YEAR', ['Shop-1']],
    ['a member', 'piet.bakker@zuid', ['shop-2']],
    ['a text that an account and a member of another have', 'bakker', ['Shop-1', 'shop-2']],
    ['spaces around the text and in it', '  jo   jansen ', ['Shop-1']],
    ['nothing', 'nowhere', []],
    ['the code of a plan, which is no text of an account', 'large', []],
    ['words of its name and of a member, in any order', 'jo noord', ['Shop-1']],
    ['no account that lacks one of the words', 'noord jo nowhere', []],
  ])('finds by %s', async (_, search, ids) => {
    expect(await found(search)).toEqual(ids);
  });

  it('follows each change of an account and its members at once', async () => {
    const { admin } = bench;
    await admin.accounts.create({ id: 'moving', plan: 'basic', name: 'Before' });
    await admin.members.add({ account: 'moving', person: 'first@moving.example', role: 'admin' });
    await admin.members.add({ account: 'moving', person: 'second@moving.example', role: 'admin' });
    expect([await found('before'), await found('first@moving')]).toEqual([['moving'], ['moving']]);
    await admin.accounts.set({ id: 'moving', name: 'After' });
    await admin.members.remove({ account: 'moving', person: 'first@moving.example' });
    expect([await found('before'), await found('first@moving'), await found('after')]).toEqual([
      [],
      [],
      ['moving'],
    ]);
    expect(await found('second@moving')).toEqual(['moving']);
    await admin.accounts.suspend('moving');
    await admin.accounts.delete('moving');
    expect([await found('after'), await found('second@moving')]).toEqual([[], []]);
  });

  it('pages in the order of the ids', async () => {
    const { admin } = bench;
    for (let i = 0; i < 5; i++) {
      await admin.accounts.create({ id: `paged-${i}`, plan: 'basic', name: 'Many of one' });
    }
    const ids: string[][] = [];
    let cursor: string | null | undefined;
    do {
      const page = await admin.accounts.list({
        search: 'many of',
        limit: 2,
        ...(cursor && { cursor }),
      });
      ids.push(page.accounts.map(({ id }) => id));
      cursor = page.cursor;
    } while (cursor);
    expect(ids).toEqual([['paged-0', 'paged-1'], ['paged-2', 'paged-3'], ['paged-4']]);
    const { accounts } = await admin.accounts.list({ search: 'many', prefix: 'paged-4' });
    expect(accounts).toMatchObject([{ id: 'paged-4' }]);
  });

  it.each([
    ['nothing', ''],
    ['only spaces', '   '],
    ['201 characters', 'x'.repeat(201)],
  ])('refuses %s', async (_, search) => {
    await expect(bench.admin.accounts.list({ search })).rejects.toMatchObject({
      code: 'invalid',
      message: 'A search is a text of 1 to 200 characters.',
    });
  });
});

describe('a list of accounts with a filter', () => {
  it('has those of a plan, a state, an age and a use, in pages that lose none', async () => {
    const { admin, clock, request } = bench;
    await admin.plans.put({ code: 'watched', limits: { minute: 100, day: 5 } });
    for (const id of ['w-1', 'w-2', 'w-3', 'w-4']) {
      await admin.accounts.create({ id, plan: 'watched' });
    }
    await admin.accounts.set({ id: 'w-4', limits: { day: null } });
    await admin.accounts.suspend('w-3');
    for (const [account, lookups] of [
      ['w-1', 3],
      ['w-2', 4],
      ['w-4', 5],
    ] as const) {
      const { key } = await admin.keys.create({ account, label: 'x' });
      for (let i = 0; i < lookups; i++) await request(key);
    }
    clock.now += 1_000;
    const since = new Date(clock.now).toISOString();
    await admin.accounts.create({ id: 'w-5', plan: 'watched' });
    const listed = async (filter: object) =>
      (await admin.accounts.list({ plan: 'watched', ...filter })).accounts.map(({ id }) => id);
    expect(await listed({})).toEqual(['w-1', 'w-2', 'w-3', 'w-4', 'w-5']);
    expect(await listed({ state: 'suspended' })).toEqual(['w-3']);
    expect(await listed({ createdSince: since })).toEqual(['w-5']);
    expect(await listed({ usedShare: 0.8 })).toEqual(['w-2']);
    expect(await listed({ search: 'w-4', state: 'active' })).toEqual(['w-4']);
    const first = await admin.accounts.list({ plan: 'watched', state: 'active', limit: 2 });
    const second = await admin.accounts.list({
      plan: 'watched',
      state: 'active',
      cursor: first.cursor ?? '',
    });
    expect([first, second].map(({ accounts }) => accounts.map(({ id }) => id))).toEqual([
      ['w-1', 'w-2'],
      ['w-4', 'w-5'],
    ]);
    expect(second.cursor).toBeNull();
  });
});

describe('plans.counts', () => {
  it('says how many accounts are on each plan, also after one has moved', async () => {
    const { admin } = bench;
    await admin.plans.put({ code: 'counted', limits: { day: 1 } });
    const before = await admin.plans.counts();
    expect(before.counted).toBeUndefined();
    await admin.accounts.create({ id: 'mover', plan: 'counted' });
    expect((await admin.plans.counts()).counted).toBe(1);
    await admin.accounts.set({ id: 'mover', plan: 'basic' });
    expect(await admin.plans.counts()).toEqual({ ...before, basic: (before.basic ?? 0) + 1 });
  });
});
