import type { Access, Terms, UnitsByKey } from '../../../core/accounts/account.ts';
import {
  accessItem,
  accessKey,
  dayNumber,
  newUsage,
  planAttributes,
  readShards,
  shardAttributes,
} from '../../../core/accounts/account-item.ts';
import { addToRecords, sumByDate, unrecorded } from '../../../core/accounts/usage-record.ts';
import { dateOf, type WindowName, windowStart } from '../../../core/calendar.ts';
import { type Guard, guardExpression, guardedUpdate, isStill } from '../../../core/dynamodb.ts';
import { type AdminStore, exists, isUnchanged, retryConflicts, type Write } from './admin-store.ts';
import {
  type GuardedChanges,
  mergeWindows,
  noItemChanges,
  resetWindows,
  shareWindows,
  toleratedSeconds,
} from './window-changes.ts';

/** An account's shards by number, shard 0 first; after those that take requests, those that are about to be merged. */
export type Shards = [Access, ...Access[]];

/** The current shards of an account; `shard0` shows that the account exists. */
export async function allShards(store: AdminStore, shard0: Access): Promise<Shards> {
  if (!shard0.sharded) return [shard0];
  const [first = shard0, ...others] = await readShards(store.query, store.table, shard0.account);
  return [first, ...others];
}

/** What all shards used of a window at `nowSeconds`: `limit` is the account's, `start` is when the window began. */
export function useOf(
  shards: Shards,
  window: WindowName,
  nowSeconds: number,
): { limit: number | null; used: number; start: number } {
  const counts = shards.flatMap(({ quota }) => quota[window] ?? []);
  // The next request restarts a window that has passed. A window that starts in the future is the current one.
  const start = Math.max(windowStart(window, nowSeconds), ...counts.map((count) => count.start));
  const { limit = null, total = limit } = shards[0].quota[window] ?? {};
  return {
    limit: total,
    used: counts.reduce((sum, count) => sum + (count.start === start ? count.used : 0), 0),
    start,
  };
}

/** The guard of a change of several shards: shard 0 shows whether another change came in between. */
function guardOf(shards: Shards, shard: number): Guard {
  return shard === 0 ? isUnchanged(shards[0]) : exists;
}

/**
 * Returns the shards that take requests, after those past `keep` (by default, past what the account has) were merged
 * into the others with their shares and what was used on them. Completes an interrupted merge.
 */
export async function mergedShards(store: AdminStore, shard0: Access, keep?: number): Promise<Shards> {
  return retryConflicts(async () => {
    const shards = await allShards(store, shard0);
    const count = Math.min(keep ?? Infinity, shards[0].shards);
    if (shards.length <= count) return shards;
    // The counts of a shard that is charged all the time can't be moved exactly. So the shards to merge first stop
    // taking requests; until they are merged, requests that need their quota take it from them.
    if (shards[0].shards !== count || shards.slice(count).some(({ state }) => state === 'active')) {
      await store.writeAll(closeShards(store, shards, count));
      return mergedShards(store, shard0, count);
    }
    await store.writeAll(mergeShards(store, shards, count));
    return allShards(store, shard0);
  });
}

function closeShards({ table }: AdminStore, shards: Shards, count: number): Write[] {
  return shards.map(({ account }, shard) => {
    const set = { [accessItem.shards]: count, [accessItem.version]: shards[0].version + 1 };
    const closing = shard < count ? {} : { [accessItem.state]: 'closing' };
    const changes = { set: { ...set, ...closing } };
    return { Update: guardedUpdate(table, accessKey(account, shard), changes, [guardOf(shards, shard)]) };
  });
}

function mergeShards({ table }: AdminStore, shards: Shards, count: number): Write[] {
  const closed = shards.slice(count);
  const updates = shards.slice(0, count).flatMap((target, shard) => {
    const mine = closed.filter((_, i) => i % count === shard);
    if (mine.length === 0 && shard > 0) return [];
    const { changes, guards } = mergeWindows(target, mine);
    // It takes over their totals; their days go to records in the same transaction. Its own days stay the same.
    const total = mine.reduce((sum, { usage }) => sum + usage.total, 0);
    const set = { ...changes.set, [accessItem.version]: shards[0].version + 1 };
    const raise = { ...changes.raise, [accessItem.total]: total, [accessItem.mark]: total };
    const remove = count === 1 ? [...shardAttributes] : [];
    const key = accessKey(target.account, shard);
    const all = [guardOf(shards, shard), ...guards];
    return [{ Update: guardedUpdate(table, key, { ...changes, set, raise, remove }, all) }];
  });
  const deletes = closed.map((access) => {
    // No request may have moved shares from or to it since.
    const condition = guardExpression([isUnchanged(access), isStill(accessItem.moves, access.moves || undefined)]);
    return { Delete: { TableName: table, Key: accessKey(access.account, access.shard), ...condition } };
  });
  const counts = sumByDate(closed.map(({ usage }) => unrecorded(usage)));
  const records = addToRecords(table, shards[0].account, counts).map((Update) => ({ Update }));
  return [...updates, ...deletes, ...records];
}

