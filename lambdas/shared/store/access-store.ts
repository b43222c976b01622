import { setTimeout as pause } from 'node:timers/promises';
import {
  ConditionalCheckFailedException,
  TransactionCanceledException,
  TransactionConflictException,
} from '@aws-sdk/client-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import type { Access } from '../domain/access.ts';
import type { KeyClaim } from '../domain/api-key.ts';
import type { AccessStore, ChargeAttempt, ChargeResult } from '../domain/ports.ts';
import type { ShareMove } from '../domain/shards.ts';
import { accountsTable } from '../tables.ts';
import { accessItem } from './access-item.ts';
import { chargeCommand } from './charge-command.ts';
import { documents, type StoreClient } from './documents.ts';
import { toAccess, toShard } from './read-access.ts';
import { orUnavailable } from './send.ts';
import { moveCommands, noteDryCommand, readShardsCommand } from './shard-commands.ts';
import { createShardHints } from './shard-hints.ts';
import { shareWork } from './share-work.ts';

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
