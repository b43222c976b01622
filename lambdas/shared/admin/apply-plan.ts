import { TransactWriteCommand } from '@aws-sdk/lib-dynamodb';
import type { Limits } from '../domain/window.ts';
import { planRecord } from '../store/access-item.ts';
import { type Access, accessUpdate, changeAccess, planChanges } from './access.ts';
import type { AdminStore } from './admin-store.ts';
import { type PlanVersion, planKey } from './plan.ts';
import { mergedShards, reshareItems } from './shards.ts';

/** What applies to an account: a plan, and limits of its own that go before it. */
export type Terms = { plan: PlanVersion; ownLimits: Limits };

/**
 * Makes an account follow what `termsFor` says of it, over as many shards as `shards` says or as it has. `termsFor` may
 * be asked again about a later state of the account; nothing is written when it has nothing to say. Whether something
 * was; a conflict is for `retryConflicts`.
 */
export async function applyPlan(
  store: AdminStore,
  access: Access,
  termsFor: (access: Access) => Promise<Terms | null>,
  shards?: number,
): Promise<boolean> {
  const terms = await termsFor(access);
  if (!terms) return false;
  if (access.shards === null && (shards ?? 1) === 1) {
    await changeSingle(store, access, terms);
    return true;
  }
  const all = await mergedShards(store, access, shards);
  const [first] = all;
  const latest = await termsFor(first);
  if (!latest) return false;
  const count = shards ?? all.length;
  if (first.shards === null && count === 1) {
    await changeSingle(store, first, latest);
    return true;
  }
  const items = reshareItems(store, all, { count, ...latest });
  const checks = latest.plan.code === first.plan ? [] : [{ ConditionCheck: planIsStill(store, latest.plan) }];
  await store.client.send(new TransactWriteCommand({ TransactItems: [...checks, ...items] }));
  return true;
}

async function changeSingle(store: AdminStore, access: Access, { plan, ownLimits }: Terms): Promise<void> {
  const changes = planChanges(access, plan, ownLimits, store.nowSeconds());
  // An account that stays on its plan is found by a change of the plan at the same time, and so needs no transaction,
  // which could get in the way of a request's charge.
  if (plan.code === access.plan) return changeAccess(store, access, changes);
  const update = accessUpdate(store.table, access, changes);
  await store.client.send(
    new TransactWriteCommand({ TransactItems: [{ ConditionCheck: planIsStill(store, plan) }, { Update: update }] }),
  );
}

/** Fails the transaction when the plan has changed, so that the change can't miss an account that joins it meanwhile. */
export function planIsStill({ table }: AdminStore, { code, version }: PlanVersion) {
  return {
    TableName: table,
    Key: planKey(code),
    ConditionExpression: '#version = :version',
    ExpressionAttributeNames: { '#version': planRecord.version },
    ExpressionAttributeValues: { ':version': version },
  };
}
