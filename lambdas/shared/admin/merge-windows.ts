import { type WindowName, windowNames } from '../domain/window.ts';
import { accessItem } from '../store/access-item.ts';
import type { Access } from './access.ts';
import type { GuardedChanges } from './share-windows.ts';

/**
 * What changes in the windows of `target` when it takes in `closed`, which nobody charges any more: their shares, and
 * what they used of the window that is the current one. Where starts differ that is the latest one; what was used of an
 * earlier window is past. `target` may be charged while this is written: the guards hold as long as no window rolls.
 */
export function mergeWindows(target: Access, closed: readonly Access[]): GuardedChanges {
  const { set, raise, guards } = {
    set: {} as Record<string, number>,
    raise: {} as Record<string, number>,
    guards: [] as GuardedChanges['guards'],
  };
  for (const window of windowNames) {
    const seen = target.starts[window];
    if (typeof seen !== 'number' || closed.length === 0) continue;
    const start = Math.max(seen, ...closed.map(({ starts }) => starts[window] ?? 0));
    const current = closed.filter(({ starts }) => starts[window] === start);
    const used = sum(current, ({ used }) => used[window]);
    guards.push({ attribute: accessItem.start(window), is: '=', value: seen });
    if (start === seen) raise[accessItem.used(window)] = used;
    else {
      set[accessItem.start(window)] = start;
      set[accessItem.used(window)] = used;
    }
    if (typeof target.limits[window] === 'number') {
      raise[accessItem.limit(window)] = sum(closed, ({ limits }) => limits[window]);
    }
  }
  return { changes: { set, raise, remove: [] }, guards };
}

function sum(shards: readonly Access[], of: (shard: Access) => number | null | undefined): number {
  return shards.reduce((total, shard) => total + (of(shard) ?? 0), 0);
}

/** The attributes that only an account with several shards has. */
export function sharedAttributes(): string[] {
  const perWindow = windowNames.flatMap((window: WindowName) => [accessItem.total(window), accessItem.dryAt(window)]);
  return [accessItem.shards, accessItem.moves, ...perWindow];
}
