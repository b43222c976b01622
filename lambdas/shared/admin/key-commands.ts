import { DeleteCommand, PutCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import type { KeyClaim } from '../domain/api-key.ts';
import { accessItem, keyRecord } from '../store/access-item.ts';
import { accountsTable } from '../tables.ts';
import { accessKey } from './access.ts';

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

/** Admits a key from now on, if the account exists and has room. A second send, after a lost answer, is harmless. */
export function admitKey(table: string, { account, keyId, hash }: KeyClaim, maxKeys: number): UpdateCommand {
  return new UpdateCommand({
    TableName: table,
    Key: accessKey(account),
    UpdateExpression: 'SET #keys.#keyId = :hash',
    ConditionExpression: 'attribute_exists(#account) AND (attribute_exists(#keys.#keyId) OR size(#keys) < :max)',
    ExpressionAttributeNames: { '#account': accountsTable.partitionKey, '#keys': accessItem.keys, '#keyId': keyId },
    ExpressionAttributeValues: { ':hash': hash, ':max': maxKeys },
  });
}

/** Refuses a key from now on. */
export function refuseKey(table: string, { account, keyId }: KeyName): UpdateCommand {
  return new UpdateCommand({
    TableName: table,
    Key: accessKey(account),
    UpdateExpression: 'REMOVE #keys.#keyId',
    ConditionExpression: 'attribute_exists(#account)',
    ExpressionAttributeNames: { '#account': accountsTable.partitionKey, '#keys': accessItem.keys, '#keyId': keyId },
  });
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
