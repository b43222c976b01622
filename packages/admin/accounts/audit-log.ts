import { randomBytes } from 'node:crypto';
import { itemKey, itemsQuery } from '../../../core/accounts/account-item.ts';
import { inWindowOrder } from '../../../core/calendar.ts';
import { guardedUpdate, type Item } from '../../../core/dynamodb.ts';
import { accountsTable } from '../../../core/tables.ts';
import { AdminError, type OwnLimitChanges } from './admin-error.ts';
import type { AdminStore } from './admin-store.ts';

export type AuditAction =
  | `account ${'create' | 'set' | 'suspend' | 'activate' | 'delete' | 'import'}`
  | `key ${'create' | 'rotate' | 'rename' | 'set' | 'revoke'}`
  | `member ${'add' | 'remove'}`
  | `session ${'start' | 'end' | 'end-all' | 'refuse'}`
  | 'plan put'
  | `load ${'run' | 'approve' | 'reject' | 'rollback' | 'repair' | 'discard' | 'unlock'}`
  | 'restore carry-over'
  | `checksum-secret ${'rotate' | 'end'}`;

/**
 * A change, its partition (an account id, or `plan#<code>`) and its details. `detail` never holds a
 * key.
 */
export type AuditedChange = {
  partition: string;
  action: AuditAction;
  detail: Record<string, unknown>;
};

/**
 * One change: who, when, what. `unknown` means that nothing has marked it as done: the change is
 * still running, or its process died, and it may or may not have happened. Refused changes leave no
 * entry.
 */
export type AuditEntry = {
  time: string;
  actor: string;
  action: AuditAction;
  detail: Record<string, unknown>;
  outcome: 'done' | 'unknown';
};

const prefix = 'audit#';
const outcome = 'outcome';

/**
 * Runs `work` between writing its entry and marking it as done: no change happens without one
 * (decision 0104).
 */
export async function audited<T>(
  store: AdminStore,
  change: AuditedChange,
  work: () => Promise<T>,
): Promise<T> {
  const { key, attributes } = newEntry(store, change);
  await store.put({ ...key, ...attributes });
  // The caller must learn the result of the change, and only the caller sees a new key. So if the
  // end of an entry can't be written, the entry truthfully stays `unknown`.
  const ended = (write: Promise<void>) => write.catch(() => undefined);
  try {
    const result = await work();
    await ended(store.update(guardedUpdate(store.table, key, { set: { [outcome]: 'done' } })));
    const { time, actor } = attributes;
    await ended(store.announce?.({ ...change, time, actor }) ?? Promise.resolve());
    return result;
  } catch (error) {
    if (changedNothing(error)) await ended(store.delete(key));
    throw error;
  }
}

/**
 * Writes the entry of something that has happened, which DynamoDB deletes at `expires`, in seconds
 * since 1970.
 */
export async function noted(
  store: AdminStore,
  change: AuditedChange,
  expires: number,
): Promise<void> {
  const { key, attributes } = newEntry(store, change);
  await store.put({ ...key, ...attributes, [outcome]: 'done', [accountsTable.expires]: expires });
}

/** A change of a plan that failed on one account has reached others. */
const changedNothing = (error: unknown): boolean =>
  error instanceof AdminError && error.code !== 'conflict';

/**
 * A page of an audit, newest first; `cursor` starts the next page and is `null` on the last page.
 */
export type AuditPage = { entries: AuditEntry[]; cursor: string | null };

export type AuditPageOptions = { limit?: number | undefined; cursor?: string | undefined };

const mostEntries = 1_000;
const cursorPattern = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z#[0-9a-f]{12}$/;

/**
 * A page of the entries of a partition, which new entries don't shift. @throws AdminError `invalid`
 */
export async function auditPageOf(
  store: AdminStore,
  partition: string,
  { limit = 100, cursor }: AuditPageOptions = {},
): Promise<AuditPage> {
  if (!Number.isInteger(limit) || limit < 1 || limit > mostEntries) {
    throw new AdminError('invalid', `A page of an audit has 1 to ${mostEntries} entries.`);
  }
  if (cursor !== undefined && !(typeof cursor === 'string' && cursorPattern.test(cursor))) {
    throw new AdminError('invalid', 'No audit returned this cursor.');
  }
  // One more than requested shows whether there is another page.
  const items = await store.query({
    ...itemsQuery(store.table, partition, prefix),
    ScanIndexForward: false,
    Limit: limit + 1,
    ...(cursor !== undefined && { ExclusiveStartKey: itemKey(partition, prefix + cursor) as Item }),
  });
  const shown = items.slice(0, limit);
  const last = String(shown.at(-1)?.[accountsTable.sortKey]).slice(prefix.length);
  return { entries: shown.map(readEntry), cursor: items.length > limit ? last : null };
}

function newEntry({ actor, now }: AdminStore, { partition, action, detail }: AuditedChange) {
  const time = new Date(now()).toISOString();
  // The time sorts the entries; the random part distinguishes two changes in the same millisecond.
  const item = `${prefix}${time}#${randomBytes(6).toString('hex')}`;
  return { key: itemKey(partition, item), attributes: { time, actor, action, detail } };
}

function readEntry(item: Item): AuditEntry {
  const { limits, ...detail } = item.detail as { limits?: OwnLimitChanges };
  return {
    time: item.time,
    actor: item.actor,
    action: item.action,
    detail: { ...detail, ...(limits && { limits: inWindowOrder(limits) }) },
    outcome: item[outcome] === 'done' ? 'done' : 'unknown',
  };
}
