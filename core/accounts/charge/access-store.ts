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
import type { AccessStore, ChargeAttempt, ChargeResult, ChargeWrite } from './charge.ts';
import { chargeCommand } from './charge-command.ts';
import { seenLimits } from './shards.ts';
import { markExhaustedCommand, moveCommands } from './share-moves.ts';

/** An engine that has not answered a charge in so many milliseconds rarely will. */
const overdueAfter = 200;

/**
 * If one process has more charges of an item under way, the next ones wait for these and for a connection, so they are
 * not overdue as soon. An item lists more than so many.
 */
const mostAtOnce = 19;
const overdueAfterWaiting = 1_000;

/**
 * Access items in DynamoDB: a strongly consistent read, or the single conditional write that authenticates and charges.
 * A charge without an answer is repeated after `repeatsAfter` milliseconds.
 */
export function createAccessStore(client: StoreClient, table: string, repeatsAfter = overdueAfter): AccessStore {
  const { get, update, updateAll, query } = documents(client);
  const hints = createShardHints();
  /** How many charges of an item are under way and not overdue, without those that wait for them. */
  const underWay = new Map<string, number>();

  const read: AccessStore['read'] = async ({ account }, signal, shard) => {
    const item = await orUnavailable(
      get({ TableName: table, Key: accessKey(account, shard), ConsistentRead: true }, signal),
      signal,
    );
    return accessIn(item, account);
  };

  function charge(attempt: ChargeAttempt, signal: AbortSignal): ChargeWrite {
    const { account } = attempt.claim;
    const shard = attempt.shard ?? hints.pick(account);
    const item = `${account}#${shard}`;
    const call = new AbortController();
    const before = underWay.get(item) ?? 0;
    const waits = before >= mostAtOnce;
    if (!waits) underWay.set(item, before + 1);
    const answer = write({ ...attempt, shard }, { waits, call: call.signal }, signal);
    return { shard, answer, unanswered: unanswered(item, waits, answer), abandon: () => call.abort() };
  }

  async function write(
    attempt: ChargeAttempt & { shard: number },
    options: { waits: boolean; call: AbortSignal },
    signal: AbortSignal,
  ): Promise<ChargeResult> {
    const { claim, units, shard } = attempt;
    const limits = attempt.limits ?? hints.limits(claim.account, shard);
    const command = chargeCommand(table, { ...attempt, ...(limits && { limits }) }, options.waits);
    try {
      const item = await orUnavailable(update(command, options.call), signal, isConflict);
      const access = accessIn(item, claim.account);
      if (access) hints.learn(access, units);
      return { charged: true, access };
    } catch (error) {
      // Unless the time is over, or the store has refused the write for good: then nothing was done.
      if (error instanceof StoreUnavailable && !signal.aborted && !isRefused(error.cause)) {
        return { charged: 'unknown', cause: error };
      }
      if (!isConflict(error)) throw error;
      if (!conditionFailed(error)) {
        // A transaction on the item is under way, which takes milliseconds; the SDK does not retry this.
        await pause(10 + Math.random() * 40);
        return await write(attempt, options, signal);
      }
      const access = error.Item && readAccess(unmarshall(error.Item));
      if (access) hints.learn(access, units);
      return { charged: false, access, shard };
    }
  }

  /** Resolves when the answer is overdue, or soon after it was lost. Stays pending if there is one before. */
  function unanswered(item: string, waits: boolean, answer: Promise<ChargeResult>): Promise<void> {
    return new Promise((resolve) => {
      let counts = !waits;
      function end() {
        clearTimeout(timer);
        if (!counts) return;
        counts = false;
        const others = (underWay.get(item) ?? 1) - 1;
        if (others > 0) underWay.set(item, others);
        else underWay.delete(item);
      }
      const overdue = () => {
        end();
        resolve();
      };
      // First reads what has come: after a pause of the whole process the timer would be before the answer.
      const timer = setTimeout(() => setImmediate(overdue), waits ? overdueAfterWaiting : repeatsAfter);
      answer.then(({ charged }) => {
        end();
        if (charged === 'unknown') setTimeout(resolve, Math.random() * 20);
      }, end);
    });
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
