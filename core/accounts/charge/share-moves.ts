import { inWindowOrder, type WindowName, windowStart } from '../../calendar.ts';
import { type Guard, guardedUpdate, isStill, type Update } from '../../dynamodb.ts';
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
  const { target, donors } = move;
  const given = donors.map(({ shard, takes }) => changeShares(table, shard, takes, -1, move));
  return [changeShares(table, target, gainsOf(move), 1, move), ...given];
}

/** Marks exhausted windows on a shard, unless an operator has changed the account since. */
export function markExhaustedCommand(table: string, seen: Access, windows: PerWindow): Update {
  const set = Object.fromEntries(entries(windows).map(([window, start]) => [windowItem[window].exhausted, start]));
  const isUnchanged = isStill(accessItem.version, seen.version);
  return guardedUpdate(table, accessKey(seen.account, seen.shard), { set }, [isUnchanged]);
}

function changeShares(table: string, shard: Access, units: PerWindow, sign: 1 | -1, { at }: ShareMove): Update {
  const set: Record<string, number> = {};
  const guards: Guard[] = [];
  for (const [window, amount] of entries(units)) {
    const { start = 0, limit } = shard.quota[window] ?? {};
    const item = windowItem[window];
    const current = windowStart(window, Math.floor(at));
    const share = Number(limit) + sign * amount;
    set[item.limit] = share;
    guards.push({ attribute: item.start, is: '=', value: start }, { attribute: item.limit, is: '=', value: limit });
    if (sign === 1 && start !== current) Object.assign(set, { [item.start]: current, [item.used]: 0 });
    // What was used in a window that has passed doesn't matter any more.
    if (sign === -1 && start >= current) guards.push({ attribute: item.used, is: '<=', value: share });
  }
  return guardedUpdate(table, accessKey(shard.account, shard.shard), { set, raise: { [accessItem.moves]: 1 } }, guards);
}

function entries(amounts: PerWindow): [WindowName, number][] {
  return Object.entries(inWindowOrder(amounts)) as [WindowName, number][];
}
