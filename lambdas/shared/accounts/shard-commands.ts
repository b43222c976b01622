import type { Query, Update } from '../dynamodb.ts';
import { accountsTable } from '../tables.ts';
import { accessItem } from './account-item.ts';
import { type WindowName, windowNames, windowStart } from './quota.ts';
import type { Shard, ShareMove } from './shards.ts';

type PerWindow = Partial<Record<WindowName, number>>;

/**
 * Reads all shards of an account. Each item is consistent; a change of several at once may be seen in part. A
 * transactional read would see it whole, but is cancelled whenever one of the shards is being charged.
 */
export function readShardsCommand(table: string, account: string): Query {
  return {
    TableName: table,
    ConsistentRead: true,
    KeyConditionExpression: '#account = :account AND begins_with(#item, :access)',
    ExpressionAttributeNames: { '#account': accountsTable.partitionKey, '#item': accountsTable.sortKey },
    ExpressionAttributeValues: { ':account': account, ':access': accessItem.sortKeyPrefix },
  };
}

/**
 * Moves shares, all or nothing. A shard that has changed in a window that takes part stops it; charges do not, as long
 * as a donor still has what it gives. The target comes into the current window first: a share must never go back into
 * an earlier window than the one that its donor may have used it in.
 */
export function moveCommands(table: string, account: string, { target, at, donors }: ShareMove): Update[] {
  const gains: PerWindow = {};
  for (const { takes } of donors) {
    for (const [window, take] of entries(takes)) gains[window] = (gains[window] ?? 0) + take;
  }
  const received = entries(gains).map(([window, gain]) => receive(target, window, gain, at));
  return [
    update(table, account, target, received),
    ...donors.map(({ shard, takes }) =>
      update(
        table,
        account,
        shard,
        entries(takes).map(([window, take]) => give(shard, window, take, at)),
      ),
    ),
  ];
}

/** Notes a dry window on a shard, unless an operator has changed the account since. */
export function noteDryCommand(table: string, account: string, seen: Shard, windows: PerWindow): Update {
  const names = entries(windows);
  return {
    TableName: table,
    Key: keyOf(account, seen),
    UpdateExpression: `SET ${names.map(([window]) => `#${window} = :${window}`).join(', ')}`,
    ConditionExpression: '#version = :version',
    ExpressionAttributeNames: {
      '#version': accessItem.version,
      ...Object.fromEntries(names.map(([window]) => [`#${window}`, accessItem.dryAt(window)])),
    },
    ExpressionAttributeValues: {
      ':version': seen.version,
      ...Object.fromEntries(names.map(([window, start]) => [`:${window}`, start])),
    },
  };
}

type Part = { set: string[]; conditions: string[]; names: Record<string, string>; values: Record<string, number> };

function update(table: string, account: string, shard: Shard, parts: Part[]): Update {
  return {
    TableName: table,
    Key: keyOf(account, shard),
    UpdateExpression: `SET ${parts.flatMap(({ set }) => set).join(', ')} ADD #moves :one`,
    ConditionExpression: parts.flatMap(({ conditions }) => conditions).join(' AND '),
    ExpressionAttributeNames: Object.assign({ '#moves': accessItem.moves }, ...parts.map(({ names }) => names)),
    ExpressionAttributeValues: Object.assign({ ':one': 1 }, ...parts.map(({ values }) => values)),
  };
}

function receive({ quota }: Shard, window: WindowName, gain: number, at: number): Part {
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

function give({ quota }: Shard, window: WindowName, take: number, at: number): Part {
  const { start = 0, limit } = quota[window] ?? {};
  const part = change(window, start, Number(limit), -take);
  if (start < windowStart(window, Math.floor(at))) return part; // what it used in a window that has passed is its own
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
  return windowNames.flatMap((window): [WindowName, number][] => {
    const amount = amounts[window];
    return amount === undefined ? [] : [[window, amount]];
  });
}

function keyOf(account: string, { shard }: Shard): Record<string, string> {
  return { [accountsTable.partitionKey]: account, [accountsTable.sortKey]: accessItem.sortKey(shard) };
}
