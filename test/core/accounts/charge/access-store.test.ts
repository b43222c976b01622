import type { UpdateItemCommandInput } from '@aws-sdk/client-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import { describe, expect, it } from '@jest/globals';
import { type KeyClaim, readApiKey } from '../../../../core/accounts/api-key.ts';
import { createAccessStore, createShardHints, isLost } from '../../../../core/accounts/charge/access-store.ts';
import { attemptId } from '../../../../core/accounts/charge/charge.ts';
import { accessOf } from '../../../support/access.ts';
import { newAccount, startAddressService, testChecksumSecret, testTables } from '../../../support/address-service.ts';
import { patchShard, shardedAccount, shardsOf } from '../../../support/shards.ts';
import { startForTests } from '../../../support/start-for-tests.ts';

const service = startForTests(startAddressService);

const noon = Date.UTC(2090, 0, 1, 12) / 1000;
const signal = () => AbortSignal.timeout(5000);

/** A store whose commands are kept in `inputs`. */
function observedStore() {
  const inputs: object[] = [];
  const send = (command: { input: object }, ...rest: []) => {
    inputs.push(command.input);
    return service.client.send(command as never, ...rest);
  };
  return { inputs, store: createAccessStore({ send } as unknown as typeof service.client, testTables.accounts) };
}

const claimOf = (key: string) => readApiKey(key, testChecksumSecret) as KeyClaim;

describe('the access store', () => {
  it('reads an account strongly consistently, so that a revoked key is refused at once', async () => {
    const { id, key } = await newAccount(service, { day: 5 });
    const { store, inputs } = observedStore();
    expect(await store.read(claimOf(key), signal())).toMatchObject({ account: id, state: 'active' });
    expect(inputs).toEqual([expect.objectContaining({ ConsistentRead: true })]);
  });

  it('reads the shards of an account strongly consistently, so that two reads can prove that none has quota left', async () => {
    const { id } = await shardedAccount(service, { day: 6 }, 3);
    const { store, inputs } = observedStore();
    expect((await store.readShards(id, signal())).map(({ shard }) => shard)).toEqual([0, 1, 2]);
    expect(inputs).toEqual([expect.objectContaining({ ConsistentRead: true })]);
  });

  it.each([
    ['charge', { day: 300 }, true],
    ['refusal', { day: 0 }, false],
  ])('tries any shard of an account after a %s that shows that it has several', async (_, limits, charged) => {
    const { key } = await shardedAccount(service, limits, 3);
    const { store, inputs } = observedStore();
    const attempt = () => ({ claim: claimOf(key), units: 1, id: attemptId(), now: Date.now() / 1000 });
    expect(await store.charge(attempt(), signal()).answer).toMatchObject({ charged, access: { shard: 0, shards: 3 } });
    for (let i = 0; i < 40; i++) expect(await store.charge(attempt(), signal()).answer).toMatchObject({ charged });
    const keys = inputs.map((input) => unmarshall((input as UpdateItemCommandInput).Key ?? {}).item);
    expect([...new Set(keys)].toSorted()).toEqual(['access#0', 'access#1', 'access#2']);
  });

  it('does not roll a window into one whose limit has become 0 since it was read', async () => {
    const { id, key } = await newAccount(service, { day: 5 });
    await patchShard(service, id, 0, { day: { start: noon - 86_400 * 2, used: 5 } });
    const { store } = observedStore();
    const claim = claimOf(key);
    const seen = await store.read(claim, signal());
    if (!seen) throw new Error('the account must be there');
    await patchShard(service, id, 0, { day: { limit: 0 } });
    const before = await shardsOf(service, id);
    expect(
      await store.charge({ claim, units: 1, id: attemptId(), now: noon, roll: { seen, windows: ['day'] } }, signal())
        .answer,
    ).toMatchObject({
      charged: false,
    });
    expect(await shardsOf(service, id)).toEqual(before);
    await patchShard(service, id, 0, { day: { limit: 1 } });
    expect(
      await store.charge({ claim, units: 1, id: attemptId(), now: noon, roll: { seen, windows: ['day'] } }, signal())
        .answer,
    ).toMatchObject({
      charged: true,
    });
  });
});

describe('a hint', () => {
  const seen = (account: string, shards: number) => accessOf({ account, shards });
  const picks = (hints: ReturnType<typeof createShardHints>, account: string) =>
    [...new Set(Array.from({ length: 200 }, () => hints.pick(account)))].toSorted();

  it('is shard 0 for an unknown account, and otherwise any shard that the account last had', () => {
    const hints = createShardHints();
    expect(picks(hints, 'a')).toEqual([0]);
    hints.learn(seen('a', 3), 1);
    expect(picks(hints, 'a')).toEqual([0, 1, 2]);
    expect(picks(hints, 'b')).toEqual([0]);
    hints.learn(seen('a', 2), 1);
    expect(picks(hints, 'a')).toEqual([0, 1]);
    hints.learn(seen('a', 1), 1);
    expect(picks(hints, 'a')).toEqual([0]);
  });

  it('knows the limits of the shards that were charged several units, as any later charge has seen them', () => {
    const hints = createShardHints();
    const of = (limit: number) => accessOf({ account: 'a', quota: { day: { start: 0, used: 0, limit } } });
    hints.learn(of(5), 1);
    expect(hints.limits('a', 0)).toBeUndefined();
    hints.learn(of(6), 2);
    expect(hints.limits('a', 0)).toEqual({ day: 6 });
    hints.learn(of(7), 1);
    expect(hints.limits('a', 0)).toEqual({ day: 7 });
  });

  it('is dropped, oldest first, when there are too many', () => {
    const hints = createShardHints();
    for (let i = 0; i <= 10_000; i++) hints.learn(seen(`account-${i}`, 4), 1);
    expect(picks(hints, 'account-0')).toEqual([0]);
    expect(picks(hints, 'account-1')).toEqual([0, 1, 2, 3]);
    expect(picks(hints, 'account-10000')).toEqual([0, 1, 2, 3]);
  });
});

describe('an answer that has not come in 200 ms', () => {
  const sent = 10_000;
  /** Requests that began so many milliseconds after ours, and when answers came, as times after ours. */
  function traffic(others: number[], answered = -1, latestAnswered = -1): Parameters<typeof isLost>[0] {
    const begun = new Map([0, ...others].map((after) => [new Uint8Array(3), sent + after]));
    return { underWay: begun.size, begun, answered: sent + answered, latestAnswered: sent + latestAnswered };
  }
  const at45ASecond = Array.from({ length: 9 }, (_, i) => (i + 1) * 22);
  const burst = Array.from({ length: 49 }, (_, i) => i);

  it.each([
    ['is lost where nothing else goes on', true, traffic([])],
    ['is lost where none has come at 45 requests a second', true, traffic(at45ASecond)],
    ['is lost where one has come to a write that was sent later', true, traffic(burst, 190, 120)],
    ['is late in a burst whose answers come', false, traffic(burst, 190, 40)],
    ['is late in a burst of which no answer has come', false, traffic(burst)],
  ])('%s', (_, lost, going) => {
    expect(isLost(going, sent)).toBe(lost);
  });
});
