import type { Update } from '../../dynamodb.ts';
import { accountsTable } from '../../names.ts';
import type { Access } from '../account.ts';
import { accessItem, accessKey } from '../account-item.ts';
import { expiryOf, hashBytes, type KeyClaim, storedKey } from '../api-key.ts';
import { keyRecord, recordKey } from '../key-record.ts';
import { AdminError, checkAccountId, checkKeyId } from './admin-error.ts';
import { type AdminStore, getAccess, retryConflicts } from './admin-store.ts';
import { audited } from './audit.ts';
import { findRecord, type KeyView, viewKeys } from './key-views.ts';

/** The most keys of one account: as many as fit in 1 KB of access item with any id, plan and limits. */
export const maxActiveKeys = 12;

/** A key that another one replaces, and the second from which it is refused. */
export type Replaced = { keyId: string; endsSeconds: number };

/** Makes a key work whose record exists; the one that it replaces ends later. */
export async function activate(store: AdminStore, claim: KeyClaim, replaces: Replaced | undefined): Promise<void> {
  try {
    await retryConflicts(async () => {
      const options = { activated: claim.keyId, replaced: replaces?.keyId };
      const access = await requireFreeKey(store, claim.account, options);
      await store.writeAll(activations(store.table, claim, access, replaces).map((Update) => ({ Update })));
    });
  } catch (error) {
    // A refusal wrote nothing. After any other failure the key may be active, so its record stays and shows it.
    if (error instanceof AdminError) await store.delete(recordKey(claim));
    throw error;
  }
}

/** Expired keys are removed only after this long, in case the clock of this process is ahead. */
const removedAfterSeconds = 60;

/** While a key is replaced, both it and the new one have a place. */
const placesFor = (replaced: string | undefined) => maxActiveKeys + (replaced === undefined ? 0 : 1);

/**
 * Returns the access item if the account can have one more key; `activated` may be active already, by an earlier
 * attempt, and `replaced` is a key that works. Removes expired keys first if the account is full.
 */
export async function requireFreeKey(
  store: AdminStore,
  account: string,
  { activated, replaced }: { activated?: string | undefined; replaced?: string | undefined },
): Promise<Access> {
  const access = await getAccess(store, account);
  const now = store.nowSeconds();
  const expiryIn = (keyId: string) => expiryOf(access.keys[keyId] as Uint8Array) ?? Infinity;
  const isThere = replaced !== undefined && Object.hasOwn(access.keys, replaced);
  if (replaced !== undefined && !(isThere && expiryIn(replaced) > now)) {
    throw new AdminError('not_found', `Account "${account}" has no active key "${replaced}"; create a key instead.`, {
      subject: 'key',
    });
  }
  const expired = Object.keys(access.keys).filter((keyId) => expiryIn(keyId) <= now - removedAfterSeconds);
  if (expired.length > 0 && Object.keys(access.keys).length >= maxActiveKeys) {
    for (const keyId of expired) await revokeKey(store, { account, keyId });
    return requireFreeKey(store, account, { activated, replaced });
  }
  const others = Object.keys(access.keys).filter((keyId) => keyId !== activated);
  if (others.length < placesFor(replaced)) return access;
  throw new AdminError(
    'too_many_keys',
    `Account "${account}" has ${others.length} active keys, which is the maximum; revoke one first${replaced === undefined ? '' : ', or wait until the one that is being replaced has ended'}.`,
  );
}

/**
 * The updates, to be made together, that make a key work on every shard, if the account has as many shards as `access`
 * says and a place for it; a key that it replaces ends later. Sending them again, after a lost answer, is harmless.
 */
