import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { type AccountState, accessItem } from '../store/access-item.ts';
import { type Access, accessKey, accessUpdate, changeAccess } from './access.ts';
import type { AdminStore } from './admin-store.ts';
import { updateAll } from './update-all.ts';
import { type Guard, guardedUpdate } from './update-changes.ts';

const there: Guard = { attribute: accessItem.version, is: 'there' };

/**
 * Sets the state of an account; a conflict is for `retryConflicts`. Only shard 0 refuses requests, so what it says
 * counts: an account is suspended there last, by writes that get through under load, and activated on all at once.
 */
export async function writeState(store: AdminStore, access: Access, state: AccountState): Promise<void> {
  const changes = { set: { [accessItem.state]: state }, remove: [] };
  if (access.shards === null) {
    if (access.state !== state) await changeAccess(store, access, changes);
    return;
  }
  const others = Array.from({ length: access.shards - 1 }, (_, i) =>
    guardedUpdate(store.table, accessKey(access.account, i + 1), changes, [there]),
  );
  if (state === 'suspended') {
    await Promise.all(others.map((update) => store.client.send(new UpdateCommand(update))));
    await changeAccess(store, access, changes);
  } else {
    await updateAll(store, [accessUpdate(store.table, access, changes), ...others]);
  }
}
