import { TransactWriteCommand } from '@aws-sdk/lib-dynamodb';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { startForTests } from '../../../support/start-for-tests.ts';
import { adminWith, startAdmin } from './admin-bench.ts';

const bench = startForTests(startAdmin);
beforeAll(async () => {
  await bench.admin.plans.put({ code: 'basic', limits: { day: 100 } });
  await bench.admin.plans.put({ code: 'large', limits: { day: 1000 } });
});

const none = { name: null, contact: null, note: null };

describe('the name, contact and note of an account', () => {
  it('are given when it is made, changed one at a time, and removed with null', async () => {
    const { admin } = bench;
    const given = { name: 'Bakkerij Jansen', contact: 'jo@jansen.example', note: 'pays by year' };
    expect(await admin.accounts.create({ id: 'jansen', plan: 'basic', ...given })).toMatchObject(
      given,
    );
    expect(await admin.accounts.show('jansen')).toMatchObject(given);
    await admin.accounts.set({ id: 'jansen', contact: 'ann@jansen.example' });
    await admin.accounts.set({ id: 'jansen', note: null });
    const now = { name: 'Bakkerij Jansen', contact: 'ann@jansen.example', note: null };
    expect(await admin.accounts.show('jansen')).toMatchObject(now);
    const { accounts } = await admin.accounts.list({ prefix: 'jansen' });
    expect(accounts).toMatchObject([{ id: 'jansen', ...now }]);
  });

  it('are null for an account without any, which has no item for them and can get them', async () => {
    const { admin, item } = bench;
    await admin.accounts.create({ id: 'plain', plan: 'basic' });
    expect(await admin.accounts.show('plain')).toMatchObject(none);
    expect(await item('plain', 'details')).toBeUndefined();
    await admin.accounts.set({ id: 'plain', name: 'Known now' });
    expect(await admin.accounts.show('plain')).toMatchObject({ ...none, name: 'Known now' });
  });

  it('leave the item that a request writes as it is', async () => {
    const { admin, item } = bench;
    await admin.accounts.create({ id: 'lean', plan: 'basic' });
    const before = await item('lean');
    await admin.accounts.set({
      id: 'lean',
      name: 'N'.repeat(100),
      contact: 'C'.repeat(200),
      note: 'x'.repeat(200),
    });
    expect(await item('lean')).toEqual(before);
  });

  it('are in the audit as they were before and after', async () => {
    const { admin } = bench;
    await admin.accounts.create({ id: 'told', plan: 'basic', name: 'One' });
    bench.clock.now += 1_000;
    await admin.accounts.set({ id: 'told', name: 'Two', contact: 'a@b.example' });
    const [set, create] = (await admin.accounts.audit('told')).entries;
    expect([set?.action, set?.outcome, set?.detail]).toEqual([
      'account set',
      'done',
      {
        limits: {},
        name: { before: 'One', after: 'Two' },
        contact: { before: null, after: 'a@b.example' },
      },
    ]);
    expect(create?.detail).toMatchObject({ name: { before: null, after: 'One' } });
  });

  it('are not overwritten when they have changed since they were seen', async () => {
    const { admin } = bench;
    await admin.accounts.create({ id: 'seen', plan: 'basic', name: 'One' });
    const seen = { details: { ...none, name: 'One' } };
    await admin.accounts.set({ id: 'seen', name: 'Two', seen });
    const refusal = admin.accounts.set({ id: 'seen', name: 'Three', seen });
    await expect(refusal).rejects.toMatchObject({ code: 'conflict' });
    expect(await admin.accounts.show('seen')).toMatchObject({ name: 'Two' });
    expect((await admin.accounts.audit('seen')).entries).toHaveLength(2);
  });

  it('are set once by two who saw the same at the same moment', async () => {
    const { admin } = bench;
    await admin.accounts.create({ id: 'duel', plan: 'basic' });
    const seen = { details: none };
    const outcomes = await Promise.allSettled(
      ['One', 'Two'].map((name) => admin.accounts.set({ id: 'duel', name, seen })),
    );
    expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
  });

  it('are not overwritten when they change between the read and the write', async () => {
    await bench.admin.accounts.create({ id: 'late', plan: 'basic' });
    let isFirst = true;
    const admin = adminWith(bench, async (command, send) => {
      if (isFirst && command instanceof TransactWriteCommand) {
        isFirst = false;
        await bench.admin.accounts.set({ id: 'late', name: 'One' });
      }
      return send();
    });
    await expect(admin.accounts.set({ id: 'late', name: 'Two' })).rejects.toMatchObject({
      name: 'AdminError',
      code: 'conflict',
    });
    expect((await bench.admin.accounts.show('late')).name).toBe('One');
  });

  it.each([
    ['an empty name', { name: '' }, /name of an account is 1 to 100/],
    ['a name on two lines', { name: 'a\nb' }, /without control characters/],
    [
      'a contact of 201 characters',
      { contact: 'c'.repeat(201) },
      /contact of an account is 1 to 200/,
    ],
  ])('refuse %s, and leave no trace in the audit', async (_, given, message) => {
    const { admin } = bench;
    const set = admin.accounts.set({ id: 'lean', ...given });
    await expect(set).rejects.toMatchObject({
      code: 'invalid',
      message: expect.stringMatching(message),
    });
    const create = admin.accounts.create({ id: 'never', plan: 'basic', ...given });
    await expect(create).rejects.toMatchObject({ code: 'invalid' });
    await expect(admin.accounts.audit('never')).rejects.toMatchObject({ code: 'not_found' });
  });

  it('refuse an API key', async () => {
    const { admin } = bench;
    const { key } = await admin.keys.create({ account: 'lean', label: 'k' });
    await expect(admin.accounts.set({ id: 'lean', note: key })).rejects.toMatchObject({
      code: 'invalid',
    });
  });

  it('go with the account', async () => {
    const { admin, item } = bench;
    await admin.accounts.create({ id: 'gone', plan: 'basic', contact: 'jo@gone.example' });
    await admin.accounts.suspend('gone');
    await admin.accounts.delete('gone');
    expect(await item('gone', 'details')).toBeUndefined();
    expect((await admin.accounts.list({ search: 'gone.example' })).accounts).toEqual([]);
    await expect(admin.accounts.set({ id: 'gone', name: 'Again' })).rejects.toMatchObject({
      code: 'not_found',
    });
  });
});
