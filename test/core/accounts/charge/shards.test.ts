import { TransactWriteCommand } from '@aws-sdk/lib-dynamodb';
import { beforeAll, describe, expect, it } from '@jest/globals';
import type { Access } from '../../../../core/accounts/account.ts';
import { accessItem } from '../../../../core/accounts/account-item.ts';
import { createAccessStore } from '../../../../core/accounts/charge/access-store.ts';
import type { Limits } from '../../../../core/accounts/quota.ts';
import { type AdminBench, adminWith, startAdmin } from '../../../packages/admin/accounts/admin-bench.ts';
import { Died, dyingAdmin } from '../../../packages/admin/accounts/deaths.ts';
import { allAccounts } from '../../../support/list-all.ts';
import { expectWholeShards, shardsOf } from '../../../support/shards.ts';
import { startForTests } from '../../../support/start-for-tests.ts';
import { isFullSweep, sweep } from '../../../support/sweep.ts';

const bench = startForTests(startAdmin);
beforeAll(async () => {
  await bench.admin.plans.put({ code: 'basic', limits });
  await bench.admin.plans.put({ code: 'few', limits: few });
});

const limits = { minute: 50, day: 100, month: null };
const few = { minute: 6, day: 8 };

/** An account with a key that has charged `used` requests. */
async function account(id: string, used = 0, plan = 'basic') {
  await bench.admin.accounts.create({ id, plan });
  const made = await bench.admin.keys.create({ account: id, label: 'k' });
  for (let i = 0; i < used; i++) expect(await bench.request(made.key)).toBe('charged');
  return made;
}

const windowsOf = async (id: string) => {
  const { windows } = await bench.admin.accounts.show(id);
  return Object.values(windows).map(({ limit, used }) => [used, limit]);
};

describe('accounts.set with shards', () => {
  it('splits an account and merges it again, with unchanged limits and usage throughout', async () => {
    const { admin } = bench;
    await account('spread', 9);
    for (const shards of [4, 20, 3, 1]) {
      expect(await admin.accounts.set({ id: 'spread', shards })).toMatchObject({ id: 'spread', shards });
      await expectWholeShards(bench, 'spread', shards, limits);
      expect(await windowsOf('spread')).toEqual([
        [9, 50],
        [9, 100],
        [9, null],
      ]);
    }
    const listed = (await allAccounts(admin)).find(({ id }) => id === 'spread');
    const { keys, ...shown } = await admin.accounts.show('spread');
    expect(listed).toEqual({ ...shown, activeKeys: keys.length });
  });

  it('leaves an account that was split and merged identical to one that never was', async () => {
    await account('never', 3);
    const before = await bench.item('never');
    await bench.admin.accounts.set({ id: 'never', shards: 5 });
    await bench.admin.accounts.set({ id: 'never', shards: 1 });
    const after = await bench.item('never');
    expect({ ...after, [accessItem.version]: 0 }).toEqual({ ...before, [accessItem.version]: 0 });
  });

  it('changes plan, limits and shards in one call', async () => {
    const { admin } = bench;
    await account('all', 1);
    await admin.plans.put({ code: 'other', limits: { day: 10, month: 40 } });
    const set = await admin.accounts.set({ id: 'all', plan: 'other', limits: { month: 30 }, shards: 3 });
    expect(set).toMatchObject({ plan: 'other', ownLimits: { month: 30 }, shards: 3 });
    await expectWholeShards(bench, 'all', 3, { day: 10, month: 30 });
    expect(await admin.accounts.set({ id: 'all', plan: 'basic', limits: { month: 'plan' } })).toMatchObject({
      shards: 3,
    });
    await expectWholeShards(bench, 'all', 3, limits);
  });

  it('lets a later plan change apply once to the account', async () => {
    const { admin } = bench;
    await admin.plans.put({ code: 'fanned', limits: { day: 10 } });
    await admin.accounts.create({ id: 'fanned', plan: 'fanned' });
    await admin.accounts.set({ id: 'fanned', shards: 4 });
    expect(await admin.plans.put({ code: 'fanned', limits: { hour: 7, day: 23 } })).toMatchObject({ followed: 1 });
    await expectWholeShards(bench, 'fanned', 4, { hour: 7, day: 23 });
    expect(await admin.plans.put({ code: 'fanned', limits: { hour: 7 } })).toMatchObject({ followed: 1 });
    const shards = await expectWholeShards(bench, 'fanned', 4, { hour: 7 });
    for (const { quota } of shards) expect(Object.keys(quota)).toEqual(['hour']);
    expect(await admin.plans.put({ code: 'fanned', limits: { hour: 8 } })).toMatchObject({ followed: 1 });
    await expectWholeShards(bench, 'fanned', 4, { hour: 8 });
  });

  it('refuses invalid changes before it writes to a shard', async () => {
    const { admin } = bench;
    await account('refuse');
    await admin.accounts.set({ id: 'refuse', shards: 4 });
    const before = await shardsOf(bench, 'refuse');
    await expect(admin.accounts.set({ id: 'refuse', shards: 2, limits: { hour: 1 } })).rejects.toMatchObject({
      code: 'invalid',
    });
    await expect(admin.accounts.set({ id: 'refuse', shards: 2, plan: 'nope' })).rejects.toMatchObject({
      code: 'not_found',
    });
    expect(await shardsOf(bench, 'refuse')).toEqual(before);
  });

  it('changes the limits of an account that it merges into one shard', async () => {
    const { admin } = bench;
    await account('shrinks', 2);
    await admin.accounts.set({ id: 'shrinks', shards: 3 });
    expect(await admin.accounts.set({ id: 'shrinks', plan: 'few', limits: { day: 7 }, shards: 1 })).toMatchObject({
      plan: 'few',
      ownLimits: { day: 7 },
      shards: 1,
    });
    await expectWholeShards(bench, 'shrinks', 1, { minute: 6, day: 7 });
    expect(await windowsOf('shrinks')).toEqual([
      [2, 6],
      [2, 7],
    ]);
  });

  it('never gives an account a version that it had before, also after a suspension', async () => {
    const versions: number[] = [];
    await account('versions');
    const admin = adminWith(bench, async (_, send) => {
      const answer = await send();
      const version = Number((await bench.item('versions'))?.[accessItem.version]);
      if (version !== versions.at(-1)) versions.push(version);
      return answer;
    });
    for (const shards of [3, 2, 1]) {
      await admin.accounts.set({ id: 'versions', shards });
      await admin.accounts.suspend('versions');
      await admin.accounts.activate('versions');
    }
    expect(versions.length).toBeGreaterThan(5);
    expect(versions).toEqual([...new Set(versions)].toSorted((a, b) => a - b));
  });
});

