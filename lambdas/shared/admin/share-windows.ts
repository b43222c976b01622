import { apportion } from '../domain/apportion.ts';
import { type Limits, type WindowName, windowNames, windowStart } from '../domain/window.ts';
import { accessItem } from '../store/access-item.ts';
import type { Access } from './access.ts';
import { effectiveLimit } from './effective-limits.ts';
import type { Changes, Guard } from './update-changes.ts';

export type GuardedChanges = { changes: Changes; guards: Guard[] };

/**
 * What changes in the windows of each of `count` shards, the first of which are `shards`, when `planLimits` and `own`
 * apply to the account: the shares of a limit add up to it, and what was used stays used. Requests may be charged while
 * this is written: the guards hold as long as no window rolls, no more than its new share is used on a shard.
 */
export function shareWindows(
  shards: readonly Access[],
  count: number,
  planLimits: Limits,
  own: Limits,
  atSeconds: number,
): GuardedChanges[] {
  const all = Array.from({ length: count }, (): GuardedChanges => ({ changes: { set: {}, remove: [] }, guards: [] }));
  for (const window of windowNames) {
    const limit = effectiveLimit(window, planLimits, own);
    const counts = countsOf(shards, count, window, windowStart(window, atSeconds));
    const shares =
      typeof limit === 'number'
        ? apportion(
            limit,
            counts.map(({ used }) => used),
          )
        : [];
    const isLeft = typeof limit === 'number' && counts.reduce((sum, { used }) => sum + used, 0) <= limit;
    for (const [i, { changes, guards }] of all.entries()) {
      const { start, used, seen } = counts[i] as ShardCount;
      changes.remove.push(accessItem.dryAt(window));
      if (typeof limit === 'number') {
        const share = shares[i] as number;
        changes.set[accessItem.limit(window)] = share;
        changes.set[accessItem.total(window)] = limit;
        if (seen !== undefined) guards.push({ attribute: accessItem.start(window), is: '=', value: seen });
        if (isLeft && seen === start) guards.push({ attribute: accessItem.used(window), is: '<=', value: share });
      } else {
        changes.remove.push(accessItem.limit(window), accessItem.total(window));
      }
      if (limit === undefined) changes.remove.push(accessItem.start(window));
      else if (seen === undefined || (seen < start && limit !== null)) {
        changes.set[accessItem.start(window)] = start;
        changes.set[accessItem.used(window)] = used;
      }
    }
  }
  return all;
}

/** `seen` is the start that the shard was read with; `start` and `used` are those of the window that the account is in. */
type ShardCount = { start: number; used: number; seen: number | undefined };

/**
 * The account is in the latest window that any of its shards has begun: the clock of whoever makes this change does not
 * count, and no share may go back into a window before one that it was used in.
 */
function countsOf(shards: readonly Access[], count: number, window: WindowName, otherwise: number): ShardCount[] {
  const starts = shards.flatMap(({ starts }) => starts[window] ?? []);
  const start = starts.length > 0 ? Math.max(...starts) : otherwise;
  return Array.from({ length: count }, (_, i) => {
    const seen = shards[i]?.starts[window] ?? undefined;
    return { start, seen, used: seen === start ? (shards[i]?.used[window] ?? 0) : 0 };
  });
}
