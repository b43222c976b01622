import { setTimeout as pause } from 'node:timers/promises';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import { inWindowOrder, type WindowName, windowStart } from '../../calendar.ts';
import {
  conditionFailed,
  documents,
  isConflict,
  orUnavailable,
  type StoreClient,
  type Update,
} from '../../dynamodb.ts';
import type { Access } from '../account.ts';
import { accessItem, accessKey, readAccess, readShards } from '../account-item.ts';
import { recordDays } from '../usage-record.ts';
import { type AccessStore, type ChargeAttempt, type ChargeResult, chargeCommand } from './charge.ts';
import type { ShareMove } from './shards.ts';

/**
 * Access items in DynamoDB: a strongly consistent read, or the single conditional write that authenticates and charges.
 */
export function createAccessStore(client: StoreClient, table: string): AccessStore {
  const { get, update, updateAll, query } = documents(client);
  const hints = createShardHints();

  const read: AccessStore['read'] = async ({ account }, signal) => {
    const item = await orUnavailable(
      get({ TableName: table, Key: accessKey(account), ConsistentRead: true }, signal),
      signal,
    );
    return item && readAccess(item);
  };

  async function charge(attempt: ChargeAttempt, signal: AbortSignal): Promise<ChargeResult> {
    const { account } = attempt.claim;
    const shard = attempt.shard ?? hints.pick(account);
    const command = chargeCommand(table, { ...attempt, shard });
    try {
      const item = await orUnavailable(update(command, signal), signal, isConflict);
      const access = item && readAccess(item);
      if (access) hints.learn(account, access);
      return { charged: true, access };
    } catch (error) {
      if (!isConflict(error)) throw error;
      if (!conditionFailed(error)) return await chargeLater({ ...attempt, shard }, signal);
      const access = error.Item && readAccess(unmarshall(error.Item));
      if (access) hints.learn(account, access);
      return { charged: false, access, shard };
    }
  }

  /** A transaction on the item is under way, which takes milliseconds; the SDK does not retry this. */
  async function chargeLater(attempt: ChargeAttempt, signal: AbortSignal): Promise<ChargeResult> {
    await pause(10 + Math.random() * 40);
    return await charge(attempt, signal);
  }

  // Not with the abort signal of one of the callers that share it.
  const readTogether = shareWork((account) => readShards(query, table, account));

  /** By account. Callers that read the same shards want the same move: one of them is enough. */
  const moving = new Map<string, Promise<boolean>>();

  const move: AccessStore['move'] = (account, shares, signal) => {
    const begun = moving.get(account) ?? tryMove(shares).finally(() => moving.delete(account));
    moving.set(account, begun);
    return orUnavailable(begun, signal);
  };

  async function tryMove(shares: ShareMove): Promise<boolean> {
    try {
      await updateAll(moveCommands(table, shares));
      return true;
    } catch (error) {
      if (!isConflict(error)) throw error;
      await pause(Math.random() * 10);
      return false;
    }
  }

  return {
    read,
    charge,
    readShards: (account, signal) => orUnavailable(readTogether(account), signal),
    move,
    async recordDays(seen, signal) {
      const updates = recordDays(table, seen);
      await orUnavailable(updateAll(updates), signal, isConflict).catch((error: unknown) => {
        if (!isConflict(error)) throw error; // otherwise another caller is doing it, or has done it
      });
    },
    async markExhausted(seen, windows, signal) {
      const command = markExhaustedCommand(table, seen, windows);
      await orUnavailable(update(command, signal), signal).catch(() => undefined);
    },
  };
}

type PerWindow = Partial<Record<WindowName, number>>;

/**
 * Moves shares, all or none. It fails if a shard has changed in one of the windows; charges don't make it fail while a
 * donor still has what it gives. The target first enters the current window: a share must never move into a window
 * earlier than one in which its donor may have used it.
 */
function moveCommands(table: string, { target, at, donors }: ShareMove): Update[] {
  const gains: PerWindow = {};
  for (const { takes } of donors) {
    for (const [window, take] of entries(takes)) gains[window] = (gains[window] ?? 0) + take;
  }
  const received = entries(gains).map(([window, gain]) => receive(target, window, gain, at));
  return [
    changeShares(table, target, received),
    ...donors.map(({ shard, takes }) =>
      changeShares(
        table,
        shard,
        entries(takes).map(([window, take]) => give(shard, window, take, at)),
      ),
    ),
  ];
}