describe('a concurrent revocation', () => {
  it('between reading the keys and creating shards leaves the key on no shard', async () => {
    const { key, keyId } = await account('between');
    let waiting = true;
    const slow = adminWith(bench, async (command, send) => {
      if (waiting && command instanceof TransactWriteCommand) {
        waiting = false;
        await bench.admin.keys.revoke({ account: 'between', keyId });
      }
      return send();
    });
    await slow.accounts.set({ id: 'between', shards: 4 });
    expect(waiting).toBe(false);
    for (const { keys } of await expectWholeShards(bench, 'between', 4, limits)) expect(keys).toEqual({});
    expect(await bench.request(key)).toBe('unauthorized');
  });
});

/** The shares of the shards, added up. */
const sumOf = (shards: Access[]): Limits =>
  Object.fromEntries(
    (['minute', 'day'] as const).map((name) => [
      name,
      shards.reduce((sum, { quota }) => sum + Number(quota[name]?.limit), 0),
    ]),
  );

describe('a share that a request moves while shards are merged', () => {
  it('is neither lost nor doubled, even before shares are redistributed', async () => {
    const { admin, client, table } = bench;
    await admin.accounts.create({ id: 'moving', plan: 'few' });
    await admin.accounts.set({ id: 'moving', shards: 3 });
    const store = createAccessStore(client, table);
    const now = bench.clock.now / 1000;
    let moved = false;
    const merged: Limits[] = [];
    const slow = adminWith(bench, async (command, send) => {
      const merges =
        command instanceof TransactWriteCommand && command.input.TransactItems?.some(({ Delete }) => Delete);
      if (merges && !moved) {
        const [target, , closing] = await store.readShards('moving', AbortSignal.timeout(5000));
        if (!target || closing?.state !== 'closing') throw new Error('the third shard must be closing by now');
        const donors = [{ shard: closing, takes: { minute: 1, day: 2 } }];
        moved = await store.move({ target, at: now, donors }, AbortSignal.timeout(5000));
      }
      const answer = await send();
      if (merges) merged.push(sumOf(await store.readShards('moving', AbortSignal.timeout(5000))));
      return answer;
    });
    await slow.accounts.set({ id: 'moving', shards: 2 });
    expect(moved).toBe(true);
    expect(merged).toEqual([few]);
    await expectWholeShards(bench, 'moving', 2, few);
  });
});

