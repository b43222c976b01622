import { DeleteCommand } from '@aws-sdk/lib-dynamodb';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { allAccounts, allPlans } from '../../../support/list-all.ts';
import { startForTests } from '../../../support/start-for-tests.ts';
import { storedItems } from '../../../support/stored-items.ts';
import { adminWith, startAdmin } from './admin-bench.ts';

const bench = startForTests(startAdmin);
const ids = ['B', 'a', 'a.1', 'a.2', 'a.3', 'ab', 'shop-1', 'shop-2', 'z'];

beforeAll(async () => {
  for (const code of ['basic', 'large', 'lasting']) {
    await bench.admin.plans.put({ code, limits: { day: 5 } });
  }
  for (const id of ids.toReversed()) await bench.admin.accounts.create({ id, plan: 'basic' });
});

describe('accounts.list', () => {
  it.each([1, 4, 9])('returns every account once, in order, by pages of %i', async (limit) => {
    const found: string[] = [];
    let pages = 0;
    for (let cursor: string | null = ''; cursor !== null; pages++) {
      const page: Awaited<ReturnType<typeof bench.admin.accounts.list>> =
        await bench.admin.accounts.list({
          limit,
          ...(cursor && { cursor }),
        });
      found.push(...page.accounts.map(({ id }) => id));
      cursor = page.cursor;
    }
    expect(found).toEqual(ids);
    expect(pages).toBe(Math.ceil(ids.length / limit));
  });

  it.each([
    ['a', ['a', 'a.1', 'a.2', 'a.3', 'ab']],
    ['a.', ['a.1', 'a.2', 'a.3']],
    ['A', []],
    ['shop-2', ['shop-2']],
  ])('returns only the accounts whose id begins with %j', async (prefix, expected) => {
    const { accounts, cursor } = await bench.admin.accounts.list({ prefix });
    expect([accounts.map(({ id }) => id), cursor]).toEqual([expected, null]);
  });

  it('continues after a cursor within a prefix, even if the account of the cursor was deleted', async () => {
    const { admin } = bench;
    await admin.accounts.create({ id: 'a.15', plan: 'basic' });
    const first = await admin.accounts.list({ prefix: 'a.', limit: 2 });
    expect([first.accounts.map(({ id }) => id), first.cursor]).toEqual([['a.1', 'a.15'], 'a.15']);
    await admin.accounts.suspend('a.15');
    await admin.accounts.delete('a.15');
    const whole = await admin.accounts.list({ prefix: 'a.', limit: 3 });
    expect([whole.accounts.map(({ id }) => id), whole.cursor]).toEqual([
      ['a.1', 'a.2', 'a.3'],
      null,
    ]);
    const rest = await admin.accounts.list({ prefix: 'a.', cursor: 'a.15' });
    expect([rest.accounts.map(({ id }) => id), rest.cursor]).toEqual([['a.2', 'a.3'], null]);
  });

  it('reads by key and never scans the table', async () => {
    const sent: string[] = [];
    const admin = adminWith(bench, (command, send) => {
      sent.push(command.constructor.name);
      return send();
    });
    await admin.accounts.list({ limit: 3 });
    await admin.plans.list();
    expect(sent).toEqual([
      'QueryCommand',
      'BatchGetCommand',
      'BatchGetCommand',
      'QueryCommand',
      'BatchGetCommand',
    ]);
  });
});

describe('plans.list', () => {
  it('pages and filters as the list of accounts does', async () => {
    const { plans, cursor } = await bench.admin.plans.list({ limit: 2 });
    expect([plans.map(({ code }) => code), cursor]).toEqual([['basic', 'large'], 'large']);
    const rest = await bench.admin.plans.list({ prefix: 'la', cursor: 'large' });
    expect([rest.plans.map(({ code }) => code), rest.cursor]).toEqual([['lasting'], null]);
    expect(await allPlans(bench.admin)).toHaveLength(3);
  });
});

describe('accounts.delete', () => {
  it('removes a suspended account and its keys, and leaves its audit and its usage', async () => {
    const { admin, client, request } = bench;
    const id = 'gone';
    await admin.accounts.create({ id, plan: 'basic' });
    const { key } = await admin.keys.create({ account: id, label: 'the label' });
    await expect(admin.accounts.delete(id)).rejects.toMatchObject({ code: 'not_suspended' });
    for (let i = 0; i < 5; i++) expect(await request(key)).toBe('charged');
    await admin.accounts.suspend(id);
    await admin.accounts.delete(id);
    expect(await request(key)).toBe('unauthorized');
    await expect(admin.accounts.show(id)).rejects.toMatchObject({ code: 'not_found' });
    expect((await allAccounts(admin)).map((account) => account.id)).not.toContain(id);
    const left = await storedItems(client, bench.table, id);
    const items = left.map(({ item }) => item);
    expect(items.filter((item) => !item.startsWith('audit#'))).toEqual([
      'deleted',
      'plans',
      'usage#2026-08-01',
    ]);
    expect(JSON.stringify(left)).not.toContain('the label');
    expect((await admin.accounts.audit(id)).entries.map(({ action }) => action)).toContain(
      'account delete',
    );
  });

  it('can be run again, and its id is never used again', async () => {
    const { admin } = bench;
    await admin.accounts.create({ id: 'twice', plan: 'basic' });
    await admin.accounts.suspend('twice');
    await admin.accounts.delete('twice');
    await admin.accounts.delete('twice');
    await expect(admin.accounts.create({ id: 'twice', plan: 'basic' })).rejects.toMatchObject({
      code: 'exists',
      message: expect.stringContaining("can't be used again"),
    });
  });

  it('finishes an earlier call that died before it had deleted the keys', async () => {
    const { admin, client, table } = bench;
    await admin.accounts.create({ id: 'half', plan: 'basic' });
    await admin.keys.create({ account: 'half', label: 'left over' });
    await admin.accounts.suspend('half');
    const dying = adminWith(bench, (command, send) =>
      command instanceof DeleteCommand && String(command.input.Key?.item).startsWith('key#')
        ? Promise.reject(new Error('died'))
        : send(),
    );
    await expect(dying.accounts.delete('half')).rejects.toThrow('died');
    await admin.accounts.delete('half');
    const left = (await storedItems(client, table, 'half')).map(({ item }) => item);
    expect(left.filter((item) => item.startsWith('key#'))).toEqual([]);
  });

  it('refuses an account that never existed', async () => {
    await expect(bench.admin.accounts.delete('never')).rejects.toMatchObject({ code: 'not_found' });
  });
});
