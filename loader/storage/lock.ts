import { hostname } from 'node:os';
import {
  type AttributeValue,
  ConditionalCheckFailedException,
  DeleteItemCommand,
  type DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
} from '@aws-sdk/client-dynamodb';
import { addressesTable } from '../../lambdas/shared/tables.ts';
import { isRunning } from '../is-running.ts';
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

const heldSeconds = 60;
const renewedMilliseconds = 20_000;

/** Names this process as the owner of a lock: another one here can tell whether it is still alive. */
export function processOwner(suffix: string): string {
  return `${hostname()}:${process.pid}:${suffix}`;
}

/**
 * Works under the lock, which is renewed meanwhile and given back at the end. The lock of a process of this machine
 * that is gone is taken over at once; another's is waited for by whoever runs the load again.
 * @throws LockedError
 */
export async function withLock<T>(lock: LoadLock, owner: string, work: () => Promise<T>): Promise<T> {
  await takeLock(lock, { owner, seconds: heldSeconds, isGone: isProcessGone });
  // A renewal that fails is no reason to stop: every file of changes checks the lock before it writes.
  const renewal = setInterval(() => void lock.acquire(owner, heldSeconds).catch(() => undefined), renewedMilliseconds);
  try {
    return await work();
  } finally {
    clearInterval(renewal);
    await lock.release(owner).catch(() => undefined); // else it ends by itself
  }
}

type Taking = {
  owner: string;
  seconds: number;
  /** Whether nothing of this other owner is left that could write. */
  isGone: (owner: string) => boolean | Promise<boolean>;
};

/** Takes the lock, from an owner that is gone if it has to. @throws LockedError, and what `isGone` throws */
export async function takeLock(lock: LoadLock, { owner, seconds, isGone }: Taking): Promise<void> {
  try {
    await lock.acquire(owner, seconds);
  } catch (error) {
    if (!(error instanceof LockedError) || !error.owner || !(await isGone(error.owner))) throw error;
    await lock.release(error.owner);
    await lock.acquire(owner, seconds);
  }
}

function isProcessGone(owner: string): boolean {
  const [host, pid] = owner.split(':');
  if (host !== hostname() || !pid || !/^\d+$/.test(pid)) return false;
  return !isRunning(Number(pid));
}
