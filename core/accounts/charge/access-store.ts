import { setTimeout as pause } from 'node:timers/promises';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import { dateOf } from '../../calendar.ts';
import {
  conditionFailed,
  documents,
  type Item,
  isConflict,
  isRefused,
  orUnavailable,
  type StoreClient,
  StoreUnavailable,
} from '../../dynamodb.ts';
import { accountsTable } from '../../names.ts';
import type { Access } from '../account.ts';
import { accessKey, readAccess, readShards } from '../account-item.ts';
import type { Limits } from '../quota.ts';
import { recordDays } from '../usage-record.ts';
import type { AccessStore, ChargeAttempt, ChargeResult } from './charge.ts';
import { chargeCommand } from './charge-command.ts';
import { seenLimits } from './shards.ts';
import { markExhaustedCommand, moveCommands } from './share-moves.ts';

/**
 * Access items in DynamoDB: a strongly consistent read, or the single conditional write that authenticates and charges.
 */
export function createAccessStore(client: StoreClient, table: string): AccessStore {
  const { get, update, updateAll, query } = documents(client);
  const hints = createShardHints();

  const read: AccessStore['read'] = async ({ account }, signal, shard) => {
    const item = await orUnavailable(
      get({ TableName: table, Key: accessKey(account, shard), ConsistentRead: true }, signal),
      signal,
    );
    return accessIn(item, account);
  };

  async function charge(attempt: ChargeAttempt, signal: AbortSignal): Promise<ChargeResult> {
    const { claim, units } = attempt;
    const { account } = claim;
    const shard = attempt.shard ?? hints.pick(account);
    const limits = attempt.limits ?? hints.limits(account, shard);
    const command = chargeCommand(table, { ...attempt, shard, ...(limits && { limits }) });
    try {
      const item = await orUnavailable(update(command, signal), signal, isConflict);
      const access = accessIn(item, account);
      if (access) hints.learn(access, units);
      return { charged: true, access };
    } catch (error) {
      if (error instanceof StoreUnavailable) return await lost({ shard, cause: error }, signal);
      if (!isConflict(error)) throw error;
      if (!conditionFailed(error)) return await chargeLater({ ...attempt, shard }, signal);
      const access = error.Item && readAccess(unmarshall(error.Item));
      if (access) hints.learn(access, units);
      return { charged: false, access, shard };
    }
  }

  /** Unless the time is over, or the store has refused the write for good: then nothing was done. */
  async function lost({ shard, cause }: { shard: number; cause: StoreUnavailable }, signal: AbortSignal) {
    if (signal.aborted || isRefused(cause.cause)) throw cause;
    await pause(Math.random() * 20);
    return { charged: 'unknown' as const, shard, cause };
  }

  /** A transaction on the item is under way, which takes milliseconds; the SDK does not retry this. */
  async function chargeLater(attempt: ChargeAttempt, signal: AbortSignal): Promise<ChargeResult> {
    await pause(10 + Math.random() * 40);
    return await charge(attempt, signal);
  }

  return {
    read,
    charge,
    readShards: (account, signal) =>
      orUnavailable(
        readShards((input) => query(input, signal), table, account),
        signal,
      ),
    async move(shares, signal) {
      try {
        await orUnavailable(updateAll(moveCommands(table, shares), signal), signal, isConflict);
        return true;
      } catch (error) {
        if (!isConflict(error)) throw error;
        await pause(Math.random() * 10);
        return false;
      }
    },
    async recordDays(seen, now, signal) {
      const updates = recordDays(table, seen, { today: dateOf(Math.floor(now)), movesIdle: true });
      await orUnavailable(updateAll(updates), signal, isConflict).catch(async (error: unknown) => {
        if (!isConflict(error)) throw error;
        await pause(Math.random() * 20); // another caller is doing it, or has done it
      });
    },
    async markExhausted(seen, windows, signal) {
      const command = markExhaustedCommand(table, seen, windows);
      await orUnavailable(update(command, signal), signal).catch(() => undefined);
    },
  };
}

/** The access item that the store has returned; anything else is as good as none. */
function accessIn(item: Item | undefined, account: string): Access | undefined {
  return item?.[accountsTable.partitionKey] === account ? readAccess(item) : undefined;
}

/** Accounts that an instance keeps a hint for; those with one shard and no batches need none. */
const maxHints = 10_000;

type Hint = { shards: number; limits: Map<number, Limits> };

/**
 * What an instance last saw of an account: how many shards it has, one of which is charged next, and the limits of each
 * that was charged more than one unit. A hint grants nothing. An outdated one costs another write, and the item that
 * this write finds corrects it.
 */
export function createShardHints() {
  const hints = new Map<string, Hint>();

  function hintOf(account: string): Hint {
    const known = hints.get(account);
    if (known) return known;
    if (hints.size >= maxHints) hints.delete(hints.keys().next().value as string);
    const hint = { shards: 1, limits: new Map<number, Limits>() };
    hints.set(account, hint);
    return hint;
  }

  return {
    pick: (account: string): number => Math.floor(Math.random() * (hints.get(account)?.shards ?? 1)),
    limits: (account: string, shard: number): Limits | undefined => hints.get(account)?.limits.get(shard),
    learn: (access: Access, units: number): void => {
      const { account, shard, shards } = access;
      if (shards === 1 && units === 1 && !hints.has(account)) return;
      const hint = hintOf(account);
      if (hint.shards !== shards) {
        hint.shards = shards;
        hint.limits.clear();
      }
      if (units > 1 || hint.limits.has(shard)) hint.limits.set(shard, seenLimits(access));
    },
  };
}
