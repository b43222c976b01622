import type { Access } from '../domain/access.ts';
import type { WindowCount } from '../domain/quota.ts';
import type { Shard } from '../domain/shards.ts';
import { type WindowName, windowNames } from '../domain/window.ts';
import { accountsTable } from '../tables.ts';
import { accessItem } from './access-item.ts';
import type { Item } from './documents.ts';

/** Reads the access item of a shard, as `access-item.ts` lays it out. */
export function toAccess(item: Item, shard: number): Access {
  return {
    accountActive: item[accessItem.state] === 'active',
    planActive: item[accessItem.planState] === 'active',
    planCode: item[accessItem.plan],
    keys: item[accessItem.keys],
    quota: Object.fromEntries(windowNames.flatMap((window) => toWindowCount(item, window))),
    shard,
    shards: item[accessItem.shards] ?? 1,
  };
}

/** The same with what tells whether its shares changed. */
export function toShard(item: Item): Shard {
  const shard = Number(String(item[accountsTable.sortKey]).slice(accessItem.sortKeyPrefix.length));
  return { ...toAccess(item, shard), version: item[accessItem.version], moves: item[accessItem.moves] ?? 0 };
}

function toWindowCount(item: Item, window: WindowName): [WindowName, WindowCount][] {
  const start: number | undefined = item[accessItem.start(window)];
  if (start === undefined) return [];
  const count: WindowCount = {
    start,
    used: item[accessItem.used(window)],
    limit: item[accessItem.limit(window)] ?? null,
  };
  const total: number | undefined = item[accessItem.total(window)];
  if (total !== undefined) {
    count.total = total;
    const dryAt: number | undefined = item[accessItem.dryAt(window)];
    if (dryAt !== undefined) count.dryAt = dryAt;
  }
  return [[window, count]];
}
