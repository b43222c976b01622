import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import {
  ConditionalCheckFailedException,
  type ConditionCheck,
  DeleteItemCommand,
  type DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
} from '@aws-sdk/client-dynamodb';
import { type Item, keyItem } from '../../lambdas/shared/addresses/address-item.ts';
import { addressesTable } from '../../lambdas/shared/tables.ts';
import { isRunning, processStart } from '../is-running.ts';
import { type Held, type LoadLock, LockedError } from './address-table.ts';
import { Lease, type LeaseTiming } from './lease.ts';

/** Key of the item in the addresses table that is the lock; no address key can begin like this. */
export const lockKey = '#load';

const names = { '#key': addressesTable.partitionKey, '#owner': 'owner', '#token': 'token' };
const isFree = 'attribute_not_exists(#key)';
const isOwners = '#owner = :owner';
/** A lock of a version without tokens has none. */
const isOfTaking = `${isOwners} AND (#token = :token OR (:token = :none AND attribute_not_exists(#token)))`;

function taking({ owner, token }: Pick<Held, 'owner' | 'token'>) {
  return { ':owner': { S: owner }, ':token': { S: token }, ':none': { S: '' } };
}

/** A part of a transaction that fails unless the lock is still held by this taking. */
export function heldCondition(TableName: string, held: Held): ConditionCheck {
  return {
    TableName,
    Key: keyItem(lockKey),
    ConditionExpression: isOfTaking,
    ExpressionAttributeNames: { '#owner': 'owner', '#token': 'token' },
    ExpressionAttributeValues: taking(held),
  };
}

/** A lock in an item of the addresses table itself, by conditional writes; a clock may be some seconds off. */
export function dynamoDbLock(client: DynamoDBClient, table: string, clock = Date.now): LoadLock {
  const Key = keyItem(lockKey);
  const nowSeconds = () => Math.floor(clock() / 1000);

  async function put(held: Held, ConditionExpression: string, known: Record<string, { S: string }>): Promise<Held> {
    const { owner, token, untilSeconds } = held;
    const used = Object.entries(names).filter(([name]) => ConditionExpression.includes(name));
    const command = new PutItemCommand({
      TableName: table,
      Item: { ...Key, owner: { S: owner }, token: { S: token }, until: { N: `${untilSeconds}` } },
      ConditionExpression,
      ExpressionAttributeNames: Object.fromEntries(used),
      ExpressionAttributeValues: known,
      ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
    });
    await client.send(command).catch((error: unknown) => {
      if (error instanceof ConditionalCheckFailedException)
        throw new LockedError(error.Item ? heldIn(error.Item) : null);
      throw error;
    });
    return held;
  }

  async function holder(): Promise<Held | null> {
    const { Item } = await client.send(new GetItemCommand({ TableName: table, Key, ConsistentRead: true }));
    return Item ? heldIn(Item) : null;
  }

  return {
    holder,
    acquire(owner, seconds, over) {
      const held = { owner, token: randomUUID(), untilSeconds: nowSeconds() + seconds };
      if (over) return put(held, `${isFree} OR (${isOfTaking})`, taking(over));
      return put(held, `${isFree} OR ${isOwners}`, { ':owner': { S: owner } });
    },
    renew: (held, seconds) => put({ ...held, untilSeconds: nowSeconds() + seconds }, isOfTaking, taking(held)),
    async check(owner, token) {
      const held = await holder();
      if (!held || held.owner !== owner || (token !== undefined && held.token !== token)) throw new LockedError(held);
      return held;
    },
    async release(owner, token) {
      const command = new DeleteItemCommand({
        TableName: table,
        Key,
        ConditionExpression: token === undefined ? isOwners : `${isOwners} AND #token = :token`,
        ExpressionAttributeNames: { '#owner': 'owner', ...(token !== undefined && { '#token': 'token' }) },
        ExpressionAttributeValues: { ':owner': { S: owner }, ...(token !== undefined && { ':token': { S: token } }) },
      });
      await client.send(command).catch((error: unknown) => {
        if (!(error instanceof ConditionalCheckFailedException)) throw error;
      });
    },
  };
}

function heldIn(item: Item): Held {
  return { owner: item.owner?.S ?? 'unknown', token: item.token?.S ?? '', untilSeconds: Number(item.until?.N ?? 0) };
}

/** Names this process as the owner of a lock: another one here can tell whether it is still alive. */
export function processOwner(suffix: string): string {
  return `${hostname()}:${process.pid}:${processStart(process.pid)}:${suffix}`;
}

/**
 * Works under the lock, which is renewed meanwhile and given back at the end. The lock of a process of this machine that is
 * gone is taken over at once, that of a live one never; the lock of another machine once it has run out.
 * @throws LockedError
 */
export async function withLock<T>(
  lock: LoadLock,
  owner: string,
  timing: LeaseTiming,
  work: (lease: Lease) => Promise<T>,
): Promise<T> {
  const { seconds } = timing;
  const lease = await Lease.taken(lock, timing, () => takeLock(lock, { owner, seconds, isGone: isProcessGone }));
  const renewal = setInterval(() => void lease.renew().catch(() => undefined), timing.renewSeconds * 1000);
  try {
    return await work(lease);
  } catch (error) {
    // What another load has done since it took the lock can look like any error.
    const lost = await lease.confirm(0).catch((reason: unknown) => reason);
    throw lost instanceof LockedError ? lost : error;
  } finally {
    clearInterval(renewal);
    await lock.release(owner, lease.held.token).catch(() => undefined); // else it ends by itself
  }
}

type Taking = {
  owner: string;
  seconds: number;
  /**
   * Whether nothing of this other owner is left that could write; `null` where nobody can tell, so that the lock is taken
   * over when it has run out.
   */
  isGone: (held: Held) => boolean | null | Promise<boolean | null>;
  clock?: () => number;
};

/** Takes the lock, from an owner that is gone if it has to. @throws LockedError, and what `isGone` throws */
export async function takeLock(lock: LoadLock, { owner, seconds, isGone, clock = Date.now }: Taking): Promise<Held> {
  try {
    return await lock.acquire(owner, seconds);
  } catch (error) {
    if (!(error instanceof LockedError) || !error.held) throw error;
    const { held } = error;
    const gone = await isGone(held);
    const hasRunOut = held.untilSeconds * 1000 < clock();
    if (!(gone ?? hasRunOut)) throw hasRunOut ? stoppedError(held) : error;
    return lock.acquire(owner, seconds, held);
  }
}

/** `false` for a live process of this machine, `true` for one that is gone, `null` for one of another machine. */
export function isProcessGone({ owner }: Held): boolean | null {
  const [host, pid = '', start] = owner.split(':');
  if (host !== hostname() || !/^\d+$/.test(pid)) return null;
  if (!isRunning(Number(pid))) return true;
  const startNow = processStart(Number(pid));
  // A number that the system has given to another process since.
  if (start !== startNow) return startNow === '' ? null : true;
  return false;
}

function stoppedError(held: Held): LockedError {
  const [, pid] = held.owner.split(':');
  const until = new Date(held.untilSeconds * 1000).toISOString();
  return new LockedError(
    held,
    `Another load (${held.owner}) holds the lock on this table, which it should have renewed before ${until}: process ` +
      `${pid} is stopped or was suspended. Let it go on (kill -CONT ${pid}) or end it (kill -9 ${pid}), then run this again.`,
  );
}
