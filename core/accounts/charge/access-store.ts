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

/** A process has at most this many charges of an item under way. The next ones wait, so they are overdue later. */
const mostAtOnce = 19;
const overdueAfterWaiting = 1_000;

/** So many charges of an item begin in twice `overdueAfter` at the 45 a second below which none may count twice. */
const mostAround = 18;

/** How the charges of an item by this process go. Times are those of `performance.now()`. */
type Traffic = {
  /** How many are under way and not overdue, without those that wait for them. */
  underWay: number;
  /** When the first write of each request was sent, by the id of the request; only of the last second. */
  begun: Map<Uint8Array, number>;
  /** When the last answer came, and when the latest write that has an answer was sent. */
  answered: number;
  latestAnswered: number;
};

/**
 * Whether the answer to a write of `sent` is lost, rather than late. In a burst on a slow engine it is late, and a
 * repetition could find its id gone from the list: then answers to others come, but to none that was sent later.
 */
export function isLost({ begun, answered, latestAnswered }: Traffic, sent: number): boolean {
  if (latestAnswered >= sent + overdueAfter / 2) return true;
  let around = 0;
  for (const at of begun.values()) if (Math.abs(at - sent) <= overdueAfter) around++;
  return answered < sent && around <= mostAround;
}

/** Access items in DynamoDB. A charge without an answer is repeated after `repeatsAfter` milliseconds. */
export function createAccessStore(client: StoreClient, table: string, repeatsAfter = overdueAfter): AccessStore {
  const { get, update, updateAll, query } = documents(client);
  const hints = createShardHints();
  const traffic = new Map<string, Traffic>();

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
    const going = traffic.get(item) ?? { underWay: 0, begun: new Map(), answered: 0, latestAnswered: 0 };
    const waits = going.underWay >= mostAtOnce;
    const sent = performance.now();
    if (!waits) {
      going.underWay++;
      traffic.set(item, going);
    }
    for (const [id, at] of going.begun) if (at < sent - overdueAfterWaiting) going.begun.delete(id);
    if (!going.begun.has(attempt.id)) going.begun.set(attempt.id, sent);
    const answer = write({ ...attempt, shard }, { waits, call: call.signal }, signal);
    return { shard, answer, unanswered: unanswered(item, going, { sent, waits }, answer), abandon: () => call.abort() };
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
  function unanswered(
    item: string,
    going: Traffic,
    { sent, waits }: { sent: number; waits: boolean },
    answer: Promise<ChargeResult>,
  ): Promise<void> {
    return new Promise((resolve) => {
      let counts = !waits;
      function end() {
        clearTimeout(timer);
        if (!counts) return;
        counts = false;
        going.underWay--;
        if (going.underWay === 0) traffic.delete(item);
      }
      function look() {
        if (performance.now() - sent >= overdueAfterWaiting || (!waits && isLost(going, sent))) {
          end();
          resolve();
        } else timer = later(overdueAfter / 4);
      }
      // First reads what has come: after a pause of the whole process the timer would be before the answer.
      const later = (milliseconds: number) => setTimeout(() => setImmediate(look), milliseconds);
      let timer = later(waits ? overdueAfterWaiting : repeatsAfter);
      answer.then(({ charged }) => {
        end();
        if (charged === 'unknown') setTimeout(resolve, Math.random() * 20);
        else {
          going.answered = performance.now();
          going.latestAnswered = Math.max(going.latestAnswered, sent);
        }
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

/** What an instance last saw of an account: its shards and limits. An outdated hint only costs another write. */
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
