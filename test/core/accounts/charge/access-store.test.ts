import type { UpdateItemCommandInput } from '@aws-sdk/client-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type KeyClaim, readApiKey } from '../../../../core/accounts/api-key.ts';
import { createAccessStore } from '../../../../core/accounts/charge/access-store.ts';
import { attemptId } from '../../../../core/accounts/charge/charge.ts';
import {
  type AddressService,
  newAccount,
  startAddressService,
  testChecksumSecret,
  testTables,
} from '../../../support/address-service.ts';
import { patchShard, shardedAccount, shardsOf } from '../../../support/shards.ts';

let service: AddressService;

beforeAll(async () => {
  service = await startAddressService();
});
afterAll(() => service.stop());

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
    expect(await store.charge(attempt(), signal())).toMatchObject({ charged, access: { shard: 0, shards: 3 } });
    for (let i = 0; i < 40; i++) expect(await store.charge(attempt(), signal())).toMatchObject({ charged });
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
      await store.charge({ claim, units: 1, id: attemptId(), now: noon, roll: { seen, windows: ['day'] } }, signal()),
    ).toMatchObject({
      charged: false,
    });
    expect(await shardsOf(service, id)).toEqual(before);
    await patchShard(service, id, 0, { day: { limit: 1 } });
    expect(
      await store.charge({ claim, units: 1, id: attemptId(), now: noon, roll: { seen, windows: ['day'] } }, signal()),
    ).toMatchObject({
      charged: true,
    });
  });
});