/** Of the calls after which a process may die, every how many-th is tried. */
const every = isFullSweep ? 1 : 4;

describe('an administrative process that dies while it changes the number of shards', () => {
  it.each(
    sweep(
      [
        [5, 2],
        [1, 4],
        [4, 1],
      ] as const,
      1,
    ),
  )(
    'from %i to %i leaves an account that is charged exactly, and whose keys and shards can be changed again',
    async (from, to) => {
      const id = `die-${from}-${to}`;
      await bench.admin.plans.put({ code: id, limits: few });
      const { key, keyId } = await account(id, 0, id);
      await bench.admin.accounts.set({ id, shards: from });
      const restore = await bench.saved(id);
      for (let calls = 1; ; calls += every) {
        await restore();
        for (let i = 0; i < 3; i++) await bench.request(key);
        const outcome = await dyingAdmin(bench, calls)
          .accounts.set({ id, shards: to })
          .catch((error: unknown) => error);
        if (!(outcome instanceof Died)) {
          if (outcome instanceof Error) throw outcome;
          expect(calls).toBeGreaterThan(4);
          return;
        }
        expect((await windowsOf(id))[0]).toEqual([3, 6]);
        const outcomes = await Promise.all(Array.from({ length: 5 }, () => bench.request(key)));
        expect(outcomes.filter((outcome) => outcome === 'charged')).toHaveLength(3);
        if (calls % 2 === 0) await bench.admin.plans.put({ code: id, limits: few });
        await bench.admin.accounts.suspend(id);
        expect(await bench.request(key)).toBe('account-inactive');
        await bench.admin.accounts.activate(id);
        expect(await bench.request(key)).toBe('quota-exceeded');
        await bench.admin.keys.revoke({ account: id, keyId });
        expect(await bench.request(key)).toBe('unauthorized');
        await bench.admin.accounts.set({ id, shards: to });
        await expectWholeShards(bench, id, to, few);
        expect((await windowsOf(id))[0]).toEqual([6, 6]);
      }
    },
    60_000,
  );

  const changes = [
    ['revoke', 3],
    ['suspend', 3],
    ['create', 1],
    ['create', 3],
    ['revoke', 1],
  ] as const;
  it.each(sweep(changes, 1))(
    'by %s on %i shards leaves an account whose responses agree with account show, and can be repeated',
    async (change, shards) => {
      const id = `dies-${change}-${shards}`;
      const { key, keyId } = await account(id);
      await bench.admin.accounts.set({ id, shards });
      const restore = await bench.saved(id);
      const changes = {
        revoke: (admin: AdminBench['admin']) => admin.keys.revoke({ account: id, keyId }),
        suspend: (admin: AdminBench['admin']) => admin.accounts.suspend(id),
        create: (admin: AdminBench['admin']) => admin.keys.create({ account: id, label: 'new' }),
      };
      for (let calls = 1; ; calls += every) {
        await restore();
        const outcome = await changes[change](dyingAdmin(bench, calls)).catch((error: unknown) => error);
        const { state, keys } = await bench.admin.accounts.show(id);
        const shownActive = keys.filter((shown) => shown.state === 'active');
        expect(shownActive.filter(({ label }) => label === null)).toEqual([]); // so each can be revoked by its label
        const active = shownActive.map((shown) => shown.keyId);
        const expected = !active.includes(keyId)
          ? 'unauthorized'
          : state === 'suspended'
            ? 'account-inactive'
            : 'charged';
        const answers = await Promise.all(Array.from({ length: 12 }, () => bench.request(key)));
        expect(new Set(answers)).toEqual(new Set([expected]));
        for (const { keys: onShard } of await shardsOf(bench, id)) {
          if (change === 'create') expect(Object.keys(onShard as object).toSorted()).toEqual(active.toSorted());
        }
        if (!(outcome instanceof Died)) {
          if (outcome instanceof Error) throw outcome;
          return;
        }
        await changes[change](bench.admin);
        expect(await bench.request(key)).toBe(
          { revoke: 'unauthorized', suspend: 'account-inactive', create: 'charged' }[change],
        );
      }
    },
  );
});