/**
 * The writes of a transaction that gives an account `count` shards, as many as `shards` or more, with their shares of
 * what `terms` say. They succeed if only charges that fit the new shares came in between.
 */
export function reshareWrites(store: AdminStore, shards: Shards, count: number, terms: Terms): Write[] {
  const [first] = shards;
  // Everything but the counts comes from shard 0, also where a change of another shard was interrupted.
  const common = {
    ...planAttributes(terms),
    [accessItem.state]: first.state,
    [accessItem.version]: first.version + 1,
    [accessItem.shards]: count,
  };
  // A key that is revoked at the same time must not become active again on a new shard.
  const keysAreUnchanged: Guard[] =
    count > shards.length ? [{ attribute: accessItem.keys, is: '=', value: first.keys }] : [];
  const windows = shareWindows(shards, count, terms.plan.limits, terms.ownLimits, store.nowSeconds());
  return windows.map(({ changes, guards }, shard) => {
    const key = accessKey(first.account, shard);
    const set = { ...common, ...changes.set };
    if (shard < shards.length) {
      const mine = [guardOf(shards, shard), ...(shard === 0 ? keysAreUnchanged : []), ...guards];
      return { Update: guardedUpdate(store.table, key, { ...changes, set }, mine) };
    }
    const usage = newUsage(store.nowSeconds());
    const Item = { ...key, ...set, ...usage, [accessItem.keys]: first.keys, [accessItem.created]: first.created };
    return { Put: { TableName: store.table, Item, ...guardExpression([isStill(accessItem.keys, undefined)]) } };
  });
}

/** Resets `windows` on all shards at once: one that remained on one shard would spread to the others. */
export function resetWrites(store: AdminStore, shards: Shards, windows: readonly WindowName[]): Write[] {
  const version = shards[0].version + 1;
  return shards.map((access, shard) => {
    const { changes, guards } = resetWindows(access, windows, store.nowSeconds());
    const usage = resetUsage(access, store.nowSeconds());
    const next = {
      ...changes,
      set: { ...changes.set, ...usage.changes.set, [accessItem.version]: version },
      raise: usage.changes.raise,
      remove: [...changes.remove, ...usage.changes.remove],
    };
    const key = accessKey(access.account, access.shard);
    return { Update: guardedUpdate(store.table, key, next, [guardOf(shards, shard), ...guards, ...usage.guards]) };
  });
}

/** Moves a day of usage in the future back to the present: what was counted since becomes usage of today. */
function resetUsage({ usage }: Access, nowSeconds: number): GuardedChanges {
  const made = noItemChanges();
  const { changes, guards } = made;
  const { date, days, daysByKey } = usage;
  if (date <= dateOf(nowSeconds + toleratedSeconds)) return made;
  const today = dateOf(nowSeconds);
  changes.set[accessItem.date] = dayNumber(today);
  guards.push({ attribute: accessItem.date, is: '=', value: dayNumber(date) });
  // Counted after today began, and rolled into a day by the wrong clock.
  const later = Object.entries(days).filter(([day]) => day >= today);
  if (later.length === 0) return made;
  const stored = (entries: [string, number | UnitsByKey][]) =>
    Object.fromEntries(entries.map(([day, counted]) => [String(dayNumber(day)), counted]));
  const earlier = ([day]: [string, unknown]) => day < today;
  changes.set[accessItem.days] = stored(Object.entries(days).filter(earlier));
  // What was counted by key on the later days stays in the sum of the day only.
  changes.set[accessItem.daysByKey] = stored(Object.entries(daysByKey).filter(earlier));
  changes.raise[accessItem.mark] = -later.reduce((sum, [, units]) => sum + units, 0);
  guards.push({ attribute: accessItem.days, is: '=', value: stored(Object.entries(days)) });
  return made;
}
