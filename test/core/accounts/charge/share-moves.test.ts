import { beforeAll, describe, expect, it } from '@jest/globals';
import type { Access } from '../../../../core/accounts/account.ts';
import { createAccessStore } from '../../../../core/accounts/charge/access-store.ts';
import type { AccessStore } from '../../../../core/accounts/charge/charge.ts';
import type { ShareMove } from '../../../../core/accounts/charge/shards.ts';
import { startAddressService, testTables } from '../../../support/address-service.ts';
import { patchShard, shardedAccount, shardsOf } from '../../../support/shards.ts';
import { startForTests } from '../../../support/start-for-tests.ts';

const service = startForTests(startAddressService);
let store: AccessStore;

beforeAll(async () => {
  store = createAccessStore(service.client, testTables.accounts);
});

const hour = Date.UTC(2090, 0, 1) / 1000;
const signal = () => AbortSignal.timeout(10_000);

/** Two shards of 10 and 10 an hour; the second has used 4 of its share in the hour that is current. */
async function twoShards() {
  const { id } = await shardedAccount(service, { hour: 20, day: null }, 2);
  await patchShard(service, id, 0, { hour: { start: hour, used: 10 } });
  await patchShard(service, id, 1, { hour: { start: hour, used: 4 } });
  const [target, donor] = (await store.readShards(id, signal())) as [Access, Access];
  const move = (take: number, at = hour + 1): ShareMove => ({
    target,
    at,
    donors: [{ shard: donor, takes: { hour: take } }],
  });
  const hours = async () =>
    (await shardsOf(service, id)).map(({ quota: { hour }, moves }) => [hour?.start, hour?.used, hour?.limit, moves]);
  return { id, move, hours, go: (moved: ShareMove) => store.move(moved, signal()) };
}

describe('a move of shares', () => {
  it('takes from the source what it gives to the target, and counts the move on both', async () => {
    const { move, hours, go } = await twoShards();
    expect(await go(move(6))).toBe(true);
    expect(await hours()).toEqual([
      [hour, 10, 16, 1],
      [hour, 4, 4, 1],
    ]);
  });

  it('is made by one of the callers that want it at the same time, and by no later one', async () => {
    const { move, hours, go } = await twoShards();
    expect((await Promise.all([go(move(6)), go(move(6)), go(move(6))])).toSorted()).toEqual([false, false, true]);
    expect((await hours()).map(([, , limit, moves]) => [limit, moves])).toEqual([
      [16, 1],
      [4, 1],
    ]);
    expect(await go(move(6))).toBe(false);
  });

  it('succeeds while its shards are charged, as long as the source has the quota', async () => {
    const { id, move, hours, go } = await twoShards();
    await patchShard(service, id, 1, { hour: { used: 7 } });
    expect(await go(move(3))).toBe(true);
    expect((await hours()).map(([, , limit]) => limit)).toEqual([13, 7]);
  });

  it('first rolls a target that is behind into the current window, so that no share is used twice', async () => {
    const { move, hours, go } = await twoShards();
    expect(await go(move(5, hour + 3600))).toBe(true);
    expect(await hours()).toEqual([
      [hour + 3600, 0, 15, 1],
      [hour, 4, 5, 1],
    ]);
  });

  it.each<[string, number, Parameters<typeof patchShard>[3]]>([
    ['the donor has used what it should give', 1, { hour: { used: 5 } }],
    ['the donor has begun another window', 1, { hour: { start: hour + 3600, used: 0 } }],
    ['the donor has given already', 1, { hour: { limit: 9 } }],
    ['the target has received already', 0, { hour: { limit: 11 } }],
    ['the target has begun another window', 0, { hour: { start: hour + 3600, used: 0 } }],
  ])('does nothing if, in the meantime, %s', async (_, shard, meanwhile) => {
    const { id, move, hours, go } = await twoShards();
    await patchShard(service, id, shard, meanwhile);
    const before = await hours();
    expect(await go(move(6))).toBe(false);
    expect(await hours()).toEqual(before);
  });

  it('does nothing when the source shard no longer exists', async () => {
    const { id, move, go } = await twoShards();
    await service.admin.accounts.set({ id, shards: 1 });
    const before = await shardsOf(service, id);
    expect(await go(move(6))).toBe(false);
    expect(await shardsOf(service, id)).toEqual(before);
  });
});

describe('a mark that a window is exhausted', () => {
  it('stays on its shard until the limits of the account change, and is not written if they changed in the meantime', async () => {
    const { id } = await twoShards();
    const [first, second] = (await store.readShards(id, signal())) as [Access, Access];
    await store.markExhausted(second, { hour }, signal());
    const marks = async () => (await store.readShards(id, signal())).map(({ quota }) => quota.hour?.exhaustedAt);
    expect(await marks()).toEqual([undefined, hour]);
    await service.admin.accounts.set({ id, limits: { hour: 21 } });
    expect(await marks()).toEqual([undefined, undefined]);
    await store.markExhausted(first, { hour }, signal());
    expect(await marks()).toEqual([undefined, undefined]); // it was found before that change
  });
});
