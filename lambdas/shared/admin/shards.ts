import { QueryCommand, TransactWriteCommand } from '@aws-sdk/lib-dynamodb';
import { accessItem, closingState } from '../store/access-item.ts';
import { readShardsCommand } from '../store/shard-commands.ts';
import { type Access, accessKey, isStill, planAttributes, readAccess } from './access.ts';
import type { AdminStore } from './admin-store.ts';
import { mergeWindows, sharedAttributes } from './merge-windows.ts';
import type { PlanVersion } from './plan.ts';
import { retryConflicts } from './retry-conflicts.ts';
import { shareWindows } from './share-windows.ts';
import { type Guard, guardExpression, guardedUpdate } from './update-changes.ts';

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
