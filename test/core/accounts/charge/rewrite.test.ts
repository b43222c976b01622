import { GetCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { accessItem, firstLayout } from '../../../../core/accounts/access-layout.ts';
import { readAccess } from '../../../../core/accounts/account-item.ts';
import { rewriteCommand } from '../../../../core/accounts/charge/rewrite.ts';
import { daySeconds } from '../../../../core/calendar.ts';
import { toFirstLayout, withLongNames } from '../../../support/first-layout.ts';
import { type AdminBench, startAdmin } from '../admin/admin-bench.ts';

let bench: AdminBench;
const start = Date.UTC(2026, 7, 1, 12, 30, 15);
beforeAll(async () => {
  bench = await startAdmin();
  await bench.admin.plans.put({ code: 'p', limits: { minute: 4, day: 7, month: null } });
});
afterAll(() => bench.stop());
beforeEach(() => {
  bench.clock.now = start;
});

async function oldAccount(id: string, shards = 1): Promise<string> {
  const { admin, table } = bench;
  await admin.accounts.create({ id, plan: 'p', limits: { day: 9 } });
  if (shards > 1) await admin.accounts.set({ id, shards });
  const { key } = await admin.keys.create({ account: id, label: 'k' });
  for (let shard = 0; shard < shards; shard++) await toFirstLayout(bench, table, id, shard);
  return key;
}

const layoutsOf = async (id: string, shards = 1) =>
  Promise.all(
    Array.from({ length: shards }, async (_, shard) =>
      firstLayout.version in ((await bench.storedItem(id, `access#${shard}`)) ?? {}) ? 'first' : 'current',
    ),
  );

const nextDay = () => {
  bench.clock.now += daySeconds * 1000;
};

async function outcomes(key: string, requests: number): Promise<string[]> {
  return Promise.all(Array.from({ length: requests }, () => bench.request(key)));
}

const served = (all: string[]) => all.filter((outcome) => outcome === 'charged').length;

describe('an account of the first layout', () => {
  it('is charged exactly in that layout on the first day of a new version, so an older one can charge it as well', async () => {
    const key = await oldAccount('first-day');
    expect(served(await outcomes(key, 6))).toBe(4);
    nextDay();
    expect(served(await outcomes(key, 6))).toBe(4);
    expect(await layoutsOf('first-day')).toEqual(['first']);
  });

  it('gets the current layout when a second day in a row begins with the new version, with all that it has counted', async () => {
    const { admin } = bench;
    const key = await oldAccount('rewritten');
    await outcomes(key, 3);
    nextDay();
    await outcomes(key, 2);
    nextDay();
    expect(served(await outcomes(key, 6))).toBe(4);
    expect(await layoutsOf('rewritten')).toEqual(['current']);
    const { days } = await admin.accounts.usage('rewritten', { from: '2026-08-01', to: '2026-08-03' });
    expect(days.map(({ lookups }) => lookups)).toEqual([3, 2, 4]);
    expect(await admin.accounts.show('rewritten')).toMatchObject({
      ownLimits: { day: 9 },
      windows: { minute: { limit: 4, used: 4 }, day: { limit: 9, used: 4 }, month: { limit: null, used: 9 } },
    });
  });

  it('keeps it when an older version has begun a day in between', async () => {
    const key = await oldAccount('rolled-back');
    nextDay();
    await outcomes(key, 1);
    const Key = { account: 'rolled-back', item: 'access#0' };
    const older = { ':date': '2026-08-02' };
    nextDay();
    // As a version does that doesn't know the mark of the newer one.
    await bench.client.send(
      new UpdateCommand({
        TableName: bench.table,
        Key,
        UpdateExpression: 'SET #date = :next',
        ConditionExpression: '#date = :date',
        ExpressionAttributeNames: { '#date': 'date' },
        ExpressionAttributeValues: { ...older, ':next': '2026-08-03' },
      }),
    );
    nextDay();
    await outcomes(key, 1);
    expect(await layoutsOf('rolled-back')).toEqual(['first']);
  });

  it('is rewritten shard by shard, and its limits hold while shards have different layouts', async () => {
    const key = await oldAccount('mixed', 4);
    await outcomes(key, 8);
    nextDay();
    expect(served(await outcomes(key, 12))).toBe(4);
    await toFirstLayout(bench, bench.table, 'mixed', 2);
    nextDay();
    expect(served(await outcomes(key, 12))).toBe(4);
    bench.clock.now += 60_000;
    expect(served(await outcomes(key, 12))).toBe(4);
    expect((await layoutsOf('mixed', 4))[2]).toBe('first');
    expect((await bench.admin.accounts.show('mixed')).windows.day).toMatchObject({ limit: 9, used: 8 });
    for (const shards of [2, 1]) await bench.admin.accounts.set({ id: 'mixed', shards });
    expect((await bench.admin.accounts.show('mixed')).windows.day).toMatchObject({ limit: 9, used: 8 });
  });

  it('can be changed, suspended and deleted by an administrator', async () => {
    const { admin } = bench;
    const key = await oldAccount('administered');
    await admin.accounts.set({ id: 'administered', limits: { minute: 2 }, shards: 2 });
    expect(await layoutsOf('administered', 2)).toEqual(['first', 'current']);
    expect(served(await outcomes(key, 6))).toBe(2);
    await admin.accounts.suspend('administered');
    expect(await bench.request(key)).toBe('account-inactive');
    await admin.accounts.delete('administered');
    expect(await bench.request(key)).toBe('unauthorized');
  });

  it('loses no charge that comes between reading and rewriting it', async () => {
    const key = await oldAccount('between');
    await outcomes(key, 2);
    const command = rewriteCommand(bench.table, (await bench.storedItem('between')) ?? {});
    if (!command) throw new Error('the item has the first layout');
    await outcomes(key, 1);
    await bench.client.send(new UpdateCommand(command));
    const item = (await bench.storedItem('between')) ?? {};
    expect(readAccess(item)).toMatchObject({ layout: accessItem, usage: { total: 3 }, quota: { minute: { used: 3 } } });
    expect(Object.keys(item).filter((name) => !['account', 'item', 'date'].includes(name) && name.length > 2)).toEqual(
      expect.arrayContaining(['keys', 'plan', 'plan_state', 'state']),
    );
    expect(Object.keys(withLongNames(item)).toSorted()).toEqual(
      expect.arrayContaining(['created', 'days', 'mark', 'minute_used', 'own', 'plan_version', 'total', 'version']),
    );
    expect(served(await outcomes(key, 3))).toBe(1);
  });

  it('stays as it is when an administrator changes it between reading and rewriting it', async () => {
    await oldAccount('changed');
    const command = rewriteCommand(bench.table, (await bench.storedItem('changed')) ?? {});
    await bench.admin.accounts.set({ id: 'changed', limits: { minute: 1 } });
    const before = await bench.storedItem('changed');
    if (!command) throw new Error('the item has the first layout');
    await expect(bench.client.send(new UpdateCommand(command))).rejects.toThrow('conditional');
    expect(await bench.storedItem('changed')).toEqual(before);
  });
});

describe('an item of the current layout', () => {
  it('has the same attributes whether it was made so or rewritten', async () => {
    await oldAccount('old');
    const command = rewriteCommand(bench.table, (await bench.storedItem('old')) ?? {});
    if (command) await bench.client.send(new UpdateCommand(command));
    await bench.admin.accounts.create({ id: 'new', plan: 'p', limits: { day: 9 } });
    const get = new GetCommand({ TableName: bench.table, Key: { account: 'new', item: 'access#0' } });
    const { Item } = await bench.client.send(get);
    expect(Object.keys((await bench.storedItem('old')) ?? {}).toSorted()).toEqual(Object.keys(Item ?? {}).toSorted());
  });

  it('offers a version that knows only the first layout a day that it can neither count in nor end', async () => {
    await bench.admin.accounts.create({ id: 'seen-by-older', plan: 'p' });
    const { key } = await bench.admin.keys.create({ account: 'seen-by-older', label: 'k' });
    await bench.request(key);
    const before = await bench.storedItem('seen-by-older');
    for (const [condition, values] of [
      ['#date >= :date', { ':date': '2026-08-01' }],
      ['attribute_not_exists(#date)', {}],
      ['#date = :seen AND size(#days) < :most', { ':seen': '0', ':most': 2 }],
    ] as const) {
      const names = { '#date': 'date', ...(condition.includes('#days') && { '#days': 'days' }) };
      const update = new UpdateCommand({
        TableName: bench.table,
        Key: { account: 'seen-by-older', item: 'access#0' },
        UpdateExpression: 'ADD minute_used :one',
        ConditionExpression: condition,
        ExpressionAttributeNames: names,
        ExpressionAttributeValues: { ...values, ':one': 1 },
      });
      await expect(bench.client.send(update)).rejects.toThrow('conditional');
    }
    expect(await bench.storedItem('seen-by-older')).toEqual(before);
  });
});