function activations(
  table: string,
  { keyId, hash }: KeyClaim,
  access: Access,
  replaces: Replaced | undefined,
): [Update, ...Update[]] {
  const old = replaces && access.keys[replaces.keyId];
  const onShard = (shard: number): Update => {
    if (!replaces || !old) return keyUpdate(table, access, shard, keyId, 'SET #keys.#keyId = :hash', { ':hash': hash });
    const ends = Math.min(expiryOf(old) ?? Infinity, replaces.endsSeconds);
    const update = keyUpdate(table, access, shard, keyId, 'SET #keys.#keyId = :hash, #keys.#old = :old', {
      ':hash': hash,
      ':old': storedKey(old.subarray(0, hashBytes), ends),
    });
    return {
      ...update,
      ConditionExpression: `${update.ConditionExpression} AND attribute_exists(#keys.#old)`,
      ExpressionAttributeNames: { ...update.ExpressionAttributeNames, '#old': replaces.keyId },
    };
  };
  const first = onShard(0);
  return [
    {
      ...first,
      ConditionExpression: `${first.ConditionExpression} AND (attribute_exists(#keys.#keyId) OR size(#keys) < :max)`,
      ExpressionAttributeValues: { ...first.ExpressionAttributeValues, ':max': placesFor(replaces?.keyId) },
    },
    ...Array.from({ length: access.shards - 1 }, (_, i) => onShard(i + 1)),
  ];
}

/**
 * Changes the keys of one shard if the account has as many shards as `access` says: a shard that is created at the same
 * time copies the keys of shard 0, and would have one too many or too few.
 */
function keyUpdate(
  table: string,
  { account, sharded, shards }: Access,
  shard: number,
  keyId: string,
  UpdateExpression: string,
  values: Update['ExpressionAttributeValues'] = {},
): Update {
  const shardsAreUnchanged = sharded ? '#shards = :shards' : 'attribute_not_exists(#shards)';
  return {
    TableName: table,
    Key: accessKey(account, shard),
    UpdateExpression,
    ConditionExpression: `attribute_exists(#account) AND ${shardsAreUnchanged}`,
    ExpressionAttributeNames: {
      '#account': accountsTable.partitionKey,
      '#keys': accessItem.keys,
      '#keyId': keyId,
      '#shards': accessItem.shards,
    },
    ExpressionAttributeValues: { ...values, ...(sharded && { ':shards': shards }) },
  };
}

/**
 * Permanently revokes a key: every request that starts after this has returned is refused. It is idempotent, and
 * completes an interrupted call.
 * @throws AdminError `invalid`, `not_found`
 */
export async function revokeKey(
  store: AdminStore,
  { account, keyId }: { account: string; keyId: string },
): Promise<KeyView> {
  checkAccountId(account);
  checkKeyId(keyId);
  let access: Access | null = await getAccess(store, account);
  if (!Object.hasOwn(access.keys, keyId) && !(await findRecord(store, account, keyId))) {
    throw new AdminError('not_found', `Account "${account}" has no key "${keyId}".`, { subject: 'key' });
  }
  await audited(store, { partition: account, action: 'key revoke', detail: { keyId } }, async () => {
    await retryConflicts(async () => {
      const current: Access = access ?? (await getAccess(store, account));
      access = null; // if a write meets a conflict, the next attempt reads afresh
      await deactivate(store, current, keyId);
    });
    await store.update(markRevoked(store.table, { account, keyId }, store.nowSeconds()));
  });
  const record = await findRecord(store, account, keyId);
  return viewKeys({ keys: {} }, record ? [record] : [], store.nowSeconds())[0] as KeyView;
}

/** Shard 0 comes last: its keys are the valid ones until then. Plain writes succeed while the account is charged. */
async function deactivate(store: AdminStore, access: Access, keyId: string): Promise<void> {
  const onShard = (shard: number) => store.update(keyUpdate(store.table, access, shard, keyId, 'REMOVE #keys.#keyId'));
  await Promise.all(Array.from({ length: access.shards - 1 }, (_, i) => onShard(i + 1)));
  await onShard(0);
}

/** How long the record of a revoked key is kept; until then its label is shown beside its id. */
const revokedSeconds = 400 * 86_400;

/** Records when a key was first revoked. */
function markRevoked(table: string, key: { account: string; keyId: string }, nowSeconds: number): Update {
  return {
    TableName: table,
    Key: recordKey(key),
    UpdateExpression: 'SET #revoked = if_not_exists(#revoked, :now), #expires = if_not_exists(#expires, :expires)',
    ExpressionAttributeNames: { '#revoked': keyRecord.revoked, '#expires': accountsTable.expires },
    ExpressionAttributeValues: { ':now': nowSeconds, ':expires': nowSeconds + revokedSeconds },
  };
}
