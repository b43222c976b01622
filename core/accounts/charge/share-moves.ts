import { inWindowOrder, type WindowName, windowStart } from '../../calendar.ts';
import { guardedUpdate, isStill, type Update } from '../../dynamodb.ts';
import type { Access } from '../account.ts';
import { accessItem, accessKey, windowItem } from '../account-item.ts';
import { gainsOf, type ShareMove } from './shards.ts';

type PerWindow = Partial<Record<WindowName, number>>;

/**
 * Moves shares, all or none. It fails if a shard has changed in one of the windows; charges don't make it fail while a
 * donor still has what it gives. The target first enters the current window: a share must never move into a window
 * earlier than one in which its donor may have used it.
 */
export function moveCommands(table: string, move: ShareMove): Update[] {
  const { target, at, donors } = move;
  const received = entries(gainsOf(move)).map(([window, gain]) => receive(target, window, gain, at));
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
export function markExhaustedCommand(table: string, seen: Access, windows: PerWindow): Update {
  const set = Object.fromEntries(entries(windows).map(([window, start]) => [windowItem[window].exhausted, start]));
  const isUnchanged = isStill(accessItem.version, seen.version);
  return guardedUpdate(table, accessKey(seen.account, seen.shard), { set, remove: [] }, [isUnchanged]);
}

type ShareChange = {
  set: string[];
  conditions: string[];
  names: Record<string, string>;
  values: Record<string, number>;
};

function changeShares(table: string, shard: Access, parts: ShareChange[]): Update {
  return {
    TableName: table,
    Key: accessKey(shard.account, shard.shard),
    UpdateExpression: `SET ${parts.flatMap(({ set }) => set).join(', ')} ADD #moves :one`,
    ConditionExpression: parts.flatMap(({ conditions }) => conditions).join(' AND '),
    ExpressionAttributeNames: Object.assign({ '#moves': accessItem.moves }, ...parts.map(({ names }) => names)),
    ExpressionAttributeValues: Object.assign({ ':one': 1 }, ...parts.map(({ values }) => values)),
  };
}

function receive({ quota }: Access, window: WindowName, gain: number, at: number): ShareChange {
  const { start = 0, limit } = quota[window] ?? {};
  const current = windowStart(window, Math.floor(at));
  const part = change(window, start, Number(limit), gain);
  if (start === current) return part;
  return {
    ...part,
    set: [...part.set, `#${window}Start = :${window}Current`, `#${window}Used = :${window}None`],
    names: { ...part.names, [`#${window}Used`]: windowItem[window].used },
    values: { ...part.values, [`:${window}Current`]: current, [`:${window}None`]: 0 },
  };
}

function give({ quota }: Access, window: WindowName, take: number, at: number): ShareChange {
  const { start = 0, limit } = quota[window] ?? {};
  const part = change(window, start, Number(limit), -take);
  if (start < windowStart(window, Math.floor(at))) return part; // units used in a window that has passed don't matter any more
  return {
    ...part,
    conditions: [...part.conditions, `#${window}Used <= :${window}New`],
    names: { ...part.names, [`#${window}Used`]: windowItem[window].used },
  };
}

function change(window: WindowName, start: number, limit: number, by: number): ShareChange {
  return {
    set: [`#${window}Limit = :${window}New`],
    conditions: [`#${window}Start = :${window}Seen`, `#${window}Limit = :${window}Old`],
    names: { [`#${window}Start`]: windowItem[window].start, [`#${window}Limit`]: windowItem[window].limit },
    values: { [`:${window}Seen`]: start, [`:${window}Old`]: limit, [`:${window}New`]: limit + by },
  };
}

function entries(amounts: PerWindow): [WindowName, number][] {
  return Object.entries(inWindowOrder(amounts)) as [WindowName, number][];
}
