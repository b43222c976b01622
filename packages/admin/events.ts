import { eventSource, eventVersion } from '../../core/event-types.ts';
import { accountsTable } from '../../core/tables.ts';
import type { AdminChange } from './accounts/admin-store.ts';

/** The changes that are events: the detail-type of each, and how its summary says it. */
const changes: Readonly<Record<string, readonly [type: string, did: string]>> = {
  'account create': ['account.created', 'created'],
  'account set': ['account.changed', 'changed'],
  'account suspend': ['account.suspended', 'suspended'],
  'account activate': ['account.activated', 'activated'],
  'account delete': ['account.deleted', 'deleted'],
  'key create': ['key.created', 'created a key of'],
  'key rotate': ['key.replaced', 'replaced a key of'],
  'key revoke': ['key.revoked', 'revoked a key of'],
  'member add': ['member.added', 'added a member of'],
  'member remove': ['member.removed', 'removed a member of'],
  'plan put': ['plan.changed', 'changed'],
};

/** The detail-types of the change events. */
export const changeEventTypes: readonly string[] = Object.values(changes).map(([type]) => type);

/** An entry for `PutEvents` of EventBridge. */
export type EventEntry = { Source: string; DetailType: string; Detail: string };

/**
 * The event of a change (docs/events.md), or `null` if the change has no event. Its details are the
 * audit's, which never contain a key or a label.
 */
export function eventOf(
  { time, actor, partition, action, detail }: AdminChange,
  deployment: string,
): EventEntry | null {
  const [type, did] = changes[action] ?? [];
  if (type === undefined) return null;
  const { planPartitionPrefix } = accountsTable;
  const plan = partition.startsWith(planPartitionPrefix)
    ? partition.slice(planPartitionPrefix.length)
    : undefined;
  const about = plan === undefined ? { account: partition } : { plan };
  const summary = `${actor} ${did} ${plan === undefined ? `account ${partition}` : `plan ${plan}`}.`;
  const Detail = JSON.stringify({
    version: eventVersion,
    deployment,
    summary,
    ...about,
    actor,
    time,
    change: detail,
  });
  return { Source: eventSource, DetailType: type, Detail };
}

/**
 * What `createAdmin` takes as `announce`: sends the event of each change with `put`. A change that
 * was made stays made when its event can't be sent.
 */
export function announceWith(deployment: string, put: (event: EventEntry) => Promise<unknown>) {
  return async (change: AdminChange): Promise<void> => {
    const event = eventOf(change, deployment);
    if (event) await put(event);
  };
}
