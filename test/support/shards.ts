import { QueryCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { expect } from '@jest/globals';
import { type WindowName, windowNames } from '../../core/calendar.ts';
import { type AddressService, newAccount, testTables } from './address-service.ts';
import { withCurrentNames, withLongNames } from './first-layout.ts';

export type Limits = Partial<Record<WindowName, number | null>>;

/** An account with so many quota shards, and its key. */
export async function shardedAccount(service: AddressService, limits: Limits, shards: number) {
  const account = await newAccount(service, limits);
  await service.admin.accounts.set({ id: account.id, shards });
  return account;
}

/** The items of an account's shards, with long names, shard 0 first. */
export async function shardItems(
  { client }: Pick<AddressService, 'client'>,
  id: string,
): Promise<Record<string, unknown>[]> {
  const query = new QueryCommand({
    TableName: testTables.accounts,
    ConsistentRead: true,
    KeyConditionExpression: 'account = :id AND begins_with(#item, :access)',
    ExpressionAttributeNames: { '#item': 'item' },
    ExpressionAttributeValues: { ':id': id, ':access': 'access#' },
  });
  const { Items = [] } = await client.send(query);
  return Items.toSorted((a, b) => Number(a.item.slice(7)) - Number(b.item.slice(7))).map(withLongNames);
}

/** Sets attributes of a shard, by their long names, as if the shares had moved and been used like that. */
export async function patchShard(
  { client }: Pick<AddressService, 'client'>,
  id: string,
  shard: number,
  attributes: Record<string, number>,
) {
  const current = withCurrentNames(attributes);
  const names = Object.keys(current);
  await client.send(
    new UpdateCommand({
      TableName: testTables.accounts,
      Key: { account: id, item: `access#${shard}` },
      UpdateExpression: `SET ${names.map((name) => `#${name} = :${name}`).join(', ')}`,
      ExpressionAttributeNames: Object.fromEntries(names.map((name) => [`#${name}`, name])),
      ExpressionAttributeValues: Object.fromEntries(names.map((name) => [`:${name}`, current[name]])),
    }),
  );
}

/** Expects `count` shards that agree on the account and whose shares add up to its limits; gives the items. */
export async function expectWholeShards(
  service: Pick<AddressService, 'client'>,
  id: string,
  count: number,
  limits: Limits,
) {
  const items = await shardItems(service, id);
  expect(items.map(({ item }) => item)).toEqual(Array.from({ length: count }, (_, i) => `access#${i}`));
  for (const item of items) {
    expect(item.shards).toBe(count === 1 ? undefined : count);
    expect([item.state, item.keys]).toEqual([items[0]?.state, items[0]?.keys]);
  }
  for (const window of windowNames) {
    const shares = items.map((item) => item[`${window}_limit`] as number | undefined);
    const limit = limits[window];
    if (typeof limit === 'number') expect(shares.reduce((sum: number, share) => sum + Number(share), 0)).toBe(limit);
    else expect(shares.every((share) => share === undefined)).toBe(true);
    const total = count === 1 ? undefined : (limit ?? undefined);
    for (const item of items) expect(item[`${window}_total`]).toBe(total);
  }
  return items;
}
