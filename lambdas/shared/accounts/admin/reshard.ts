import { QueryCommand, TransactWriteCommand } from '@aws-sdk/lib-dynamodb';
import { accessItem, closingState } from '../account-item.ts';
import { type Limits, type WindowName, windowNames, windowStart } from '../quota.ts';
import { readShardsCommand } from '../shard-commands.ts';
import { type Access, accessKey, isStill, type PlanVersion, planAttributes, readAccess } from './access.ts';
import { effectiveLimit } from './limits.ts';
import {
  type AdminStore,
  type Changes,
  type Guard,
  guardExpression,
  guardedUpdate,
  retryConflicts,
} from './updates.ts';

/**
 * Divides `total` over shards that have used so much of it already. The shares add up to `total` exactly. As long as the
 * account has used no more than that, each shard keeps what it used and gets an even part of the rest; else none has any
 * left, and each has about its part of the use.
 */
export function apportion(total: number, used: readonly number[]): number[] {
  const sum = used.reduce((a, b) => a + b, 0);
  if (sum <= total) {
    const rest = total - sum;
    const even = Math.floor(rest / used.length);
    return used.map((units, i) => units + even + (i < rest % used.length ? 1 : 0));
  }
  let left = total;
  const shares = used.map((units) => {
    const share = Math.min(left, Math.floor(units * (total / sum)));
    left -= share;
    return share;
  });
  return shares.map((share, i) => {
    const more = Math.min(left, (used[i] ?? 0) - share);
    left -= more;
    return share + more;
  });
}

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

/** An account's shards by number, shard 0 first; after those that take requests, those that are about to go. */
export type Shards = [Access, ...Access[]];

/** The shards of an account as they are now; `shard0` says that there is one. */
export async function readShards({ client, table }: AdminStore, shard0: Access): Promise<Shards> {
  if (shard0.shards === null) return [shard0];
  const { Items = [] } = await client.send(new QueryCommand(readShardsCommand(table, shard0.account)));
  const [first = shard0, ...others] = Items.map(readAccess).toSorted((a, b) => a.shard - b.shard);
  return [first, ...others];
}

/**
 * The shards that take requests, after those past `keep` (by default, past what the account has) have gone into the
 * others with all that they hold: their shares, and what was used on them. Finishes what another began and died over.
 */
export async function mergedShards(store: AdminStore, shard0: Access, keep?: number): Promise<Shards> {
  return retryConflicts(async () => {
    const shards = await readShards(store, shard0);
    const count = Math.min(keep ?? Infinity, shards[0].shards ?? 1);
    if (shards.length <= count) return shards;
    // What is charged all the time can't be moved exactly. So the shards that go take no more requests first; until
    // they are gone, requests that need what they hold take it from them.
    if (shards[0].shards !== count || shards.slice(count).some(({ state }) => state === 'active')) {
      await store.client.send(closeCommand(store, shards, count));
      return mergedShards(store, shard0, count);
    }
    await store.client.send(mergeCommand(store, shards, count));
    return readShards(store, shard0);
  });
}

/** What an account's shards are to become. */
export type Reshare = { count: number; plan: PlanVersion; ownLimits: Access['ownLimits'] };

/**
 * The parts of a transaction that gives an account `count` shards, as many as `shards` or more, with their shares of
 * what `plan` and `ownLimits` say. It happens if nothing but charges that fit the new shares came in between.
 */
export function reshareItems(store: AdminStore, shards: Shards, { count, plan, ownLimits }: Reshare) {
  const [first] = shards;
  // All that is not a count: what shard 0 says, also where a change of another shard was left undone.
  const common = {
    ...planAttributes(plan, ownLimits),
    [accessItem.state]: first.state,
    [accessItem.version]: first.version + 1,
    [accessItem.shards]: count,
  };
  // A key that is revoked right now must not come back to life on a new shard.
  const keysAreStill: Guard[] =
    count > shards.length ? [{ attribute: accessItem.keys, is: '=', value: first.keys }] : [];
  return shareWindows(shards, count, plan.limits, ownLimits, store.nowSeconds()).map(({ changes, guards }, shard) => {
    const key = accessKey(first.account, shard);
    const set = { ...common, ...changes.set };
    if (shard < shards.length) {
      const mine: Guard[] =
        shard === 0 ? [isStill(first), ...keysAreStill] : [{ attribute: accessItem.version, is: 'there' }];
      return { Update: guardedUpdate(store.table, key, { set, remove: changes.remove }, [...mine, ...guards]) };
    }
    const { ConditionExpression, names } = guardExpression([{ attribute: accessItem.version, is: 'absent' }]);
    const Item = { ...key, ...set, [accessItem.keys]: first.keys, [accessItem.created]: first.created };
    return { Put: { TableName: store.table, Item, ConditionExpression, ExpressionAttributeNames: names } };
  });
}

function closeCommand({ table }: AdminStore, shards: Shards, count: number): TransactWriteCommand {
  const [first] = shards;
  const set = { [accessItem.shards]: count, [accessItem.version]: first.version + 1 };
  const TransactItems = shards.map((access, shard) => {
    const closing = shard < count ? {} : { [accessItem.state]: closingState };
    const guard: Guard = shard === 0 ? isStill(first) : { attribute: accessItem.version, is: 'there' };
    const key = accessKey(access.account, shard);
    return { Update: guardedUpdate(table, key, { set: { ...set, ...closing }, remove: [] }, [guard]) };
  });
  return new TransactWriteCommand({ TransactItems });
}

function mergeCommand({ table }: AdminStore, shards: Shards, count: number): TransactWriteCommand {
  const [first] = shards;
  const closed = shards.slice(count);
  const updates = shards.slice(0, count).flatMap((target, shard) => {
    const mine = closed.filter((_, i) => i % count === shard);
    if (mine.length === 0 && shard > 0) return [];
    const { changes, guards } = mergeWindows(target, mine);
    const set = { ...changes.set, [accessItem.version]: first.version + 1 };
    const guard: Guard = shard === 0 ? isStill(first) : { attribute: accessItem.version, is: 'there' };
    const remove = count === 1 ? sharedAttributes() : [];
    const key = accessKey(target.account, shard);
    return [{ Update: guardedUpdate(table, key, { ...changes, set, remove }, [guard, ...guards]) }];
  });
  const deletes = closed.map((access) => {
    const { ConditionExpression, names, values } = guardExpression([isStill(access), movedNoMore(access)]);
    const attributes = { ExpressionAttributeNames: names, ExpressionAttributeValues: values };
    return {
      Delete: { TableName: table, Key: accessKey(access.account, access.shard), ConditionExpression, ...attributes },
    };
  });
  return new TransactWriteCommand({ TransactItems: [...updates, ...deletes] });
}

function movedNoMore({ moves }: Access): Guard {
  return moves === 0
    ? { attribute: accessItem.moves, is: 'absent' }
    : { attribute: accessItem.moves, is: '=', value: moves };
}
