import {
  type AttributeValue,
  ConditionalCheckFailedException,
  DeleteItemCommand,
  type DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
} from '@aws-sdk/client-dynamodb';
import { addressesTable } from '../../lambdas/shared/tables.ts';
import { type LoadLock, LockedError } from './address-table.ts';

/** Key of the item in the addresses table that is the lock; no address key can begin like this. */
export const lockKey = '#load';
const names = { '#key': addressesTable.partitionKey, '#owner': 'owner', '#until': 'until' };

/** A lock in an item of the addresses table itself, by conditional writes; a clock may be some seconds off. */
export function dynamoDbLock(client: DynamoDBClient, table: string, clock = Date.now): LoadLock {
  const Key = { [addressesTable.partitionKey]: { S: lockKey } };
  const nowSeconds = () => Math.floor(clock() / 1000);

  return {
    async acquire(owner, seconds) {
      const until = nowSeconds() + seconds;
      const command = new PutItemCommand({
        TableName: table,
        Item: { ...Key, owner: { S: owner }, until: { N: `${until}` } },
        ConditionExpression: 'attribute_not_exists(#key) OR #owner = :owner OR #until < :now',
        ExpressionAttributeNames: names,
        ExpressionAttributeValues: { ':owner': { S: owner }, ':now': { N: `${nowSeconds()}` } },
        ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
      });
      await client.send(command).catch((error: unknown) => {
        if (error instanceof ConditionalCheckFailedException) throw lockedBy(error.Item);
        throw error;
      });
    },
    async check(owner) {
      const { Item } = await client.send(new GetItemCommand({ TableName: table, Key, ConsistentRead: true }));
      if (Item?.owner?.S !== owner) throw Item ? lockedBy(Item) : new LockedError(null, nowSeconds());
    },
    async release(owner) {
      const command = new DeleteItemCommand({
        TableName: table,
        Key,
        ConditionExpression: '#owner = :owner',
        ExpressionAttributeNames: { '#owner': 'owner' },
        ExpressionAttributeValues: { ':owner': { S: owner } },
      });
      await client.send(command).catch((error: unknown) => {
        if (!(error instanceof ConditionalCheckFailedException)) throw error;
      });
    },
  };
}

function lockedBy(item: Record<string, AttributeValue> | undefined): LockedError {
  return new LockedError(item?.owner?.S ?? 'unknown', Number(item?.until?.N ?? 0));
}
