import type { Access } from '../../../core/accounts/account.ts';
import { accessItem, accessKey, itemKey, windowItem } from '../../../core/accounts/account-item.ts';
import { recordKey } from '../../../core/accounts/key-record.ts';
import { addToRecords, unrecorded } from '../../../core/accounts/usage-record.ts';
import { guardExpression, isStill } from '../../../core/dynamodb.ts';
import { removeAllMembers } from './account-members.ts';
import { AdminError, noAccount } from './admin-error.ts';
import {
  type AdminStore,
  addToIndex,
  findAccess,
  isUnchanged,
  removeFromIndex,
  retryConflicts,
  type Write,
} from './admin-store.ts';
import { audited } from './audit-log.ts';
import { detailsDeletion } from './details.ts';
import { creationCountKey, keyRecordsOf } from './keys.ts';
import { noPlanFromTomorrow } from './plan-history.ts';

/**
 * The primary key of the item that remains of a deleted account, so that its id is not used again.
 */
export const tombstoneKey = (account: string) => itemKey(account, 'deleted');

export async function isDeleted(store: AdminStore, account: string): Promise<boolean> {
  return (await store.get(tombstoneKey(account))) !== undefined;
}

/**
 * Permanently deletes a suspended account: its limits, its counts, its details, its members, its
 * keys and their labels. Its audit stays, its usage stays until the records expire, and its id
 * can't be used again: a new account of that id would begin with nothing used. Can be repeated
 * after an interruption.
 * @throws AdminError `invalid`, `not_found`, `not_suspended`, `conflict`
 */
export async function deleteAccount(store: AdminStore, id: string): Promise<void> {
  const access = await findAccess(store, id);
  if (access) requireSuspended(access);
  else if (!(await isDeleted(store, id))) throw noAccount(id);
  await audited(store, { partition: id, action: 'account delete', detail: {} }, async () => {
    await retryConflicts(async () => {
      const access = await findAccess(store, id);
      if (!access) return;
      requireSuspended(access);
      await store.writeAll([
        deletion(store.table, access),
        ...addToRecords(store.table, id, unrecorded(access.usage)).map((Update) => ({ Update })),
        removeFromIndex(store.table, 'account', id),
        addToIndex(store.table, 'deleted', id), // its usage is still invoiced
        detailsDeletion(store, id),
        { Update: noPlanFromTomorrow(store, id) },
        {
          Put: {
            TableName: store.table,
            Item: { ...tombstoneKey(id), deleted: store.nowSeconds() },
          },
        },
      ]);
    });
    for (const { keyId } of await keyRecordsOf(store, id)) {
      await store.delete(recordKey({ account: id, keyId }));
    }
    await store.delete(creationCountKey(id));
    await removeAllMembers(store, id);
  });
}

function requireSuspended({ account, state }: Access): void {
  if (state === 'suspended') return;
  throw new AdminError('not_suspended', `Account "${account}" is active. Suspend it first.`);
}

function deletion(table: string, access: Access): Write {
  const { start, used } = windowItem.day;
  const { day } = access.quota;
  const counts = [isStill(start, day?.start), isStill(used, day?.used)];
  const guards = [isUnchanged(access), isStill(accessItem.state, 'suspended'), ...counts];
  return {
    Delete: { TableName: table, Key: accessKey(access.account), ...guardExpression(guards) },
  };
}
