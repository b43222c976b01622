import { DeleteCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createAdminStore } from '../../../core/accounts/admin/admin-store.ts';
import { completeSearch } from '../../../core/accounts/admin/complete-search.ts';
import { type AdminBench, startAdmin } from '../../core/accounts/admin/admin-bench.ts';

let bench: AdminBench;
beforeAll(async () => {
  bench = await startAdmin();
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
afterAll(() => bench.stop());

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
    ['texts of two fields at once', 'noord jo', []],
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
    expect([await found('before'), await found('first@moving'), await found('after')]).toEqual([[], [], ['moving']]);
    expect(await found('second@moving')).toEqual(['moving']);
    await admin.accounts.suspend('moving');
    await admin.accounts.delete('moving');
    expect([await found('after'), await found('second@moving')]).toEqual([[], []]);
  });

  it('pages in the order of the ids', async () => {
    const { admin } = bench;
    for (let i = 0; i < 5; i++) await admin.accounts.create({ id: `paged-${i}`, plan: 'basic', name: 'Many of one' });
    const ids: string[][] = [];
    let cursor: string | null | undefined;
    do {
      const page = await admin.accounts.list({ search: 'many of', limit: 2, ...(cursor && { cursor }) });
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
    ['what is not a text', 5 as unknown as string],
  ])('refuses %s', async (_, search) => {
    await expect(bench.admin.accounts.list({ search })).rejects.toMatchObject({
      code: 'invalid',
      message: 'A search is a text of 1 to 200 characters.',
    });
  });
});

describe('accounts of an earlier version', () => {
  /** The table as an earlier version left it: without what a search reads. */
  async function withoutSearch(): Promise<void> {
    const { client, table } = bench;
    for (let chunk = 0; chunk < 100; chunk++) {
      const Key = { account: 'search#', item: String(chunk).padStart(2, '0') };
      await client.send(new DeleteCommand({ TableName: table, Key }));
    }
    await client.send(new DeleteCommand({ TableName: table, Key: { account: 'search#', item: 'complete' } }));
  }

  it('are found by their id and their members from the first search on', async () => {
    await withoutSearch();
    // A change before it must not make the account seem complete.
    await bench.admin.members.add({ account: 'shop-2', person: 'new@zuid.example', role: 'viewer' });
    await bench.admin.accounts.set({ id: 'shop-2', plan: 'large' });
    expect(await found('piet.bakker')).toEqual(['shop-2']);
    expect(await found('new@zuid')).toEqual(['shop-2']);
    expect(await found('café')).toEqual(['Shop-1']);
    await bench.admin.accounts.set({ id: 'shop-2', plan: 'basic' });
  });

  it('become found some at a time, also when several do it at once, and stay as found as they were', async () => {
    await withoutSearch();
    const { accounts } = await bench.admin.accounts.list();
    const first = await bench.admin.accounts.prepareSearch({ accounts: 2 });
    expect(first).toEqual({ looked: 2, done: false });
    await Promise.all([1, 2].map(() => bench.admin.accounts.prepareSearch({ accounts: 2 })));
    let last = first;
    for (let i = 0; i < accounts.length && !last.done; i++)
      last = await bench.admin.accounts.prepareSearch({ accounts: 2 });
    expect(last).toEqual({ looked: accounts.length, done: true });
    expect(await bench.admin.accounts.prepareSearch()).toEqual(last);
    expect([await found('bakker'), await found('hop-')]).toEqual(Array(2).fill(['Shop-1', 'shop-2']));
    for (const wrong of [0, 1.5, '5' as unknown as number])
      await expect(bench.admin.accounts.prepareSearch({ accounts: wrong })).rejects.toMatchObject({ code: 'invalid' });
  });

  it('that were made, moved or deleted after a roll-back are put right by the hourly job', async () => {
    const { admin, client, table, addCopies } = bench;
    await found('any');
    await addCopies('other', ['rolled-back']);
    await admin.accounts.create({ id: 'gone', plan: 'basic' });
    await client.send(new DeleteCommand({ TableName: table, Key: { account: 'gone', item: 'access#0' } }));
    expect([await found('rolled'), (await admin.plans.counts()).large]).toEqual([[], 1]);
    const store = createAdminStore(client, table, 'job', Date.now);
    const plans = new Map((await admin.accounts.list()).accounts.map(({ id, plan }) => [id, plan]));
    await completeSearch(store, plans);
    expect([await found('rolled'), await found('gone'), (await admin.plans.counts()).large]).toEqual([
      ['rolled-back'],
      [],
      2,
    ]);
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
    await admin.accounts.set({ id: 'mover', shards: 3 });
    await admin.accounts.set({ id: 'mover', plan: 'basic' });
    expect(await admin.plans.counts()).toEqual({ ...before, basic: (before.basic ?? 0) + 1 });
  });
});
