import { setTimeout as pause } from 'node:timers/promises';
import {
  ConditionalCheckFailedException,
  TransactionCanceledException,
  TransactionConflictException,
} from '@aws-sdk/client-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import { documents, orUnavailable, type StoreClient } from '../dynamodb.ts';
import { accountsTable } from '../tables.ts';
import { type Access, accessItem, toAccess, toShard } from './account-item.ts';
import type { KeyClaim } from './api-key.ts';
import type { AccessStore, ChargeAttempt, ChargeResult } from './charge.ts';
import { chargeCommand } from './charge-command.ts';
import { moveCommands, noteDryCommand, readShardsCommand } from './shard-commands.ts';
import type { ShareMove } from './shards.ts';

/** Accounts that an instance keeps a hint for; those with one shard need none. */
const mostHints = 10_000;

/**
 * Where an instance sends its next charge of an account: to any of the shards that it last saw the account to have. A
 * hint says nothing of who may do what. One that is out of date costs a further write, and the item met corrects it.
 */
export function createShardHints() {
  const shardsOf = new Map<string, number>();

  return {
    pick: (account: string): number => {
      const shards = shardsOf.get(account);
      return shards === undefined ? 0 : Math.floor(Math.random() * shards);
    },
    learn: (account: string, { shards }: Access): void => {
      if (shards === (shardsOf.get(account) ?? 1)) return;
      shardsOf.delete(account);
      if (shards === 1) return;
      if (shardsOf.size >= mostHints) shardsOf.delete(shardsOf.keys().next().value as string);
      shardsOf.set(account, shards);
    },
  };
}

/**
 * Lets callers of `work` in one process share it: of those that ask for the same `key` while it is running, all get the
 * next run. So each gets a result that was begun after it asked, and a crowd costs two runs at a time.
 */
export function shareWork<T>(work: (key: string) => Promise<T>): (key: string) => Promise<T> {
  const slots = new Map<string, { running: Promise<T>; next?: Promise<T> }>();

  function start(key: string): Promise<T> {
    const slot: { running: Promise<T>; next?: Promise<T> } = { running: work(key) };
    slots.set(key, slot);
    const release = () => {
      if (!slot.next) slots.delete(key);
    };
    slot.running.then(release, release);
    return slot.running;
  }

  return (key) => {
    const slot = slots.get(key);
    if (!slot) return start(key);
    const restart = () => start(key);
    slot.next ??= slot.running.then(restart, restart);
    return slot.next;
  };
}

/** Access items in DynamoDB: a strongly consistent read, or the one conditional write that is everything at once. */
export function createAccessStore(client: StoreClient, table: string): AccessStore {
  const { get, update, updateAll, query } = documents(client);
  const hints = createShardHints();

  async function read(claim: KeyClaim, signal: AbortSignal): Promise<Access | undefined> {
    const Key = { [accountsTable.partitionKey]: claim.account, [accountsTable.sortKey]: accessItem.sortKey() };
    const item = await orUnavailable(get({ TableName: table, Key, ConsistentRead: true }, signal), signal);
    return item && toAccess(item, 0);
  }

  async function charge(attempt: ChargeAttempt, signal: AbortSignal): Promise<ChargeResult> {
    const { account } = attempt.claim;
    const shard = attempt.shard ?? hints.pick(account);
    const command = chargeCommand(table, { ...attempt, shard });
    try {
      const access = toAccess(await orUnavailable(update(command, signal), signal, isRefusal), shard);
      hints.learn(account, access);
      return { charged: true, access };
    } catch (error) {
      if (error instanceof TransactionConflictException) return await chargeLater({ ...attempt, shard }, signal);
      if (!(error instanceof ConditionalCheckFailedException)) throw error;
      const access = error.Item && toAccess(unmarshall(error.Item), shard);
      if (access) hints.learn(account, access);
      return { charged: false, access, shard };
    }
  }

  /** Another change of the item is under way, which takes milliseconds; the SDK does not retry this. */
  async function chargeLater(attempt: ChargeAttempt, signal: AbortSignal): Promise<ChargeResult> {
    await pause(10 + Math.random() * 40);
    return await charge(attempt, signal);
  }

  // Not under the signal of one of the callers that share it.
  const readTogether = shareWork(async (account) => {
    const items = await query(readShardsCommand(table, account));
    return items.map(toShard).toSorted((a, b) => a.shard - b.shard);
  });

  const readShards: AccessStore['readShards'] = (account, signal) => orUnavailable(readTogether(account), signal);

  /** By account. A crowd that finds the same shards wants the same move: one of it is enough. */
  const moving = new Map<string, Promise<boolean>>();

  const move: AccessStore['move'] = (account, shares, signal) => {
    const begun = moving.get(account) ?? tryMove(account, shares).finally(() => moving.delete(account));
    moving.set(account, begun);
    return orUnavailable(begun, signal);
  };

  async function tryMove(account: string, shares: ShareMove): Promise<boolean> {
    try {
      await updateAll(moveCommands(table, account, shares));
      return true;
    } catch (error) {
      if (!isOvertaken(error)) throw error;
      await pause(Math.random() * 10);
      return false;
    }
  }

  const noteDry: AccessStore['noteDry'] = async (account, seen, windows, signal) => {
    const command = noteDryCommand(table, account, seen, windows);
    await orUnavailable(update(command, signal), signal).catch(() => undefined);
  };

  return { read, charge, readShards, move, noteDry };
}

function isRefusal(error: unknown): boolean {
  return error instanceof ConditionalCheckFailedException || error instanceof TransactionConflictException;
}

/** A transaction that another change came before, or got in the way of. */
function isOvertaken(error: unknown): boolean {
  if (!(error instanceof TransactionCanceledException)) return false;
  const reasons = (error.CancellationReasons ?? []).map(({ Code }) => Code);
  return reasons.some((code) => code === 'ConditionalCheckFailed' || code === 'TransactionConflict');
}