/** Marks exhausted windows on a shard, unless an operator has changed the account since. */
function markExhaustedCommand(table: string, seen: Access, windows: PerWindow): Update {
  const names = entries(windows);
  return {
    TableName: table,
    Key: accessKey(seen.account, seen.shard),
    UpdateExpression: `SET ${names.map(([window]) => `#${window} = :${window}`).join(', ')}`,
    ConditionExpression: '#version = :version',
    ExpressionAttributeNames: {
      '#version': accessItem.version,
      ...Object.fromEntries(names.map(([window]) => [`#${window}`, accessItem.exhausted(window)])),
    },
    ExpressionAttributeValues: {
      ':version': seen.version,
      ...Object.fromEntries(names.map(([window, start]) => [`:${window}`, start])),
    },
  };
}

type Part = { set: string[]; conditions: string[]; names: Record<string, string>; values: Record<string, number> };

function changeShares(table: string, shard: Access, parts: Part[]): Update {
  return {
    TableName: table,
    Key: accessKey(shard.account, shard.shard),
    UpdateExpression: `SET ${parts.flatMap(({ set }) => set).join(', ')} ADD #moves :one`,
    ConditionExpression: parts.flatMap(({ conditions }) => conditions).join(' AND '),
    ExpressionAttributeNames: Object.assign({ '#moves': accessItem.moves }, ...parts.map(({ names }) => names)),
    ExpressionAttributeValues: Object.assign({ ':one': 1 }, ...parts.map(({ values }) => values)),
  };
}

function receive({ quota }: Access, window: WindowName, gain: number, at: number): Part {
  const { start = 0, limit } = quota[window] ?? {};
  const current = windowStart(window, Math.floor(at));
  const part = change(window, start, Number(limit), gain);
  if (start === current) return part;
  return {
    ...part,
    set: [...part.set, `#${window}Start = :${window}Current`, `#${window}Used = :${window}None`],
    names: { ...part.names, [`#${window}Used`]: accessItem.used(window) },
    values: { ...part.values, [`:${window}Current`]: current, [`:${window}None`]: 0 },
  };
}

function give({ quota }: Access, window: WindowName, take: number, at: number): Part {
  const { start = 0, limit } = quota[window] ?? {};
  const part = change(window, start, Number(limit), -take);
  if (start < windowStart(window, Math.floor(at))) return part; // units used in a window that has passed don't matter any more
  return {
    ...part,
    conditions: [...part.conditions, `#${window}Used <= :${window}New`],
    names: { ...part.names, [`#${window}Used`]: accessItem.used(window) },
  };
}

function change(window: WindowName, start: number, limit: number, by: number): Part {
  return {
    set: [`#${window}Limit = :${window}New`],
    conditions: [`#${window}Start = :${window}Seen`, `#${window}Limit = :${window}Old`],
    names: { [`#${window}Start`]: accessItem.start(window), [`#${window}Limit`]: accessItem.limit(window) },
    values: { [`:${window}Seen`]: start, [`:${window}Old`]: limit, [`:${window}New`]: limit + by },
  };
}

function entries(amounts: PerWindow): [WindowName, number][] {
  return Object.entries(inWindowOrder(amounts)) as [WindowName, number][];
}

/** Accounts that an instance keeps a hint for; those with one shard need none. */
const maxHints = 10_000;

/**
 * Which shard an instance charges next: any of those that the account had when the instance last read it. A hint grants
 * nothing. An outdated one costs another write, and the item that this write finds corrects it.
 */
export function createShardHints() {
  const shardsOf = new Map<string, number>();

  return {
    pick: (account: string): number => {
      const shards = shardsOf.get(account);
      return shards === undefined ? 0 : Math.floor(Math.random() * shards);
    },
    learn: (account: string, { shards }: Access): void => {
      if (shards === shardsOf.get(account)) return;
      shardsOf.delete(account);
      if (shards === 1) return;
      if (shardsOf.size >= maxHints) shardsOf.delete(shardsOf.keys().next().value as string);
      shardsOf.set(account, shards);
    },
  };
}

/**
 * Shares `work` among the callers of one process: calls for the same `key` during a run share the next run. So each
 * gets the result of a run that began after its call, and any number of callers cost two runs at a time.
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
