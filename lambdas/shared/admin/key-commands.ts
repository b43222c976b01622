import { DeleteCommand, PutCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import type { KeyClaim } from '../domain/api-key.ts';
import { accessItem, keyRecord } from '../store/access-item.ts';
import { accountsTable } from '../tables.ts';
import { type Access, accessKey } from './access.ts';

type KeyName = Pick<KeyClaim, 'account' | 'keyId'>;

/** The key of a key's record. */
export function recordKey({ account, keyId }: KeyName): Record<string, string> {
  return { [accountsTable.partitionKey]: account, [accountsTable.sortKey]: keyRecord.sortKey(keyId) };
}

/** Notes a key that is about to be admitted; never over an earlier key. */
export function putRecord(table: string, key: KeyName, label: string, nowSeconds: number): PutCommand {
  return new PutCommand({
    TableName: table,
    Item: { ...recordKey(key), [keyRecord.label]: label, [keyRecord.created]: nowSeconds },
    ConditionExpression: 'attribute_not_exists(#account)',
    ExpressionAttributeNames: { '#account': accountsTable.partitionKey },
  });
}

/** Forgets a key that was not admitted. */
export function deleteRecord(table: string, key: KeyName): DeleteCommand {
  return new DeleteCommand({ TableName: table, Key: recordKey(key) });
}

/**
 * The updates, to be made together, that admit a key from now on if the account has as many shards as `access` says and
 * room for it. A second send, after a lost answer, is harmless.
 */
export function admitKey(table: string, { keyId, hash }: KeyClaim, access: Access, maxKeys: number) {
  const single = admitOn(table, access, 0, keyId, hash);
  const first = {
    ...single,
    ConditionExpression: `${single.ConditionExpression} AND (attribute_exists(#keys.#keyId) OR size(#keys) < :max)`,
    ExpressionAttributeValues: { ...single.ExpressionAttributeValues, ':max': maxKeys },
  };
  const others = Array.from({ length: (access.shards ?? 1) - 1 }, (_, i) => admitOn(table, access, i + 1, keyId, hash));
  return [first, ...others];
}

function admitOn(table: string, access: Access, shard: number, keyId: string, hash: Uint8Array) {
  const { condition, values } = shardsAreStill(access);
  return {
    TableName: table,
    Key: accessKey(access.account, shard),
    UpdateExpression: 'SET #keys.#keyId = :hash',
    ConditionExpression: `attribute_exists(#account) AND ${condition}`,
    ExpressionAttributeNames: { ...shardNames, '#keyId': keyId },
    ExpressionAttributeValues: { ':hash': hash, ...values },
  };
}

/** Refuses a key on one shard from now on, if the account has as many as `access` says. */
export function refuseKey(table: string, keyId: string, access: Access, shard: number): UpdateCommand {
  const { condition, values } = shardsAreStill(access);
  return new UpdateCommand({
    TableName: table,
    Key: accessKey(access.account, shard),
    UpdateExpression: 'REMOVE #keys.#keyId',
    ConditionExpression: `attribute_exists(#account) AND ${condition}`,
    ExpressionAttributeNames: { ...shardNames, '#keyId': keyId },
    ...(access.shards !== null && { ExpressionAttributeValues: values }),
  });
}

const shardNames = { '#account': accountsTable.partitionKey, '#keys': accessItem.keys, '#shards': accessItem.shards };

/** A shard that is made in between takes its keys from shard 0: it would have too many of them, or too few. */
function shardsAreStill({ shards }: Access): { condition: string; values: Record<string, number> } {
  if (shards === null) return { condition: 'attribute_not_exists(#shards)', values: {} };
  return { condition: '#shards = :shards', values: { ':shards': shards } };
}

/** Notes when a key was revoked; the first time counts. */
export function markRevoked(table: string, key: KeyName, nowSeconds: number): UpdateCommand {
  return new UpdateCommand({
    TableName: table,
    Key: recordKey(key),
    UpdateExpression: 'SET #revoked = if_not_exists(#revoked, :now)',
    ExpressionAttributeNames: { '#revoked': keyRecord.revoked },
    ExpressionAttributeValues: { ':now': nowSeconds },
  });
}
