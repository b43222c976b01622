import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { expect } from '@jest/globals';
import type { Access } from '../../core/accounts/account.ts';
import { accessKey, readShards, windowItem } from '../../core/accounts/account-item.ts';
import type { Limits, WindowCount } from '../../core/accounts/quota.ts';
import { type WindowName, windowNames } from '../../core/calendar.ts';
import { documents } from '../../core/dynamodb.ts';
import { type AddressService, newAccount, testTables } from './address-service.ts';

/** An account with so many quota shards, and its key. */
export async function shardedAccount(service: AddressService, limits: Limits, shards: number) {
  const account = await newAccount(service, limits);
  await service.admin.accounts.set({ id: account.id, shards });
  return account;
}

/** The shards of an account, shard 0 first. */
export function shardsOf({ client }: Pick<AddressService, 'client'>, id: string): Promise<Access[]> {
  return readShards(documents(client).query, testTables.accounts, id);
}

/** Sets windows of a shard as if the shares had moved and been used like that. */
export async function patchShard(
  { client }: Pick<AddressService, 'client'>,
  id: string,
  shard: number,
  windows: Partial<Record<WindowName, Partial<WindowCount>>>,
) {
  const values = Object.entries(windows).flatMap(([window, { start, used, limit }]) => {
    const names = windowItem[window as WindowName];
    return Object.entries({ [names.start]: start, [names.used]: used, [names.limit]: limit });
  });
  const set = values.filter(([, value]) => value !== undefined);
  await client.send(
    new UpdateCommand({
      TableName: testTables.accounts,
      Key: accessKey(id, shard),
      UpdateExpression: `SET ${set.map(([name]) => `#${name} = :${name}`).join(', ')}`,
      ExpressionAttributeNames: Object.fromEntries(set.map(([name]) => [`#${name}`, name])),
      ExpressionAttributeValues: Object.fromEntries(set.map(([name, value]) => [`:${name}`, value])),
    }),
  );
}

/** Expects `count` shards that agree on the account and whose shares add up to its limits; returns them. */
export async function expectWholeShards(
  service: Pick<AddressService, 'client'>,
  id: string,
  count: number,
  limits: Limits,
) {
  const shards = await shardsOf(service, id);
  expect(shards.map(({ shard }) => shard)).toEqual(Array.from({ length: count }, (_, i) => i));
  for (const shard of shards) {
    expect([shard.shards, shard.sharded]).toEqual([count, count > 1]);
    expect([shard.state, shard.keys]).toEqual([shards[0]?.state, shards[0]?.keys]);
  }
  for (const window of windowNames) {
    const limit = limits[window];
    const counts = shards.map(({ quota }) => quota[window]);
    if (typeof limit === 'number') expect(counts.reduce((sum, share) => sum + Number(share?.limit), 0)).toBe(limit);
    else expect(counts.every((share) => (share?.limit ?? null) === null)).toBe(true);
    const total = count === 1 ? undefined : (limit ?? undefined);
    for (const share of counts) expect(share?.total).toBe(total);
  }
  return shards;
}
